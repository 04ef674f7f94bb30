"""kill -9 while addresses are held back, asked for in rounds, or released: nothing is missing, and nothing is there twice."""

from __future__ import annotations

import random
import signal
from collections import Counter
from pathlib import Path

import pytest

from larm.frontier.checkpoint import CheckpointFile
from larm.frontier.host_records import ROW
from larm.frontier.hosts import HostBook
from larm.kit.clock import SystemClock
from larm.kit.disk.block_store import BlockStore
from larm.testing.replies import Reply, html
from larm.testing.request_log import Request
from larm.testing.web import SyntheticWeb
from tests.stories.crawls import config_of, stored, watch
from tests.stories.processes import Process, crawl_arguments, larm_says

SETTINGS = {
    "monitor.tick": "50ms",
    "frontier.host_block": 5,  # what is held back goes to the disk, and comes back
    "frontier.messages_in_memory": 20,
    "storage.chain": "[log]",
}
STALE_SOON = "from larm.frontier.traps import limits; limits.DEFAULT = limits.TrapRules(stale_pages=10)"
KILLS = 3
LISTS, EACH = 60, 10
"""A catalogue: lists that lead to each other and to their parts, none of which says anything new. All of it ends."""
BRANCHES = 2
"""Of the trap."""


def build(web: SyntheticWeb, *, trap: bool) -> str:
    site = web.host("held.localhost")

    def answer(request: Request) -> Reply:
        number = int("".join(filter(str.isdigit, request.path)) or 0)
        if request.path.startswith("/part/"):
            links = []
        elif request.path.startswith("/list/"):
            links = [f"/part/{n}" for n in range(EACH * number, EACH * number + EACH)]
            links += [f"/list/{n}" for n in (2 * number + 1, 2 * number + 2) if n < LISTS]
        else:
            links = [f"/same/{n}" for n in range(number * BRANCHES + 1, number * BRANCHES + BRANCHES + 1)]
        return html(
            f"<title>Same</title><p>Nothing to see.</p>{''.join(f'<a href={link!r}>x</a> ' for link in links)}", delay=0.003
        )

    site.otherwise(answer)
    site.page("/", "Start", "Welcome.", links=["/same/0" if trap else "/list/0"])
    return web.url("held.localhost")


def held(directory: Path) -> Counter[str]:
    """What the last checkpoint holds back."""
    store = BlockStore(directory / "cachingqueue")
    try:
        found = CheckpointFile(store).read()
        assert found is not None
        book = HostBook(store, config_of([]).frontier, SystemClock())
        hosts = list(book.load(store.keys(ROW)))
        records = [record for host in hosts if host.traps is not None for record in host.traps.records.values()]
        return Counter(message.url.access for record in records for message in record.parked or ())
    finally:
        store.close()


def kill(web: SyntheticWeb, directory: Path, start: str, after: int, *options: str) -> bool:
    """Run the crawl and kill it at that request; whether it had not ended before."""
    log = watch(web)
    with Process(*crawl_arguments(directory, [start], SETTINGS, *options), before=STALE_SOON) as process:
        log.at(after, lambda: process.signal(signal.SIGKILL))
        return process.end().status == -signal.SIGKILL


@pytest.mark.parametrize("seed", range(1))
def test_what_ends_is_whole_whenever_it_was_killed(tmp_path: Path, web: SyntheticWeb, seed: int) -> None:
    moments = random.Random(seed)
    start = build(web, trap=False)
    for _ in range(KILLS):
        assert kill(web, tmp_path, start, moments.randrange(5, 150))
    watch(web)
    said = larm_says(*crawl_arguments(tmp_path, [start], SETTINGS), before=STALE_SOON)
    assert said.status == 0, said.err
    paths = ["/", *(f"/list/{n}" for n in range(LISTS)), *(f"/part/{n}" for n in range(LISTS * EACH))]
    assert stored(tmp_path) == Counter(web.url("held.localhost", path) for path in paths)
    assert not held(tmp_path)


@pytest.mark.parametrize("seed", range(1))
def test_a_trap_is_whole_whenever_it_was_killed(tmp_path: Path, web: SyntheticWeb, seed: int) -> None:
    """Of the tree all is stored or held back that is linked from what is stored."""
    moments = random.Random(seed)
    start = build(web, trap=True)
    for _ in range(KILLS):
        if not kill(web, tmp_path, start, moments.randrange(5, 250)):
            break
    watch(web)
    said = larm_says(*crawl_arguments(tmp_path, [start], SETTINGS), before=STALE_SOON)
    assert said.status == 0, said.err
    before = check_tree(tmp_path, web)
    assert before
    for _ in range(2):  # while they are released
        kill(web, tmp_path, start, moments.randrange(20, 200), "--parked")
    watch(web)
    arguments = crawl_arguments(tmp_path, [start], SETTINGS, "--parked", "--max-pages", "5000")
    assert larm_says(*arguments, before=STALE_SOON).status == 0
    check_tree(tmp_path, web)
    assert set(before) <= set(stored(tmp_path))


def check_tree(directory: Path, web: SyntheticWeb) -> Counter[str]:
    waiting, pages = held(directory), stored(directory)
    assert set(pages.values()) <= {1}
    assert set(waiting.values()) <= {1}
    assert not set(waiting) & set(pages)
    numbers = [int(page.rpartition("/")[2]) for page in pages if "/same/" in page]
    linked = {0} | {n for number in numbers for n in range(number * BRANCHES + 1, number * BRANCHES + BRANCHES + 1)}
    assert {*waiting, *pages} == {web.url("held.localhost", f"/same/{n}") for n in linked} | {web.url("held.localhost", "/")}
    return waiting

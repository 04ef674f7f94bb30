"""kill -9 while a revisit goes on: its end is that of an undisturbed one, and what was saved is not asked for again."""

from __future__ import annotations

import random
import shutil
import signal
from collections import Counter
from pathlib import Path

import pytest

from larm.frontier.checkpoint import CheckpointFile
from larm.index.search.searcher import IndexSearcher
from larm.kit.disk.block_store import BlockStore
from larm.store.pages.page_rows import page_rows, written
from larm.store.reader import StoreLog
from larm.testing.web import SyntheticWeb
from tests.stories.crawls import asked, indexed, lines, watch
from tests.stories.processes import Process, Said, crawl_arguments
from tests.stories.test_kill import SETTINGS

HOSTS = 8
KILLS = 3
"""Of each kind."""
SCOPE = ("-restrictto", r"http://h\d\.localhost:\d+/.*")
SMALL_PARTS = """
from larm.engine.recrawl import revisit
from larm.store.pages import page_rows
page_rows._BATCH, revisit._PART, revisit._LOOKED = 20, 60, 10
"""
IN_COMMIT = """
import os, signal
from larm.frontier.checkpoint import CheckpointFile
write, calls = CheckpointFile.write, iter(range(1, 1_000))
def writes(*arguments):
    if next(calls) == %d:
        os.kill(os.getpid(), signal.SIGKILL)
    return write(*arguments)
CheckpointFile.write = writes
"""
"""The storages have committed, and the checkpoint of that number in the run does not say so yet."""
WORDS = [f"{a}{b}{c}" for a in ("ba", "ce", "di", "fo", "gu") for b in ("la", "me", "ni", "po") for c in ("r", "s", "th", "x")]


def text(*seed: object) -> str:
    return " ".join(random.Random(repr(seed)).choices(WORDS, k=30))


def build(web: SyntheticWeb, each: int) -> str:
    """Trees of so many pages, whose roots lead to each other."""
    for host in range(HOSTS):
        site = web.host(f"h{host}.localhost")
        for number in range(each):
            links = [f"/{child}" for child in (2 * number + 1, 2 * number + 2) if child < each]
            roots = [web.url(f"h{other}.localhost") for other in range(HOSTS)] if number == 0 else []
            site.page(f"/{number}" if number else "/", text(host, number, "title")[:40], text(host, number), [*links, *roots])
        for number in range(3, each, 50):
            site.status(f"/{number}", 500 if number % 100 == 3 else 404)  # no page at first
    return web.url("h0.localhost")


def alter(web: SyntheticWeb, each: int) -> None:
    """A tenth has changed, another has links to new pages, some of which there are not; another is gone, or has moved."""
    for host in range(HOSTS):
        site = web.host(f"h{host}.localhost")
        for number in range(1, each):
            path = f"/{number}"
            if number % 50 == 3:
                site.page(path, text=text(host, number), links=[f"/found/{number}"])  # now it is there
                site.page(f"/found/{number}", text=text(host, number, "found"))
            elif number % 10 == 2:
                site.change(path, text=text(host, number, "changed"))
            elif number % 10 == 4:
                site.change(path, links=[f"/new/{number}", f"/missing/{number}", f"/moved/{number}", f"/broken/{number}"])
                site.page(f"/new/{number}", text(host, number, "name"), text(host, number, "new"), [f"/newer/{number}"])
                site.page(f"/newer/{number}", text=text(host, number, "newer"))
                site.redirect(f"/moved/{number}", f"/goal/{number}")
                site.page(f"/goal/{number}", text=text(host, number, "goal"))
                site.status(f"/broken/{number}", 500)
            elif number % 10 == 6:
                site.remove(path)
            elif number % 50 == 8:
                site.redirect(path, f"/there/{number}")
                site.page(f"/there/{number}", text=text(host, number, "there"))


def crawl(web: SyntheticWeb, directory: Path, start: str, *, after: int = 0, commit: int = 0) -> Said:
    """Run it; kill it at that request, or in that commit, if it is one."""
    log = watch(web)
    before = SMALL_PARTS + IN_COMMIT % commit
    with Process(*crawl_arguments(directory, [start], SETTINGS, *SCOPE), before=before) as process:
        if after:
            log.at(after, lambda: process.signal(signal.SIGKILL))
        return process.end()


def saved(directory: Path) -> set[str]:
    """Pages whose answers in this revisit are in the last checkpoint, as ``host/path``."""
    store = BlockStore(directory / "cachingqueue")
    try:
        found = CheckpointFile(store).read()
    finally:
        store.close()
    assert found is not None
    header = found[0]
    if header.finished:
        return set()
    begun, last = header.parts["recrawl"]["generation"], header.storages["pages"]["generation"]
    rows = [each for batch in written(directory / "cachingqueue" / "pages.db") for each in batch]
    return {key(each.row.access) for each in rows if begun < each.generation <= last and each.row.last.asked}


def key(url: str) -> str:
    host, _, path = url.partition("//")[2].partition("/")
    return f"{host.partition(':')[0]}/{path}"


def kept(directory: Path) -> dict[str, Counter[object]]:
    """What there is of it, without times and places."""
    rows = [row for _, row in page_rows(directory / "cachingqueue" / "pages.db")]
    index = IndexSearcher(directory)
    return {
        "log": Counter((row.url, row.status, row.size, row.title) for row in StoreLog(directory)),
        "links": Counter(lines(directory, "links")),
        "index": Counter(indexed(directory)),
        "words": Counter({word: index.search(word).total for word in WORDS}),
        "pages": Counter(
            (
                row.access,
                row.known,
                row.stored,
                row.gone,
                row.forgotten,
                row.last.status,
                row.last.moved,
                row.past and row.past.changes,
            )
            for row in rows
        ),
    }


@pytest.mark.parametrize(
    ("seed", "each"), [(0, 120), *(pytest.param(seed, 250, marks=pytest.mark.slow) for seed in range(1, 6))]
)
def test_what_a_revisit_leaves_is_the_same_whenever_it_was_killed(
    tmp_path: Path, web: SyntheticWeb, seed: int, each: int
) -> None:
    moments = random.Random(seed)
    start, calm, killed = build(web, each), tmp_path / "calm", tmp_path / "killed"
    assert crawl(web, calm, start).status == 0
    shutil.copytree(calm, killed)
    alter(web, each)
    assert crawl(web, calm, start).status == 0
    due = asked(web)
    assert all(count == 1 for path, count in due.items() if "/broken/" not in path)
    done: set[str] = set()
    for kill in range(2 * KILLS):
        moment = {"after": moments.randrange(1, each)} if kill % 2 else {"commit": moments.randrange(2, 6)}
        assert crawl(web, killed, start, **moment).status == -signal.SIGKILL
        assert not done & set(asked(web))
        assert set(asked(web)) <= set(due)
        assert all(count <= due[path] for path, count in asked(web).items())
        now = saved(killed)
        assert done <= now
        done = now
    said = crawl(web, killed, start)
    assert said.status == 0, said.err
    assert set(asked(web)) == set(due) - done
    assert all(count <= due[path] for path, count in asked(web).items())
    left, whole = kept(killed), kept(calm)
    for name in whole:
        assert (left[name] - whole[name], whole[name] - left[name]) == (Counter(), Counter()), name

"""Hosts that wait with their records on the disk: what is found of them waits there, too, also where larm is killed."""

from __future__ import annotations

import random
import signal
from collections import Counter
from pathlib import Path

from larm.kit.disk.block_store import BlockStore
from larm.kit.disk.letter_box import Size, size_of
from larm.testing.web import SyntheticWeb
from tests.stories.crawls import stored, watch
from tests.stories.processes import Process, crawl_arguments, larm_says

HOSTS, PAGES = 16, 6
SETTINGS = {
    "monitor.tick": "50ms",
    "frontier.delay": "300ms",  # so hosts wait, and leave the memory
    "frontier.per_address": 0,
    "frontier.hosts_in_memory": 3,
    "frontier.messages_in_memory": 20,
    "storage.chain": "[log]",
}
SCOPE = ("-restrictto", r"http://h\d+\.localhost:\d+/.*")


def name(host: int) -> str:
    return f"h{host % HOSTS}.localhost"


def build(web: SyntheticWeb) -> Counter[str]:
    """Each page leads to the next one of other hosts; all of them, once."""
    for host in range(HOSTS):
        for page in range(PAGES):
            others = [] if page else [web.url(name(host + 1), "/0"), web.url(name(host + 5), "/0")]
            further = [web.url(name(host + step), f"/{page + 1}") for step in (0, 3, 7)] if page + 1 < PAGES else []
            web.host(name(host)).page(f"/{page}", f"Page {page}", f"Of host {host}.", links=[*others, *further])
    return Counter(web.url(name(host), f"/{page}") for host in range(HOSTS) for page in range(PAGES))


def letters(directory: Path) -> Size:
    store = BlockStore(directory / "cachingqueue")
    try:
        return store.ask(size_of)
    finally:
        store.close()


def test_each_page_once_whenever_it_was_killed(tmp_path: Path, web: SyntheticWeb) -> None:
    wanted = build(web)
    arguments = crawl_arguments(tmp_path, [web.url(name(0), "/0")], SETTINGS, *SCOPE)
    moments = random.Random(1)
    for _ in range(3):
        log = watch(web)
        with Process(*arguments) as process:
            log.at(moments.randrange(25, 60), lambda: process.signal(signal.SIGKILL))
            assert process.end().status == -signal.SIGKILL
    watch(web)
    said = larm_says(*arguments)
    assert said.status == 0, said.err
    assert stored(tmp_path) == wanted
    size = letters(tmp_path)
    assert size.there == 0
    assert size.last > 0, "else this says nothing"

"""Spider traps as ArchiveTeam met them (traps-archiveteam): hosts that never end come to an end, good hosts are crawled whole.

Each list is a host: the host answers every address of its patterns, with a page that leads to ten further ones. Its real pages
are linked from the start and from the trap.
"""

from __future__ import annotations

import random
import zlib
from html import escape
from pathlib import Path

import pytest

from larm.testing.replies import Reply, html
from larm.testing.request_log import Request
from larm.testing.site import Site
from larm.testing.web import SyntheticWeb
from tests.conformance.trap_addresses import expressions, matching
from tests.shared_data import shared
from tests.stories.crawls import run_crawl
from tests.support.webs.words import prose

REAL = 150
BUDGET = 12 * REAL + 1_000
"""Requests of one host: for each real page twelve, beside what it takes to know a trap."""


def build(site: Site, patterns: list[str]) -> None:
    def answer(request: Request) -> Reply:
        chance = random.Random(zlib.crc32(request.path.encode()))
        links = []
        for pattern in chance.choices(patterns, k=10):
            try:
                links.append(matching(pattern, chance))
            except ValueError:
                continue
            if chance.random() < 0.3:
                links[-1] += f"{'&' if '?' in links[-1] else '?'}n={chance.randrange(10**6)}"
        links.append(f"/real/{chance.randrange(REAL)}")
        items = "".join(f'<li><a href="{escape(link)}">more</a></li>' for link in links)
        said = escape(f"No entries for {request.path}.")
        return html(f"<title>Archive</title><h1>Archive of everything</h1><p>{said}</p><ul>{items}</ul>")

    site.otherwise(answer)
    for number in range(REAL):
        site.page(f"/real/{number}", f"Page {number}", prose(150, site.name, number))
    site.page("/", "Start", "Welcome.", links=[*(f"/real/{number}" for number in range(REAL)), "/archive"])


@pytest.mark.slow
def test_trap_hosts_end_and_good_hosts_are_finished(tmp_path: Path, web: SyntheticWeb) -> None:
    given = shared("traps-archiveteam", "given")
    lists = {file.stem: found for file in sorted(given.glob("*.json")) if (found := expressions(file))}
    names = [
        name
        for name in ("global", "forums", "mediawiki", "blogs", "dspace6", "coppermine", "github", "reddit")
        if name in lists
    ]
    for name in names:
        build(web.host(f"{name.replace('_', '-')}.localhost"), lists[name])
    good = web.host("good.localhost")
    for number in range(500):
        good.page(f"/{number}", f"Page {number}", prose(60, "good", number), links=[f"/{number * 2 + 1}", f"/{number * 2 + 2}"])
    good.page("/", "Good", links=["/0"])
    hosts = [f"{name.replace('_', '-')}.localhost" for name in names]
    starts = [web.url(host) for host in (*hosts, "good.localhost")]
    settings = {"frontier.delay": 0, "monitor.tick": "200ms", "crawl.max_pages": 20_000}
    run = run_crawl(tmp_path, starts, settings)
    assert run.ending.reason == "finished"
    for host, name in zip(hosts, names, strict=True):
        asked = web.fetched(host)
        real = sum(f"{host}/real/{number}" in asked for number in range(REAL))
        print(f"traps-archiveteam {name}: {len(lists[name])} patterns, {len(asked)} pages fetched, {real} of {REAL} real ones")
        assert real == REAL
        assert len(asked) <= BUDGET
    assert len(web.fetched("good.localhost")) == 501


@pytest.fixture
def web():
    with SyntheticWeb() as served:
        yield served

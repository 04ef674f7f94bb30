"""A real site on two days, four weeks apart: what has changed is found, and what is gone (LARM-121).

Between the two the site got a new theme, so that no page has the same bytes.
"""

from __future__ import annotations

import re
import tarfile
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import quote, unquote

import pytest

from larm.testing.replies import Reply, html
from larm.testing.request_log import Request
from larm.testing.web import SyntheticWeb
from tests.shared_data import shared
from tests.stories.crawls import Run, indexed, lines, run_crawl

HOST = "dunkerskulturhus.localhost"
DAYS = ("2025-10-10", "2025-11-07")
_FOLDER = re.compile(r"dunkerskulturhus\.se/(?P<day>[-0-9]+)/dunkerskulturhus\.se/(?P<path>.+)")

_ARCHIVED = re.compile(rb"index\.html%3F([^\"'#<> ]*)\.html")
"""A link to a page with a query, as the archive wrote it."""

Pages = dict[str, bytes]
"""Path and query without the first slash, as the site had them -> body."""


def original(file: str) -> str:
    """``a/index.html?b=c.html`` is ``a/?b=c``."""
    return re.sub(r"index\.html(?:\?(.*)\.html)?$", lambda match: f"?{match[1]}" if match[1] else "", file)


@pytest.fixture(scope="module")
def days() -> Iterator[tuple[Pages, Pages]]:
    found: dict[str, Pages] = {day: {} for day in DAYS}
    with tarfile.open(shared("web-helsingborg", "given", "site.tar.xz")) as archive:
        for member in archive:
            match = _FOLDER.fullmatch(member.name)
            if match and member.isfile():
                file = archive.extractfile(member)
                assert file is not None
                found[match["day"]][original(match["path"])] = _ARCHIVED.sub(rb"?\1", file.read())
    return found[DAYS[0]], found[DAYS[1]]


@pytest.fixture(scope="module")
def truth() -> dict[str, str]:
    table = shared("web-helsingborg", "given", "recrawl-dunkerskulturhus.tsv").read_text().splitlines()
    return {original(file): kind for file, _, kind in (line.partition("\t") for line in table)}


CONTENTS = "contents.html"
"""A page of ours: of what the archive has, it lacks some of the pages with the links."""


def with_contents(pages: Pages) -> Pages:
    links = "".join(f'<li><a href="{quote(path, safe="/?=&")}">{number}</a></li>' for number, path in enumerate(sorted(pages)))
    return pages | {CONTENTS: f"<!DOCTYPE html><title>Contents</title><p>All pages</p><ul>{links}</ul>".encode()}


def serve(pages: Pages) -> Callable[[Request], Reply]:
    def answer(request: Request) -> Reply:
        body = pages.get(original(unquote(request.path)[1:]))
        return Reply(404, {"Content-Type": "text/plain"}, b"not found\n") if body is None else html(body)

    return answer


def test_changed_unchanged_gone_and_new_pages_are_recognised(
    tmp_path: Path, web: SyntheticWeb, days: tuple[Pages, Pages], truth: dict[str, str]
) -> None:
    site = web.host(HOST)
    starts = [web.url(HOST), web.url(HOST, f"/{CONTENTS}")]
    site.otherwise(serve(with_contents(days[0])))
    assert run_crawl(tmp_path, starts).reason == "finished"
    before, logged = paths(tmp_path, web), visits(tmp_path)
    site.otherwise(serve(with_contents(days[1])))
    run = run_crawl(tmp_path, starts)
    assert run.reason == "finished"
    after = paths(tmp_path, web)
    said = {
        path: "same_text" if "(same text)" in line or "unchanged" in line else "changed"
        for path, line in (visits(tmp_path) - logged)
        if path in before and path in after
    }
    said |= dict.fromkeys(before - after, "gone") | dict.fromkeys(after - before, "new")
    report(truth, said)
    check_counters(run, said)


def report(truth: dict[str, str], said: dict[str, str]) -> None:
    for kind in ("changed", "same_text", "gone", "new"):
        pages = {path for path, true in truth.items() if true == kind}
        right = {path for path in pages if said.get(path) == kind}
        print(f"{kind}: {len(right)} of {len(pages)} ({len(right) / len(pages):.1%})")
        assert len(right) >= 0.95 * len(pages), sorted(pages - right)


def check_counters(run: Run, said: dict[str, str]) -> None:
    kinds = list(said.values())
    assert run.counters["revisit/gone"] == kinds.count("gone")
    assert run.counters["revisit/same_text"] + run.counters.get("revisit/unchanged", 0) == kinds.count("same_text")
    assert run.counters["revisit/changed"] == kinds.count("changed")


def paths(directory: Path, web: SyntheticWeb) -> set[str]:
    """What is in the index, as the truth names it."""
    return {original(unquote(url.removeprefix(web.url(HOST)))) for url in indexed(directory)}


def visits(directory: Path) -> set[tuple[str, str]]:
    """Path and line of each fetch, of all runs."""
    found = set()
    for number in range(2):
        for line in lines(directory, f"thread{number}"):
            match = re.search(r": http://[^/]+/(\S*)$", line)
            if match:
                found.add((original(unquote(match[1])), line))
    return found

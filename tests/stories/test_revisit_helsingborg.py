"""A real site on two days, four weeks apart: what has changed is found, and what is gone (LARM-121).

Between the two the site got a new theme, so that no page has the same bytes.
"""

from __future__ import annotations

import re
import tarfile
from collections.abc import Callable
from pathlib import Path
from urllib.parse import quote, unquote

import pytest

from larm.errors import StorageError
from larm.index.writer import IndexWriter
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
def days() -> tuple[Pages, Pages]:
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
    for log in (directory / "logs").glob("thread*[0-9].log"):
        for line in lines(directory, log.stem):
            match = re.search(r": http://[^/]+/(\S*)$", line)
            if match:
                found.add((original(unquote(match[1])), line))
    return found


# -- what the archive does not have: servers in trouble, and disks


PATHS = [f"/{number}" for number in range(10)]


@pytest.fixture
def start(web: SyntheticWeb) -> str:
    """A small site without validators: whether a page has changed only its bytes can tell."""
    site = web.host("a.localhost")
    for path in ["/", *PATHS]:
        site.add(path, html(f"<title>{path}</title>" + "".join(f"<a href={link}>.</a>" for link in PATHS if path == "/")))
    return web.url("a.localhost")


def urls(web: SyntheticWeb, *without: str) -> set[str]:
    return {web.url("a.localhost", path) for path in ["/", *PATHS] if path not in without}


def test_without_validators_the_bytes_tell(tmp_path: Path, web: SyntheticWeb, start: str) -> None:
    run_crawl(tmp_path, start)
    web.host("a.localhost").add("/3", html("<title>another</title>"))
    run = run_crawl(tmp_path, start)
    assert (run.counters["revisit/unchanged"], run.counters["revisit/changed"]) == (10, 1)


@pytest.mark.parametrize("status", [500, 503, 429, 403])
def test_a_server_in_trouble_loses_no_page(tmp_path: Path, web: SyntheticWeb, start: str, status: int) -> None:
    run_crawl(tmp_path, start)
    for path in PATHS[:5]:
        web.host("a.localhost").status(path, status)
    soon = {"frontier.retries": 1, "frontier.backoff": "1ms"}  # it doubles a dozen times
    assert run_crawl(tmp_path, start, soon).reason == "finished"
    assert set(indexed(tmp_path)) == urls(web)


@pytest.mark.parametrize("status", [404, 410])
@pytest.mark.parametrize(("most_gone", "left"), [(0.5, urls), (0.7, lambda web: urls(web, *PATHS[:7])), (1, None)])
def test_as_much_is_forgotten_as_is_allowed(
    tmp_path: Path,
    web: SyntheticWeb,
    start: str,
    status: int,
    most_gone: float,
    left: Callable[[SyntheticWeb], set[str]] | None,
) -> None:
    run_crawl(tmp_path, start)
    for path in PATHS[:7] if left else ["/", *PATHS]:
        web.host("a.localhost").status(path, status)
    run = run_crawl(tmp_path, start, {"recrawl.most_gone": most_gone})
    assert set(indexed(tmp_path)) == (left(web) if left else set())
    assert any("7 of 11 pages are gone; none was forgotten" in note for note in run.notes) == (most_gone == 0.5)


def test_what_is_gone_is_forgotten_even_if_the_index_fails_at_that(
    tmp_path: Path, web: SyntheticWeb, start: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All storages forget it, or all are asked again."""
    run_crawl(tmp_path, start)
    web.host("a.localhost").status("/7", 404)
    with monkeypatch.context() as patched:
        real = IndexWriter.commit

        def commit(self: IndexWriter) -> int:
            if self._changed:
                raise StorageError("no room")
            return real(self)

        patched.setattr(IndexWriter, "commit", commit)
        assert isinstance(run_crawl(tmp_path, start).ending.error, StorageError)
    assert set(indexed(tmp_path)) == urls(web)
    assert run_crawl(tmp_path, start).reason == "finished"
    assert set(indexed(tmp_path)) == urls(web, "/7")
    web.host("a.localhost").page("/7")
    assert run_crawl(tmp_path, start).reason == "finished"
    assert set(indexed(tmp_path)) == urls(web), "it is asked for again, as it may come back"

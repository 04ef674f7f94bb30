"""Directories that earlier larms have left: today's larm goes on with each, or refuses it by a sentence that says what to do.

Whoever changes a form on the disk sees it here. Then the reader becomes a tolerant one, or the form's version rises and what
is said stands in `REFUSED`; and `tests.earlier.make` adds a directory of the last larm with the old form.
"""

from __future__ import annotations

import re
import tarfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from larm import cli
from larm.building.wiring import build_crawl
from larm.enquiries.forgetting import forgotten_items
from larm.errors import LarmError
from larm.storage.reader import StoreLog
from tests.earlier.make import DATA, KINDS
from tests.earlier.web import SETTINGS, EarlierWeb, ThatTime, earlier_web, pages
from tests.stories.crawls import asked, check_stored, config_of, indexed, lines, rows, watch

_INDEX = "another version of larm made this index; 'larm reindex.*' makes it anew"
REFUSED: dict[str, str] = {"2026-11": _INDEX, "2026-11-symbols": _INDEX, "2026-11-bodies": _INDEX}
"""Archives that today's larm does not go on with: what it says."""
_OF_A_RUN = {"lock", "sealed.json"}
"""Files that a run makes or takes away when it opens the databases, which comes before it looks at the index."""
ARCHIVES = sorted(path.name.removesuffix(".tar.xz") for path in DATA.glob("*.tar.xz"))


@pytest.fixture(scope="module")
def web() -> Iterator[EarlierWeb]:
    with earlier_web() as made:
        yield made


@pytest.fixture(params=[(name, kind) for name in ARCHIVES for kind in KINDS], ids="-".join)
def earlier(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[str, str, Path]:
    """Its name, how its crawl ended, and the directory."""
    name, kind = request.param
    with tarfile.open(DATA / f"{name}.tar.xz") as archive:
        archive.extractall(tmp_path, filter="data")
    return name, kind, tmp_path / kind


def test_there_is_one() -> None:
    assert "2026-11" in ARCHIVES


def test_it_goes_on_or_says_why_not(web: EarlierWeb, earlier: tuple[str, str, Path]) -> None:
    name, kind, directory = earlier
    before, links = contents(directory), sorted(lines(directory.with_name("finished"), "links"))
    watch(web)
    if name in REFUSED:
        with pytest.raises(LarmError, match=REFUSED[name]):
            build_crawl(config_of(web.start_urls, SETTINGS), directory, clock=ThatTime(directory))
        assert contents(directory) == before, "but for the lock, the seal and the journals of databases"
        assert cli.run(["reindex", "--dir", str(directory)]) == 0
    ending = build_crawl(config_of(web.start_urls, SETTINGS), directory, clock=ThatTime(directory)).run()
    assert (ending.reason, ending.error) == ("finished", None)
    check_stored(directory, web, pages=pages(web))
    assert sorted(lines(directory, "links")) == links
    # a revisit asks for all of it; whatever an unfinished crawl had done is not done again
    assert (asked(web).total() >= len(pages(web))) is (kind == "finished")
    watch(web)
    again = build_crawl(config_of(web.start_urls, SETTINGS), directory, clock=ThatTime(directory)).run()
    assert (again.reason, again.error) == ("finished", None)
    check_stored(directory, web, pages=pages(web))


def test_it_can_be_looked_into(web: EarlierWeb, earlier: tuple[str, str, Path], capfdbinary) -> None:  # type: ignore[no-untyped-def]
    name, _, directory = earlier
    if name in REFUSED:
        assert cli.run(["search", "river", "--dir", str(directory)]) == 3
        assert re.search(REFUSED[name], capfdbinary.readouterr().err.decode())
        return
    start = web.start_urls[0]
    for command in (["search", "river"], ["why", start], ["cat", start], ["stats"]):
        assert cli.run([*command, "--dir", str(directory)]) == 0, capfdbinary.readouterr().err
        assert capfdbinary.readouterr().out, command


def contents(directory: Path) -> dict[str, bytes]:
    files = [path for path in directory.rglob("*") if path.is_file() and path.name not in _OF_A_RUN and ".db" not in path.name]
    return {str(path.relative_to(directory)): path.read_bytes() for path in files}


def test_a_page_of_it_can_be_forgotten(
    web: EarlierWeb, earlier: tuple[str, str, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    name, _, directory = earlier
    page = next(each for each in sorted(pages(web)) if each.startswith("h00") and each.endswith(".html"))
    host, path = page.split("/", 1)
    url = web.url(host, f"/{path}")
    forget = ["forget", "--yes", url, "--dir", str(directory)]
    if name in REFUSED:
        before = contents(directory)
        assert cli.run(forget) == 3
        assert re.search(REFUSED[name], capsys.readouterr().err)
        assert contents(directory) == before
        assert not forgotten_items(directory).items, "it is refused before it is begun"
        assert cli.run(["reindex", "--dir", str(directory)]) == 0
    assert cli.run(forget) == 0
    for _ in range(2):
        watch(web)
        ending = build_crawl(config_of(web.start_urls, SETTINGS), directory, clock=ThatTime(directory)).run()
        assert (ending.reason, ending.error) == ("finished", None)
        assert page not in asked(web)
        stored = rows(directory)
        assert sorted(row.url for row in stored) == sorted(
            {f"http://{each.replace('/', f':{web.port}/', 1)}" for each in pages(web)} - {url}
        )
        assert indexed(directory) == Counter(row.url for row in stored)
        assert all(len(StoreLog(directory).body(row)) == row.size for row in stored)

"""Story: somebody removes a part of a crawl's directory by hand. It is made again, or a sentence says what to do.

Never is anything else of the crawl lost by it.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from larm import cli
from larm.crawldir.form import MARKER
from larm.errors import LarmError
from larm.filters.chain import MessageFilter
from larm.index.search.searcher import IndexSearcher
from larm.model.message import URLMessage
from tests.stories.crawls import ALL_HOSTS, Run, check_stored, lines, reference_links, run_crawl
from tests.stories.leftovers import leftovers
from tests.support.random_web import RandomWeb, random_web

SETTINGS = ALL_HOSTS | {"monitor.tick": "20ms", "storage.log.page_file_size": 20_000}
OWN_FILTER = SETTINGS | {
    "filters.order": ["length", "scope", "tests.stories.test_removed:Nothing", "visited", "traps", "robots"],
}


class Nothing(MessageFilter):
    """A filter of the user's, with a log of its own."""

    def judge(self, message: URLMessage) -> str | None:
        return "a picture" if message.url.path_query.endswith("/2") else None


@pytest.fixture(scope="module")
def web() -> Iterator[RandomWeb]:
    with random_web(6, hosts=3, pages=40) as made:
        yield made


@pytest.fixture(scope="module")
def links(web: RandomWeb, tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    return reference_links(web, tmp_path_factory.mktemp("whole"))


@pytest.fixture(scope="module")
def bases(web: RandomWeb, links: list[str], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A crawl that is finished, and one that has half of its pages."""
    folder = tmp_path_factory.mktemp("bases")
    often = {"monitor.tick": "1ms", "frontier.delay": "2ms"}  # several checkpoints
    run_crawl(folder / "whole", web.start_urls, SETTINGS | often)
    run_crawl(folder / "half", web.start_urls, SETTINGS | often | {"crawl.max_pages": 18})
    return folder


@pytest.fixture(params=["whole", "half"])
def directory(request: pytest.FixtureRequest, bases: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(bases / request.param, tmp_path / request.param))


def again(directory: Path, web: RandomWeb) -> Run:
    run = run_crawl(directory, web.start_urls, SETTINGS)
    assert run.ending.error is None, run.ending.error
    assert run.reason == "finished"
    return run


def remove(path: Path) -> None:
    if not path.is_dir():
        path.unlink()
    while path.is_dir():  # tantivy's own threads may still clear up in it, as this process has just written it
        with suppress(OSError):
            shutil.rmtree(path)


def contents(directory: Path, *folders: str) -> dict[str, bytes]:
    found = [path for folder in folders for path in (directory / folder).rglob("*") if path.is_file()]
    return {str(path): path.read_bytes() for path in found if not path.name.startswith(".tantivy")}


@pytest.mark.parametrize(
    "name",
    [
        "lock",
        "stats.json",
        MARKER,
        "anchors",
        "index/.kept",
        "graph/snapshot",
        "logs/URLVisitedFilter.log",
        "logs/thread0.log",
        "logs/robots.log",
        "logs/ThreadMonitor.log",
    ],
)
def test_what_is_made_again(directory: Path, web: RandomWeb, links: list[str], name: str) -> None:
    said = name in ("logs/URLVisitedFilter.log", "logs/thread0.log") and (directory / name).stat().st_size > 0
    remove(directory / name)
    run = again(directory, web)
    check_stored(directory, web, pages=web.expected())
    assert sorted(lines(directory, "links")) == links
    assert (directory / name).exists() or name == "index/.kept"
    assert (f"{directory / name} was removed: it begins anew" in run.notes) is said
    assert any(hit.url for hit in IndexSearcher(directory).search("river"))


def test_a_log_that_was_moved_aside_by_a_killed_run_takes_its_place_back(directory: Path, web: RandomWeb) -> None:
    log = directory / "logs" / "URLVisitedFilter.log"
    before = log.read_text()
    log.rename(log.with_name(f"{log.name}.1"))
    run = again(directory, web)
    assert not [note for note in run.notes if "removed" in note]
    assert log.read_text().startswith(before)
    assert before
    assert not log.with_name(f"{log.name}.1").exists()


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("cachingqueue", "cachingqueue: it was removed, and was this crawl's memory; "),
        ("cachingqueue/cache.db", "cache.db: it was removed, but "),
        ("cachingqueue/visited.db", "visited.db: "),
        ("cachingqueue/pages.db", "pages.db: "),
        ("cachingqueue/aliases.db", "aliases.db: "),
        ("cachingqueue/*.db", "cachingqueue: it was removed, and was this crawl's memory; "),
        ("logs", "logs: it was removed, and had the pages of the crawl; "),
        ("logs/store.log", "store.log: "),
        ("logs/links.log", "links.log: "),
        ("logs/pagefile_1.pfl.zst", "pagefile_1.pfl.zst: "),
        ("graph/links.journal", "links.journal: "),
    ],
)
def test_what_is_refused(directory: Path, web: RandomWeb, links: list[str], name: str, words: str) -> None:
    """It is named, what to do is said, nothing else is touched; with the files back in their places the crawl goes on."""
    safe = shutil.copytree(directory, directory.with_name("safe"))
    for path in list(directory.glob(name)):
        remove(path)
    before = contents(directory, "logs", "index", "graph")
    for _ in range(2):
        said = refused(directory, web)
        assert words in said
        assert "put " in said
        assert " back" in said
        after = contents(directory, "logs", "index", "graph")
        kept = ("store.log", "links.log", ".zst", ".store", "links.journal")
        assert {path: data for path, data in before.items() if path.endswith(kept)}.items() <= after.items()
    for folder in {path.split("/")[0] for path in [name]}:
        shutil.rmtree(directory / folder, ignore_errors=True)
        shutil.copytree(safe / folder, directory / folder)
    again(directory, web)
    check_stored(directory, web, pages=web.expected())
    assert sorted(lines(directory, "links")) == links


def refused(directory: Path, web: RandomWeb) -> str:
    try:
        error = run_crawl(directory, web.start_urls, SETTINGS).ending.error
    except LarmError as raised:
        error = raised
    assert error is not None
    assert error.exit_status == 3
    assert "\n" not in str(error)
    return str(error)


@pytest.mark.parametrize("name", ["cachingqueue", "logs"])
def test_fresh_begins_anew_where_something_was_removed(directory: Path, web: RandomWeb, name: str) -> None:
    remove(directory / name)
    web.log.clear()
    assert run_crawl(directory, web.start_urls, SETTINGS, fresh=True).reason == "finished"
    check_stored(directory, web)


def test_who_removes_all_but_the_settings_begins_anew(directory: Path, web: RandomWeb) -> None:
    for name in ("cachingqueue", "logs", "index", "graph"):
        remove(directory / name)
    web.log.clear()
    again(directory, web)
    check_stored(directory, web)


def test_the_index_is_made_anew_by_reindex(directory: Path, web: RandomWeb, capfd: pytest.CaptureFixture[str]) -> None:
    """Nothing is fetched for it; of pages that say the same, the first stands in it again."""
    before = leftovers(directory)
    remove(directory / "index")
    assert "'larm repair' mends it" in refused(directory, web)
    assert cli.run(["search", "river", "--dir", str(directory)]) == 2
    assert "larm reindex" in capfd.readouterr().err
    web.log.clear()
    assert cli.run(["reindex", "--dir", str(directory)]) == 0
    assert not web.requests
    assert leftovers(directory) == before
    again(directory, web)
    check_stored(directory, web, pages=web.expected())


def test_the_link_graph_begins_anew_and_is_whole_after_the_next_visit(directory: Path, web: RandomWeb) -> None:
    remove(directory / "graph")
    run = again(directory, web)
    assert f"{directory / 'graph'} was removed: the link graph begins anew" in run.notes
    assert any("the storage graph was not in all runs" in note for note in run.notes)
    if directory.name == "half":
        again(directory, web)  # the first visit of all pages
    reference = directory.with_name("reference")
    run_crawl(reference, web.start_urls, SETTINGS)
    assert leftovers(directory).graph == leftovers(reference).graph


# -- files of somebody else's


@pytest.mark.parametrize("name", ["stats.json", "logs/store.log", "logs/pagefile_1.pfl.zst", "index/index.html"])
@pytest.mark.parametrize("fresh", [True, False])
def test_a_directory_of_somebody_elses(tmp_path: Path, web: RandomWeb, name: str, fresh: bool) -> None:
    (tmp_path / name).parent.mkdir(exist_ok=True)
    (tmp_path / name).write_text("mine")
    with pytest.raises(LarmError, match=name):
        run_crawl(tmp_path, web.start_urls, SETTINGS, fresh=fresh)
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == [tmp_path / name]
    assert (tmp_path / name).read_text() == "mine"


def test_logs_of_somebody_elses_stay(tmp_path: Path, web: RandomWeb) -> None:
    """Also those that have the name of a log which only a filter of the user's would write."""
    (tmp_path / "logs").mkdir()
    for name in ("access", "Nothing"):
        (tmp_path / "logs" / f"{name}.log").write_text("mine\n")
    for fresh in (False, True):
        assert run_crawl(tmp_path, web.start_urls, SETTINGS, fresh=fresh).reason == "finished"
    with pytest.raises(LarmError, match=r"Nothing\.log: it was there before this crawl and is not larm's"):
        run_crawl(tmp_path, web.start_urls, OWN_FILTER, fresh=True)
    assert all((tmp_path / "logs" / f"{name}.log").read_text() == "mine\n" for name in ("access", "Nothing"))


def test_fresh_knows_all_that_larm_has_made(tmp_path: Path, web: RandomWeb) -> None:
    """So that a log or a folder that a later larm makes is not forgotten here."""
    run_crawl(tmp_path, web.start_urls, OWN_FILTER)
    (tmp_path / "logs" / "crash.log").write_text("a traceback")
    from larm.crawldir.marker import forget
    from larm.crawldir.state import logs_of

    assert (tmp_path / "logs" / "Nothing.log").exists()
    forget(tmp_path, logs_of(tmp_path))
    left = sorted(str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*") if path.is_file())
    assert left == [MARKER, "lock"]

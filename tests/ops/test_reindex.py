"""A crawl, its index made anew, and what is left of it."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
import tantivy

from larm import cli
from larm.config import Config
from larm.errors import StorageError, UsageError
from larm.index.reader import IndexReader
from larm.index.search.searcher import IndexSearcher
from larm.kit.disk.lock import DirectoryLock
from larm.ops.reindex import reindex_pages
from larm.ops.state_check import check_state
from larm.store.index import IndexStorage
from larm.testing.replies import html
from larm.testing.web import SyntheticWeb
from tests.stories.crawls import run_crawl
from tests.stories.leftovers import leftovers


@pytest.fixture
def crawled(tmp_path: Path) -> Iterator[Path]:
    with SyntheticWeb() as web:
        site = web.host("a.localhost")
        site.page("/", title="Start", links=["/one", "/two", "/secret"])
        site.page("/one", title="One", body="<p>The ferry has a captain.</p>")
        site.page("/two", title="Two", body="<p>Nothing but text of its own.</p>")
        site.page("/secret", title="Secret", body='<meta name="robots" content="noindex"><p>ferry</p>')
        assert run_crawl(tmp_path, [web.url("a.localhost", "/")]).reason == "finished"
        yield tmp_path


def test_the_new_index_has_what_the_old_one_had(crawled: Path) -> None:
    """The same pages with the same fields; the crawl goes on with it; nothing else is left."""
    directory = crawled
    before, fetched = leftovers(directory), [hit.fetched for hit in IndexSearcher(directory).search("ferry captain")]
    found = reindex_pages(Config(), directory)
    assert (found.pages, found.bodiless, found.left_out) == (3, 0, 1)
    assert leftovers(directory) == before
    assert [hit.fetched for hit in IndexSearcher(directory).search("ferry captain")] == fetched
    assert [hit.title for hit in IndexSearcher(directory).search("ferry")] == ["One"]
    assert not list(directory.glob("index.*"))


def test_pages_that_were_cut_are_still_said_to_be(tmp_path: Path, web: SyntheticWeb) -> None:
    web.host("a.localhost").page("/", title="Long", body=f"<p>The ferry {'goes ' * 1_000}on.</p>")
    run_crawl(tmp_path, web.url("a.localhost"), {"fetch.page_size": "2KB"})
    for _ in range(2):
        assert [hit.title for hit in IndexSearcher(tmp_path).search("cut:all ferry")] == ["Long"]
        reindex_pages(Config(), tmp_path)


def test_a_finished_crawl_is_revisited_after_it(crawled: Path) -> None:
    directory = crawled
    reindex_pages(Config(), directory)
    assert run_crawl(directory, []).reason == "finished"
    assert IndexReader(directory / "index").documents == 3


def test_an_index_of_another_version_is_refused_with_advice(crawled: Path, capsysbinary) -> None:  # type: ignore[no-untyped-def]
    """And made anew by what the message says."""
    directory = crawled
    old_schema(directory / "index")
    with pytest.raises(StorageError, match="'larm reindex' makes it anew"):
        IndexSearcher(directory)
    assert cli.run(["search", "--dir", str(directory), "ferry"]) == 3
    assert b"larm reindex" in capsysbinary.readouterr().err
    assert cli.run(["reindex", "--dir", str(directory)]) == 0
    assert b"1 page is in the new index; 3 stay out, as in the old one" in capsysbinary.readouterr().err
    assert [hit.title for hit in IndexSearcher(directory).search("ferry")] == ["One"]


def ferries(web: SyntheticWeb) -> list[str]:
    """Three pages, two of them with a ferry; the start URL."""
    site = web.host("a.localhost")
    site.page("/", title="Start", links=["/one", "/two"])
    site.page("/one", title="One", body="<p>The ferry has a captain.</p>")
    site.page("/two", title="Two", body="<p>The other ferry has none.</p>")
    return [web.url("a.localhost", "/")]


def test_what_the_index_had_not_committed_is_in_the_new_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As after a kill, which comes between two commits."""
    with SyntheticWeb() as web:
        start = ferries(web)
        run_crawl(tmp_path, start, {"crawl.max_pages": 1})
        monkeypatch.setattr(IndexStorage, "commit", IndexStorage.checkpoint)
        assert run_crawl(tmp_path, start).reason == "finished"
        monkeypatch.undo()
        assert IndexReader(tmp_path / "index").documents == 1
        assert check_state(tmp_path).files > 4
        found = reindex_pages(Config(), tmp_path)
        assert (found.pages, found.left_out) == (3, 0)
        fetched = [hit.fetched for hit in IndexSearcher(tmp_path).search("ferry")]
        assert len(fetched) == 2
        assert min(fetched) > 1_000_000_000
        before = leftovers(tmp_path)
        assert run_crawl(tmp_path, []).reason == "finished"
        assert leftovers(tmp_path) == before


def test_what_was_to_leave_the_index_with_the_next_commit_is_not_in_the_new_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As after a kill: the page asked not to be searched any more."""
    with SyntheticWeb() as web:
        start = ferries(web)
        run_crawl(tmp_path, start)
        unwanted = '<meta name="robots" content="noindex"><p>The ferry has a captain.</p>'
        web.host("a.localhost").page("/one", title="One", body=unwanted)
        monkeypatch.setattr(IndexStorage, "commit", IndexStorage.checkpoint)
        assert run_crawl(tmp_path, start).reason == "finished"
        monkeypatch.undo()
    assert IndexReader(tmp_path / "index").documents == 3
    found = reindex_pages(Config(), tmp_path)
    assert (found.pages, found.left_out) == (2, 1)
    assert [hit.title for hit in IndexSearcher(tmp_path).search("ferry")] == ["Two"]


def test_what_only_the_old_index_knows_is_taken_over(tmp_path: Path) -> None:
    """What headers said, and the text of a page of which no copy may be kept."""
    with SyntheticWeb() as web:
        site = web.host("a.localhost")
        site.page("/", title="Start", links=["/kept", "/told"])
        site.page(
            "/kept", title="Kept", head='<meta name="robots" content="noarchive">', body="<p>The ferry has a captain.</p>"
        )
        headers = {"X-Robots-Tag": "nosnippet", "Last-Modified": "Wed, 15 May 2024 10:00:00 GMT", "Content-Language": "fi"}
        told = html("<html><title>Told</title><p>A ferry.</p></html>")
        site.add("/told", replace(told, headers={**told.headers, **headers}))
        assert run_crawl(tmp_path, [web.url("a.localhost", "/")]).reason == "finished"

    def found() -> list[tuple[str, str, str, int]]:
        results = IndexSearcher(tmp_path).search("ferry")
        return sorted((hit.title, hit.snippet, hit.language, hit.modified) for hit in results)

    before = found()
    assert [title for title, *_ in before] == ["Kept", "Told"]
    assert [snippet for _, snippet, *_ in before] == ["Kept The ferry has a captain.", ""]
    assert before[1][3] > 0
    assert reindex_pages(Config(), tmp_path).bodiless == 1
    assert found() == before


def old_schema(path: Path) -> None:
    """An index with other fields, and one of the pages."""
    (hit,) = IndexSearcher(path.parent).search("ferry")
    shutil.rmtree(path)
    path.mkdir()
    builder = tantivy.SchemaBuilder().add_text_field("key", tokenizer_name="raw", index_option="basic")
    index = tantivy.Index(builder.add_text_field("body", stored=True).build(), path=str(path))
    writer = index.writer(15_000_000, 1)
    writer.add_document(tantivy.Document(key=hit.url, body="old"))
    writer.commit()
    writer.wait_merging_threads()


def test_what_is_in_the_way_is_said(crawled: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    directory = crawled
    lock = DirectoryLock(directory)
    with pytest.raises(UsageError, match="in use by process"):
        reindex_pages(Config(), directory)
    lock.close()
    with pytest.raises(UsageError, match="'larm crawl URL' makes one"):
        reindex_pages(Config(), tmp_path_factory.mktemp("empty"))


def test_a_reindexing_that_was_killed_is_done_again(crawled: Path) -> None:
    """Between the two renames there is only the old index, under its other name."""
    directory = crawled
    (directory / "index").rename(directory / "index.old")
    (directory / "index.new").mkdir()
    assert reindex_pages(Config(), directory).pages == 3
    assert IndexReader(directory / "index").documents == 3
    assert not list(directory.glob("index.*"))


def test_a_crawl_goes_on_after_a_reindexing_that_was_killed(crawled: Path) -> None:
    """At that worst moment, too; and --fresh leaves nothing of it."""
    directory = crawled
    before = leftovers(directory)
    (directory / "index").rename(directory / "index.old")
    assert run_crawl(directory, []).reason == "finished"
    assert leftovers(directory) == before
    for name in ("index", "anchors"):
        for ending in ("new", "old"):
            (directory / f"{name}.{ending}").mkdir()
    assert run_crawl(directory, ["http://a.localhost:1/"], {"storage.chain": ["log"]}, fresh=True).ending.error is None
    assert not [*directory.glob("index*"), *directory.glob("anchors*")]

"""Pages that say the same: one is in the index, whatever happens to it."""

from __future__ import annotations

import random
import re
import signal
from collections import Counter
from pathlib import Path

import pytest
import tantivy

from larm.config import SearchSettings
from larm.engine.figures.snapshot import Snapshot
from larm.index import fields, schema
from larm.index.search.searcher import IndexSearcher
from larm.ops.afterwards import explain_url
from larm.ops.left_out import left_out
from larm.ops.reindex import reindex_pages
from larm.testing.replies import Reply
from larm.testing.web import SyntheticWeb
from tests.stories.crawls import aliases, check_complete, config_of, indexed, reference_links, run_crawl, watch
from tests.stories.processes import crawl_arguments, larm_says
from tests.stories.test_kill import SCOPE, SETTINGS, kill
from tests.support.random_web import random_web
from tests.support.webs.words import prose

KILL = """
import os
from larm.frontier.checkpoint import CheckpointFile
write = CheckpointFile.write
def killed(self, header, *rest):
    if header.finished:
        os.kill(os.getpid(), 9)
    return write(self, header, *rest)
CheckpointFile.write = killed
"""
KILL_IN_THE_MIDDLE = KILL.replace("header.finished", "header.cycle and header.storages['index']['generation'] > 1")
LONG = 1200
"""Words beside which a page's links do not count. Of shorter texts some pairs are not seen to be the same, and then it depends
on the order of pages how many groups there are."""
QUICK = {"frontier.delay": 0, "crawl.restrict_to": ".*"}


def lead(directory: Path) -> set[str]:
    """Paths of the pages that are in the index themselves."""
    index = schema.open_index(directory / "index")
    index.reload()
    searcher = index.searcher()
    hits = searcher.search(tantivy.Query.all_query(), limit=100).hits
    return {"/" + str(searcher.doc(address).get_first(fields.URL)).split("/", 3)[3] for _, address in hits}


def groups(directory: Path) -> set[int]:
    """Of the pages in the index."""
    index = schema.open_index(directory / "index")
    index.reload()
    searcher = index.searcher()
    hits = searcher.search(tantivy.Query.all_query(), limit=1000).hits
    return set(searcher.fast_field_values(fields.DIGEST, [address for _, address in hits]))


def found(directory: Path, words: str) -> list[str]:
    """Paths of the results."""
    return ["/" + hit.url.split("/", 3)[3] for hit in IndexSearcher(directory, SearchSettings()).search(words)]


def test_words_of_a_page_that_is_nearly_the_same_are_found(tmp_path: Path, web: SyntheticWeb) -> None:
    """Also after the index was made anew, and when the page is asked for again."""
    site = web.host("a.localhost")
    site.page("/", "Start", links=["/int", "/long"])
    for name in ("int", "long"):
        site.page(f"/{name}", "A manual", f"{prose(300, 1)} Optional{name} {prose(300, 2)}")
    start = web.url("a.localhost")
    run = run_crawl(tmp_path, start, QUICK)
    assert run.counters["duplicates/near"] == 1
    for _ in range(2):
        assert found(tmp_path, "optionalint") == ["/int"]
        assert found(tmp_path, "optionallong") == ["/long"]
        assert len(found(tmp_path, prose(3, 1))) == 1
        results = IndexSearcher(tmp_path).search(prose(3, 1))
        assert (results.total, results.alike, len(results)) == (2, 1, 1)
        both = IndexSearcher(tmp_path).search(prose(3, 1), alike=True)
        assert (both.total, both.alike) == (2, 0)
        assert sorted("/" + hit.url.split("/", 3)[3] for hit in both) == ["/int", "/long"]
        reindex_pages(config_of(start), tmp_path)
    told = [dict(explain_url(config_of(start), tmp_path, f"{start}{name}").rows).get("index", "") for name in ("int", "long")]
    assert sorted(map(bool, told)) == [False, True]
    said = (
        r"one search result with another page, 'larm search --alike' shows both: nearly the same text \(about 9\d% of it\) as "
    )
    assert re.fullmatch(said + r"\S+", "".join(told))
    site.change("/long", text="Something else.")
    run_crawl(tmp_path, start, QUICK)
    assert [explain_url(config_of(start), tmp_path, f"{start}{name}").rows[-1][0] for name in ("int", "long")] == [
        "last fetch"
    ] * 2


def test_identical_pages_without_text_are_one_page_unless_their_links_lead_elsewhere(tmp_path: Path, web: SyntheticWeb) -> None:
    site = web.host("a.localhost")
    frames = Reply(200, {"Content-Type": "text/html"}, b"<frameset cols=1><frame src=menu><frame src=main></frameset>")
    image = Reply(200, {"Content-Type": "image/png"}, b"\x89PNG")
    paths = ["/index?one", "/index?two", "/index?three", "/b/index"]
    site.page("/", "Home", links=[*paths, "/one.png", "/two.png"])
    for path in paths:
        site.add(path, frames)
    for path in ("/one.png", "/two.png"):
        site.add(path, image)
    for path in ("/menu", "/main", "/b/menu", "/b/main"):
        site.page(path, path)
    run = run_crawl(tmp_path, web.url("a.localhost"))
    pages = lead(tmp_path) & set(paths)
    assert (len(pages), "/b/index" in pages) == (2, True)
    assert {"/one.png", "/two.png"} <= lead(tmp_path)
    assert run.counters["duplicates/exact"] == 2
    (first,) = pages - {"/b/index"}
    other = min(set(paths) - pages)
    rows = explain_url(config_of(web.url("a.localhost")), tmp_path, web.url("a.localhost", other)).rows
    assert any(web.url("a.localhost", first) in value for _, value in rows)


def test_the_end_of_a_long_page_is_found(tmp_path: Path, web: SyntheticWeb) -> None:
    """Though it begins as a shorter one does."""
    site = web.host("a.localhost")
    site.page("/", "Start", links=["/symbols", "/all"])
    site.page("/symbols", "Index", prose(4000, 1))
    site.page("/all", "Index", prose(4000, 1) + prose(25_000, 2) + " Zymurgy")
    run = run_crawl(tmp_path, web.url("a.localhost"), QUICK)
    assert "duplicates/near" not in run.counters
    assert found(tmp_path, "zymurgy") == ["/all"]


def test_aliases_are_indexed_when_nothing_is_merged_any_more(tmp_path: Path, web: SyntheticWeb) -> None:
    """As `larm why` says; by a later run without --fresh, though no page has changed."""
    site = web.host("a.localhost")
    site.page("/", "Start", links=["/one", "/two"])
    for path in ("/one", "/two"):
        site.page(path, "The same", prose(150, 1))
    start = web.url("a.localhost")
    run_crawl(tmp_path, start, QUICK)
    (alias,) = aliases(tmp_path)
    said = dict(explain_url(config_of(start), tmp_path, alias).rows)["index"]
    assert said.startswith(
        "no page of its own, 'larm crawl -s storage.index.merge_duplicates=false' gives it one: same text as http://"
    )
    (note,) = left_out(tmp_path, config_of(start), Snapshot())
    assert (note.key, note.numbers) == ("aliases", {"pages": 1, "some": [alias]})
    run_crawl(tmp_path, start, {**QUICK, "storage.index.merge_duplicates": False})
    assert lead(tmp_path) == {"/", "/one", "/two"}
    assert left_out(tmp_path, config_of(start), Snapshot()) == []
    assert "index" not in dict(explain_url(config_of(start), tmp_path, alias).rows)


def test_an_alias_takes_over_in_a_revisit(tmp_path: Path, web: SyntheticWeb) -> None:
    """The alias answers 304, so its text comes from the table of aliases; nothing is fetched for it."""
    site = web.host("a.localhost")
    for path in ("/one", "/two", "/three"):
        site.page(path, "The same", prose(150, 1))
    site.page("/", "Start", links=["/one", "/two", "/three"])
    start = web.url("a.localhost")
    run = run_crawl(tmp_path, start, QUICK)
    assert run.counters["duplicates/exact"] == 2
    (first,) = lead(tmp_path) - {"/"}
    assert len(aliases(tmp_path)) == 2
    for address in aliases(tmp_path):
        assert dict(explain_url(config_of(start), tmp_path, address).rows)["index"].endswith(
            f"same text as {start.rstrip('/')}{first}"
        )
    site.change(first, text=prose(150, 2))
    run = run_crawl(tmp_path, start, QUICK)
    assert run.counters["revisit/changed"] == 1
    assert len(lead(tmp_path)) == 3
    assert first in lead(tmp_path)
    assert indexed(tmp_path) == Counter(f"{start.rstrip('/')}{path}" for path in ("/", "/one", "/two", "/three"))
    site.remove(first)
    run_crawl(tmp_path, start, QUICK)
    assert len(lead(tmp_path)) == 2
    assert first not in lead(tmp_path)


def test_all_pages_where_nothing_is_merged(tmp_path: Path, web: SyntheticWeb) -> None:
    site = web.host("a.localhost")
    site.page("/two", "The same", prose(150, 1))
    site.page("/", "The same", prose(150, 1), links=["/two"])
    run_crawl(tmp_path, web.url("a.localhost"), {**QUICK, "storage.index.merge_duplicates": False})
    assert lead(tmp_path) == {"/", "/two"}
    assert aliases(tmp_path) == Counter()


@pytest.mark.parametrize("seed", [0, pytest.param(1, marks=pytest.mark.slow)])
def test_killed_among_duplicates(tmp_path: Path, seed: int) -> None:
    """Eight texts on some 200 pages, with other links on each: after any kill all are there, and a group for each text."""
    moments = random.Random(seed)
    with random_web(seed, hosts=6, pages=200, delay=0.004) as web:
        for number, place in enumerate(sorted(web.expected())):
            host, slash, path = place.partition("/")
            web.host(host).change(slash + path, title="The same", text=prose(LONG, number % 8))
        links = reference_links(web, tmp_path / "reference")
        for _ in range(3):
            kill(web, tmp_path, moments.randrange(1, 80))
        watch(web)
        said = larm_says(*crawl_arguments(tmp_path, web.start_urls, SETTINGS, *SCOPE))
        assert said.status == 0, said.err
        check_complete(tmp_path, web, links)
        assert len(groups(tmp_path)) == 8


def test_killed_at_the_very_end_of_a_revisit(tmp_path: Path, web: SyntheticWeb) -> None:
    """One alias has changed and the page that leads is gone, which is told at the end; then everything is on the disk but the
    last checkpoint."""
    site = web.host("a.localhost")
    for path in ("/one", "/two", "/three"):
        site.page(path, "The same", prose(150, 1))
    site.page("/", "Start", links=["/one", "/two", "/three"])
    start = [web.url("a.localhost")]
    settings = {"monitor.tick": "1h", "recrawl.most_gone": 1}
    assert larm_says(*crawl_arguments(tmp_path, start, settings)).status == 0
    (first,) = lead(tmp_path) - {"/"}
    other, last = sorted({"/one", "/two", "/three"} - {first})
    site.change(other, text=prose(150, 2))
    site.remove(first)
    said = larm_says(*crawl_arguments(tmp_path, start, settings), before=KILL)
    assert said.status == -signal.SIGKILL
    said = larm_says(*crawl_arguments(tmp_path, start, settings))
    assert said.status == 0, said.err
    assert lead(tmp_path) == {"/", other, last}
    assert aliases(tmp_path) == Counter()


@pytest.mark.parametrize("reindexed", [False, True])
def test_killed_in_a_revisit_and_then_everything_is_as_it_was(tmp_path: Path, web: SyntheticWeb, reindexed: bool) -> None:
    """The page that leads had changed and an alias had taken over; no checkpoint knows, and the next answer is the old one."""
    site = web.host("a.localhost")
    for path in ("/one", "/two"):
        site.page(path, "The same", prose(150, 1))
    site.page("/", "Start", links=["/one", "/two"])
    start = [web.url("a.localhost")]
    settings = {"monitor.tick": "1h", "storage.index.commit_after": "0s"}
    assert larm_says(*crawl_arguments(tmp_path, start, settings)).status == 0
    before, following = lead(tmp_path), aliases(tmp_path)
    (first,) = before - {"/"}
    site.change(first, text=prose(150, 2))
    said = larm_says(*crawl_arguments(tmp_path, start, settings), before=KILL_IN_THE_MIDDLE)
    assert said.status == -signal.SIGKILL
    assert lead(tmp_path) == {"/", "/one", "/two"}
    if reindexed:
        reindex_pages(config_of(start, settings), tmp_path)
    site.change(first, text=prose(150, 1))
    said = larm_says(*crawl_arguments(tmp_path, start, settings))
    assert said.status == 0, said.err
    assert lead(tmp_path) == before
    assert aliases(tmp_path) == following

"""Fields of documents: rules of config.yaml take them from pages; they are searched, shown, exported, and made again."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest

from larm import cli, open_index
from larm.testing.replies import html
from larm.testing.web import SyntheticWeb
from tests.stories.crawls import run_crawl

RULES = """
sites:
  shop.localhost:
    pages:
      - when: article.book
        title: h1
        main: article.book
        without: .advert
        fields:
          author: .author
          tags: .tags li
          published_at: 'meta[itemprop=datePublished]::attr(content)'
      - fields: {shelf: h1}
storage:
  index:
    fields:
      author: {tokenise: true}
      tags: {store: false}
      published_at: {index: false}
"""
BOOK = """<title>Shop</title><meta itemprop="datePublished" content="1847-10-16">
<nav><a href="/">All books</a></nav>
<article class="book"><h1>Jane Eyre</h1><p class="author">Charlotte <b>Brontë</b></p><ul class="tags"><li>Novel<li>Orphans</ul>
<p>There was no possibility of taking a walk that day.<p class="advert">Raincoats! <a href="/rain">see them</a></article>
<div>Related: lighthouses</div>"""


@pytest.fixture
def directory(web: SyntheticWeb, tmp_path: Path) -> Path:
    site = web.host("shop.localhost")
    site.add("/", html('<title>Shop</title><h1>All books</h1><a href="/jane">one</a><p>There are books.'))
    site.add("/jane", html(BOOK))
    site.add("/rain", html("<title>Raincoats</title><h1>Rain</h1><p>They keep dry."))
    (tmp_path / "config.yaml").write_text(RULES)
    from larm.config import load

    settings = load(tmp_path / "config.yaml")
    assert settings.sites["shop.localhost"].pages
    quick = ["-s", "frontier.delay=0", "-s", "fetch.ip='4'"]
    assert cli.run(["crawl", web.url("shop.localhost"), "--dir", str(tmp_path), "-q", *quick]) == 0
    return tmp_path


def found(directory: Path, query: str) -> list[str]:
    return [hit.url.rpartition("/")[2] for hit in open_index(directory).search(query).hits]


@pytest.mark.parametrize(
    ("query", "pages"),
    [
        ('author:"Charlotte Brontë"', ["jane"]),
        ("author:charlotte", ["jane"]),
        ("author:BRONTË", ["jane"]),
        ("author:emily", []),
        ("tags:novel", ["jane"]),
        ("tags:all", ["jane"]),
        ("walk -tags:orphans", []),
        ("published_at:1847-10-16", []),  # it is not indexed, so this is no field but words
        ("shelf:rain", ["rain"]),
        ("shelf:books", []),  # not tokenised: the whole value counts
        ('shelf:"all books"', [""]),
        ("intitle:eyre", ["jane"]),
        ("raincoats keep", ["rain"]),
    ],
)
def test_fields_are_searched(directory: Path, query: str, pages: list[str]) -> None:
    assert found(directory, query) == pages


def test_what_is_left_out_is_no_text_and_its_links_are_followed(directory: Path) -> None:
    assert found(directory, "possibility walk") == ["jane"]
    page = next(hit for hit in open_index(directory).search("walk").hits)
    assert page.title == "Jane Eyre"
    assert page.fields == {"author": ("Charlotte Brontë",), "published_at": ("1847-10-16",)}
    assert "rain" in found(directory, "rain")


def test_fields_are_shown_and_exported(directory: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(["search", "walk", "--dir", str(directory)]) == 0
    assert "   author: Charlotte Brontë · published_at: 1847-10-16\n" in capsys.readouterr().out
    assert cli.run(["search", "walk", "--json", "--dir", str(directory)]) == 0
    assert json.loads(capsys.readouterr().out)["hits"][0]["fields"]["published_at"] == ["1847-10-16"]
    assert cli.run(["export", "tags:novel", "--dir", str(directory)]) == 0
    row = json.loads(capsys.readouterr().out)
    assert row["fields"] == {"author": "Charlotte Brontë", "tags": ["Novel", "Orphans"], "published_at": "1847-10-16"}
    assert "Raincoats" not in row["text"]
    assert {link["url"].rpartition("/")[2] for link in row["links"]} == {"", "rain"}
    assert cli.run(["export", "--format", "csv", "--dir", str(directory)]) == 0
    rows = {row["url"].rpartition("/")[2]: row for row in csv.DictReader(io.StringIO(capsys.readouterr().out, newline=""))}
    assert rows["jane"]["tags"] == "Novel\nOrphans"
    assert rows[""]["shelf"] == "All books"


def test_rules_that_come_later_are_applied_by_reindex(directory: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (directory / "config.yaml").write_text(RULES.replace("shelf: h1", "sign: h1"))
    assert cli.run(["reindex", "--dir", str(directory)]) == 0
    (page,) = open_index(directory).search("sign:rain").hits
    assert page.fields == {"sign": ("Rain",)}


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (("title: h1", "title: 'h1['"), "sites.shop.localhost.pages: title: 'h1[' is no CSS selector"),
        (("shelf: h1", "shelf: '..h1'"), "sites.shop.localhost.pages: fields.shelf: '..h1' is no CSS selector"),
        (("shelf: h1", "site: h1"), "site: no name for a field: site: asks for something else in a search"),
        (("shelf: h1", "Shelf: h1"), "Shelf: no name for a field; expected lower-case letters"),
        (("tokenise: true", "tokenize: true"), "tokenise?"),
        (("when:", "wenn:"), "wenn"),
    ],
)
def test_mistakes_are_named(change: tuple[str, str], said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "config.yaml").write_text(RULES.replace(*change))
    assert cli.run(["check", "--dir", str(tmp_path)]) == 2
    assert said in capsys.readouterr().err


def test_what_rules_did_is_counted(web: SyntheticWeb, tmp_path: Path) -> None:
    web.host("shop.localhost").add("/", html("<title>Shop</title><p>words"))
    rules = {"sites": {"shop.localhost": {"pages": [{"main": "article"}]}}}
    run = run_crawl(tmp_path, web.url("shop.localhost"), rules)
    assert run.counters["page_rules/used"] == 1
    assert run.counters["page_rules/nothing_found"] == 1
    assert found(tmp_path, "words") == [""], "where the rule finds nothing, larm's own guess counts"


@pytest.mark.parametrize("processes", [0, 1])
def test_rules_are_not_applied_to_a_hostile_page_in_a_crawl_and_afterwards(
    web: SyntheticWeb, tmp_path: Path, processes: int, capsys: pytest.CaptureFixture[str]
) -> None:
    """Without the limit each of these takes minutes."""
    web.host("shop.localhost").add("/", html(f"<title>Shop</title><p>words{'<div>' * 2_000}"))
    rules = "sites: {shop.localhost: {pages: [{main: q div div div}]}}"
    (tmp_path / "config.yaml").write_text(f"{rules}\nprocessing: {{processes: {processes}}}\nfrontier: {{delay: 0}}\n")
    assert cli.run(["crawl", web.url("shop.localhost"), "--dir", str(tmp_path)]) == 0
    assert "1 whose markup is more work than processing.effort" in capsys.readouterr().err
    assert cli.run(["stats", "--json", "--dir", str(tmp_path)]) == 0
    assert "page_rules/too_slow" in capsys.readouterr().out
    assert cli.run(["reindex", "--dir", str(tmp_path)]) == 0
    assert cli.run(["export", "cut:processing.effort", "--dir", str(tmp_path)]) == 0
    assert "words" in capsys.readouterr().out

"""What was crawled is found: while the crawl runs, in all scripts, by every operator, and whatever the pages say."""

from __future__ import annotations

import json
import re
import signal
import time
from pathlib import Path

import pytest

from larm import open_index
from larm.errors import UsageError
from larm.testing.replies import Reply
from larm.testing.web import SyntheticWeb
from tests.stories.crawls import SILENCE, run_crawl
from tests.stories.processes import Process, crawl_arguments, larm_says, plain_lines_every

TEXTS = {
    "/en": ("Vacuum freezing", "The vacuum freezes old rows.", "en"),
    "/de": ("Häuser am See", "Viele Häuser stehen am Ufer.", "de"),
    "/ru": ("База данных", "Система управления базами данных.", "ru"),
    "/zh": ("数据库", "关系数据库管理系统是一种软件。", "zh"),
    "/ja": ("データベース", "データベースを検索します。", "ja"),
    "/th": ("ฐานข้อมูล", "ระบบจัดการฐานข้อมูลเป็นซอฟต์แวร์", "th"),
    "/ko": ("데이터베이스", "데이터베이스를 검색합니다.", "ko"),
    "/ar": ("قاعدة البيانات", "نظام إدارة قواعد البيانات", "ar"),
    "/hi": ("डेटाबेस", "यह एक डेटाबेस प्रणाली है", "hi"),
    "/el": ("Βάση δεδομένων", "Μια βάση δεδομένων", "el"),
}


def test_a_search_while_a_crawl_runs(web: SyntheticWeb, tmp_path: Path) -> None:
    """What the last checkpoint had is found, though the crawl waits for a page that never comes."""
    web.host("a.localhost").page("/", "Early", "the first words", links=["/never"])
    web.host("a.localhost").add("/never", SILENCE)
    often = crawl_arguments(tmp_path, [web.url("a.localhost")], {"monitor.tick": "50ms"})
    with Process(*often, before=plain_lines_every(0.05)) as crawl:
        found = None
        while not found:
            crawl.wait_for_line("page")
            try:
                found = open_index(tmp_path).search("words")
            except UsageError:  # there is no index yet
                continue
        assert [hit.title for hit in found] == ["Early"]
        assert b"Early" in larm_says("search", "words", "--dir", str(tmp_path)).out
        crawl.signal(signal.SIGINT)
        assert crawl.end().status == 130


@pytest.fixture
def library(web: SyntheticWeb, tmp_path: Path) -> Path:
    """A crawl of pages in many languages, on two hosts."""
    site = web.host("www.a.localhost")
    other = web.url("b.localhost", "/book.txt")
    site.page("/", "Shelf", links=[*TEXTS, other])
    for path, (title, text, language) in TEXTS.items():
        markup = f"<html lang={language}><meta charset=utf-8><title>{title}</title><body><p>{text}</p>"
        headers = {"Content-Type": "text/html; charset=utf-8", "Last-Modified": "Fri, 17 May 2024 12:00:00 GMT"}
        site.add(path, Reply(200, headers, markup.encode()))
    web.host("b.localhost").add("/book.txt", Reply(200, {"Content-Type": "text/plain"}, b"A plain book on the vacuum."))
    run_crawl(tmp_path, web.url("www.a.localhost"), {"crawl.restrict_to": ".*"})
    return tmp_path


@pytest.mark.parametrize(
    ("query", "path", "marked"),
    [
        ("freezes rows", "/en", ["freezes", "rows"]),
        ("ufer", "/de", ["Ufer"]),
        ("häuser stehen", "/de", ["Häuser", "stehen"]),
        ("системы OR система", "/ru", ["Система"]),
        ("数据库管理", "/zh", ["数据库管理"]),
        ("検索", "/ja", ["検索"]),
        ("ข้อมูล", "/th", ["ข้อมูล"]),
        ("검색", "/ko", ["검색"]),
        ("إدارة", "/ar", ["إدارة"]),
        ("प्रणाली", "/hi", ["प्रणाली"]),
        ("βάση", "/el", ["βάση"]),
    ],
)
def test_many_scripts(library: Path, query: str, path: str, marked: list[str]) -> None:
    results = open_index(library).search(query)
    assert [re.sub(r"http://[^/]+", "", hit.url) for hit in results] == [path]
    assert [text for text, is_word in results.hits[0].parts if is_word][-len(marked) :] == marked


@pytest.mark.parametrize(
    ("query", "paths"),
    [
        ("vacuum site:b.localhost", {"/book.txt"}),
        ("vacuum -site:b.localhost", {"/en"}),
        ("vacuum filetype:txt", {"/book.txt"}),
        ("lang:ja", {"/ja"}),
        ("modified:2024-05-17 lang:th", {"/th"}),
        ("after:2024-05-17 before:2024-05-18", set(TEXTS)),
        ("after:2024-05-18", set()),
        ("inurl:book", {"/book.txt"}),
        ("intitle:vacuum", {"/en"}),
        ("host:all", {"/"}),
    ],
)
def test_operators(library: Path, query: str, paths: set[str]) -> None:
    found = {re.sub(r"http://[^/]+", "", hit.url) for hit in open_index(library).search(query, 50)}
    assert found == paths


def test_links_to_a_page(library: Path) -> None:
    index = open_index(library)
    book = index.search("inurl:book").hits[0].url
    assert [hit.title for hit in index.search(f"link:{book}")] == ["Shelf"]
    assert [hit.url for hit in index.search(f"info:{book}")] == [book]
    assert index.search(f"link:{book} -intitle:shelf").total == 0
    assert index.search("link:http://nowhere/").total == 0


def test_a_page_that_says_the_same_as_another(web: SyntheticWeb, tmp_path: Path) -> None:
    """Its address leads to the one that is in the index."""
    text = "The same words on two pages of a host, enough of them to be sure. " * 5
    web.host("a.localhost").page("/", "Home", links=["/one", "/two"])
    for path in ("/one", "/two"):
        web.host("a.localhost").page(path, "Twin", text)
    run_crawl(tmp_path, web.url("a.localhost"))
    index = open_index(tmp_path)
    found = [index.search(f"info:{web.url('a.localhost', path)}") for path in ("/one", "/two")]
    assert [[hit.title for hit in each] for each in found] == [["Twin"], ["Twin"]]
    assert sorted(len(each.notes) for each in found) == [0, 1]
    assert any(": same text as http://a.localhost" in note for each in found for note in each.notes)


HOSTILE = "\x1b]0;owned\x07\x1b[31mred\x9b2J\u202eevil\x00\r\n\x1b[2J"


def test_hostile_pages(web: SyntheticWeb, tmp_path: Path) -> None:
    """Neither titles, texts, descriptions nor addresses get an escape sequence to the terminal, nor markup into HTML."""
    markup = f"<title>{HOSTILE}</title><meta name=description content='{HOSTILE}'>"
    markup += f"<p>tide {HOSTILE} &lt;script&gt;tide&lt;/script&gt;"
    web.host("a.localhost").add("/", Reply(200, {"Content-Type": "text/html; charset=utf-8"}, markup.encode()))
    run_crawl(tmp_path, web.url("a.localhost"))
    for arguments in ([], ["--explain"], ["--json"]):
        said = larm_says("search", "tide", HOSTILE.replace("\0", ""), "--dir", str(tmp_path), *arguments)
        assert said.status == 0
        shown = said.out.decode() + said.err
        assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e]", shown)
        assert "evil" in shown
    (hit,) = json.loads(larm_says("search", "tide", "--json", "--dir", str(tmp_path)).out)["hits"]
    assert "<script>" not in hit["html"]
    assert "&lt;script&gt;<mark>tide</mark>&lt;/script&gt;" in hit["html"]


def test_pattern_with_many_stars_is_answered_at_once_when_a_word_is_nearly_like_it(tmp_path: Path, web: SyntheticWeb) -> None:
    web.host("a.localhost").page("/", body=f"<p>{'a' * 60} aab aaxab.")
    run_crawl(tmp_path, web.url("a.localhost"))
    start = time.process_time()
    assert open_index(tmp_path).search("aa*a*a*a*a*a*a*a*a*a*a*a*a*b").total == 0
    assert open_index(tmp_path).search("aa*b").total == 1
    assert open_index(tmp_path).search("aa?ab").total == 1
    assert time.process_time() - start < 2

from __future__ import annotations

import re
import shutil
from html import unescape
from pathlib import Path

import pytest
from selectolax.lexbor import LexborHTMLParser

from larm.config import ServeSettings
from larm.kit.units import Seconds
from larm.store.archive.records import Records, gzip_member
from tests.store.archive.exchanges import exchange
from tests.stories.crawls import run_crawl
from tests.support.webs.words import prose
from tests.web.conftest import HOSTILE, Served, Start, crawled

TEMPLATES = Path(__file__).parents[2] / "larm" / "web" / "templates"


def titles(text: str) -> list[str]:
    return [unescape(found) for found in re.findall(r'<h2 dir="auto"><a [^>]*>(.*?)</a></h2>', text)]


def test_results_as_larm_search_has_them(server: Served) -> None:
    """Both directories are one search; the words are marked, the crawl is named, the copy is a link."""
    answer = server.get("/search", params={"q": "tide causeway"})
    assert answer.status_code == 200
    assert sorted(titles(answer.text)[:2]) == ["Books", "Tide tables"]
    assert "<mark>causeway</mark>" in answer.text
    assert "<span>in harbour</span>" in answer.text
    assert "<span>in library</span>" in answer.text
    assert "/copy?in=library" in answer.text
    assert server.get("/search", params={"q": "tide", "in": "library"}).text.count("<li>") == 1


def test_a_page_in_arabic_is_read_from_the_right(start: Start, tmp_path: Path) -> None:
    """By its own letters: the words of a title that are Latin would be out of order."""
    crawled(tmp_path, {"/": ("دليل HTML للمستخدم", "نص عربي tide")})
    tree = LexborHTMLParser(start(tmp_path).get("/search", params={"q": "tide"}).text)
    assert [node.attributes.get("dir") for node in tree.css("li h2, li h2 + p + p")] == ["auto", "auto"]


def test_a_long_question_does_not_fill_the_screen(server: Served) -> None:
    assert '<b dir="auto">' + "x" * 197 + "...</b>" in server.get("/search", params={"q": "x" * 3000}).text


def test_fields_of_pages_are_shown_as_text(start: Start, tmp_path: Path) -> None:
    rules = {"a.localhost": {"pages": [{"fields": {"author": "b"}}]}}
    markup = "<title>Gulls</title><p>gulls at sea <b>Ada &lt;i&gt;Reed</b>"
    crawled(tmp_path, {"/": ("Gulls", "gulls", markup)}, sites=rules)
    answer = start(tmp_path).get("/search", params={"q": "author:all gulls"}).text
    assert "<span>author: Ada &lt;i&gt;Reed</span>" in answer


def test_pages_of_results(server: Served) -> None:
    first = server.get("/search", params={"q": "cart", "in": "harbour"})
    assert "1 to 10 of 25 pages" in first.text
    assert 'href="/search?q=cart&amp;in=harbour&amp;page=3"' in first.text
    assert "21 to 25 of 25" in server.get("/search", params={"q": "cart", "in": "harbour", "page": "3"}).text
    assert "none of them on page 9" in server.get("/search", params={"q": "cart", "in": "harbour", "page": "9"}).text
    for odd in ("0", "-1", "x", "²", "9" * 50, ""):
        assert server.get("/search", params={"q": "cart", "page": odd}).status_code == 200


def test_notes_and_spelling(server: Served) -> None:
    answer = server.get("/search", params={"q": "causwey site:"}).text
    assert "site: was taken for a word: not followed by a host" in answer
    assert "a - alone excludes nothing" in server.get("/search", params={"q": "-"}).text
    assert "parentheses with no word in them were ignored" in server.get("/search", params={"q": "tide ()"}).text
    assert server.get("/search", params={"q": "tide type:html"}).text.count("<li>") > 0
    assert "Nothing found" in server.get("/search", params={"q": "tide type:pdf"}).text
    answer = server.get("/search", params={"q": "zzzz"}).text
    assert "Nothing found" in answer
    answer = server.get("/search", params={"q": "causewya"}).text
    assert "nothing found for causewya; these pages are for causeway" in answer
    assert "<mark>" in answer
    answer = server.get("/search", params={"q": "causewya tide"}).text
    assert "Did you mean <a" in answer
    assert ">causeway tide</a>" in answer


def test_why_it_was_found(server: Served) -> None:
    assert "<details>" not in server.get("/search", params={"q": "tide"}).text
    answer = server.get("/search", params={"q": "tide", "explain": "1"}).text
    assert re.search(r"<th scope=\"row\">word tide</th><td>[\d.]+</td>", answer)


def test_without_words_it_is_the_first_page(server: Served) -> None:
    assert server.get("/search", params={"q": "  "}).headers["location"] == "/"
    answer = server.get("/")
    assert answer.status_code == 200
    assert 'name="in" value="library"' in answer.text


def test_a_question_to_the_first_page_goes_to_its_answer(server: Served) -> None:
    answer = server.get("/", params={"q": "tide causeway", "in": "library"}, follow_redirects=False)
    assert (answer.status_code, answer.headers["location"]) == (303, "/search?q=tide+causeway&in=library")


def test_the_stored_copy(server: Served, harbour: Path) -> None:
    found = server.get("/api/v1/search", params={"q": "tide tables", "in": "harbour"}).json()["hits"][0]["url"]
    answer = server.get("/copy", params={"in": "harbour", "url": found})
    assert answer.status_code == 200
    assert "The tide comes in over the causeway" in answer.text
    assert re.search(r'<iframe sandbox loading="lazy" [^>]*src="/copy/original\?in=harbour&amp;url=', answer.text)
    original = server.get("/copy/original", params={"in": "harbour", "url": found})
    assert b"The tide comes in" in original.content
    assert original.headers["content-security-policy"].startswith("sandbox; default-src 'none'")
    assert original.headers["x-content-type-options"] == "nosniff"
    for wrong in ({"in": "harbour", "url": "http://nowhere/"}, {"in": "nobody", "url": found}, {"url": found}, {}):
        assert server.get("/copy", params=wrong).status_code == 404
        assert server.get("/copy/original", params=wrong).status_code == 404


def test_a_title_without_an_end_is_cut(start: Start, tmp_path: Path) -> None:
    """Some pages have all of their text in it, as what should end it is misspelt."""
    crawled(tmp_path, {"/": ("word " * 20_000, "A ferry.")})
    server = start(tmp_path)
    hit = server.get("/api/v1/search", params={"q": "ferry"}).json()["hits"][0]
    assert len(hit["title"]) > 50_000
    answer = server.get("/copy", params={"in": tmp_path.name, "url": hit["url"]})
    assert answer.text.partition("Its text")[0].count("word word") < 400


def test_the_stored_copy_of_a_page_of_an_archive(start: Start, tmp_path: Path) -> None:
    """A crawl of WARC files keeps pages as any other does; what is nowhere on the web can be read."""
    made = Records(gzip_member)
    answer = exchange("http://gone.example/page", b"<title>Gone</title><p>the ferry went at noon")
    (tmp_path / "old.warc.gz").write_bytes(made.response(answer).member)
    directory = tmp_path / "archive"
    assert run_crawl(directory, (tmp_path / "old.warc.gz").as_uri()).reason == "finished"
    server = start(directory)
    assert titles(server.get("/search", params={"q": "ferry"}).text) == ["Gone"]
    asked = {"in": "archive", "url": "http://gone.example/page"}
    assert "the ferry went at noon" in server.get("/copy", params=asked).text
    assert b"<title>Gone</title>" in server.get("/copy/original", params=asked).content


@pytest.mark.parametrize("name", ["..", "../harbour", "/etc", "harbour/../harbour", "%2e%2e", "harbour\0"])
def test_no_parameter_is_a_path(server: Served, name: str) -> None:
    for path in ("/copy", "/copy/original", "/search", "/api/v1/page", "/api/v1/search"):
        answer = server.get(path, params={"in": name, "q": "tide", "url": "file:///etc/passwd"})
        assert answer.status_code in {400, 404}, path
    for path in ("/static/../app.py", "/static/%2e%2e/app.py", "/static/..%2fapp.py", "/static//etc/passwd"):
        assert server.get(path).status_code == 404


def test_what_pages_say_is_text(start: Start, tmp_path: Path) -> None:
    """Titles, passages, addresses and stored texts of somebody who means ill."""
    hostile = {
        "/": ("Home", "A quiet page."),
        "/x?a=%22%3E%3Cscript%3Ealert(1)%3C/script%3E": ("<script>alert(1)</script>", "evil one"),
        "/y": ('"><img src=x onerror=alert(1)>', "evil <script>alert(2)</script> </div> evil two"),
        "/z": ("javascript:alert(1)", "evil {{ 9091*7919 }} {% raw %} \u202e three"),
    }
    (tmp_path / "evil").mkdir()
    crawled(tmp_path / "evil", hostile)
    served = start(tmp_path / "evil")
    answer = served.get("/search", params={"q": "evil", "explain": "1"})
    urls = [hit["url"] for hit in served.get("/api/v1/search", params={"q": "evil"}).json()["hits"]]
    assert len(urls) == 3
    copies = [served.get("/copy", params={"in": "evil", "url": url}).text for url in urls]
    typed = (HOSTILE, '"><img src=x onerror=alert(1)>', "{{9091*7919}}")
    queries = [served.get("/search", params={"q": words}).text for words in typed]
    for text in [answer.text, *copies, *queries]:
        tree = LexborHTMLParser(text)
        assert [node.attributes for node in tree.css("script")] == [{"src": "/static/larm.js", "defer": None}]
        assert not tree.css("img, object, embed, base, svg, style, meta[http-equiv]")
        attributes = [name for node in tree.css("*") for name in node.attributes]
        assert not [name for name in attributes if name.startswith("on") or name == "style"]
        links = [node.attributes.get("href") or "" for node in tree.css("a")]
        assert all(link.startswith(("/", "#", "http://")) for link in links)
        assert "\u202e" not in text
        assert "71991629" not in text


def test_templates_have_no_way_around_escaping() -> None:
    for template in TEMPLATES.iterdir():
        text = template.read_text()
        assert not re.search(r"\|\s*safe|autoescape|Markup|\son\w+=|style=|<style|javascript:", text), template
        assert not re.search(r"<script(?! src=\"/static/larm.js\" defer>)", text), template


def test_a_search_that_takes_too_long_is_stopped(start: Start, harbour: Path) -> None:
    served = start(harbour, settings=ServeSettings(search_time=Seconds(0.000001)))
    answer = served.get("/search", params={"q": "tide"})
    assert answer.status_code == 503
    assert "harbour did not answer: it took longer than 1e-06 s and was stopped" in answer.text


def test_a_directory_without_an_index_is_a_sentence(start: Start, harbour: Path, tmp_path: Path) -> None:
    served = start(harbour, tmp_path)
    answer = served.get("/search", params={"q": "tide"})
    assert answer.status_code == 200
    assert "did not answer: no index in" in answer.text
    assert titles(answer.text) == ["Tide tables"]
    alone = start(tmp_path)
    assert alone.get("/search", params={"q": "tide"}).status_code == 503
    assert alone.get("/copy", params={"in": tmp_path.name, "url": "http://a/"}).status_code == 503


def test_a_damaged_index_is_a_sentence(start: Start, harbour: Path, library: Path, tmp_path: Path) -> None:
    """Whatever is wrong with one, the others are searched."""
    shutil.copytree(library, tmp_path / "broken")
    (tmp_path / "broken" / "index" / "meta.json").write_bytes(b"\x00{")
    served = start(harbour, tmp_path / "broken")
    answer = served.get("/search", params={"q": "tide"})
    assert answer.status_code == 200
    assert "broken did not answer: " in answer.text
    assert "Tide tables" in titles(answer.text)
    assert served.get("/copy", params={"in": "broken", "url": "http://a/"}).status_code == 503
    assert served.get("/api/v1/page", params={"in": "broken", "url": "http://a/"}).status_code == 503


def test_crawls_below_a_root(start: Start, harbour: Path, library: Path) -> None:
    served = start(root=harbour.parent)
    assert "in harbour" not in served.get("/search", params={"q": "shelf"}).text
    assert titles(served.get("/search", params={"q": "eels"}).text) == ["Eels"]


def test_too_many_searches_are_told_to_come_again(start: Start, harbour: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("larm.web.search_desk.WAITING", 0)
    monkeypatch.setattr("larm.web.search_desk.SEARCHES", 1)
    served = start(harbour)
    desk_busy = [served.get("/search", params={"q": "tide"}).status_code for _ in range(3)]
    assert desk_busy == [200, 200, 200], "one after the other there is room"


@pytest.fixture(scope="module")
def mixed(start: Start, tmp_path_factory: pytest.TempPathFactory) -> Served:
    """Two languages, so that there is a facet."""
    directory = tmp_path_factory.mktemp("mixed")
    english = ("Ferry", "The ferry to the island leaves in the morning and comes back at night, when the tide is high. " * 3)
    german = ("Fähre", "Die Ferry, also die Fähre zur Insel, fährt am Morgen ab und kommt am Abend bei Flut zurück. " * 3)
    crawled(directory, {"/": english, "/de": german, "/tide": ("Tide", "The tide and nothing else, all day long.")})
    return start(directory)


def test_facets_narrow_down_and_say_so(mixed: Served) -> None:
    answer = mixed.get("/search", params={"q": "ferry tide"}).text
    assert 'href="/search?q=ferry+tide&amp;language=de"' in answer
    assert "Site:" not in answer, "all are of one site"
    answer = mixed.get("/search", params={"q": "ferry tide", "language": "de"}).text
    assert titles(answer) == ["Fähre"]
    assert "<b>de</b>" in answer
    assert '<a href="/search?q=ferry+tide">any' in answer
    assert '<input type="hidden" name="language" value="de">' in answer
    answer = mixed.get("/search", params={"q": "ferry", "site": "elsewhere.org", "age": "decade"}).text
    assert "Nothing found" in answer
    assert "<b>elsewhere.org</b>" in answer
    assert titles(mixed.get("/search", params={"q": "ferry", "age": "decade"}).text), "no age is any age"
    assert HOSTILE not in mixed.get("/search", params={"q": "ferry", "site": HOSTILE}).text


def test_sorted_by_date(mixed: Served) -> None:
    assert 'href="/search?q=ferry&amp;sort=date">date' in mixed.get("/search", params={"q": "ferry"}).text
    answer = mixed.get("/search", params={"q": "ferry", "sort": "date"}).text
    assert "<b>date</b>" in answer
    assert '<input type="hidden" name="sort" value="date">' in answer
    assert 'href="/search?q=ferry">relevance' in answer


def test_pages_that_say_the_same_are_a_link_away(start: Start, tmp_path: Path) -> None:
    """Left out, they are said; shown, they stay when the search goes on."""
    text = f"ferry {prose(300, 1)}"
    crawled(tmp_path, {"/": ("Start", "start"), "/one": ("One", text), "/two": ("Two", f"{text} {prose(3, 2)}")})
    server = start(tmp_path)
    answer = server.get("/search", params={"q": "ferry"}).text
    assert len(titles(answer)) == 1
    assert (
        'Left out: 1 page that says nearly the same as one of these. <a href="/search?q=ferry&amp;alike=1">Show all' in answer
    )
    answer = server.get("/search", params={"q": "ferry", "alike": "1"}).text
    assert sorted(titles(answer)) == ["One", "Two"]
    assert '<input type="hidden" name="alike" value="1">' in answer
    assert "Left out" not in answer
    assert len(server.get("/api/v1/search", params={"q": "ferry", "alike": "true"}).json()["hits"]) == 2

from __future__ import annotations

import pytest

from larm.config import ProcessingSettings
from larm.model.crawl_hash import page_hash
from larm.model.document import Document
from larm.model.link_memo import LinkMemo
from larm.model.message import URLMessage
from larm.model.outcome import Fetched
from larm.parse.by_mime import processors
from larm.testing.fakes import message, page
from tests.parse.pages import PAGE, by_mime, document, normalizer


class Own:
    """A processor of a user's own."""

    def process(self, message: URLMessage, fetched: Fetched, mime: str) -> Document:
        return Document(mime, title="mine", raw_text=fetched.body.decode())


class Odd:
    """Returns what it was given."""

    def __init__(self, **said: object) -> None:
        self.said = said

    def process(self, message: URLMessage, fetched: Fetched, mime: str) -> Document:
        return Document(mime, **self.said)  # type: ignore[arg-type]


class Broken:
    def process(self, message: URLMessage, fetched: Fetched, mime: str) -> Document:
        raise ZeroDivisionError("oops\nsecond line")


OOPS = f"test_by_mime.py, line {Broken.process.__code__.co_firstlineno + 1}"


def test_types_without_a_processor_are_stored_and_not_parsed() -> None:
    assert document(b"%PDF-1.4 <a href=x>", content_type="application/pdf") == Document("application/pdf")


def test_html_and_xhtml_are_parsed_and_so_is_what_has_no_type() -> None:
    for content_type in ("text/html", "application/xhtml+xml", "", "application/octet-stream"):
        found = document("<html><title>T</title><a href=x>y</a>", content_type=content_type)
        assert (found.title, len(found.links)) == ("T", 1), content_type


def test_text_has_neither_title_nor_links() -> None:
    found = document("one\r\ntwo <a href=x> \xe4\n".encode("latin-1"), content_type="text/plain; charset=latin1")
    text = "one\ntwo <a href=x> ä"
    assert found == Document("text/plain", raw_text=text, charset="windows-1252", language="en", words=page_hash("", text))
    assert found.seen == found.words


def test_binary_sent_as_text_is_not_read() -> None:
    found = document(b"\x7fELF\0\0", content_type="text/plain")
    assert found.text == ""
    assert found.warnings == (f"{PAGE}: sent as text/plain, but it is binary",)


@pytest.mark.parametrize(
    ("body", "text"),
    [
        (b"N\x08NA\x08AM\x08ME\x08E\n  _\x08l_\x08s - lists", "NAME\n ls - lists"),
        (b"Read me\r\n\x1a", "Read me"),
        (b"a record of text, " * 20 + b"\0 filled up" + b"\0" * 900, "a record of text, " * 20 + " filled up"),
        ("words".encode("utf-16-le"), "words"),
    ],
    ids=["struck twice", "end of a file of DOS", "filled up", "two bytes a letter"],
)
def test_text_with_characters_that_are_none(body: bytes, text: str) -> None:
    """A browser would ask where to save it; people can read it."""
    charset = "; charset=utf-16le" if body[1:2] == b"\0" else ""
    found = document(body, content_type=f"text/plain{charset}")
    assert found.text.split() == text.split()
    assert found.warnings == ()


@pytest.mark.parametrize("name", ["text", "spreadsheet", "presentation", "graphics"])
def test_open_document_in_one_file_of_xml(name: str) -> None:
    flat = "<office:document><office:body><text:p>Words of it</text:p></office:body></office:document>"
    assert document(flat, content_type=f"application/vnd.oasis.opendocument.{name}-flat-xml").text == "Words of it"


def test_own_processors_come_first_and_may_take_a_family() -> None:
    counted: list[tuple[str, int]] = []
    parts = processors(
        LinkMemo(normalizer),
        ProcessingSettings(),
        {"Text/HTML": Own(), "image/*": Own()},
        lambda name, n: counted.append((name, n)),
    )
    assert parts.process(message(PAGE), page("<p>x")).title == "mine"
    assert parts.process(message(PAGE), page("x", content_type="image/png")).title == "mine"
    assert counted == []


@pytest.mark.parametrize("mime", ["application/x-sh", "application/x-tex", "application/yaml", "text/x-python"])
def test_programs_and_their_like_are_text_whatever_family_their_type_is_of(mime: str) -> None:
    assert document("words of a program", content_type=mime).text == "words of a program"
    assert document(b"\x7fELF\0\0", content_type=mime).text == ""


@pytest.mark.parametrize(
    ("said", "why"),
    [
        ({"title": 5}, "Document.title: Expected `str`, got `int`"),
        ({"raw_text": None}, "Document.raw_text: Expected `str`, got `null`"),
        ({"modified": 1.5}, "Document.modified: Expected `int`, got `float`"),
        ({"fields": {"Bad Name": "x"}}, "fields: expected a name such as published_at, and texts, got 'Bad Name': 'x'"),
    ],
)
def test_a_document_of_an_own_processor_that_is_none_costs_one_page(said: dict[str, object], why: str) -> None:
    """A title of None had ended the fetcher thread that measured it, and with it the crawl, in each run anew."""
    found = processors(LinkMemo(normalizer), ProcessingSettings(), {"text/html": Odd(**said)}).process(
        message(PAGE), page("<p>x")
    )
    assert found.cuts == ("processor",)
    assert found.warnings[0].startswith(f"{PAGE}: Odd: TypeError: {why}")


def test_an_own_processor_may_give_lists() -> None:
    own = Odd(headings=["one", "two"], fields={"author": ["Jane", "Joe"], "price": "5"})
    found = processors(LinkMemo(normalizer), ProcessingSettings(), {"text/html": own}).process(message(PAGE), page("<p>x"))
    assert found.headings == ("one", "two")
    assert found.fields == {"author": ("Jane", "Joe"), "price": ("5",)}


def test_a_processor_that_raises_costs_one_page() -> None:
    counted: list[tuple[str, int]] = []
    parts = processors(
        LinkMemo(normalizer), ProcessingSettings(), {"text/html": Broken()}, lambda name, n: counted.append((name, n))
    )
    found = parts.process(message(PAGE), page("<p>x"))
    said = f"{PAGE}: Broken: ZeroDivisionError: oops ({OOPS})"
    assert found == Document("text/html", index=False, warnings=(said,), cuts=("processor",))
    assert counted == [("processing/error", 1)]
    assert parts.process(message(PAGE), page("x", content_type="text/plain")).text == "x"


def test_repr_names_the_types() -> None:
    said = repr(by_mime())
    assert said.startswith("ByMime(*/*+xml, application/atom, ")
    for mime in ("application/gzip", "application/xhtml+xml", "inode/directory", "text/*", "text/html", "text/plain"):
        assert f" {mime}" in said

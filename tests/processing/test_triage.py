from __future__ import annotations

import pytest

from larm.config import Documents, Processing
from larm.model.document import Document
from larm.model.link_memo import LinkMemo
from larm.model.message import URLMessage
from larm.model.outcome import Fetched
from larm.processing.apart.reader import DocumentProcessor, DocumentReader
from larm.processing.by_mime import processors
from larm.processing.html import HtmlProcessor
from larm.processing.triage import LARGE, Triage
from larm.testing.fakes import page
from tests.processing.office_files import docx
from tests.processing.pages import normalizer


def triage(settings: Processing | None = None) -> Triage:
    return Triage(settings or Processing())


@pytest.mark.parametrize(
    ("kind", "body", "is_page"),
    [
        ("text/html", b"<p>x", True),
        ("application/xhtml+xml; charset=utf-8", b"\n <p>x", True),
        ("text/html", b"words", True),
        ("text/html", b"", True),
        ("text/html", b"%PDF-1.4\n%\xe2\xe3\xcf\xd3", False),  # a document: its reader takes seconds
        ("text/plain", b"<!DOCTYPE html><p>x", False),  # for all others to decide
        ("", b"<!DOCTYPE html><p>x", False),
    ],
)
def test_pages_that_can_be_read_elsewhere(kind: str, body: bytes, is_page: bool) -> None:
    assert triage().is_page(page(body, content_type=kind)) is is_page


@pytest.mark.parametrize(
    "slower",
    [
        Processing(parser="html5lib"),
        Processing(srcset=True),
        Processing(follow_embedded=True),
        Processing(by_mime={"Text/HTML": "my.Processor"}),
    ],
)
def test_large_pages_are_for_the_fast_parser(slower: Processing) -> None:
    large = page(b"<p>" * LARGE)
    assert triage().is_page(large)
    assert not triage(slower).is_page(large)
    assert triage(slower).is_page(page(b"<p>"))


def test_what_is_slow() -> None:
    assert triage().is_slow(page(docx(), content_type="application/octet-stream"))
    assert triage().is_slow(page("", content_type="application/pdf"))
    assert not triage().is_slow(page("<p>"))
    assert triage().is_slow(page("<p>" * 1_000_000))


def test_documents_that_nobody_reads_are_not_slow() -> None:
    assert not triage(Processing(documents=Documents(processes=0))).is_slow(page(docx(), content_type=""))
    own = Processing(by_mime={"Application/PDF": "my.Processor"})
    assert not triage(own).is_slow(page("", content_type="application/pdf"))


class Own:
    def process(self, message: URLMessage, fetched: Fetched, mime: str) -> Document:
        return Document(mime)


@pytest.mark.parametrize(
    "settings",
    [
        Processing(),
        Processing(parser="html5lib"),
        Processing(srcset=True),
        Processing(follow_embedded=True),
        Processing(documents=Documents(processes=0)),
        Processing(by_mime={"Text/HTML": "my.Processor"}),
        Processing(by_mime={"Application/PDF": "my.Processor"}),
        Processing(by_mime={"application/*": "my.Processor", "text/plain": "my.Processor"}),
    ],
)
def test_it_says_what_the_processors_are_made_to_do(settings: Processing) -> None:
    """It goes by the settings, so that nothing has to be loaded; what they lead to is decided elsewhere."""
    own = dict.fromkeys(settings.by_mime, Own())
    made = processors(LinkMemo(normalizer), settings, own, documents=DocumentReader(settings.documents))._processors
    large, pdf = page(b"<p>" * LARGE), page(b"%PDF-1.4", content_type="application/pdf")
    assert triage(settings).is_page(large) is isinstance(made["text/html"], HtmlProcessor)
    assert triage(settings).is_slow(pdf) is isinstance(made.get("application/pdf"), DocumentProcessor)

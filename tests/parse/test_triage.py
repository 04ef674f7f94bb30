from __future__ import annotations

import gzip

import pytest

from larm.config import DocumentsSettings, ProcessingSettings
from larm.model.document import Document
from larm.model.link_memo import LinkMemo
from larm.model.message import URLMessage
from larm.model.outcome import Fetched
from larm.parse.apart.reader import DocumentProcessor, DocumentReader
from larm.parse.by_mime import Later, processors
from larm.parse.hostile import MAX_COPIES
from larm.parse.triage import LARGE_XML, Triage, Work
from larm.testing.fakes import page
from tests.parse.office_files import docx
from tests.parse.pages import normalizer

PAGE_SIZE = 10_000_000


def triage(settings: ProcessingSettings | None = None, memory: int = 2_000_000_000) -> Triage:
    return Triage(settings or ProcessingSettings(), PAGE_SIZE, memory)


@pytest.mark.parametrize(
    ("kind", "body", "work"),
    [
        ("text/html", b"<p>x", Work.LIGHT),
        ("application/xhtml+xml; charset=utf-8", b"\n <p>x", Work.LIGHT),
        ("text/html", b"words", Work.LIGHT),
        ("text/html", b"", Work.LIGHT),
        ("text/html", b"<p>" * 3_000_000, Work.HEAVY),
        ("application/rss+xml", b"<rss>", Work.LIGHT),
        ("application/feed+json", b"{}", Work.LIGHT),
        ("application/json", b"{}" + b" " * LARGE_XML, Work.HEAVY),
        ("text/xml", b"<urlset>", Work.LIGHT),
        ("text/xml", b"<urlset>" + b" " * LARGE_XML, Work.HEAVY),  # a tenth of a second
        ("text/html", b"%PDF-1.4\n%\xe2\xe3\xcf\xd3", Work.DOCUMENT),
        ("application/octet-stream", docx(), Work.DOCUMENT),
        ("application/pdf", b"", Work.DOCUMENT),
        ("application/gzip", gzip.compress(b"<p>", mtime=0), Work.HEAVY),  # nobody knows how much that is
        ("text/plain", gzip.compress(b"<p>", mtime=0), Work.HEAVY),
        ("text/plain", b"<!DOCTYPE html><p>x", Work.LIGHT),
        ("text/plain", b"words", Work.HERE),
        ("text/plain", b"x" * 9_000_000, Work.HEAVY),
        ("", b"<!DOCTYPE html><p>x", Work.LIGHT),
        ("image/png", b"\x89PNG\r\n\x1a\n" * 1_000_000, Work.HERE),
    ],
)
def test_who_reads_what(kind: str, body: bytes, work: Work) -> None:
    assert triage().work(page(body, content_type=kind)) is work


def test_pages_that_may_make_more_work_are_read_one_by_one_with_more_memory() -> None:
    """A page of 50 KB may make a million elements then, and those of the other processes have 300 MB."""
    much = triage(ProcessingSettings(effort=10))
    for kind in ("text/html", "text/xml"):
        assert much.work(page(b"<p>" * 2_000, content_type=kind)) is Work.HEAVY
        assert much.work(page(b"<p>" * 1_000, content_type=kind)) is Work.LIGHT
    assert much.memory(page(b"<p>")) - triage().memory(page(b"<p>")) >= 9 * 380 * MAX_COPIES


def test_light_pages_take_at_most_half_of_the_memory() -> None:
    page_of_2_mb = page(b"<p>" * 700_000, content_type="text/html")
    assert triage().work(page_of_2_mb) is Work.LIGHT
    assert triage(memory=100_000_000).work(page_of_2_mb) is Work.HEAVY
    assert triage(ProcessingSettings(parser="html5lib")).work(page_of_2_mb) is Work.HEAVY


def test_documents_that_nobody_reads_need_no_process() -> None:
    assert triage(ProcessingSettings(documents=DocumentsSettings(processes=0))).work(page(docx(), content_type="")) is Work.HERE


def test_processors_of_the_users_read_here() -> None:
    found = triage(ProcessingSettings(by_mime={"Application/PDF": "my.Processor"}))
    assert found.work(page("%PDF-", content_type="application/pdf")) is Work.HERE
    assert found.work(page("<p>")) is Work.LIGHT


def test_what_is_packed_may_be_as_large_as_any_page() -> None:
    """And its tree takes sixty times as much."""
    small, large = page("<p>"), page("<p>" * 1_000_000)
    assert triage().memory(small) < triage().memory(large) < triage().memory(page(gzip.compress(b"<p>", mtime=0)))
    assert triage().memory(large) < triage(ProcessingSettings(parser="html5lib")).memory(large)


class Own:
    def process(self, message: URLMessage, fetched: Fetched, mime: str) -> Document:
        return Document(mime)


@pytest.mark.parametrize(
    "settings",
    [
        ProcessingSettings(),
        ProcessingSettings(parser="html5lib"),
        ProcessingSettings(srcset=True),
        ProcessingSettings(follow_embedded=True),
        ProcessingSettings(documents=DocumentsSettings(processes=0)),
        ProcessingSettings(by_mime={"Text/HTML": "my.Processor"}),
        ProcessingSettings(by_mime={"Application/PDF": "my.Processor"}),
        ProcessingSettings(by_mime={"application/*": "my.Processor", "text/plain": "my.Processor"}),
    ],
)
def test_it_says_what_the_processors_are_made_to_do(settings: ProcessingSettings) -> None:
    """It goes by the settings, so that nothing has to be loaded; what they lead to is decided elsewhere."""
    own = dict.fromkeys(settings.by_mime, Own())
    made = processors(LinkMemo(normalizer), settings, own, documents=DocumentReader(settings.documents))._processors
    html, pdf = page(b"<p>"), page(b"%PDF-1.4", content_type="application/pdf")
    assert (triage(settings).work(html) is Work.HERE) is isinstance(made["text/html"], Own)
    reads_pdf = made.get("application/pdf")
    if isinstance(reads_pdf, Later):
        reads_pdf = reads_pdf._make()
    assert (triage(settings).work(pdf) is Work.DOCUMENT) is isinstance(reads_pdf, DocumentProcessor)

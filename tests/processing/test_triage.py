from __future__ import annotations

import pytest

from larm.config import Documents, Processing
from larm.processing.triage import LARGE, Triage
from larm.testing.fakes import page
from tests.processing.office_files import docx


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

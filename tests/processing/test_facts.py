"""Description, language and date, by both parsers."""

from __future__ import annotations

import pytest

from larm.processing.facts import seconds
from tests.processing.pages import document

PARSERS = pytest.mark.parametrize("parser", ["lexbor", "html5lib"])


@PARSERS
@pytest.mark.parametrize(
    ("html", "description"),
    [
        ("<meta name=Description content=' What \n it is '>", "What it is"),
        ("<meta property=og:description content=og><meta name=description content=own>", "own"),
        ("<meta name=description content=' '><meta property=og:description content=og>", "og"),
        ("<meta name=description><meta content=x>", ""),
        (f"<meta name=description content={'x' * 3_000}>", "x" * 2_000),
    ],
)
def test_description(parser: str, html: str, description: str) -> None:
    assert document(html, parser=parser).description == description


@PARSERS
@pytest.mark.parametrize(
    ("html", "modified"),
    [
        ("<meta property=article:modified_time content=2020-01-02T00:00:00Z>", 1_577_923_200),
        ("<meta name=date content=2020-01-01><meta itemprop=dateModified content=2020-01-02>", 1_577_923_200),
        ("<meta name=date content=soon>", 1_445_412_480),
        ('<script type=application/ld+json>{"dateModified": "2020-01-02T01:00:00+01:00"}</script>', 1_577_923_200),
        ('<script>{"dateModified": "2020-01-02"}</script>', 1_445_412_480),
        ("", 1_445_412_480),
    ],
)
def test_modified(parser: str, html: str, modified: int) -> None:
    headers = {"last-modified": "Wed, 21 Oct 2015 07:28:00 GMT"}
    assert document(html, parser=parser, headers=headers).modified == modified


@pytest.mark.parametrize(
    "date", ["", "1960-01-01", "2020-13-01", "0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00", "Wed, 99 Oct 2015", "x"]
)
def test_bad_dates(date: str) -> None:
    assert seconds(date) in (0, 253_402_351_199)


@PARSERS
@pytest.mark.parametrize(
    ("html", "language"),
    [
        ("<html lang=de-AT>", "de"),
        ("<html xml:lang='EN'>", "en"),
        ("<html lang=''>", ""),
        ("<html lang=gsw>", ""),
        ("<p>", ""),
    ],
)
def test_declared_language(parser: str, html: str, language: str) -> None:
    assert document(html, parser=parser).language == language

"""Description, language and date, by both parsers."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from larm.parse.dates import seconds_of
from larm.parse.language import language_of
from tests.parse.pages import document

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
    assert document(html + "<p>x", parser=parser).description == description


@PARSERS
@pytest.mark.parametrize(
    ("html", "modified"),
    [
        ("<meta property=article:modified_time content=2020-01-02T00:00:00Z>", 1_577_923_200),
        ("<meta name=date content=2020-01-01><meta itemprop=dateModified content=2020-01-02>", 1_577_923_200),
        ("<meta name=date content=soon>", 1_445_412_480),
        ("<meta name=date content=2019>", 1_445_412_480),
        ("<meta name=date content=2020-01>", 1_445_412_480),
        ("<meta name=date content=2020-01-02T02+02>", 1_577_923_200),
        ('<script type=application/ld+json>{"dateModified": "2020-01-02T01:00:00+01:00"}</script>', 1_577_923_200),
        ('<script>{"dateModified": "2020-01-02"}</script>', 1_445_412_480),
        ("", 1_445_412_480),
    ],
)
def test_modified(parser: str, html: str, modified: int) -> None:
    headers = {"last-modified": "Wed, 21 Oct 2015 07:28:00 GMT"}
    assert document(html + "<p>x", parser=parser, headers=headers).modified == modified


@pytest.mark.parametrize(
    "date", ["", "1960-01-01", "2020-13-01", "0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00", "Wed, 99 Oct 2015", "x"]
)
def test_bad_dates(date: str) -> None:
    assert seconds_of(date) in (0, 253_402_351_199)


GERMAN = "<p>Der Hund und die Katze sind nicht mit dem Auto in den Wald gefahren, weil es dort von Jägern wimmelt.</p>"
ENGLISH = "<p>The dog and the cat have not gone to the wood by car, for it is full of hunters who shoot at all of them.</p>"
FINNISH = "<p>Koira ja kissa eivät menneet autolla metsään, koska siellä on paljon metsästäjiä.</p>"


@PARSERS
@pytest.mark.parametrize(
    ("html", "language"),
    [
        ("<html lang=de-AT><p>x", "de"),
        ("<html xml:lang='EN'><p>x", "en"),
        ("<html lang=nb><p>x", "no"),
        ("<meta http-equiv=content-language content=fr><p>x", "fr"),
        ("<meta name=language content=it><p>x", "it"),
        ("<html lang=''><p>x", ""),
        ("<html lang=gsw><p>x", ""),
        ("<p>", ""),
        (GERMAN, "de"),
        (f"<html lang=en>{ENGLISH}", "en"),
        (f"<html lang=en>{GERMAN}", "de"),  # a template that nobody translated
        (f"<html lang=fr>{GERMAN}", "fr"),  # too little to refute it
        (f"<html lang=fr>{GERMAN * 3}", "de"),
        (f"<html lang=ru>{FINNISH * 3}", "fi"),
        (f"<html lang=no>{'<p>Den renser i porerne samtidig med at den forfinder dem, siger hun.' * 4}", "no"),
        (
            "<pre>"
            + "struct sqlite3_module { int iVersion; int (*xCreate)(sqlite3*, void *pAux, int argc, char **argv); };" * 9,
            "",
        ),
        (f"<nav>{ENGLISH}</nav><main>{GERMAN * 2}</main>", "de"),
        ("<p>\1\2 x \x0b " + GERMAN, "de"),
    ],
)
def test_language(parser: str, html: str, language: str) -> None:
    assert document(html, parser=parser).language == language


@pytest.mark.parametrize(
    ("url", "headers", "language"),
    [
        ("http://a.localhost.se/", {}, "sv"),
        ("http://a.org/", {}, ""),
        ("http://a.localhost.se/", {"content-language": "da"}, "da"),
    ],
)
def test_language_without_a_declaration(url: str, headers: dict[str, str], language: str) -> None:
    assert document("<p>1 2 3", url=url, headers=headers).language == language


@given(st.text(max_size=300))
@settings(max_examples=100)
def test_any_text_has_a_language_or_none(text: str) -> None:
    assert len(language_of("", text)) in (0, 2)

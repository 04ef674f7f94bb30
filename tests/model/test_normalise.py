"""The normal form of path and query: all vectors of LARM-22 to LARM-35."""

from __future__ import annotations

import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from larm.model.url import URLNormalizer, normal_file
from larm.testing.fakes import normalised

FOLDING, KEEPING = URLNormalizer(lowercase_path=True), URLNormalizer()

VECTORS = [  # LARM 1.3, column "ours"; made with folding on
    ("", "/"),
    ("/A/B.HTML", "/a/b.html"),
    ("/a//b///c", "/a/b/c"),
    ("/a/./b", "/a/b"),
    ("/a/../b", "/b"),
    ("/a/../../b", "/b"),
    ("/a/..", "/"),
    ("/%2e%2e/b", "/b"),
    ("/a/.", "/a/"),
    ("/.hidden", "/.hidden"),
    ("/index.html", "/"),
    ("/dir/Default.asp", "/dir/"),
    ("/dir/index.php?x=1", "/dir/?x=1"),
    ("/indexes/", "/indexes/"),
    ("/myindex.html", "/myindex.html"),
    ("/x/y/../index.htm", "/x/"),
    ("/dir/?", "/dir/"),
    ("?x=1", "/?x=1"),
    ("/?q=a+b%20c d", "/?q=a%20b%20c%20d"),
    ("/~user/", "/%7Euser/"),
    ("/%7Euser/", "/%7Euser/"),
    ("/%41%2f", "/a%2F"),
    ("/a,b(c):d", "/a%2Cb%28c%29%3Ad"),
    ("/a/b;c=1@z", "/a/b;c=1@z"),
    ("/a/b?u=http://x/y", "/a/b?u=http%3A%2F%2Fx%2Fy"),
    ("/%zz", "/%25zz"),
    ("/über", "/%C3%BCber"),
    ("/ÜBER", "/%C3%BCber"),
    ("/%C3%9Cber", "/%C3%BCber"),
    ("/łódź", "/%C5%82%C3%B3d%C5%BA"),
    ("/€", "/%E2%82%AC"),
    ("/%FC", "/%FC"),
]


@pytest.mark.parametrize(("file", "normal"), VECTORS)
def test_larm_vectors(file: str, normal: str) -> None:
    assert normalised(FOLDING, f"http://host{file}") == f"http://host{normal}"


KEPT_CASE = {"/A/B.HTML": "/A/B.HTML", "/%41%2f": "/A%2F", "/ÜBER": "/%C3%9CBER", "/%C3%9Cber": "/%C3%9Cber"}


@pytest.mark.parametrize(("file", "normal"), VECTORS)
def test_without_folding_all_else_holds(file: str, normal: str) -> None:
    assert normalised(KEEPING, f"http://host{file}") == f"http://host{KEPT_CASE.get(file, normal)}"


@pytest.mark.parametrize(
    ("file", "normal"),
    [
        ("/a%2E%2e", "/a.."),  # decoded, but no dot segment
        ("/a/%2e%2E/./.%2e/b", "/b"),
        ("/%69ndex.html", "/"),
        ("/index.html?", "/"),
        ("/index.html/a", "/index.html/a"),  # not the last segment
        ("/index.htm/index.cgi?index.c", "/index.htm/?index.c"),
        ("/index", "/index"),
        ("/default.", "/default."),
        ("/Default.aspx", "/"),  # no case where ASP is
        ("/INDEX.ASP?a", "/?a"),
        ("/INDEX.HTML", "/INDEX.HTML"),  # a file beside index.html where there is case
        ("/Index.html", "/Index.html"),
        ("/fo/index.entry.properties.html", "/fo/index.entry.properties.html"),
        ("/web/index.de.html", "/web/index.de.html"),
        ("/posts/index.xml", "/posts/index.xml"),
        ("/index.html~", "/index.html%7E"),
        ("/index.html%3Fx", "/index.html%3Fx"),
        ("/index.html?x", "/?x"),
        ("/index.html%0A", "/index.html%0A"),
        ("/index.php7", "/"),
        ("/index.php77", "/index.php77"),
        ("/index.jsp;jsessionid=1", "/index.jsp;jsessionid=1"),
        ("/a//", "/a/"),
        ("//", "/"),
        ("/?a?b/c", "/?a%3Fb%2Fc"),
        ("/?/index.html", "/?%2Findex.html"),
        ("/?a=b%26c&d=%3b;%40@%3d=", "/?a=b%26c&d=%3B;%40@%3D="),
        ("/?a=c%2B%2B&b=+", "/?a=c%2B%2B&b=%20"),
        ("/a%5c\\b", "/a%5C/b"),
        ("/%", "/%25"),
        ("/%2", "/%252"),
        ("/%25", "/%25"),
        ("/%252F", "/%252F"),
        ("/'\"<>`{}|^[]*!", "/%27%22%3C%3E%60%7B%7D%7C%5E%5B%5D%2A%21"),
        ("/%24%2D%5F%2E", "/$-_."),
        ("/%e3%83%a1", "/%E3%83%A1"),
        ("/%00%0a%7f", "/%00%0A%7F"),
    ],
)
def test_corners(file: str, normal: str) -> None:
    assert normalised(KEEPING, f"http://h{file}") == f"http://h{normal}"


@pytest.mark.parametrize(
    "name", ["index.html", "INDEX.HTM", "Default.aspx", "index.shtml", "Index.XHTML", "default.cfm", "index.pl"]
)
def test_a_folder_and_its_page_are_one_in_any_case_where_case_is_folded(name: str) -> None:
    assert normalised(FOLDING, f"http://h/A/{name}") == "http://h/a/"


def test_folding_reaches_escaped_utf8_and_spares_other_bytes() -> None:
    assert normalised(FOLDING, "http://h/%C3%C3%9C%FC%E2%84%AA%DD?%C3%9C") == "http://h/%C3%C3%BC%FCk%DD?%C3%BC"


@pytest.mark.parametrize("lowercase", [False, True])
def test_every_escape_takes_the_same_form_by_both_ways(lowercase: bool) -> None:
    """A ``~`` elsewhere in the file forces the long way."""
    for byte in range(256):
        for escape in (f"%{byte:02x}", f"%{byte:02X}"):
            short, long_way = normal_file(f"/a{escape}", lowercase), normal_file(f"/a{escape}~", lowercase)
            assert short == long_way.removesuffix("%7E")
            assert normal_file(f"/?{escape}", lowercase) == "/?" + short[2:]
            assert short[2:] in {f"%{byte:02X}", chr(byte), chr(byte).lower()}


def test_lower_casing_is_idempotent_for_every_character() -> None:
    """What LARM-35 rests on where folding is on."""
    every = [chr(code) for code in range(sys.maxunicode + 1)]
    assert [character for character in every if character.lower().lower() != character.lower()] == []


@pytest.mark.parametrize("text", ["", "mailto:A@B", "ftp://H/index.html", "/A//b", "http://", "http://a b/", "\ud800", "x"])
def test_what_is_no_http_url_comes_back_unchanged(text: str) -> None:
    assert normalised(KEEPING, text) == text


PIECES = st.sampled_from(
    [*"/?&;@=$-_.+ ~%,:#\\", "//", "/./", "/../", "..", "%2e", "%2E", "%2f", "%41", "%c3%9c", "%C3%9C", "%FC", "%zz", "%25",
     "%253F", "index.", "Default.", "index.html", "A", "b", "Ü", "İ", "Σ", "\u212a", "?", "%3F", "%23", "%2B", "é", "\u0301",
     "\x00"]
)  # fmt: skip
FILES = st.lists(PIECES | st.text(max_size=3), max_size=12).map("".join)


@settings(max_examples=300, derandomize=True)
@given(FILES, st.sampled_from([KEEPING, FOLDING]))
def test_normalising_is_idempotent(file: str, normalizer: URLNormalizer) -> None:
    once = normalised(normalizer, f"http://h/{file}")
    assert normalised(normalizer, once) == once
    assert "//" not in once[7:]


@settings(max_examples=300, derandomize=True)
@given(st.text(st.sampled_from("abAB1/?.%2EFi;=~+index"), max_size=16), st.booleans())
def test_the_short_cut_gives_what_the_long_way_gives(text: str, lowercase: bool) -> None:
    """A ``~`` anywhere forces the long way; here in a parameter of its own, cut off again."""
    access = KEEPING.parse(f"http://h/{text}")
    mark = "&~" if "?" in access.access else "?~"
    if access.access.endswith("?"):
        mark = "~"
    long_way = (
        normal_file(access.path_query + mark, lowercase).removesuffix("%7E").removesuffix(mark[0] if len(mark) > 1 else "")
    )
    assert normal_file(access.path_query, lowercase) == long_way.removesuffix("?")

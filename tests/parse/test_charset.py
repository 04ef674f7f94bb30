from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from larm.parse.charset import LATE, PRESCAN, encoding_of, header_charset, text_of, utf8_of
from tests.parse.pages import PAGE, document


@pytest.mark.parametrize(
    ("body", "content_type", "name"),
    [
        (b"\xef\xbb\xbf<meta charset=latin1>", "text/html; charset=koi8-r", "utf-8"),  # the mark beats all
        (b"\xff\xfe<\0", "text/html; charset=koi8-r", "utf-16le"),
        (b"\xfe\xff\0<", "", "utf-16be"),
        (b"<meta charset=latin1>", "text/html; charset=koi8-r", "koi8-r"),  # the header beats the page
        (b"<meta charset=latin1>", "text/html; charset=nonsense", "windows-1252"),  # but not with nonsense
        (b"<meta charset='utf-16'>", "", "utf-8"),  # the standard: what can be read as ASCII isn't UTF-16
        (b"<meta charset=x-user-defined>", "", "windows-1252"),
        (b'<meta http-equiv=Content-Type content="text/html; charset=gb2312">', "", "gbk"),
        (b'<meta content="text/html; charset=gb2312">', "", "windows-1252"),  # without http-equiv it says nothing
        (b"<!-- <meta charset=koi8-r> --><meta charset=euc-kr>", "", "euc-kr"),
        (b"<p title='<meta charset=koi8-r>'><META CHARSET=\"Shift_JIS\">", "", "shift_jis"),
        (b"<meta charset=what><meta charset=big5>", "", "big5"),
        (b"<!-- <meta charset=koi8-r>", "", "windows-1252"),
        (b"<?xml version='1.0' encoding='iso-8859-2'?><html>", "", "iso-8859-2"),
        ("<?xml version='1.0' encoding='utf-16'?><rss>é".encode(), "", "utf-8"),  # nor is this
        (b"<?xml version='1.0' encoding='UTF-16LE'?><rss>", "", "windows-1252"),
        (b"<?xml version='1.0' encoding='utf-32'?><p>\xe4rger", "", "windows-1252"),
        ("<?xml version='1.0' encoding='utf-16'?><rss>".encode("utf-16-le"), "", "utf-16le"),
        (b"<p>" + "ärger".encode(), "", "utf-8"),
        (b"<p>" + "ärger".encode()[:2], "", "utf-8"),  # cut off within a character
        (b"<p>\xe4rger", "", "windows-1252"),
        (b"<p>plain", "", "windows-1252"),
        (b"", "", "windows-1252"),
        (b"\x1b$B$3$s\x1b(B", "", "iso-2022-jp"),
        ("<p>x".encode("utf-16-le"), "", "utf-16le"),
    ],
)
def test_order_of_the_signs(body: bytes, content_type: str, name: str) -> None:
    assert encoding_of(body, content_type).name == name


def test_a_late_declaration_counts_unless_it_stands_in_a_script() -> None:
    filler = b"<!--" + b"x" * PRESCAN + b"-->"
    assert encoding_of(filler + b"<meta charset=iso-8859-2>").name == "iso-8859-2"
    assert encoding_of(filler + b"<script>'<meta charset=iso-8859-2>'</script>").name == "windows-1252"
    assert encoding_of(b"<!--" + b"x" * LATE + b"--><meta charset=iso-8859-2>").name == "windows-1252"


def test_labels_mean_what_browsers_take_them_for() -> None:
    text, encoding = text_of(b"\x80 \x93x\x94", "text/html; charset=iso-8859-1")
    assert (text, encoding.name) == ("\u20ac \u201cx\u201d", "windows-1252")
    assert text_of("\u30b3\u2460".encode("cp932"), "text/html;charset=Shift_JIS")[0] == "\u30b3\u2460"
    assert text_of("\u3400".encode("gb18030"), "text/html; charset=GB2312")[0] == "\u3400"
    assert header_charset('text/html;charset="UTF8"') == "utf-8"
    assert header_charset("text/html") == ""


def test_a_page_in_utf8_is_not_copied() -> None:
    body = "<p>ä".encode()
    assert utf8_of(body, "text/html; charset=utf-8")[0] is body
    assert utf8_of(b"\xef\xbb\xbfx")[0] == b"x"
    ascii_only = b"<p>plain"
    assert utf8_of(ascii_only)[0] is ascii_only


RUSSIAN = "Все счастливые семьи похожи друг на друга, каждая несчастливая семья несчастлива по-своему. " * 3


@pytest.mark.parametrize(
    ("body", "declared", "name"),
    [
        ("<p>“ärger”".encode(), "iso-8859-1", "utf-8"),
        ("<p>ärger".encode(), "windows-1252", "utf-8"),
        (RUSSIAN.encode(), "windows-1251", "utf-8"),
        (RUSSIAN.encode(), "gb2312", "utf-8"),
        (RUSSIAN.encode("cp1251"), "utf-8", "windows-1251"),
        ("Zażółć gęślą jaźń, żółta róża w ogródku. ".encode("iso-8859-2") * 9, "utf-8", "iso-8859-2"),
        (b"caf\xe9 cr\xe8me, tr\xe8s bien", "utf-8", "windows-1252"),  # nothing in it is UTF-8
    ],
)
def test_the_bytes_are_believed_where_they_leave_no_doubt(body: bytes, declared: str, name: str) -> None:
    meta = f"<meta charset={declared}>".encode()
    label = encoding_of(b"", f"x; charset={declared}").name
    assert encoding_of(body, f"text/html; charset={declared}") == (name, 0, label)
    assert encoding_of(meta + body) == (name, 0, label)
    found = document(body, content_type=f"text/html; charset={declared}")
    assert (found.charset, found.counts) == (name, ("processing/charset_contradicted",))
    assert found.warnings == (f"{PAGE}: it says that it is {label}, but it is {name}",)
    assert "\ufffd" not in found.text


@pytest.mark.parametrize(
    ("body", "declared"),
    [
        (b"\xef\xbb\xbf" + b"\xe4 \xf6 \xfc " * 20, "utf-8"),  # the mark is no declaration
        (b"a\xffb", "utf-8"),
        (b"\xe4 \xf6", "utf-8"),
        ("Ärger ".encode() * 30 + b"\xe4rger " * 29, "utf-8"),  # what was pasted into it is less
        (b"\xc3\xa4 \xe4rger", "windows-1252"),
        ("联通".encode("gbk"), "gbk"),  # by chance two characters of UTF-8
        ("こんにちは".encode("iso-2022-jp"), "iso-2022-jp"),
    ],
)
def test_else_the_declaration_is_believed(body: bytes, declared: str) -> None:
    assert encoding_of(body, f"text/html; charset={declared}").declared == ""
    assert encoding_of(body, f"text/html; charset={declared}").name == declared


def test_wrong_bytes_become_replacement_characters() -> None:
    assert text_of(b"a\xffb", "text/html; charset=utf-8")[0] == "a\ufffdb"
    assert utf8_of(b"a\xffb", "text/html; charset=euc-jp")[0] == "a\ufffdb".encode()


@settings(max_examples=150)
@given(
    st.binary(max_size=300)
    | st.lists(
        st.sampled_from(
            [
                b"<meta ",
                b"charset=",
                b"'",
                b'"',
                b">",
                b"<!--",
                b"-",
                b"utf-8",
                b"<a ",
                b"/",
                b"=",
                b"\0",
                b"\xff",
                b"\x1b$B",
                b"content=",
                b"<script>",
            ]
        )
    ).map(b"".join)
)
def test_any_bytes_can_be_decoded(body: bytes) -> None:
    text, encoding = text_of(body)
    assert utf8_of(body)[0].decode("utf-8", "replace").encode() == text.encode("utf-8", "replace")
    assert encoding.name

"""Pages that do not say how they are encoded."""

from __future__ import annotations

import pytest

from larm.parse.charset import encoding_of, text_of
from larm.parse.detector import FALLBACK, detect

TEXTS = {
    "windows-1252": "Die Köche wünschen sich für die größere Küche schönere Töpfe und genug Äpfel.",
    "windows-1250": "Zima była długa, więc żeglarze czekali na wiosnę i naprawiali swoje łodzie w porcie.",
    "windows-1251": "Зима была длинной, и моряки чинили свои лодки в гавани.",
    "koi8-r": "Зима была длинной, и моряки чинили свои лодки в гавани.",
    "windows-1253": "Ο χειμώνας ήταν μεγάλος και οι ναύτες περίμεναν.",
    "shift_jis": "冬は長かったので、船乗りたちは港で船を直した。",
    "euc-jp": "冬は長かったので、船乗りたちは港で船を直した。",
    "euc-kr": "겨울이 길어서 선원들은 항구에서 배를 고쳤다.",
    "gb18030": "冬天很长，所以水手们在港口修理他们的船。",
    "big5": "冬天很長，所以水手們在港口修理他們的船。",
    "utf-16be": "Winter was long.",
    "utf-16le": "Winter was long.",
}


@pytest.mark.parametrize("encoding", TEXTS)
def test_a_page_is_read_by_its_letters(encoding: str) -> None:
    codec = {"windows-874": "cp874", "shift_jis": "cp932"}.get(encoding, encoding)
    html = f"<title>{TEXTS[encoding][:10]}</title>{'<br>' * 500}<p>{TEXTS[encoding]}"
    html = f"x{html}" if encoding.startswith("utf-16") else html  # else the first bytes would tell
    assert text_of(html.encode(codec))[0] == html


def test_what_a_page_says_goes_before_what_it_looks_like() -> None:
    body = TEXTS["koi8-r"].encode("koi8-r")
    assert encoding_of(body, "text/html; charset=windows-1252").name == "windows-1252"
    assert encoding_of(b"<meta charset=windows-1252>" + body).name == "windows-1252"
    assert encoding_of(b"<meta charset=unheard-of>" + body).name == "koi8-r"


def test_ascii_is_ascii_whatever_it_means() -> None:
    assert encoding_of(b"<p>~{<:Ky2;6{~}").name == "hz"
    assert [encoding_of(body).name for body in (b"a ~{x", b"x\0y", b"\x1b[0m", b"plain")] == ["windows-1252"] * 4


def test_letters_far_down_are_found() -> None:
    body = b"<style>" + b"a { color: red }\n" * 10_000 + b"</style>" + TEXTS["koi8-r"].encode("koi8-r")
    assert detect(body) == "koi8-r"


def test_a_slip_does_not_make_utf8_something_else() -> None:
    text = TEXTS["windows-1251"].encode()
    assert encoding_of(text * 3 + b"caf\xe9").name == "utf-8"
    assert encoding_of(TEXTS["windows-1252"].encode("cp1252") + "\u00e9".encode()).name == FALLBACK


@pytest.mark.parametrize(
    "body", [b"", b"\x81\x8d\x8f\x90\x9d", bytes(range(256)) * 50, b"\xff" * 1000, b"\0" * 1000, b"caf\xe9"]
)
def test_there_is_always_an_answer(body: bytes) -> None:
    assert isinstance(text_of(body)[0], str)

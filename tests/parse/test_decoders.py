"""Decoders: where browsers and Python's codecs differ."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from larm.parse.decoders import decoder

MULTIBYTE = ["big5", "euc-jp", "euc-kr", "gb18030", "gbk", "iso-2022-jp", "shift_jis"]
X = "\ufffd"


@pytest.mark.parametrize(
    ("name", "data", "text"),
    [
        ("windows-1252", b"\x80\x81\x9d\xe9", "\u20ac\x81\x9d\u00e9"),
        ("windows-1255", b"\xca\xd9", "\u05ba" + X),
        ("windows-874", b"\x80\x90\xa1\xdb", "\u20ac\x90\u0e01" + X),
        ("koi8-u", b"\xae\xbe\xc1", "\u045e\u040e\u0430"),
        ("iso-8859-7", b"\xc1\xae", "\u0391" + X),
        ("x-user-defined", b"a\x80\xff", "a\uf780\uf7ff"),
        ("utf-8", b"\xe2\x82a\xff\xc3\xa9", f"{X}a{X}\u00e9"),
        ("utf-16le", b"a\0\x3d\xd8", "a" + X),
        ("big5", b"\xa1\x45\xa2\x41\xa1\xfe\x87\x7a\x8e\x69", "\u2027\u2215\uff0f\u3875\u7bb8"),
        ("big5", b"\xa4\xa2\x41\xa4\xa4", "\u4e10A\u4e2d"),  # \xa2\x41 only seems to stand there
        ("big5", b"\x88\x62\x88\x64\xa3\xc0\xa3\xe1", "\u00ca\u0304\u00ca\u030c\u2400\u20ac"),
        ("big5", b"\x81<b>\x81\x40\xff\x81\xfe\xa4", f"{X}<b>{X}@{X}{X}{X}"),
        ("euc-kr", b"\xb0\xa1\xc9<p>\xc9\xa1\x80\xb0", f"\uac00{X}<p>{X}{X}{X}"),
        (
            "shift_jis",
            b"\x82\xa0\xb1\x5c\x7e\x80\xa0\xfd\xf0\x40\x85\x40\x85\xad\x81",
            f"\u3042\uff71\\~\x80{X}{X}\ue000{X}@{X}{X}",
        ),
        ("euc-jp", b"\xa4\xa2\xa1\xc1\xad\xa1\x8e\xb1\x8f\xa2\xb7\x8f\xb0\xa1", "\u3042\uff5e\u2460\uff71\uff5e\u4e02"),
        ("euc-jp", b"\xf9\xa1\xa9\xa1\xa4<\x8f\xa1<\x8f\xa1\xa1\x8e<\x8b\xfe", f"\u7e8a{X}{X}<{X}<{X}{X}<{X}{X}"),
        (
            "gb18030",
            b"\x80\xd6\xd0\xa3\xa0\xa6\xd9\xfe\x59\xa8\xbc\x81\x35\xf4\x37",
            "\u20ac\u4e2d\u3000\ufe10\u9fb4\u1e3f\ue7c7",
        ),
        ("gb18030", b"\x94\x39\xda\x33\x81\x30<\x81\x30\x81<\xe4\x30\x81\x30\xff", f"\U0001f4a9{X}0<{X}0{X}<{X}{X}"),
        ("gbk", b"\xd6\xd0\x81<\x81\x30\x81", f"\u4e2d{X}<{X}"),
        ("iso-2022-jp", b'a\x1b$B$"\x1b(J\\~\x1b(I1\x1b(Bb', "a\u3042\u00a5\u203e\uff71b"),
        ("iso-2022-jp", b"\x1b$B\x1b(Bx\x1b$@$\x1b(B\x80\x0e\x1b", f"{X}x{X}{X}{X}{X}"),
        ("iso-2022-jp", b'\x1b$B)!$\n$"\x1b$\x1b(Bz', f"{X}{X}\u3042{X}{X}z"),
        ("iso-2022-kr", b"\x1b$)C\x0e0!\x0f", "\uac00"),
        ("cp850", b"\x82", "\u00e9"),
    ],
)
def test_as_browsers_do(name: str, data: bytes, text: str) -> None:
    assert decoder(name)(data) == text


@settings(max_examples=200)
@given(st.sampled_from([*MULTIBYTE, "windows-1252", "windows-1255"]), st.binary(max_size=60))
def test_tags_survive_what_is_broken_before_them(name: str, data: bytes) -> None:
    end = b"\x1b(B" * (name == "iso-2022-jp")
    assert decoder(name)(data + end + b"<p>text").endswith("<p>text")


@pytest.mark.parametrize("name", MULTIBYTE)
def test_bytes_without_sense_take_no_time(name: str) -> None:
    data = b"\xff\x81\x80\xa2\x41\x1b$B\x1b(B\x8f\xa2\xb7" * 20_000
    assert "\ufffd" in decoder(name)(data)

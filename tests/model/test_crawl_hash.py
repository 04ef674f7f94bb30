from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from larm.model.crawl_hash import crawl_hash, page_hash, written


@pytest.mark.parametrize(
    ("text", "value", "short"),
    [
        ("https://www.yahoo.com/", 0x2C6E6C3C50527396, "LG5sPFBSc5Y"),
        ("", 0x3D9D854163F8F07A, "PZ2FQWP48Ho"),
        ("bass", 0x6D62A5E6011B0820, ""),
        ("hello", 0xE430DDBBAC5CEFE4, "5DDdu6xc7-Q"),
    ],
)
def test_the_vectors_of_yioop_10(text: str, value: int, short: str) -> None:
    assert crawl_hash(text.encode()) == value
    assert not short or written(value) == short


def test_the_vector_of_yioop_9() -> None:
    """Of a page without its scripts and tags only the words are left."""
    assert written(page_hash("Hello,", " World!")) == written(page_hash("", "Hello World")) == "fQFVMtOKX8w"


def test_punctuation_is_not_text() -> None:
    assert page_hash("", "It's - a...\ttest\n") == page_hash("Its", "a test")
    assert page_hash("", " .,! \n") == 0
    assert page_hash("", "日本") != page_hash("", "日本語")


@settings(max_examples=30)
@given(st.binary(max_size=9000))
def test_pieces_make_no_difference(data: bytes) -> None:
    import hashlib

    whole = hashlib.md5(data).digest()
    assert crawl_hash(data).to_bytes(8) == bytes(one ^ other for one, other in zip(whole[:8], whole[8:], strict=True))


def test_a_page_without_text_has_none_whatever_its_title() -> None:
    assert page_hash("a title", "") == page_hash("a title", " \n-\t") == 0
    assert page_hash("a title", "\0 text") == page_hash("", "a title text") != 0

"""Keys are those of the library that all CDX indexes are made with."""

from __future__ import annotations

import pytest
import surt as judge
from hypothesis import given, settings
from hypothesis import strategies as st

from larm.model.url import BadUrl, URLNormalizer
from larm.store.archive.cdxj import surt

ODD = [
    "http://www.Example.com:80/A/B/?b=2&a=1",
    "https://a.org:8443/x/",
    "http://127.0.0.1:80/x?",
    "http://a.org/%7Ex/%e4b?q=%20a+b&x=Ü",
    "http://a.org/a//b/../c",
    "http://a.org/?",
    "http://www2.a.org/x;jsessionid=0123456789ABCDEF0123456789ABCDEF",
    "http://a.org/x?sid=0123456789ABCDEF0123456789ABCDEF&b",
    "http://a.org/x?b&PHPSESSID=0123456789ABCDEF0123456789ABCDEF",
    "http://a.org/(S(0123456789abcdefghijklmn))/x.aspx?d",
    "http://a.org/x?CFID=1&cftoken=2&c=3",
    "file:///home/a/B.txt",
    "http://xn--bcher-kva.de/%C3%A9",
    "http://a.org/a%2Fb%2525",
    "http://a.org/x#frag",
    "http://a.org/!$'()*,;:@&=+|^`{}\"<>~",
    "http://a.org/x?b=&a&a=b=c&&",
]


@pytest.mark.parametrize("url", ODD)
def test_it_is_that_of_the_library(url: str) -> None:
    assert surt(url) == judge.surt(url)


@given(
    st.from_regex(r"[a-z][a-z0-9]{0,5}(\.[a-z]{2,3}){1,2}(:[1-9][0-9]{1,3})?", fullmatch=True),
    st.text("abAB/.%25eé &=?;~'", max_size=20),
)
@settings(max_examples=300)
def test_so_it_is_for_any_address_that_larm_fetches(host: str, rest: str) -> None:
    try:
        url = URLNormalizer().parse(f"http://{host}/{rest}").access
    except BadUrl:
        return
    assert surt(url) == judge.surt(url)


@pytest.mark.parametrize("text", ["", "urn:uuid:x", "http://[", "http://a:b:c/"])
def test_other_texts_are_their_own_keys(text: str) -> None:
    assert surt(text) == text

"""Until when a page is current, as its server says (RFC 9111 4.2)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from larm.store.pages.page_book import current_until

NOW = 1_800_000_000
DATE = "Fri, 15 Jan 2027 08:00:00 GMT"  # is NOW
HOUR_LATER = "Fri, 15 Jan 2027 09:00:00 GMT"


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, 0),
        ({"cache-control": "max-age=600"}, 600),
        ({"cache-control": "public, Max-Age=600, must-revalidate"}, 600),
        ({"cache-control": 'max-age="600"'}, 600),
        ({"cache-control": "s-maxage=600"}, 0),
        ({"cache-control": "max-age=600", "age": "200"}, 400),
        ({"cache-control": "max-age=600", "age": "900"}, 0),
        ({"cache-control": "max-age=600", "expires": "0"}, 600),
        ({"cache-control": "max-age=600", "date": "Fri, 15 Jan 2027 07:58:20 GMT"}, 500),
        ({"cache-control": "max-age=600", "date": "Fri, 15 Jan 2027 07:58:20 GMT", "age": "200"}, 400),
        ({"cache-control": "max-age=600", "date": "Fri, 15 Jan 2027 07:00:00 GMT"}, 0),
        ({"cache-control": "max-age=600", "date": HOUR_LATER}, 600),
        ({"cache-control": "max-age=0", "expires": HOUR_LATER}, 0),
        ({"cache-control": "no-cache, max-age=600"}, 0),
        ({"cache-control": 'no-cache="set-cookie", max-age=600'}, 600),
        ({"cache-control": "max-age=600, no-store"}, 0),
        ({"cache-control": "max-age=" + "9" * 50}, 2**31),
        ({"expires": HOUR_LATER, "date": DATE}, 3600),
        ({"expires": HOUR_LATER}, 3600),
        ({"expires": HOUR_LATER, "date": DATE, "age": "600"}, 3000),
        ({"expires": HOUR_LATER, "date": HOUR_LATER}, 0),
        ({"expires": DATE}, 0),
        ({"expires": "0"}, 0),
        ({"expires": "-1"}, 0),
        ({"cache-control": "private", "expires": HOUR_LATER, "date": "yesterday"}, 3600),
    ],
)
def test_what_headers_say(headers: dict[str, str], seconds: int) -> None:
    assert current_until(headers, NOW) == (NOW + seconds if seconds else 0)


@given(st.dictionaries(st.sampled_from(["cache-control", "expires", "date", "age"]), st.text(max_size=40)))
def test_any_headers(headers: dict[str, str]) -> None:
    assert current_until(headers, NOW) == 0 or current_until(headers, NOW) > NOW

"""Links in columns are the links that went in."""

from __future__ import annotations

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from larm.kit.logs.columns import clean
from larm.model.links import NONE, SPELLED, Link, Links
from larm.model.url import Url

addresses = st.text(st.characters(min_codepoint=33, max_codepoint=126), max_size=20)
texts = st.text(max_size=30).map(clean)
urls = st.builds(Url, addresses, addresses, addresses, st.integers(0, (1 << 63) - 1))
made = st.lists(st.builds(Link, urls, st.integers(0, 2), texts, st.booleans()), max_size=8)


@given(made)
def test_a_sequence_of_links(links: list[Link]) -> None:
    columns = Links.of(links)
    assert list(columns) == links
    assert len(columns) == len(links)
    assert bool(columns) is bool(links)
    assert [columns[place] for place in range(-len(links), len(links))] == links + links
    assert columns[1:-1] == links[1:-1]
    assert list(reversed(columns)) == links[::-1]
    assert [link for link in columns.unfollowed() if link.follow] == []
    assert Links.of(columns) == columns


@given(made)
def test_what_is_followed_has_columns_of_its_own(links: list[Link]) -> None:
    columns, followed = Links.of(links), [link for link in links if link.follow]
    assert columns.followed() == [link.url.fingerprint for link in followed]
    if followed:
        assert columns.accesses.split("\n") == [link.url.access for link in followed]
        assert columns.anchors.split("\n") == [link.anchor for link in followed]
    assert columns.at([n for n, link in enumerate(columns) if link.follow]) == followed


@given(st.text(), st.text(), st.text())
def test_whatever_stands_in_a_link_its_line_is_one_line_of_four_columns(access: str, normalised: str, anchor: str) -> None:
    """Nobody but a processor of the user's makes such a Url."""
    [link] = Links.of([Link(Url(access, normalised, "host", 1), 0, anchor)])
    assert (link.url.access, link.url.normalised, link.anchor) == (clean(access), clean(normalised), clean(anchor))


def test_none() -> None:
    assert Links.of([]) is NONE
    assert list(NONE) == []
    assert NONE.followed() == []
    with pytest.raises(IndexError):
        NONE[0]


@given(made)
def test_followed_links_are_marked_if_they_are_not_in_normal_form(links: list[Link]) -> None:
    marks = [link.follow and (SPELLED if link.url.access != link.url.normalised else 1) for link in links]
    assert Links.of(links).follow == bytes(marks)


@given(st.lists(made, max_size=3))
def test_joined_pages_have_the_links_of_all_in_their_order(pages: list[list[Link]]) -> None:
    assume(all(link.url.access for links in pages for link in links))
    joined, whole = Links.joined([Links.of(links) for links in pages]), Links.of([link for links in pages for link in links])
    assert (joined.targets, joined.follow, joined.accesses) == (whole.targets, whole.follow, whole.accesses)

"""OPIC: the specification's vectors, and what the order of a crawl makes of them."""

from __future__ import annotations

import pytest

from larm.frontier.opic import OpicOrder, band_of, domain_shares
from larm.kit.disk.number_table import NumberTable
from larm.model.message import URLMessage
from larm.model.url import URLNormalizer

parse = URLNormalizer().parse


def link(path: str, page: str = "") -> URLMessage:
    address = path if "/" in path else f"http://a.test/{path}"
    return URLMessage(parse(address), parse(f"http://a.test/{page}").access) if page else URLMessage(parse(address))


def order(starts: int = 1) -> OpicOrder:
    return OpicOrder(NumberTable(None, 1000), starts)


def test_yioop_49() -> None:
    assert domain_shares(1000, 10, 6) == (50, 175)
    assert domain_shares(1000, 10, 10) == (50, 0)
    assert domain_shares(1000, 4, 0) == (125, 250)
    assert domain_shares(7, 0, 0) == (0, 0)


@pytest.mark.parametrize(("cash", "band"), [(1.0, 0), (0.6, 1), (0.5, 2), (0.26, 3), (2.0, 0), (1e-30, 127), (0.0, 127)])
def test_bands_are_half_powers_of_two(cash: float, band: int) -> None:
    assert band_of(cash) == band


def test_the_vector_of_yioop_48_as_a_crawl_sees_it() -> None:
    """Two start URLs; what waits is filed by what it has."""
    opic = order(starts=2)
    a, b = link("A"), link("B")
    assert [band for band, _ in opic.file([a, b])] == [0, 0]
    found = opic.found(a, [link("B", "A"), link("C", "A")])
    assert opic.file(found[1:]) == [(band_of(0.25), found[1])]
    opic.found(b, [link("C", "B")])  # B has its own half, and a quarter of A
    assert opic.file_again(link("C", "A"), 0) == band_of(1.0)


def test_a_page_without_links_keeps_its_cash_and_a_link_to_itself_gets_none() -> None:
    opic = order()
    a = link("A")
    assert list(opic.found(a, [])) == []
    opic.found(a, [link("A", "A"), link("B", "A"), link("B", "A")])
    assert opic.file_again(link("B", "A"), 0) == band_of(1.0)


def test_half_of_the_cash_leaves_the_domain() -> None:
    opic = OpicOrder(NumberTable(None, 1000), 1, lambda host: host)
    here, there = link("B", "A"), URLMessage(parse("http://b.test/"), "http://a.test/A")
    opic.found(link("A"), [here, there])
    assert opic.file_again(here, 0) == band_of(0.25)
    assert opic.file_again(there, 0) == band_of(0.75)


def test_who_waits_is_filed_again_when_the_crawl_has_grown_by_half() -> None:
    opic = order()
    rises = []
    for number in range(40):
        opic.found(link(f"{number}"), [link("x", f"{number}")])
        rises.append(opic.generation)
    assert rises.index(1) == 15
    assert rises.index(2) == 23
    assert rises[-1] == 3

"""Host budgets: the specification's vectors, and what the order of a crawl makes of them."""

from __future__ import annotations

import pytest

from larm.frontier.host_budget import HostBudgetOrder, seen_weight, tier_of, win
from larm.kit.disk.number_table import NumberTable
from larm.model.domain import DomainRule, registered_domain, site_of
from larm.model.message import START, Standing, URLMessage
from larm.model.url import URLNormalizer

parse = URLNormalizer().parse


def order() -> HostBudgetOrder:
    return HostBudgetOrder(NumberTable(None, 1000, 3), site_of)


def link(address: str, page: str = START, index: int = 0, weight: int = 0, tier: int = 0) -> URLMessage:
    return URLMessage(parse(address), page, standing=Standing(index, weight, tier))


@pytest.mark.parametrize(
    ("host", "described", "coded"),
    [
        ("www.yahoo.co.uk", "yahoo.co.uk", "yahoo.co.uk"),
        ("www.yahoo.com", "yahoo.com", "yahoo.com"),
        ("news.abc.net.au", "net.au", "abc.net.au"),
        ("www.bbc.uk", "bbc.uk", "www.bbc.uk"),
        ("localhost", "localhost", ""),
    ],
)
def test_yioop_40(host: str, described: str, coded: str) -> None:
    assert registered_domain(host, DomainRule.TWO_TWO) == described
    assert registered_domain(host, DomainRule.SHORT) == coded


def test_yioop_42() -> None:
    found = [seen_weight(index) for index in (0, 1, 2, 4, 24, 49, 124)]
    assert found == pytest.approx([1, 1.430677, 1.682606, 2, 3, 3.430677, 4], abs=1e-6)


def test_yioop_43() -> None:
    found = [win(*each) for each in ((0, 0), (0, 1), (0, 4), (1, 0), (3, 24))]
    assert found == pytest.approx([0.909091, 0.653306, 0.476190, 0.476190, 0.163934], abs=1e-6)


@pytest.mark.parametrize(
    ("wseen", "won", "tier"),
    [(9.9, 0, 0), (10, 0, 1), (12, 3, 0), (999.9, 0, 2), (1000, 0, 3), (1500, 600, 2), (3, 50, 0)],
)
def test_yioop_44(wseen: float, won: float, tier: int) -> None:
    assert tier_of(wseen, won) == tier


def test_yioop_44_penalties() -> None:
    assert tier_of(1500, 600, sitemap=True) == 6
    assert tier_of(1500, 600, html=False) == 3


def test_yioop_44_a_domain_of_its_own() -> None:
    """50 links a page: tier 1 from URL 6, tier 2 from URL 38."""
    budget = order()
    page = URLMessage(parse("http://a.org/"))
    links = budget.found(page, [URLMessage(parse(f"http://a.org/{number}"), page.url.access) for number in range(50)])
    tiers = [tier for tier, _ in budget.file(links)]
    assert (tiers.index(1), tiers.index(2)) == (5, 37)
    assert tiers == sorted(tiers)


def test_links_carry_place_weight_and_tier_and_what_is_filed_its_own() -> None:
    budget = order()
    page = link("http://a.org/", index=7, tier=2)
    found = budget.found(page, [URLMessage(parse("http://b.org/"), "http://a.org/"), URLMessage(parse("http://c.org/"))])
    assert [each.standing for each in found] == [Standing(0, 7, 2), Standing(1, 7, 2)]
    ((tier, filed),) = budget.file(found[:1])
    assert (tier, filed.standing) == (0, Standing(0, 0, 0))


def test_links_from_elsewhere_win_and_those_from_the_same_domain_do_not() -> None:
    alone, known = order(), order()
    for budget, page in ((alone, "http://www.a.org/"), (known, "http://b.org/")):
        for number in range(12):
            budget.file([link(f"http://a.org/{number}", page)])
    assert alone.file([link("http://a.org/x", "http://www.a.org/")])[0][0] == 1
    assert known.file([link("http://a.org/x", "http://b.org/")])[0][0] == 0


def test_sitemaps_and_other_types_come_later() -> None:
    budget = order()
    addresses = {"http://a.org/page": "http://a.org/", "http://a.org/x.PDF": "http://a.org/"}
    addresses |= {"http://a.org/sitemap_1.xml.gz?x": "http://a.org/", "http://a.org/about/sitemaps/": "http://a.org/"}
    addresses |= {"http://a.org/z": "http://a.org/sitemap_1.xml.gz"}
    found = [budget.file([link(address, page)])[0][0] for address, page in addresses.items()]
    assert found == [0, 1, 5, 0, 0], "a sitemap in XML is no HTML, and what stands in one is like all others"

"""What follows when a request for robots.txt has ended (RFC 9309 2.3.1, LARM-58)."""

from __future__ import annotations

import pytest

from larm.frontier.politeness import policy
from larm.frontier.robots.rules import ALLOW_ALL
from larm.kit.disk.block_store import BlockStore
from larm.model.outcome import FailReason, Moved, NotModified, Outcome, Timing
from larm.testing.fakes import message
from tests.frontier.rig import CONNECT, TIMEOUT, Rig, failed, ok, status

FORBIDDEN = b"User-agent: *\nDisallow: /"


@pytest.fixture
def rig(store: BlockStore) -> Rig:
    """One URL of the host a waits for robots.txt."""
    rig = Rig(store)
    rig.screen("a/1")
    return rig


def land(rig: Rig, outcome: Outcome) -> str:
    """End the request that can be sent next; returns its address."""
    rig.fake.advance(min(rig.queues.seconds_to_next(), 1e6))
    lease = rig.one()
    assert lease.robots
    rig.robots_lander.land(lease, outcome)
    return lease.message.url.access


@pytest.mark.parametrize("number", [400, 401, 403, 404, 410, 418])
def test_4xx_means_that_there_is_none(rig: Rig, number: int) -> None:
    land(rig, status(number))
    assert rig.settle()[0] == ["http://a/1"]


@pytest.mark.parametrize("outcome", [status(500), status(503), status(429), TIMEOUT, CONNECT, failed(FailReason.DROPPED)])
def test_not_yet_not_yet_given_up_but_never_allowed(rig: Rig, outcome: Outcome) -> None:
    """RFC 9309 2.3.1.4: as long as the rules are unknown, nothing may be fetched."""
    again = 4 if outcome == status(429) else 2
    for _ in range(again):
        land(rig, outcome)
        assert (rig.arrivals, rig.tally.value) == ([], 1), "not yet"
        assert rig.queues.lease(9) == [], "not at once"
    assert not rig.host("a").dormant
    land(rig, outcome)
    assert rig.host("a").dormant
    assert (rig.arrivals, rig.tally.value, rig.zeros) == ([], 0, 1)
    assert rig.host("a").waiting == 1, "it is still parked"
    assert [line.split()[0] for line in rig.log] == [*["robots.txt"] * again, "host"]


def test_a_host_without_an_address_is_given_up_at_once(rig: Rig) -> None:
    land(rig, failed(FailReason.UNRESOLVED))
    assert rig.host("a").dormant


def test_a_scheme_at_which_nothing_answers_costs_its_own_urls_and_not_the_host(rig: Rig) -> None:
    land(rig, ok(body=b"User-agent: *\nDisallow: /secret"))
    rig.settle()
    rig.end(rig.one())
    rig.screen("https://a/2", "https://a/secret")
    for _ in range(3):
        land(rig, CONNECT)
    assert rig.settle() == (["https://a/2"], ["https://a/secret"]), "by the rules of the other scheme"
    host = rig.host("a")
    assert (host.is_silent("https://a/2"), host.is_silent("http://a/2"), host.dormant) == (True, False, False)
    for outcome in (CONNECT, failed(FailReason.TLS)):
        decision = policy(outcome, 0, rig.settings, silent=True)
        assert (decision.unreachable, decision.health_cost) == (False, 0)
    assert policy(TIMEOUT, 0, rig.settings, silent=True).health_cost == 1, "they hold up the host"


def test_rules_that_come_at_the_second_try(rig: Rig) -> None:
    land(rig, status(503))
    assert rig.turns.figures().blocked == 1
    land(rig, ok(body=FORBIDDEN))
    assert rig.settle() == ([], ["http://a/1"])
    assert (rig.tally.value, rig.turns.figures().blocked) == (0, 0)


def test_a_host_given_up_is_asked_for_its_robots_txt_first_when_it_gets_its_next_chance(rig: Rig) -> None:
    land(rig, failed(FailReason.UNRESOLVED))
    rig.fake.advance(3_000)
    assert rig.queues.lease(9) == []
    assert land(rig, ok()) == "http://a/robots.txt"
    assert rig.tally.value == 1
    assert rig.settle()[0] == ["http://a/1"]
    rig.end(rig.one())
    assert rig.zeros == 2


def test_a_host_whose_robots_txt_never_comes_is_asked_ever_more_seldom(rig: Rig) -> None:
    """LARM-65: the wait doubles, though each round has several tries."""
    waits = []
    for _ in range(3):
        for _ in range(3):
            land(rig, CONNECT)
        assert rig.host("a").dormant
        waits.append(rig.queues.seconds_to_next())
    assert [round(wait / 3_600) for wait in waits] == [1, 2, 4]
    assert rig.tally.value == 0


# -- redirects


def test_redirects_are_followed_and_the_rules_are_for_the_host_that_was_asked(rig: Rig) -> None:
    assert land(rig, Moved(301, "/rules", Timing())) == "http://a/robots.txt"
    assert land(rig, Moved(302, "http://www.a/robots.txt", Timing())) == "http://a/rules"
    assert land(rig, ok(body=FORBIDDEN)) == "http://www.a/robots.txt"
    assert rig.settle() == ([], ["http://a/1"])
    assert rig.screen("www.a/1") == ([], []), "the other host's are still unknown"


def test_five_redirects_are_followed_a_sixth_means_that_there_is_none(rig: Rig) -> None:
    for number in range(6):
        assert rig.arrivals == []
        land(rig, Moved(302, f"/{number}", Timing()))
    assert rig.settle()[0] == ["http://a/1"]


def test_a_redirect_to_nowhere_means_that_there_is_none(rig: Rig) -> None:
    land(rig, Moved(302, "http://[", Timing()))
    assert rig.arrivals[0].rules == ALLOW_ALL


def test_a_redirect_to_another_scheme_of_url_means_that_there_is_none(rig: Rig) -> None:
    land(rig, Moved(302, "mailto:someone", Timing()))
    assert rig.settle()[0] == ["http://a/1"]


def test_http_to_https_sets_the_rules_of_http(rig: Rig) -> None:
    land(rig, Moved(301, "https://a/robots.txt", Timing()))
    land(rig, ok(body=FORBIDDEN))
    assert rig.arrivals[0].scheme == "http"
    rig.settle()
    assert rig.screen("https://a/1") == ([], []), "https has not been asked"


def test_after_a_redirect_that_led_nowhere_the_next_chance_begins_anew(rig: Rig) -> None:
    land(rig, Moved(301, "http://elsewhere/rules", Timing()))
    for _ in range(3):
        assert land(rig, status(500)) == "http://elsewhere/rules"
    assert rig.host("a").dormant
    assert land(rig, ok()) == "http://a/robots.txt"


# -- rules from an earlier visit


def checked(rig: Rig) -> Rig:
    """With rules that have expired, and a URL that waits for the new ones."""
    land(rig, ok(body=b"User-agent: *\nDisallow: /old"))
    rig.settle()
    rig.end(rig.one())
    rig.fake.advance(rig.robots.ttl + 1)
    rig.screen("a/old/2")
    return rig


@pytest.mark.parametrize("outcome", [status(500), TIMEOUT])
def test_known_rules_stay_in_force_while_robots_txt_can_not_be_had(rig: Rig, outcome: Outcome) -> None:
    """RFC 9309 2.4."""
    checked(rig)
    for _ in range(3):
        assert rig.arrivals == []
        land(rig, outcome)
    assert rig.settle() == ([], ["http://a/old/2"])


def test_not_modified_keeps_them(rig: Rig) -> None:
    checked(rig)
    land(rig, NotModified({}, Timing()))
    assert rig.settle() == ([], ["http://a/old/2"])


def test_new_rules_replace_them(rig: Rig) -> None:
    checked(rig)
    land(rig, ok())
    assert rig.settle()[0] == ["http://a/old/2"]


# -- counts, and what the crawl asks


def test_counts(rig: Rig) -> None:
    land(rig, Moved(301, "/x", Timing()))
    land(rig, status(503))
    land(rig, TIMEOUT)
    land(rig, ok(body=b"x" * 9))
    assert {name: number for name, number in rig.counters.snapshot().items() if name.startswith("robots")} == {
        "robotstxt/request_count": 4,
        "robotstxt/response_status_count/301": 1,
        "robotstxt/response_status_count/503": 1,
        "robotstxt/response_status_count/200": 1,
        "robotstxt/exception_count/timeout": 1,
    }


def test_allows_asks_the_rules_that_we_have(rig: Rig) -> None:
    land(rig, ok(body=b"User-agent: *\nDisallow: /old"))
    rig.settle()
    assert rig.robots_lander.allows(message("http://a/new"))
    assert not rig.robots_lander.allows(message("http://a/old"))


def test_sitemaps_enter_the_river(rig: Rig) -> None:
    """Resolved; malformed ones are logged. Depth 1, as if a start page linked to them."""
    land(rig, Moved(301, "http://b.org/deep/robots.txt", Timing()))
    land(rig, ok(body=b"Sitemap: http://a/one.xml\nSitemap: ../two.xml.gz\nsitemap: http://[/\nSitemap: file:///etc/passwd"))
    assert [(each.url.access, each.depth, each.referrer) for each in rig.sitemaps] == [
        ("http://a/one.xml", 1, "http://b.org/deep/robots.txt"),
        ("http://b.org/two.xml.gz", 1, "http://b.org/deep/robots.txt"),
    ]
    assert [line.partition(": malformed sitemap ")[2][:10] for line in rig.log] == ["'http://[/", "'file:///e"]


def test_rules_that_stay_in_force_name_no_sitemaps_again(rig: Rig) -> None:
    land(rig, ok(body=b"Sitemap: /one.xml"))
    rig.settle()
    rig.end(rig.one())
    rig.fake.advance(rig.robots.ttl + 1)
    rig.screen("a/2")
    for _ in range(3):
        land(rig, status(500))
    assert len(rig.sitemaps) == 1

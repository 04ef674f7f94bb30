"""Whose robots.txt is known, and who waits for one (LARM-53 to LARM-57)."""

from __future__ import annotations

import pytest

from larm.frontier.robots.desk import BATCH, Arrival, robots_url
from larm.frontier.robots.rules import ALLOW_ALL, RobotsRules
from larm.kit.disk.block_store import BlockStore
from larm.model.host_resolver import HostResolver
from larm.model.outcome import Moved, Timing
from larm.model.url import URLNormalizer
from larm.testing.fakes import message
from tests.frontier.rig import CONNECT, Rig, of, ok

PRIVATE = b"User-agent: *\nDisallow: /private"


@pytest.fixture
def rig(store: BlockStore) -> Rig:
    return Rig(store)


def answer(rig: Rig, body: bytes = b"") -> tuple[list[str], list[str]]:
    """Fetch robots.txt and let the handler have the rules."""
    lease = rig.one()
    assert lease.robots
    rig.robots_lander.land(lease, ok(body=body))
    return rig.settle()


def test_unknown_loading_checked(rig: Rig) -> None:
    """LARM-53: the first URL makes robots.txt the host's task and is parked; the rules let it go on."""
    assert rig.screen("a/1", "a/private/x") == ([], [])
    assert (rig.tally.value, rig.host("a").waiting) == (2, 2)
    assert rig.screen("a/2") == ([], []), "LARM-54: so is every later one"
    (lease,) = rig.queues.lease(9)
    assert (lease.robots, lease.message.url.access) == (True, "http://a/robots.txt")
    rig.robots_lander.land(lease, ok(body=PRIVATE))
    assert rig.screen("a/3") == ([], []), "until the handler has the rules"
    passed, forbidden = rig.settle()
    assert passed == ["http://a/1", "http://a/2", "http://a/3"]
    assert forbidden == ["http://a/private/x"]
    assert rig.screen("a/4", "a/private/y") == (["http://a/4"], ["http://a/private/y"])
    assert rig.tally.value == 4


def test_robots_txt_is_fetched_once(rig: Rig) -> None:
    for number in range(5):
        rig.screen(f"a/{number}")
    answer(rig)
    assert not rig.queues.lease(1)[0].robots
    assert rig.counters.snapshot()["robotstxt/request_count"] == 1


def test_parked_messages_go_on_in_their_order_also_from_the_disk(store: BlockStore) -> None:
    """LARM-56, and before younger ones."""
    rig = Rig(store, of(host_block=4))
    for number in range(0, 30, 3):
        rig.screen(*(f"a/{each}" for each in range(number, number + 3)))
    passed, _ = answer(rig)
    rig.screen("a/younger")
    assert passed == [f"http://a/{number}" for number in range(30)]
    order = []
    while leases := rig.queues.lease(1):
        order.append(leases[0].message.url.path_query)
        rig.end(leases[0])
    assert order == [f"/{number}" for number in range(30)] + ["/younger"]
    assert rig.zeros == 1


def test_hosts_are_mixed_in_a_batch(rig: Rig) -> None:
    rig.screen("a/1")
    answer(rig, PRIVATE)
    assert rig.screen("b/1", "a/2", "b/2", "a/private/") == (["http://a/2"], ["http://a/private/"])
    assert rig.host("b").waiting == 2


def test_each_scheme_of_a_host_has_a_robots_txt_of_its_own(rig: Rig) -> None:
    """RFC 9309 2.3. The messages that wait for the other one go on waiting, in their order."""
    rig.screen("http://a/1", "http://a:443/2", "https://a/1", "http://a/private/1")
    rig.screen("https://a:443/private/1")
    assert rig.host("a").waiting == 4
    leases = {}
    while found := rig.queues.lease(9):
        for lease in found:
            leases[lease.message.url.access] = lease
            if lease.message.url.access == "http://a/robots.txt":
                rig.robots_lander.land(lease, ok(body=PRIVATE))
    assert rig.settle() == (["http://a/1"], ["http://a/private/1"])
    assert rig.host("a").waiting == 2 + 1
    rig.robots_lander.land(leases["https://a/robots.txt"], ok())
    passed, forbidden = rig.settle()
    assert (passed, forbidden) == (["https://a/1", "https://a/private/1"], [])


def test_robots_txt_is_asked_for_under_the_name_that_was_used(rig: Rig) -> None:
    """LARM-41: the record is that of the resolved name, which need not have an address."""
    url = URLNormalizer(HostResolver(starts=[("www.", "")])).parse("http://www.a.org/x")
    assert url.host == "a.org"
    assert (robots_url(url).access, robots_url(url).host) == ("http://www.a.org/robots.txt", "a.org")


def test_expired_rules_are_fetched_again(rig: Rig) -> None:
    rig.screen("a/1")
    answer(rig, PRIVATE)
    rig.end(rig.one())
    rig.fake.advance(rig.robots.ttl - 1)
    assert rig.screen("a/2")[0] == ["http://a/2"]
    rig.fake.advance(2)
    assert rig.screen("a/private/3") == ([], [])
    lease = rig.one()
    assert lease.robots
    rig.robots_lander.land(lease, ok())
    assert rig.settle()[0] == ["http://a/private/3"]


def test_a_wall_clock_that_jumps_at_every_look_changes_nothing(rig: Rig) -> None:
    """Rules are measured in time that passes; a clock gone mad must not have robots.txt fetched for ever, nor never again."""
    rig.screen("a/1")
    answer(rig)
    rig.end(rig.one())
    for days in (400, -400, 90_000, -9_000):
        rig.fake.set_wall(rig.fake.wall() + days * 86_400)
        rig.fake.advance(rig.robots.ttl / 5)
        assert rig.screen(f"a/{days}") == ([f"http://a/{days}"], [])
        rig.end(rig.one())
    rig.fake.advance(rig.robots.ttl / 5)
    assert rig.screen("a/2") == ([], [])


@pytest.mark.parametrize(("hours", "known"), [(0, True), (23, True), (25, False), (-48, True), (24 * 400, False)])
def test_rules_of_an_earlier_run_are_as_old_as_the_wall_clock_says(rig: Rig, hours: float, known: bool) -> None:
    rig.screen("a/1")
    answer(rig)
    rig.end(rig.one())
    rig.save()
    new = rig.load(lambda clock: clock.set_wall(clock.wall() + hours * 3600))
    assert (new.screen("a/2")[0] == ["http://a/2"]) is known


def test_a_clock_set_back_between_two_runs_does_not_keep_rules_for_ever(rig: Rig) -> None:
    rig.screen("a/1")
    answer(rig)
    rig.end(rig.one())
    rig.save()
    new = rig.load(lambda clock: clock.set_wall(clock.wall() - 400 * 86_400))
    new.fake.advance(rig.robots.ttl + 1)
    assert new.screen("a/2") == ([], [])


def test_robots_txt_itself_needs_no_permission(rig: Rig) -> None:
    """RFC 9309 2.2.2."""
    rig.screen("a/1")
    answer(rig, b"User-agent: *\nDisallow: /")
    assert rig.screen("a/robots.txt")[0] == ["http://a/robots.txt"]


def test_a_host_given_up_while_its_parked_messages_are_released(rig: Rig) -> None:
    """They are released in batches, of which each counts once."""
    rig.put("a/old")
    number = 2 * BATCH + 10
    rig.screen(*(f"a/{each}" for each in range(number)))
    rig.robots_lander.land(rig.one(), ok())
    batches = rig.desk.settle(rig.arrivals.pop())
    first = next(batches)
    rig.queues.add(first)
    rig.end(rig.one(), CONNECT)
    assert rig.tally.value == 0
    sizes = [len(first)]
    for batch in batches:
        sizes.append(len(batch))
        assert rig.tally.value == len(batch), "until they are back at their host"
        rig.queues.add(batch)
    assert sizes == [BATCH, BATCH, 10]
    assert (rig.tally.value, rig.turns.figures().uncounted) == (0, number + 1)


# -- hosts that were given up


def test_a_host_given_up_parks_without_counting(rig: Rig) -> None:
    rig.put("a/1")
    rig.end(rig.one(), CONNECT)
    assert rig.screen("a/2") == ([], [])
    assert (rig.tally.value, rig.turns.figures().uncounted) == (0, 2)
    rig.fake.advance(5_000)
    lease = rig.one()
    assert lease.robots, "robots.txt first"
    assert rig.tally.value == 2
    rig.robots_lander.land(lease, ok())
    assert rig.settle()[0] == ["http://a/2"]
    for _ in range(2):
        rig.end(rig.one())
    assert (rig.tally.value, rig.turns.figures().uncounted) == (0, 0)


def test_rules_that_arrive_when_the_host_has_been_given_up(store: BlockStore) -> None:
    """Between the answer and the handler a page of the host found it dead: the parked messages count once, not twice."""
    rig = Rig(store)
    rig.put("a/old")
    rig.screen("a/1", "a/private/2", "b/1")
    leases = {lease.host: lease for lease in rig.queues.lease(9)}
    rig.robots_lander.land(leases["a"], ok(body=PRIVATE))
    rig.end(rig.one(), CONNECT)
    assert rig.host("a").dormant
    assert rig.tally.value == 1, "that of b"
    passed, forbidden = rig.settle()
    assert (passed, forbidden) == (["http://a/1"], ["http://a/private/2"])
    assert (rig.tally.value, rig.turns.figures().uncounted) == (1, 2)
    rig.robots_lander.land(leases["b"], ok())
    rig.settle()
    rig.end(rig.one())
    assert rig.zeros == 1


# -- larm why


def test_explain_names_the_line(rig: Rig) -> None:
    asked = message("http://a/private/x")
    assert rig.desk.explain(asked) is None, "nothing is known"
    rig.screen("a/1")
    assert rig.desk.explain(asked) is None, "nothing is known yet"
    answer(rig, PRIVATE)
    assert rig.desk.explain(asked) == "line 2 of http://a/robots.txt: Disallow: /private"
    assert rig.desk.explain(message("http://a/x")) is None


def test_explain_changes_nothing(rig: Rig) -> None:
    rig.desk.explain(message("http://a/x"))
    assert len(rig.book) == 0
    assert rig.queues.lease(9) == []


def test_an_arrival_that_nobody_waits_for(rig: Rig) -> None:
    assert list(rig.desk.settle(Arrival("a", "http", ALLOW_ALL))) == []


def test_a_redirect_to_the_robots_txt_of_another_host_stays_the_task_of_this_one(rig: Rig) -> None:
    rig.screen("a/1")
    rig.robots_lander.land(rig.one(), Moved(301, "http://b/rules.txt", Timing()))
    lease = rig.one()
    assert (lease.host, lease.message.url.access) == ("a", "http://b/rules.txt")
    rig.robots_lander.land(lease, ok(body=PRIVATE))
    assert rig.settle()[0] == ["http://a/1"]
    assert isinstance(rig.host("a").robots["http"].rules, RobotsRules)
    assert len(rig.book) == 1

"""The fence of an agent, and the instants from which a new owner may ask a host."""

import pytest

from larm.cluster.keys import AgentState, Lost, Member, SeenAgent, View
from larm.cluster.placement import HashRing
from larm.cluster.view_state import GUARD, Rules, ViewState

RULES = Rules(lease=20.0, request=30.0)
ADOPTION = RULES.lease + RULES.request + GUARD


def view_of(names, epoch=1):
    return View(epoch, {name: Member(1.0, ord(name)) for name in names})


def agents_of(**modified):
    """Return keys by name: ``a=(modified, released)`` or ``a=modified``."""
    found = {}
    for name, each in modified.items():
        revision, released = each if isinstance(each, tuple) else (each, 1)
        found[name] = SeenAgent(AgentState(ord(name), 1, released=released), revision)
    return found


def host_of(owner, names, then=""):
    """Return a host of this owner, which ``then`` owns without the owner."""
    rest = {name: 1.0 for name in names if name != owner}
    for number in range(1_000):
        host = f"h{number}.example"
        if HashRing({**rest, owner: 1.0}).owner(host) == owner and (not then or HashRing(rest).owner(host) == then):
            return host
    raise AssertionError


@pytest.fixture
def state():
    found = ViewState("b", RULES)
    found.see(view_of("abc"), 5, agents_of(a=10, b=11, c=12), 12, 100.0)
    return found


def lose_a(state, modified, now, lost=None):
    """Show a view without a, whose last renewal had the revision ``modified``."""
    view = state.view.then(view_of("bc").members, {"a": Lost(2, modified if lost is None else lost)})
    state.see(view, view.epoch + 5, agents_of(b=(20, 1), c=(21, 1)), 30, now)


def test_lease_counts_from_send_of_confirmed_renewal(state):
    assert state.fenced(100.0)
    state.confirm(100.0)
    assert not state.fenced(119.9)
    assert state.fenced(120.0)


def test_late_answer_to_older_renewal_does_not_shorten_fence(state):
    state.confirm(100.0)
    state.confirm(95.0)
    assert state.fenced_at == 120.0


def test_lost_owner_is_waited_for_from_first_sight_of_its_last_renewal(state):
    host = host_of("a", "abc", then="b")
    lose_a(state, 10, 121.0)
    assert state.owner(host) == "b"
    assert not state.opened(host, 100.0 + ADOPTION - 0.1)
    assert state.opened(host, 100.0 + ADOPTION)


def test_renewal_that_was_not_seen_begins_the_wait_when_the_loss_is_seen(state):
    lose_a(state, 15, 121.0)
    host = host_of("a", "abc", then="b")
    assert not state.opened(host, 121.0 + ADOPTION - 0.1)
    assert state.opened(host, 121.0 + ADOPTION)


def test_vanished_key_of_member_is_waited_for_from_its_absence(state):
    state.see(state.view, 5, agents_of(b=11, c=12), 15, 105.0)
    lose_a(state, 0, 126.0)
    host = host_of("a", "abc", then="b")
    assert not state.opened(host, 105.0 + ADOPTION - 0.1)
    assert state.opened(host, 105.0 + ADOPTION)


def test_key_that_was_written_again_and_vanished_again_is_waited_for_from_the_second_time(state):
    host = host_of("a", "abc", then="b")
    state.see(state.view, 5, agents_of(b=11, c=12), 15, 105.0)
    state.see(state.view, 16, agents_of(b=11, c=12), 18, 120.0)
    lose_a(state, 18, 141.0)
    assert not state.opened(host, 120.0 + ADOPTION - 0.1)
    assert state.opened(host, 120.0 + ADOPTION)


def test_process_that_missed_the_last_renewal_and_the_loss_waits_from_when_it_sees_them(state):
    host = host_of("a", "abc", then="b")
    state.see(state.view, 5, agents_of(b=11, c=12), 15, 105.0)
    lose_a(state, 25, 150.0)
    assert not state.opened(host, 150.0 + ADOPTION - 0.1)
    assert state.opened(host, 150.0 + ADOPTION)


def test_wait_for_a_lost_agent_does_not_begin_again_with_each_poll():
    state = ViewState("b", RULES)
    view = view_of("ab").then(view_of("b").members, {"a": Lost(2, 10)})
    for second in range(60):
        state.see(view, 12, agents_of(b=(20 + second, 2)), 20 + second, 100.0 + second)
    assert state.may_settle(100.0 + ADOPTION)


def test_agent_that_left_must_know_of_a_loss_before_views_are_settled(state):
    left = state.view.then(view_of("bc").members)
    view = left.then(view_of("b").members, {"c": Lost(3, 12)})
    state.see(view, 9, agents_of(a=(20, 2), b=(21, 3)), 22, 122.0)
    assert not state.may_settle(122.0 + ADOPTION)
    state.see(view, 9, agents_of(a=(23, 3), b=(21, 3)), 23, 122.0 + ADOPTION)
    assert state.may_settle(122.0 + ADOPTION)


def test_vanished_key_of_member_opens_no_host():
    state = ViewState("d", RULES)
    state.see(view_of("abc").then(view_of("abcd").members), 9, agents_of(b=(20, 2), c=(21, 2), d=(22, 2)), 30, 200.0)
    assert not state.opened(host_of_newcomer(), 200.0 + 10 * ADOPTION)


def host_of_newcomer():
    before, after = HashRing(dict.fromkeys("abc", 1.0)), HashRing(dict.fromkeys("abcd", 1.0))
    return next(h for h in (f"h{n}.example" for n in range(1_000)) if before.owner(h) == "a" and after.owner(h) == "d")


def test_newcomer_waits_for_release_of_earlier_owner():
    state = ViewState("d", RULES)
    view = view_of("abc").then(view_of("abcd").members)
    state.see(view, view.epoch + 5, agents_of(a=(10, 1), b=(11, 2), c=(12, 2), d=(13, 2)), 13, 100.0)
    host = host_of_newcomer()
    assert not state.opened(host, 100.0 + 10 * ADOPTION)
    assert not state.may_settle(100.0 + 10 * ADOPTION)
    state.see(view, view.epoch + 5, agents_of(a=(14, 2), b=(11, 2), c=(12, 2), d=(13, 2)), 14, 101.0)
    assert state.opened(host, 101.0)
    assert state.may_settle(101.0)


def test_release_is_remembered_after_the_key_is_gone(state):
    view = state.view.then(view_of("bc").members)
    state.see(view, view.epoch + 5, agents_of(a=(20, 2), b=11, c=12), 20, 101.0)
    state.see(view, view.epoch + 5, agents_of(b=11, c=12), 22, 102.0)
    assert state.opened(host_of("a", "abc", then="b"), 102.0)
    assert state.released("a") == 2


def test_agent_that_stopped_in_good_order_is_not_waited_for(state):
    stopped = SeenAgent(AgentState(97, 1, released=1, stopped=True), 15)
    state.see(state.view, 5, agents_of(b=11, c=12) | {"a": stopped}, 15, 101.0)
    lose_a(state, 15, 122.0)
    assert state.opened(host_of("a", "abc", then="b"), 122.0)
    assert "a" in state.view.lost


def test_return_of_lost_agent_releases_what_it_had(state):
    lose_a(state, 10, 121.0)
    view = state.view.then(view_of("abc").members)
    state.see(view, view.epoch + 5, agents_of(a=(40, 3), b=(41, 3), c=(42, 3)), 42, 130.0)
    assert state.opened(host_of("b", "abc"), 130.0)
    assert "a" in state.view.lost
    assert state.may_settle(130.0)


def test_silence_counts_from_first_sight_and_ends_with_a_renewal(state):
    for second in range(1, 16):
        state.see(state.view, 5, agents_of(a=10, b=11, c=12 + second), 30, 100.0 + second)
    assert state.silent("a", 115.0) == 15.0
    assert state.silent("c", 115.0) == 0.0
    assert state.silent("a", 500.0) == 15.0


def test_silence_begins_again_after_polls_failed(state):
    state.see(state.view, 5, agents_of(a=10, b=11, c=12), 30, 140.0)
    assert state.silent("a", 140.0) == 0.0
    state.see(state.view, 5, agents_of(a=10, b=11, c=12), 30, 141.0)
    assert state.silent("a", 141.0) == 1.0


def test_cluster_founded_again_is_closed_until_the_generation_before_has_ended():
    state = ViewState("b", RULES)
    view = View(1_001, view_of("b").members, closed=True)
    state.see(view, view.epoch + 5, agents_of(b=(5, 1_001)), 5, 100.0)
    state.see(view, view.epoch + 5, agents_of(b=(6, 1_001)), 6, 105.0)
    assert not state.opened("h1.example", 100.0 + ADOPTION)
    assert not state.may_settle(100.0 + ADOPTION - 0.1)
    assert state.may_settle(100.0 + ADOPTION)


def test_members_that_hold_foreign_hosts_keep_a_closed_view_unsettled():
    state = ViewState("b", RULES)
    view = View(1_001, view_of("bc").members, closed=True)
    state.see(view, view.epoch + 5, agents_of(b=(5, 1_001), c=(6, 0)), 6, 100.0)
    assert not state.may_settle(100.0 + 10 * ADOPTION)


def test_views_chain_is_followed_when_a_host_moves_twice():
    """From a to d, which joined, and on after a and d were lost."""
    first = view_of("abc")
    second = first.then(view_of("abcd").members)
    third = second.then(view_of("bc").members, {"a": Lost(3, 10), "d": Lost(3, 13)})
    host = host_of_newcomer()
    state = ViewState(HashRing(dict.fromkeys("bc", 1.0)).owner(host), RULES)
    state.see(second, second.epoch + 5, agents_of(a=(10, 2), b=(11, 2), c=(12, 2), d=(13, 2)), 13, 100.0)
    state.see(third, third.epoch + 5, agents_of(b=(20, 3), c=(21, 3)), 21, 121.0)
    assert not state.opened(host, 100.0 + ADOPTION - 0.1)
    assert state.opened(host, 100.0 + ADOPTION)


def test_no_view_has_no_owner():
    state = ViewState("a", RULES)
    assert (state.owner("h1.example"), state.order("h1.example")) == ("", [])

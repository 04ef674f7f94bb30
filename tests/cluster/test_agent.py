"""Agent: what it takes, what it must search again, and when nothing is left to do."""

from __future__ import annotations

import msgspec
import pytest

from larm.cluster.agent import Gone
from larm.cluster.courier import Answer, Row
from larm.cluster.rows import Wire
from larm.model.message import URLMessage
from larm.model.url import URLNormalizer
from tests.support.views import agent_of, host_of, see, view

AB, ABX = {"a": 1.0, "b": 1.0}, {"a": 1.0, "b": 1.0, "x": 1.0}


def row(host: str) -> Row:
    return Row(host, URLMessage(URLNormalizer().parse(f"http://{host}/")))


def names(gone: list[Gone]) -> list[str]:
    return [each.name for each in gone]


def test_batch_is_refused_until_the_view_of_its_sender_is_known() -> None:
    one = agent_of("b", view(3, "a", "b"))
    assert one.knows("a", 1, 1, epoch=4, now=1.0) == Answer(taken=False, credit=0)
    see(one.state, view(4, "a", "b"), 1.0)
    assert one.knows("a", 1, 1, epoch=4, now=1.0) is None


def test_batch_is_refused_by_fenced_idle_left_or_waiting_agent() -> None:
    busy = [True]
    one = agent_of("b", view(3, "a", "b"), busy=lambda: busy[0])
    assert not one.closed_to(3, 2.9)
    assert one.closed_to(3, 3.0), "it is fenced a lease after its last renewal"
    busy[0] = False
    assert one.closed_to(3, 1.0), "etcd may have its claim to be idle"
    busy[0] = True
    one.begun = False
    assert one.closed_to(3, 1.0), "its run has not begun"
    assert agent_of("b", view(3, "a")).closed_to(3, 1.0), "it is no member"


def test_batch_that_comes_again_is_acknowledged_and_not_taken_again() -> None:
    one = agent_of("b", view(3, "a", "b"))
    received = Wire("a", 1, 1, 1, b""), [row(host_of(one.state, "b"))]
    assert len(one.carry_out(*received, 1.0)) == 1
    assert one.carry_out(*received, 1.0) == []
    assert one.knows("a", 1, 1, 3, 100.0) == Answer(taken=True), "also where it is fenced"


def test_lost_agent_is_searched_by_each_of_its_past_views() -> None:
    """It may not have handed over what it owned before it knew the last one."""
    one = agent_of("b", view(3, "a", "b", "x", past=[(2, "bx")]), epoch=2)
    one.reopened(0.0)
    assert one.orphaned() == []
    see(one.state, view(4, "a", "b", past=[(2, "bx"), (3, "abx")], lost={"x": 4}), 1.0)
    one.reopened(1.0)
    assert one.orphaned() == [Gone("x", {"b": 1.0, "x": 1.0}, 4), Gone("x", ABX, 4)]
    one.reopened(1.0)
    assert one.orphaned() == []


def test_agent_that_is_lost_twice_is_searched_twice() -> None:
    one = agent_of("b", view(3, "b", "x"), epoch=3)
    for epoch, past in ((4, [(3, "bx")]), (6, [(3, "bx"), (4, "b"), (5, "bx")])):
        see(one.state, view(epoch, "b", past=past, lost={"x": epoch}), 1.0)
        one.reopened(1.0)
        assert set(names(one.orphaned())) == {"x"}


def test_agent_that_missed_views_searches_everything() -> None:
    """A view that is neither the next one nor one of those that are not settled: others may have come and been lost."""
    one = agent_of("b", view(3, "a", "b", "x"), epoch=3)
    see(one.state, view(6, "a", "b", past=[(5, "ab")]), 1.0)
    one.reopened(1.0)
    assert one.orphaned() == [Gone("", {}, 6)]
    again = agent_of("b", view(6, "a", "b", past=[(3, "abx"), (4, "abx"), (5, "ab")], lost={"x": 5}), epoch=3)
    again.reopened(1.0)
    assert set(names(again.orphaned())) == {"x"}, "it has missed two views, and knows what was in them"


def test_new_agent_has_nothing_to_search() -> None:
    one = agent_of("b", view(6, "a", "b", past=[(5, "ax")], lost={"x": 6}))
    one.reopened(1.0)
    assert set(names(one.orphaned())) <= {"x"}
    one = agent_of("b", view(6, "a", "b"))
    one.reopened(1.0)
    assert one.orphaned() == []


def test_lost_agent_does_not_search_for_itself() -> None:
    one = agent_of("x", view(4, "a", "b", past=[(3, "abx")], lost={"x": 4}), epoch=3)
    one.reopened(1.0)
    assert one.orphaned() == []


def test_search_is_wanted_until_a_checkpoint_that_began_after_it_is_saved() -> None:
    first, second = Gone("x", ABX, 4), Gone("y", AB, 5)
    one = agent_of("b", view(4, "a", "b"), epoch=4, gone=[first])
    assert one.wanted == (first,)
    assert one.orphaned() == [first]
    assert one.wanted == (first,), "a restart searches again"
    one.cut()
    one._new.append(second)
    assert one.orphaned() == [second]
    one.cut_saved()
    assert one.wanted == (second,), "the checkpoint does not have it"
    one.cut_saved()
    one.cut()
    one.cut_saved()
    assert one.wanted == ()


@pytest.mark.parametrize("what", ["rows", "search", "hosts", "not begun", "work"])
def test_agent_with_anything_left_is_not_idle(what: str) -> None:
    idle = [True]
    one = agent_of("b", view(3, "a", "b"), idle=lambda: idle[0], epoch=3)
    one.released(3)
    assert one.is_idle(spent=False)
    match what:
        case "rows":
            one.put([row(host_of(one.state, "a"))], 1.0)
        case "search":
            one._new.append(Gone("x", ABX, 3))
        case "hosts":
            see(one.state, view(4, "a", "b"), 1.0)
        case "not begun":
            one.begun = False
        case "work":
            idle[0] = False
    assert not one.is_idle(spent=False)
    assert one.is_idle(spent=True) is (what == "work"), "pages that may not be fetched are no work"


def test_rows_wait_until_the_run_has_begun_and_go_to_their_owners_then() -> None:
    one = agent_of("b", view(3, "a", "b"), epoch=3)
    one.begun = False
    mine, theirs = row(host_of(one.state, "b")), row(host_of(one.state, "a"))
    assert one.put([mine, theirs], 1.0) == []
    assert one.reopened(1.0) == []
    one.begun = True
    assert one.reopened(1.0) == [mine]
    assert one.courier.waits_for() == {"a": 1}


def test_rows_of_a_host_that_a_lost_agent_may_still_ask_wait() -> None:
    lost = view(4, "b", past=[(3, "bx")], lost={"x": 4})
    one = agent_of("b", view(3, "b", "x"), epoch=3)
    host = host_of(one.state, "x")
    see(one.state, lost, 1.0)
    assert one.put([row(host)], 1.0) == []
    for second in range(1, 30):
        see(one.state, lost, float(second))
        rows = one.reopened(float(second))
        if rows:
            break
    assert rows == [row(host)]
    assert second == one.state.rules.adoption, "since its last renewal was first seen"


def test_owner_that_is_heard_and_takes_nothing_is_named() -> None:
    """The end waits for it."""
    one = agent_of("b", view(3, "a", "b"), epoch=3)
    one.put([row(host_of(one.state, "a"))], 0.0)
    (parcel,) = one.courier.due(0.5)
    assert not one.courier.answered(parcel, Answer(taken=False), 0.6)
    for second in range(1, 13):
        see(one.state, view(3, "a", "b"), float(second))
    assert one.courier.stuck(12.0, 12.0) == []
    assert one.courier.stuck(12.5, 12.0) == ["a"]
    assert one.courier.stuck(300.0, 12.0) == ["a"], "no poll came since"
    one.courier.answered(parcel, Answer(taken=True), 12.6)
    assert one.courier.stuck(12.7, 12.0) == []


def test_refused_batch_comes_again_within_a_second_however_long_its_receiver_was_silent() -> None:
    """Else an agent that claims to be idle again after two seconds would refuse it for ever."""
    one = agent_of("b", view(3, "a", "b"), epoch=3)
    one.put([row(host_of(one.state, "a"))], 0.0)
    now, parcels = 0.0, one.courier.due(0.0)
    for _ in range(20):  # nothing is heard
        one.courier.answered(parcels[0], None, now)
        parcels = []
        while not parcels:
            now += 0.1
            see(one.state, view(3, "a", "b"), now)
            parcels = one.courier.due(now)
    one.courier.answered(parcels[0], Answer(taken=False, credit=0), now)
    see(one.state, view(3, "a", "b"), now + 1.0)
    assert one.courier.due(now + 0.9) == []
    assert one.courier.due(now + 1.05) == parcels


def test_row_knows_how_often_it_was_sent_on() -> None:
    one = agent_of("b", view(3, "a", "b"), epoch=3)
    theirs = row(host_of(one.state, "a"))
    one.carry_out(Wire("a", 1, 1, 1, b""), [theirs], 0.0)
    (parcel,) = one.courier.due(0.5)
    assert parcel.rows == [msgspec.structs.replace(theirs, hops=1)]

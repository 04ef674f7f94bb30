"""An agent that was away: what it makes of what it hears when it is back."""

from __future__ import annotations

import msgspec
import pytest

from larm.cluster.agent import Agent
from larm.cluster.beat import Beat, Quiet, Stamp, View, Vote
from larm.cluster.courier import Answer, Courier, Queue, Row
from larm.cluster.inbox import Inbox
from larm.cluster.membership import Membership, Rules, Saved
from tests.cluster.simulation import Memory

RULES = Rules(lease=3.0, adopt_after=12.0)


def agent(view: View, me: str = "b", *, idle: bool = True) -> Agent:
    saved = Saved((view,), view.epoch, Vote(0), begun=True)
    membership = Membership(me, 1 << 32, 1.0, RULES, saved=saved, now=0.0)
    queues: dict[str, Queue] = {}
    return Agent(membership, Courier(membership, lambda name: queues.setdefault(name, Memory())), Inbox(), lambda: idle)


def beat(sender: str, *views: View) -> Beat:
    return Beat(sender, Stamp(1 << 32, 1.0), None, views, views[0].epoch, (), Vote(0), None, 1.0, "", Quiet(), begun=True)


def view(epoch: int, *names: str) -> View:
    return View(epoch, dict.fromkeys(names, 1.0))


def test_who_was_away_looks_for_those_who_died_meanwhile_and_for_those_it_has_never_heard_of() -> None:
    """x was a member when it left. Another may have come, got hosts with all that we had sent for them, and died."""
    one = agent(view(3, "a", "b", "x"))
    one.hear(beat("a", view(6, "a", "b")), 100.0)
    assert [gone.name for gone in one.orphaned(100.0)] == [""]
    assert [gone.name for gone in one.orphaned(107.0)] == ["x"]
    assert not one.orphaned(200.0)


def test_who_was_there_all_the_time_looks_for_the_dead_only() -> None:
    one = agent(view(3, "a", "b", "x"))
    one.hear(beat("a", view(3, "a", "b", "x"), view(4, "a", "b")), 100.0)
    assert [gone.name for gone in one.orphaned(107.0)] == ["x"]


def test_of_two_that_went_on_alone_the_later_one_gives_way_and_joins_again() -> None:
    """As one that was removed: it asks nobody, hands in what it has, and wishes to be let in."""
    late, early = agent(view(4, "b"), "b"), agent(view(4, "a"), "a")
    assert not late.membership.fenced(1.0)
    answer = early.hear(beat("b", view(4, "b")), 100.0)
    assert answer is not None
    assert early.membership.view == view(4, "a")
    late.hear(answer, 100.0)
    assert late.membership.view == view(4, "a")
    assert late.membership.fenced(100.0)
    assert late.must_release
    late.released()
    said = late.membership.beat("a", 101.0, Quiet())
    assert (said.wish, said.released) == ("join", 4)
    early.hear(said, 101.0)
    early.tick(102.0)
    assert early.membership.view.members.keys() == {"a", "b"}


@pytest.mark.parametrize("idle", [True, False])
def test_an_end_that_is_of_the_run_before(idle: bool) -> None:
    """Who was started again hears from one that is about to go: with work left, that can't be about this run."""
    one = agent(view(3, "a", "b"), idle=idle)
    one.hear(msgspec.structs.replace(beat("a", view(3, "a", "b")), over=True), 1.0)
    assert one.membership.over is idle


def test_who_goes_on_alone_asks_for_those_it_has_given_up() -> None:
    """Or two that have given each other up never meet again."""
    one = agent(view(4, "a"), "a")
    one.acquaintances = {"b"}
    assert {name for at in range(5) for name, _ in one.tick(at + 0.5)} == {"b"}


def test_of_two_views_of_one_epoch_that_of_more_agents_holds() -> None:
    """The others had a third one join them, and gave nobody up: they don't know that a went on alone."""
    alone, joined = agent(view(5, "a"), "a"), agent(view(5, "a", "b", "c"), "b")
    joined.hear(beat("a", view(5, "a")), 1.0)
    assert joined.membership.view == view(5, "a", "b", "c")
    assert joined.membership.beat("a", 2.0, Quiet()).echo is None, "a does not stand by us, nor we by it"
    alone.hear(beat("b", view(5, "a", "b", "c")), 1.0)
    assert alone.membership.view == view(5, "a", "b", "c")
    assert alone.must_release


def test_of_two_processes_with_one_name_the_one_that_was_there_first_is_heard() -> None:
    """A copied directory counts one start more than the original, which lives: that must not make it the real one."""
    one = agent(view(3, "a", "b", "x"))
    assert one.hear(beat("a", view(3, "a", "b", "x")), 100.0) is not None
    copy = msgspec.structs.replace(beat("a", view(3, "a", "b", "x")), stamp=Stamp(2 << 32, 1.0))
    assert one.hear(copy, 101.0) is None
    assert one.hear(beat("a", view(3, "a", "b", "x")), 102.0) is not None
    assert one.hear(copy, 104.9) is None
    assert one.hear(copy, 105.1) is not None, "the first one has not said a word for the lease"
    assert one.hear(beat("a", view(3, "a", "b", "x")), 105.2) is None
    assert one.hear(beat("a", view(3, "a", "b", "x")), 200.0) is None


def test_who_comes_back_when_all_others_have_ended_does_not_wait_for_ever() -> None:
    one = agent(view(3, "a", "b", "x")).membership
    one.tick(299.0)
    assert not one.deserted(299.0, 300.0)
    one.tick(300.0)
    assert one.deserted(300.0, 300.0)


def test_who_has_met_the_others_waits_however_long_they_are_cut_off() -> None:
    one = agent(view(3, "a", "b", "x"))
    one.hear(beat("a", view(3, "a", "b", "x")), 299.0)
    one.tick(299.5)
    assert not one.membership.deserted(10_000.0, 300.0)


def test_who_waits_for_the_crawl_to_begin_waits_however_long_that_takes() -> None:
    """Also where it is late that it hears of the others, and one after the other."""
    one = Membership("b", 1 << 32, 1.0, Rules(agents=3), saved=Saved(), now=0.0)
    one.tick(1_000.0)
    assert not one.deserted(1_000.0, 300.0)
    one.hear(beat("a", view(3, "a", "c", "d", "x")), 1_000.5)
    one.tick(1_001.0)
    assert not one.deserted(1_001.0, 300.0)
    one.tick(1_301.0)
    assert one.deserted(1_301.0, 300.0)


def test_one_of_two_that_starts_asks_nobody_before_it_knows_that_it_is_no_copy() -> None:
    one = agent(view(2, "a", "b"))
    assert one.membership.fenced(12.9)
    assert not one.membership.fenced(13.1), "the other one is not there"
    two = agent(view(2, "a", "b"))
    answer = msgspec.structs.replace(beat("a", view(2, "a", "b")), echo=Stamp(1 << 32, 1.0))
    two.hear(answer, 2.0)
    assert not two.membership.fenced(2.0), "it is, and knows us"


def test_who_is_heard_and_takes_nothing_is_named() -> None:
    """The end waits for it, which nobody should have to find out."""
    one = agent(view(3, "a", "b"))
    courier, contact = one.courier, one.membership.contact
    host = next(host for number in range(99) if one.membership.owner(host := f"h{number}.example") == "a")
    one.hear(beat("a", view(3, "a", "b")), 100.0)
    assert not one.put([Row(host, 1)], 100.0)
    assert [(parcel.to, courier.answered(parcel, Answer(taken=False), 103.0)) for parcel in courier.due(102.5)] == [
        ("a", False)
    ]
    contact._heard["a"] = 112.0
    assert courier.stuck(112.0, 12.0) == []
    assert courier.stuck(114.5, 12.0) == ["a"]
    contact._heard["a"] = 0.0
    assert courier.stuck(114.5, 12.0) == [], "a silent one will be given up"
    contact._heard["a"] = 115.0
    (parcel,) = courier.due(115.0)
    assert courier.answered(parcel, Answer(taken=True), 115.0)
    assert courier.stuck(200.0, 12.0) == []


def test_who_is_alone_finds_the_end_at_once_and_goes_on_where_something_comes() -> None:
    busy = [False]
    membership = Membership("a", 1 << 32, 1.0, RULES, saved=Saved((view(1, "a"),), 1, Vote(0), begun=True), now=0.0)
    one = Agent(membership, Courier(membership, lambda _: Memory()), Inbox(), lambda: not busy[0])
    one.tick(0.0)
    assert not membership.over, "what is not its own was not looked for yet"
    one.released()
    one.tick(0.1)
    assert membership.over, "nobody has to be waited for, nor the next beat"
    busy[0] = True
    one.tick(0.2)
    assert not membership.over

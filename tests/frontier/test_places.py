"""Where hosts stand that stand anywhere."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from larm.frontier.host import NEVER
from larm.frontier.places import Places


def drained(places: Places) -> list[str]:
    return [places.take() for _ in range(places.in_ring)]


def test_an_earlier_time_counts_and_the_later_one_is_passed_over() -> None:
    places = Places()
    assert places.wait("a", 5.0, 0)
    assert not places.wait("b", 9.0, 0)
    assert places.wait("b", 3.0, 0)
    assert places.stands_at("b", 4.0)
    assert not places.stands_at("b", 2.0)
    places.wake_due(4.0)
    assert drained(places) == ["b"]
    assert sorted(places.waiting()) == [(5.0, "a")]
    places.wake_due(100.0)
    assert drained(places) == ["a"]
    assert places.next_time() == NEVER


def test_who_stands_in_line_or_may_be_asked_does_not_wait_for_a_time() -> None:
    places = Places()
    places.wait("a", 5.0, 0)
    places.stand_in_line("a")
    assert places.is_in_line("a")
    assert places.stands_at("a", 0.0)
    assert list(places.waiting()) == []
    places.wake_due(9.0)
    assert drained(places) == []
    places.ready("a", 0)
    assert not places.is_in_line("a")
    assert drained(places) == ["a"]


def test_a_host_comes_out_in_the_band_in_which_it_waited() -> None:
    places = Places()
    places.wait("later", 1.0, 3)
    places.wait("sooner", 2.0, 1)
    places.wake_due(2.0)
    places.ready("last", 4)
    places.move_up("last", 0)
    places.move_up("elsewhere", 0)
    assert drained(places) == ["last", "sooner", "later"]


def test_who_leaves_stands_nowhere() -> None:
    places = Places()
    places.wait("a", 5.0, 2)
    places.ready("b", 0)
    for key in "abc":
        places.remove(key)
    places.wake_due(9.0)
    assert (places.in_ring, drained(places), list(places.waiting())) == (0, [], [])


@given(st.lists(st.tuples(st.sampled_from("abcd"), st.sampled_from(["wait", "ready", "line", "remove"]), st.integers(0, 9))))
def test_each_host_stands_in_one_place(steps: list[tuple[str, str, int]]) -> None:
    places, model = Places(), dict[str, float]()
    for key, step, number in steps:
        if step == "wait" and not places.stands_at(key, number):
            places.wait(key, float(number), 0)
            model[key] = number
        elif step == "ready" and model.get(key) != -NEVER:
            places.ready(key, 0)
            model[key] = -NEVER
        elif step == "line" and model.get(key) != -NEVER:
            places.stand_in_line(key)
            model[key] = -1
        elif step == "remove":
            places.remove(key)
            model.pop(key, None)
    places.wake_due(4.0)
    assert sorted(drained(places)) == sorted(key for key, at in model.items() if at == -NEVER or 0 <= at <= 4)
    places.wake_due(100.0)
    assert sorted(drained(places)) == sorted(key for key, at in model.items() if at > 4)

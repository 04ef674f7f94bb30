"""The order of the chain, whatever config.yaml and the kind of crawl make of it."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from larm.config import Config
from larm.filters.order import full_order, robots_first

ALL = {"forgotten", "files", "owner", "away", "sessions", "copies", "mail", "robots"}
CONFIGURED = Config().filters.order


def test_full_order_is_the_documented_one_when_all_filters_are_present() -> None:
    chain = "forgotten known_paths files scope length owner away sessions visited copies mail robots traps"
    assert full_order(CONFIGURED, ALL) == chain.split()


def test_optional_filters_are_left_out_when_absent() -> None:
    assert full_order(CONFIGURED, ()) == ["known_paths", "scope", "length", "visited", "traps"]


def test_scope_precedes_robots_when_configured_behind_it() -> None:
    order = full_order(("visited", "robots", "length", "scope"), {"robots"})
    assert order == ["visited", "scope", "robots", "length"]


def test_mail_is_absent_when_robots_precedes_visited() -> None:
    assert "mail" not in full_order(("scope", "robots", "visited"), ALL)


@given(st.permutations([*CONFIGURED, "own.module:Filter"]), st.sets(st.sampled_from(sorted(ALL))))
def test_placed_filters_keep_their_places_in_any_order(configured: list[str], present: set[str]) -> None:
    order = full_order(configured, present)
    assert len(order) == len(set(order))
    assert not robots_first(order)
    place = {name: number for number, name in enumerate(order)}
    if "forgotten" in present:
        assert order[0] == "forgotten"
    if "owner" in present:
        assert place["owner"] < min(place[name] for name in ("visited", "robots", "traps") if name in place)
    if "away" in present:
        assert place["away"] == place["visited"] - 1 - ("sessions" in present)
    if "sessions" in present:
        assert place["sessions"] == place["visited"] - 1
    if "copies" in present:
        assert place["copies"] == place["visited"] + 1
    if "mail" in place:
        assert place["visited"] < place["mail"] == place["robots"] - 1

"""What a crawl has left out: which notes there are, and their numbers."""

from __future__ import annotations

from larm.engine.figures.notes import Note
from larm.model.left import HostLeft, PatternLeft
from larm.ops.left_out import held_back, hollow_numbers, notes_of

CLOSED = PatternLeft("/c/0", "closed", 1)


def notes(left: list[HostLeft], urls: int, growing: list[str]) -> list[Note]:
    return notes_of(held_back(left, urls, growing))


def test_each_reason_has_a_note_and_what_is_not_named_is_counted() -> None:
    left = [
        HostLeft("a.test", 12_850, 7, (PatternLeft("/a/**", "trap", 12_000), PatternLeft("/b?month=*", "trap", 849), CLOSED)),
        HostLeft("b.test", 1, 0, (PatternLeft("*?sid", "same", 1),)),
    ]
    found = notes(left, 12_900, [])
    assert [(each.key, each.numbers.get("urls"), each.numbers.get("patterns")) for each in found] == [
        ("left_trap", 12_849, ["/a/**", "/b?month=*"]),
        ("left_closed", 1, ["/c/0"]),
        ("left_lost", 7, None),
        ("left_same", 1, ["*?sid"]),
        ("left_others", 49, None),
        ("left_parked", None, None),
    ]
    assert [each.numbers["host"] for each in found[:4]] == ["a.test", "a.test", "a.test", "b.test"]
    assert notes([], 0, []) == []


def test_patterns_of_a_reason_beyond_three_are_not_named() -> None:
    left = [HostLeft("a.test", 4, 0, tuple(PatternLeft(f"/{n}", "trap", 1) for n in range(4)))]
    assert notes(left, 4, [])[0].numbers["patterns"] == ["/0", "/1", "/2", "..."]


def test_hosts_that_grow_are_told() -> None:
    (told,) = notes([], 0, ["a.test", "b.test"])
    assert (told.key, told.numbers) == ("growing", {"hosts": ["a.test", "b.test"], "count": 2})


def test_pages_with_nothing_to_search_are_counted_by_kind() -> None:
    assert notes_of([("hollow", hollow_numbers({}, 5))]) == []
    only = hollow_numbers({"hollow/scripts": 1}, 1)
    assert (only["only"], only["found"], only["scripts"]) == (True, 0, 1)
    some = hollow_numbers({"hollow/scripts": 8, "hollow/login": 1}, 5_000)
    assert (some["only"], some["found"], some["pages"], some["scripts"], some["login"], some["empty"]) == (
        False,
        9,
        5_000,
        8,
        1,
        0,
    )

"""The chain of responsibility (LARM-43 to LARM-47)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import msgspec
import pytest

from larm.errors import StorageError
from larm.filters.chain import FilterChain, MessageFilter, verdict
from larm.model.message import URLMessage
from larm.seams import Drop, Filter
from larm.testing.fakes import Drops, FailingFilter, message


class Logs(dict[str, list[str]]):
    """Logs in memory."""

    def open(self, name: str) -> Log:
        return Log(self.setdefault(name, []))


class Log:
    def __init__(self, kept: list[str]) -> None:
        self.kept = kept

    def lines(self, lines: Sequence[str]) -> None:
        self.kept += lines


class Without:
    """Drops what has a text in its address, a batch at a time."""

    def __init__(self, text: str, name: str = "") -> None:
        self.text = text
        self.name = name or f"without_{text}"
        self.log_name = self.name + "_log"
        self.batches: list[list[str]] = []

    def sift(self, batch: Sequence[URLMessage], drop: Drop) -> list[URLMessage]:
        self.batches.append([each.url.path_query for each in batch])
        out = [each for each in batch if self.text in each.url.access]
        if out:
            drop(out, f"has {self.text}")
        return [each for each in batch if self.text not in each.url.access]

    def explain(self, message: URLMessage) -> str | None:
        return f"has {self.text}" if self.text in message.url.access else None


class River:
    """A chain with its counters and logs."""

    def __init__(self, *filters: Filter) -> None:
        self.counts: Counter[str] = Counter()
        self.logs = Logs()
        self.told: list[tuple[str, str, str]] = []
        self.chain = FilterChain(
            filters,
            self.logs.open,
            lambda name, number: self.counts.update({name: number}),
            lambda message, name, reason: self.told.append((message.url.access, name, reason)),
        )

    def run(self, *paths: str, start: str | None = None) -> list[str]:
        batch = [message(f"http://a/{path}") for path in paths]
        return [each.url.access.removeprefix("http://a/") for each in self.chain.run(batch, start)]


def test_messages_pass_the_filters_in_their_order() -> None:
    one, two = Without("x"), Without("y")
    assert River(one, two).run("a", "xy", "y", "b", "x") == ["a", "b"]
    assert one.batches == [["/a", "/xy", "/y", "/b", "/x"]]
    assert two.batches == [["/a", "/y", "/b"]], "what the first drops the second never sees"


def test_drops_are_counted_and_logged_by_their_original_address() -> None:
    """LARM-46: one line each, in the log of the filter."""
    river = River(Without("x"), Without("Y"))
    river.run("a", "x1", "x2", "Y~1")
    assert river.counts == {"without_x/filtered": 2, "without_Y/filtered": 1}
    assert river.logs == {
        "without_x_log": ["http://a/x1", "http://a/x2"],
        "without_Y_log": ["http://a/Y~1"],
        "filter_errors": [],
    }


def test_later_filters_are_not_asked_about_nothing() -> None:
    last = Without("y")
    assert River(Without("x"), last).run("x1", "x2") == []
    assert last.batches == []


def test_no_filters_let_everything_pass() -> None:
    assert River().run("a", "b") == ["a", "b"]


def test_start_enters_at_a_filter() -> None:
    """What was parked for robots.txt enters at the robots filter, not before."""
    one, two, three = Without("x"), Without("y"), Without("z")
    assert River(one, two, three).run("x", "y", "z", start="without_y") == ["x"]
    assert one.batches == []
    assert two.batches == [["/x", "/y", "/z"]]


def test_start_at_a_filter_that_is_not_there_any_more() -> None:
    """robots.obey was turned off while messages were parked: they go on."""
    assert River(Without("x")).run("x", start="robots") == ["x"]


class NoBombs(MessageFilter):
    """A user's filter with a mistake in it."""

    def judge(self, message: URLMessage) -> str | None:
        if "bomb" in message.url.access:
            raise ZeroDivisionError("division by zero")
        return "has x" if "x" in message.url.access else None


def test_a_message_filter_that_raises_loses_that_one_message() -> None:
    river = River(NoBombs(), Without("y"))
    assert river.run("a", "x", "bomb", "b", "y") == ["a", "b"]
    assert river.counts == {"NoBombs/error": 1, "filters/failed": 1, "NoBombs/filtered": 1, "without_y/filtered": 1}
    assert river.logs["filter_errors"] == [
        "NoBombs\tZeroDivisionError: division by zero (test_chain.py, line 119)\thttp://a/bomb"
    ]
    assert river.logs["NoBombs"] == ["http://a/x"], "once, though it was judged twice"


def test_a_message_filter_that_raises_for_a_single_message() -> None:
    river = River(NoBombs())
    assert river.run("bomb") == []
    assert river.counts == {"NoBombs/error": 1, "filters/failed": 1}


def test_a_batch_filter_that_raises_drops_its_batch() -> None:
    """Fail closed: whatever it was about to drop must not slip through."""
    river = River(Without("x"), FailingFilter(after=1), Without("y"))
    assert river.run("a", "x", "y") == ["a"]
    assert river.run("a", "b", "x") == []
    assert river.counts["failing/error"] == 2
    assert river.logs["filter_errors"] == [
        "failing\tRuntimeError: the filter is broken\thttp://a/a",
        "failing\tRuntimeError: the filter is broken\thttp://a/b",
    ]


class Forgetful:
    """Returns nothing where a list is due."""

    name = log_name = "forgetful"

    def sift(self, batch: Sequence[URLMessage], drop: Drop) -> list[URLMessage]:
        return None  # type: ignore[return-value]

    def explain(self, message: URLMessage) -> str | None:
        return None


def test_a_filter_that_returns_no_list_is_an_error_of_the_filter() -> None:
    river = River(Forgetful(), Without("x"))
    assert river.run("a") == []
    assert river.counts == {"forgetful/error": 1, "filters/failed": 1}


class DiskFull(MessageFilter):
    """A filter with a file of its own."""

    def judge(self, message: URLMessage) -> str | None:
        raise StorageError("disk full")


@pytest.mark.parametrize("part", [FailingFilter(StorageError("disk full")), DiskFull()])
def test_a_broken_disk_is_no_error_of_the_filter(part: Filter) -> None:
    """The visited set can't be read: the crawl ends (exit 3), and no message is dropped for it."""
    river = River(part)
    with pytest.raises(StorageError, match="disk full"):
        river.run("a", "b")
    assert not river.counts


# -- explain


def test_explain_asks_every_filter_and_changes_nothing() -> None:
    river = River(Without("x"), Without("y"), FailingFilter())
    found = [(part.name, verdict(part, message("http://a/xy"))) for part in river.chain.filters]
    assert found == [("without_x", "has x"), ("without_y", "has y"), ("failing", None)]
    assert not river.counts
    assert not any(river.logs.values())


def test_explain_of_a_filter_that_raises() -> None:
    """It would drop the message, which is what was asked."""
    found = verdict(NoBombs(), message("http://a/bomb"))
    assert found == ("fails: ZeroDivisionError: division by zero (test_chain.py, line 119)")


# -- filters of a user's own


def test_a_message_filter_is_named_after_its_class_unless_it_says_otherwise() -> None:
    class Named(MessageFilter):
        name = "my_filter"
        log_name = "MyLog"

    assert (NoBombs.name, NoBombs.log_name) == ("NoBombs", "NoBombs")
    assert (Named.name, Named.log_name) == ("my_filter", "MyLog")
    assert type("Heir", (Named,), {}).name == "Heir", "two filters must not share counters"


def test_a_message_filter_drops_with_its_reasons() -> None:
    drops = Drops()
    passing = NoBombs().sift([message("http://a/x"), message("http://a/b")], drops)
    assert [each.url.access for each in passing] == ["http://a/b"]
    assert (drops.urls(), drops.reasons()) == (["http://a/x"], ["has x"])


def test_a_message_filter_must_judge() -> None:
    with pytest.raises(TypeError, match=r"abstract method '?judge"):
        MessageFilter()  # type: ignore[abstract]


class Knowing(Without):
    """Knows what it has dropped."""

    def recall(self, fingerprints: Sequence[int]) -> set[int]:
        dropped = {message(f"http://a{path}").url.fingerprint for batch in self.batches for path in batch if self.text in path}
        return dropped.intersection(fingerprints)


class Sifting(Knowing):
    """Is asked first."""

    def sift_known(self, batch: Sequence[URLMessage], drop: Drop) -> list[URLMessage]:
        return list(batch)


class Raising(Without):
    def recall(self, fingerprints: Sequence[int]) -> set[int]:
        raise ValueError(fingerprints)


def test_what_two_filters_know_is_dropped_by_one() -> None:
    river = River(Knowing("x"), Sifting("y"))
    xy, x, y, new = (message(f"http://a/{path}").url.fingerprint for path in ("xy", "x", "y", "new"))
    for part in ("xy", "x", "y"):
        river.run(part, start="without_y")
        river.run(part)
    assert river.chain.recall([xy, x, y, new]) == {"without_y": {xy, y}, "without_x": {x}}
    assert river.chain.recall([new]) == {}


def test_a_filter_that_raises_when_it_is_asked_early_is_asked_in_its_turn() -> None:
    river = River(Raising("x"))
    assert river.chain.recall([1, 2]) == {}
    assert river.counts == {"without_x/error": 1}


def test_a_start_url_that_is_dropped_is_told_with_the_reason() -> None:
    river = River(Without("x"))
    batch = [message("http://a/x"), msgspec.structs.replace(message("http://a/xx"), depth=1), message("http://a/y")]
    river.chain.run(batch)
    assert river.told == [("http://a/x", "without_x", "has x")]

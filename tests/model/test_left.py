"""The sentences on what a host was not asked for."""

from __future__ import annotations

from larm.model.left import HostLeft, PatternLeft, growing, sentences


def test_each_reason_has_a_sentence_and_what_is_not_named_is_counted() -> None:
    left = [
        HostLeft("a.test", 12_850, 7, (PatternLeft("/a/**", "trap", 12_000), PatternLeft("/b?month=*", "trap", 849), CLOSED)),
        HostLeft("b.test", 1, 0, (PatternLeft("*?sid", "same", 1),)),
    ]
    assert sentences(left, 12_900) == [
        "12,849 URLs of a.test were left, they look like a trap: /a/**, /b?month=*",
        "1 URL of a.test was left, not decided yet whether it is a trap: /c/0",
        "7 more URLs of a.test were not kept: too many wait already",
        "1 URL of b.test was left, it says what others say that have other parameters: *?sid",
        "49 URLs of other hosts were left, too; stats.json names them under figures.left",
        "'larm crawl --parked' fetches what was left",
    ]
    assert sentences([], 0) == []


CLOSED = PatternLeft("/c/0", "closed", 1)


def test_hosts_that_grow() -> None:
    assert growing(["a.test"]).startswith("a.test brought tens of thousands of pages and grows as fast as ever; --max-pages")
    assert growing(["a.test", "b.test"]).startswith("a.test, b.test brought tens of thousands of pages and grow as")
    assert "and 2 more brought" in growing(list("abcde"))
    assert not growing([])

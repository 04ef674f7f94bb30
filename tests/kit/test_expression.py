"""Users' expressions: Perl's syntax, and bounded time on hostile strings."""

from __future__ import annotations

import time
from itertools import count
from types import SimpleNamespace

import pytest

from larm.kit.expression import Expression, TooSlow

EXPLOSIVE = [
    (r"(a|aa)+b", "a" * 60 + "b!"),
    (r"(([a-z])+.)+[A-Z]([a-z])+$", "a" * 80 + "!"),
    (r"https?://([^/]|[^.])*x", "http://" + "a" * 60 + "x!"),
    (r".*a.*a.*a.*a.*a.*b", "a" * 2_000 + "b!"),
    (r"(?=(a|aa)+b).*", "a" * 60 + "!b!"),
    (r"(.?){60}b", "a" * 60 + "b" + "!" * 9),
    (r".*a.*b", "a" * 1_000_000 + "b!"),
]


@pytest.mark.parametrize(("text", "string"), EXPLOSIVE, ids=[text for text, _ in EXPLOSIVE])
def test_match_of_explosive_expression_ends_in_bounded_time(text: str, string: str) -> None:
    expression, start = Expression(text), time.process_time()
    try:
        assert not expression.matches(string)
    except TooSlow:
        assert list(expression.slow) == [string]
    assert time.process_time() - start < 2


def test_limit_shrinks_when_many_matches_are_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("larm.kit.expression.LIMIT", 0.002)
    expression, start = Expression(r"(a|aa)+b"), time.process_time()
    for number in range(400):
        with pytest.raises(TooSlow):
            expression.matches("a" * 60 + f"b{number}")
    assert len(expression.slow) == 400
    assert time.process_time() - start < 0.6, "400 x 2 ms would be .8 s"


def test_slow_strings_cost_next_to_nothing_when_many_were_slow(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("larm.kit.expression._SLOW_ONES", 2)
    expression = Expression(r"(a|aa)+b")
    for number in range(30):
        with pytest.raises(TooSlow):
            expression.matches("a" * 60 + f"b{number}")
    start = time.process_time()
    for number in range(500):
        with pytest.raises(TooSlow):
            expression.matches("a" * 60 + f"b-{number}")
    assert time.process_time() - start < 1, "500 x 5 ms would be 2.5 s"


@pytest.mark.parametrize(("seconds", "all_match"), [(0.004, False), (0.0, True)])
def test_slow_matches_shorten_the_limit_by_the_time_of_their_thread_alone(seconds: float, all_match: bool) -> None:
    """Other threads and processes, which the machine runs meanwhile, take none of it."""
    ticks = count()
    expression = Expression(r"(a|aa)+b", lambda: next(ticks) * seconds)

    def takes_three_milliseconds(string: str, *, timeout: float, concurrent: bool) -> bool:
        if string != "fast" and timeout < 0.003:
            raise TimeoutError
        return concurrent

    expression._bounded = SimpleNamespace(fullmatch=takes_three_milliseconds)
    answers = [_answer(expression, str(number)) for number in range(1_000)]
    assert all(answers[:900])
    assert (_answer(expression, "slow") is True) is all_match
    assert expression.matches("fast"), "fast ones are matched as before"


@pytest.mark.parametrize(("taken", "turns"), [([0.0, 0.09], 2), ([0.0, 0.01, 0.02], 3)])
def test_match_is_tried_again_when_other_threads_took_its_time(taken: list[float], turns: int) -> None:
    limits = []
    expression, clock = Expression(r"(a|aa)+b"), iter([*taken, 1.0, 1.0])

    def fullmatch(string: str, *, timeout: float, concurrent: bool) -> bool:
        limits.append(timeout)
        if len(limits) < 3:
            raise TimeoutError
        return concurrent and bool(string)

    expression._clock, expression._bounded = lambda: next(clock), SimpleNamespace(fullmatch=fullmatch)
    assert _answer(expression, "aab") is (True if turns == 3 else None)
    assert len(limits) == turns


@pytest.mark.parametrize(
    "text",
    [
        r"https?://([^/]+\.)?example\.org/.*",
        r".*",
        r"https?://(www\.)?a\.(org|com)/x/.*",
        r".*/\d{4}/\d{2}/[^/]+",
        r".*[(+*)]x",
    ],
)
def test_plain_expression_is_matched_without_a_limit(text: str) -> None:
    assert Expression(text)._plain is not None


@pytest.mark.parametrize(("text", "_"), EXPLOSIVE)
def test_explosive_expression_is_never_plain_on_long_strings(text: str, _: str) -> None:
    assert Expression(text)._plain is None or text == ".*a.*b"


@pytest.mark.parametrize(
    ("text", "inside", "outside"),
    [
        (r"\Qhttp://a.org/\E.*", "http://a.org/x", "http://axorg/x"),
        (r"\Qa+b", "a+b", "aab"),
        (r"[\Q+-.\E]+", "+-.", ","),
        (r"\x{61}[\x{62}-\x{64}]", "ac", "ae"),
        (r"(?<n>a|b)\k<n>", "bb", "ab"),
        (r"\p{L}+\PL", "é1", "éé"),
        (r"[[:alpha:]]+[[:^digit:]]", "ab-", "ab1"),
        (r"a\z", "A", "a\n"),
        (r"a{e}", "a{e}", "b"),
        (r"x{2,3}\{", "xxx{", "x{"),
        (r".*\\Q", "a\\Q", "aQ"),
    ],
)
def test_syntax_of_perl_means_what_perl_means(text: str, inside: str, outside: str) -> None:
    expression = Expression(text)
    assert expression.matches(inside)
    assert not expression.matches(outside)


LINES = [
    r"https?://([^/]+\.)*a\.org/.*",
    r"(?:http|https)://(a|b|c)\.org/(\w+/?)*\.html",
    r"(.*\n)*.*x",
    r"([^-]+/)*[^]]*x",
    r"((?!x)[^/]|/)*y",
    r"(\s|\S)*x|(\W)+",
    r"(^http|y)+.*$",
    r"(a|b)\1.*",
    r"([[:alpha:]]|[:/.])+",
    r"(a|ab)(c|bcd)?(d*)*",
    r"([^a]|a)*",
    r"(a|aa)+b",
]


@pytest.mark.parametrize("text", LINES)
def test_batch_is_matched_as_each_string_alone(text: str) -> None:
    strings = [
        "http://a.org/x",
        "http://b.a.org/y",
        "https://c.org/d/e.html",
        "HTTP://A.org/",
        "x",
        "y",
        "",
        "abcd",
        "aab",
        "]x",
    ]
    strings += ["a" * 60 + "b!", "http://a.org/\nx", "bb/-/", "xy", "::..", "http://" + "a." * 40 + "org/"]
    apart, together = Expression(text), Expression(text)
    for batch in (strings, strings[:10], strings[:1], []):
        together.prepare(batch)
        assert [_answer(together, each) for each in strings] == [_answer(apart, each) for each in strings]


def _answer(expression: Expression, string: str) -> bool | None:
    try:
        return expression.matches(string)
    except TooSlow:
        return None


def test_most_batches_of_repeated_groups_have_one_limit() -> None:
    expression = Expression(LINES[0])
    expression.prepare(["http://x.a.org/", "http://b.org/"])
    expression._bounded = None  # type: ignore[assignment]
    assert expression.matches("http://x.a.org/")
    assert not expression.matches("http://b.org/")


@pytest.mark.parametrize("batch", [10, 400])
def test_hostile_batch_ends_in_bounded_time(monkeypatch: pytest.MonkeyPatch, batch: int) -> None:
    monkeypatch.setattr("larm.kit.expression.LIMIT", 0.002)
    expression, start = Expression(r"(a|aa)+b"), time.process_time()
    for first in range(0, 400, batch):
        strings = ["a" * 60 + f"b{number}" for number in range(first, first + batch)]
        expression.prepare(strings)
        assert {_answer(expression, each) for each in strings} == {None}
    assert time.process_time() - start < 1


@pytest.mark.parametrize(
    "text", ["(", r"\p{nothing}", "(?P<a>x)(?P<a>y)", "(" * 5_000 + ")" * 5_000, "(a?){65536}" * 50, "a{9" + "9" * 30 + "}"]
)
def test_wrong_expression_raises_value_error_at_once(text: str) -> None:
    start = time.process_time()
    with pytest.raises(ValueError, match=r"\w"):
        Expression(text)
    assert time.process_time() - start < 1


@pytest.mark.parametrize(
    "text",
    [r"(a|aa)+b", r"https?://example\.org/(x|xx)+y", r"(a(b|bb)+)+c", r"(([a-z])+.)+[A-Z]([a-z])+$"],
)
def test_slow_name_is_found_when_an_expression_explodes(text: str) -> None:
    assert Expression(text).slow_name()


@pytest.mark.parametrize(
    "text",
    [r"https?://([^/]+\.)*example\.org/.*", r".*", r"(?:http|https)://(a|b|c)/(\w+/?)*\.html", r"(?<n>x)\k<n>"],
)
def test_slow_name_is_empty_when_an_expression_is_fast(text: str) -> None:
    assert Expression(text).slow_name() == ""

"""Delays, the retry table row by row, health of hosts."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from larm.config import FrontierSettings
from larm.frontier.politeness import (
    TABLE,
    Decision,
    backoff,
    dormancy,
    health_after,
    next_start,
    policy,
    row,
)
from larm.kit.units import Seconds
from larm.model.outcome import Failed, FailReason, Fetched, Moved, NotModified, Outcome, Refused, Timing

SETTINGS = FrontierSettings()  # 2 retries, 5 s; blocked 60 s up to a day; given up for 1 h; health 5
TIMING = Timing(0.5, 100)
DAY = 86_400.0


def even() -> float:
    """No jitter."""
    return 0.5


def refused(status: int, retry_after: float | None = None) -> Refused:
    return Refused(status, {}, TIMING, retry_after)


def failed(reason: FailReason) -> Failed:
    return Failed(reason, "it broke", TIMING)


def decide(outcome: Outcome, tries: int = 0, blocks: int = 0) -> Decision:
    return policy(outcome, tries, SETTINGS, blocks=blocks, random=even)


# -- delays


@pytest.mark.parametrize(
    ("delay", "crawl_delay", "factor", "seconds", "expected"),
    [
        (1.0, None, 1.0, 0.2, 101.0),
        (1.0, None, 1.0, 7.0, 107.0),
        (1.0, None, 2.0, 7.0, 114.0),
        (1.0, None, 0.0, 7.0, 101.0),
        (1.0, 10.0, 1.0, 7.0, 110.0),
        (20.0, 10.0, 1.0, 7.0, 120.0),
        (1.0, 0.0, 1.0, 0.2, 101.0),
        (0.0, None, 1.0, 7.0, 100.0),  # --delay 0: no waiting of ours
        (0.0, 3.0, 1.0, 7.0, 103.0),  # but the owner's wish counts
        (1.0, 3_600.0, 1.0, 0.2, 3_700.0),
        (1.0, 1e9, 1.0, 0.2, 100.0 + DAY),
    ],
)
def test_next_start(delay: float, crawl_delay: float | None, factor: float, seconds: float, expected: float) -> None:
    assert next_start(100.0, delay, crawl_delay, factor, seconds) == expected


def test_backoff_doubles_up_to_the_maximum() -> None:
    assert [backoff(60, times, 400, even) for times in range(5)] == [60, 120, 240, 400, 400]
    assert backoff(60, 10**6, DAY, even) == DAY
    assert backoff(0, 5, DAY, even) == 0


@settings(max_examples=100)
@given(st.floats(0, 1e6), st.integers(0, 10**9), st.floats(0, 1e6), st.floats(0, 1))
def test_backoff_stays_within_its_bounds(base: float, times: int, maximum: float, chance: float) -> None:
    wait = backoff(base, times, maximum, lambda: chance)
    assert min(base, maximum) <= wait <= maximum
    assert wait <= base * 2.0 ** min(times, 64) * 1.1 or wait == base


# -- the table: retry, blocks the host, health, unreachable

ROWS: list[tuple[Outcome, bool, bool, int, bool]] = [
    (failed(FailReason.TIMEOUT), True, False, 1, False),
    (failed(FailReason.UNRESOLVED), True, False, 0, True),
    (failed(FailReason.CONNECT), True, False, 0, True),
    (failed(FailReason.DROPPED), True, False, 0, False),
    (failed(FailReason.TLS), False, False, 1, False),
    (failed(FailReason.PROTOCOL), False, False, 0, False),
    (failed(FailReason.CONTENT), False, False, 0, False),
    (failed(FailReason.PRIVATE), False, False, 0, False),
    (failed(FailReason.URL), False, False, 0, False),
    (failed(FailReason.FILE), False, False, 0, False),
    (refused(408), True, False, 0, False),
    (refused(425), True, False, 0, False),
    (refused(429), True, True, 0, False),
    (refused(500), True, False, 0, False),
    (refused(502), True, False, 0, False),
    (refused(503), True, True, 0, False),
    (refused(504), True, False, 0, False),
    (refused(520), True, False, 0, False),
    (refused(501), False, False, 0, False),
    (refused(505), False, False, 0, False),
    (refused(404), False, False, 0, False),
    (refused(410), False, False, 0, False),
    (refused(401), False, False, 0, False),
    (refused(403), False, False, 0, False),
    (refused(418), False, False, 0, False),
    (refused(302), False, False, 0, False),
    (refused(204), False, False, 0, False),
    (refused(999), False, False, 0, False),
    (Fetched(200, {}, b"", TIMING), False, False, 0, False),
    (Moved(301, "/", TIMING), False, False, 0, False),
    (NotModified({}, TIMING), False, False, 0, False),
]


def is_trouble(outcome: Outcome) -> bool:
    return isinstance(outcome, Refused) and 400 <= outcome.status < 600 and outcome.status not in (404, 410)


@pytest.mark.parametrize(("outcome", "retry", "blocks_host", "health", "unreachable"), ROWS)
def test_row(outcome: Outcome, retry: bool, blocks_host: bool, health: int, unreachable: bool) -> None:
    decision = decide(outcome)
    assert decision == Decision(
        retry=retry,
        wait=(65.0 if blocks_host else 5.0) if retry else 0.0,
        host_wait=60.0 if blocks_host else 0.0,
        health_cost=health,
        unreachable=unreachable,
        errors=0 if isinstance(outcome, Failed) else 1 if is_trouble(outcome) else -1,
    )


@pytest.mark.parametrize(("outcome", "retry", "blocks_host", "health", "unreachable"), ROWS)
def test_row_to_its_end(outcome: Outcome, retry: bool, blocks_host: bool, health: int, unreachable: bool) -> None:
    """How often in all, and what the waits come to where nothing but this happens; how often until the host is given up."""
    decisions = [policy(outcome, tries, SETTINGS, blocks=tries, random=even) for tries in range(6)]
    rests = [65.0, 130.0, 260.0, 500.0] if outcome == refused(429) else [65.0, 130.0]
    assert [each.wait for each in decisions if each.retry] == (rests if blocks_host else [5.0, 10.0]) * retry
    assert [each.host_wait for each in decisions[:3]] == ([60.0, 120.0, 240.0] if blocks_host else [0.0] * 3)
    points = list(itertools.accumulate(decisions, lambda left, each: health_after(left, each, SETTINGS), initial=5))
    assert sum(left > 0 for left in points) == (1 if unreachable else 5 if health else 7), "requests until it is given up"


def test_every_row_is_tested_and_every_reason_has_one() -> None:
    classes = {"2xx", "3xx", "4xx", "5xx"}
    assert set(TABLE) == set(FailReason) | {key for key in TABLE if isinstance(key, int)} | classes
    assert {row(outcome) for outcome, *_ in ROWS} == set(TABLE.values())
    tested = {outcome.status for outcome, *_ in ROWS if isinstance(outcome, Refused)}
    assert {key for key in TABLE if isinstance(key, int)} <= tested


def test_a_url_is_tried_three_times_in_all() -> None:
    found = [decide(failed(FailReason.DROPPED), tries) for tries in range(4)]
    assert [(each.retry, each.wait) for each in found] == [(True, 5.0), (True, 10.0), (False, 0.0), (False, 0.0)]
    none = policy(refused(500), 0, FrontierSettings(retries=0), random=even)
    assert not none.retry


def test_a_url_outlasts_a_host_that_slows_us_down_and_brings_pages_in_between() -> None:
    for slowed in (refused(429, 1.0), refused(429), refused(503, 1.0)):
        decisions = [decide(slowed, tries) for tries in range(22)]
        assert [each.retry for each in decisions] == [True] * 10 + [False] * 12
        assert {each.wait for each in decisions[2:10]} == {decisions[2].wait}  # it is not the URL that has to rest
    assert not decide(refused(503), 2).retry  # a page that is broken says so too
    assert not decide(refused(404, 1.0), 0).retry


def test_a_closed_host_uses_up_the_tries_of_a_url() -> None:
    assert decide(refused(429), 2, blocks=3).retry
    assert not decide(refused(429), 2, blocks=4).retry
    assert decide(refused(429, 1.0), 2, blocks=6).retry
    assert not decide(refused(429, 1.0), 2, blocks=7).retry
    assert not decide(refused(503, 3600.0), 2).retry
    quick = FrontierSettings(retry_wait=Seconds(0.02), backoff=Seconds(0.02))
    assert policy(refused(429), 2, quick, blocks=6).retry
    assert not policy(refused(429), 2, quick, blocks=7).retry, "or five URLs of a host that refuses all take minutes"


def test_a_host_that_asks_for_rest_waits_longer_each_time_up_to_a_day() -> None:
    waits = [decide(refused(503), blocks=blocks).host_wait for blocks in range(13)]
    assert waits[:4] == [60.0, 120.0, 240.0, 480.0]
    assert waits[-1] == DAY


def test_a_url_waits_longer_than_its_host() -> None:
    assert decide(refused(429), tries=1, blocks=3) == Decision(True, 490.0, 480.0, 0, False, 1)
    assert decide(refused(429), tries=2, blocks=4) == Decision(False, 0.0, 960.0, 0, False, 1)


@pytest.mark.parametrize(
    ("status", "after", "blocks", "host_wait"),
    [
        (503, 120.0, 0, 120.0),
        (429, 7.0, 0, 7.0),
        (503, 0.0, 0, 5.0),  # never sooner than any other retry
        (503, 1.0, 3, 40.0),  # it named a short time, and refused again and again
        (503, 1e9, 0, DAY),
        (500, 30.0, 0, 30.0),
        (403, 30.0, 0, 30.0),
        (413, 30.0, 0, 30.0),
    ],
)
def test_retry_after(status: int, after: float, blocks: int, host_wait: float) -> None:
    """Obeyed with any status, up to a day."""
    assert decide(refused(status, after), blocks=blocks).host_wait == host_wait


def test_forbidden_with_retry_after_rests_the_host_but_does_not_retry() -> None:
    assert decide(refused(403, 30.0)) == Decision(False, 0.0, 30.0, 0, False, 1)


# -- health


def test_five_time_outs_end_a_host() -> None:
    """LARM-63."""
    costs = [decide(failed(FailReason.TIMEOUT))] * 5
    points = list(itertools.accumulate(costs, lambda left, cost: health_after(left, cost, SETTINGS), initial=SETTINGS.health))
    assert points == [5, 4, 3, 2, 1, 0]


@pytest.mark.parametrize("reason", [FailReason.CONNECT, FailReason.UNRESOLVED])
def test_a_host_that_can_not_be_reached_is_ended_at_once(reason: FailReason) -> None:
    """LARM-19."""
    assert health_after(5, decide(failed(reason)), SETTINGS) == 0


def test_other_outcomes_cost_nothing_and_heal_nothing() -> None:
    assert health_after(3, decide(refused(404)), SETTINGS) == 3
    assert health_after(3, decide(Fetched(200, {}, b"", TIMING)), SETTINGS) == 3


def test_one_try_decides_about_a_host_that_was_given_up() -> None:
    """LARM-65."""
    assert health_after(0, decide(refused(404)), SETTINGS, on_trial=True) == 5
    assert health_after(0, decide(failed(FailReason.TIMEOUT)), SETTINGS, on_trial=True) == 0
    assert health_after(0, decide(failed(FailReason.CONNECT)), SETTINGS, on_trial=True) == 0


def test_a_host_that_was_given_up_rests_an_hour_doubling_to_a_day(monkeypatch: pytest.MonkeyPatch) -> None:
    """LARM-65."""
    assert [dormancy(times, even) / 3_600 for times in range(7)] == [1, 2, 4, 8, 16, 24, 24]
    monkeypatch.setattr("larm.frontier.politeness.DORMANT", 2.0 * DAY)
    assert dormancy(3, even) == 2 * DAY

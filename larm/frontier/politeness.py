"""How we treat hosts: when the next request may start, and what a failed one costs. Pure functions and one table.

Called by the frontier when a lease is given back, on the thread that gives it back. No state, no clock: ``now`` is any clock
of the caller's that does not go backwards, ``random`` returns numbers from 0 to 1.
"""

import random as _random
from collections.abc import Callable

import msgspec

from larm.config import FrontierSettings
from larm.frontier.host import ERRORS, LONGEST_WAIT
from larm.model.outcome import Failed, FailReason, Outcome, Refused

LONGEST_DELAY = 86_400.0  # a Crawl-delay is obeyed as given, but nobody means more than a day


def next_start(now: float, delay: float, crawl_delay: float | None, delay_factor: float, response_seconds: float) -> float:
    """When the next request to a host may start, ``now`` being the end of the last one, which took ``response_seconds``.

    ``delay`` 0 says that the user wants no waiting of ours, so the factor does not count then; what the owner of the host asks
    for in robots.txt does. (``robots.obey: false`` turns that off: then there is no ``crawl_delay``.)
    """
    ours = max(delay, delay_factor * response_seconds) if delay > 0 else 0.0
    return now + max(ours, min(crawl_delay or 0.0, LONGEST_DELAY))


def backoff(base: float, times: int, maximum: float, random: Callable[[], float] = _random.random) -> float:
    """Seconds to wait: ``base``, doubled ``times`` times, 10 % more or less, so that not all come back at the same moment.

    Never below ``base``, never above ``maximum``.
    """
    return min(max(base * 2.0 ** min(times, 64) * (0.9 + 0.2 * random()), base), maximum)


class Row(msgspec.Struct, frozen=True):
    """What one kind of outcome leads to."""

    retry: bool = False
    """The URL may do better later: `FrontierSettings.retries` further tries, the waits doubling from its ``retry_wait``."""
    blocks_host: bool = False
    """The host asks for a rest: nothing is sent to it, doubling from `FrontierSettings.backoff`."""
    health: int = 0
    """Points that it costs the host (LARM-63)."""
    unreachable: bool = False
    """The host is given up at once (LARM-19)."""


OK = Row()
TABLE: dict[FailReason | int | str, Row] = {
    FailReason.TIMEOUT: Row(retry=True, health=1),
    FailReason.BUSY: Row(retry=True),
    FailReason.CROWDED: Row(retry=True),  # its lease is given back, so nobody asks
    FailReason.UNRESOLVED: Row(retry=True, unreachable=True),  # its next try is the host's next try (LARM-65)
    FailReason.CONNECT: Row(retry=True, unreachable=True),
    FailReason.PROXY: Row(retry=True, unreachable=True),
    FailReason.DROPPED: Row(retry=True),
    FailReason.TLS: Row(health=1),  # fails for every URL of the host: a bad certificate should not cost a handshake for each
    FailReason.PROTOCOL: Row(),
    FailReason.CONTENT: Row(),  # the server will pack it wrongly again
    FailReason.PRIVATE: Row(),
    FailReason.URL: Row(),
    FailReason.FILE: Row(),
    408: Row(retry=True),
    425: Row(retry=True),
    429: Row(retry=True, blocks_host=True),
    500: Row(retry=True),
    501: Row(),
    502: Row(retry=True),
    503: Row(retry=True, blocks_host=True),
    504: Row(retry=True),
    505: Row(),
    "2xx": Row(),  # 204, 205: nothing to read
    "3xx": Row(),  # without Location
    "4xx": Row(),  # 401, 403 and all others: the answer stays the same
    "5xx": Row(retry=True),  # those of proxies, such as 520 to 530
}
"""A status is looked up by its number, then by its class; one of no known class is OK, which leads to nothing."""


def row(outcome: Outcome) -> Row:
    """The row of `TABLE` for ``outcome``."""
    match outcome:
        case Failed(reason=reason):
            return TABLE[reason]
        case Refused(status=status):
            return TABLE.get(status) or TABLE.get(f"{status // 100}xx", OK)
        case _:
            return OK


class Decision(msgspec.Struct, frozen=True):
    """What follows from one outcome."""

    retry: bool
    """Put the URL back into its host's queue, with one more try counted."""
    wait: float
    """Seconds until the URL may be tried again, where ``retry``."""
    host_wait: float
    """Seconds during which nothing is sent to the host; 0: only the usual delay."""
    health_cost: int
    unreachable: bool
    errors: int = 0
    """What it adds to `Host.errors`: 1 for an answer of 400 or more, -1 for any other answer.

    Narrower than YIOOP-6: of a page that is not there, 404 or 410, a host in good health tells quickly, and sites with
    thousands of broken links are common; each at 20 times the delay would take days.
    """


_NOT_THERE = frozenset({404, 410})

DORMANT = 3_600.0
"""Seconds until a host that was given up gets one more try (LARM-65), doubling."""
_PATIENCE = 5
"""Further tries of a URL in place of one, where the host slows us down: it is our pace that it refuses, not the URL. With the
default of two that is ten, and 1 URL in 2,000 is lost to a server that refuses every second request, where it was 1 in 8."""
_CLOSED, _IN_A_ROW = 600.0, 7
"""A host does not slow us down any more but is closed when it is to have a rest of so many seconds, as after four refusals
where it names no time, or has refused that many requests in a row before this one, however short its rests are."""

NOTHING = Decision(retry=False, wait=0.0, host_wait=0.0, health_cost=0, unreachable=False, errors=-1)


def policy(
    outcome: Outcome,
    tries: int,
    settings: FrontierSettings,
    *,
    blocks: int = 0,
    silent: bool = False,
    random: Callable[[], float] = _random.random,
) -> Decision:
    """What follows from ``outcome``.

    ``tries``: fetches of this URL that had failed before this one (`URLMessage.tries`). ``blocks``: answers in a row, before
    this one, with which the host asked for a rest; to be set to 0 by an answer without ``host_wait``. A Retry-After counts with
    whatever status it comes; it is obeyed up to `LONGEST_WAIT`, unless `FrontierSettings.backoff` is 0. A host that names a
    short time and keeps refusing is left alone longer each time all the same. After the rest the URL waits on, as it may be
    the only one that is refused: others of the host come first. One that slows us down, by 429 or a short Retry-After, does
    not use up the URL's tries so soon. ``silent``: see `Host.is_silent`; time-outs cost health there, too, as they hold up
    the rest of the host.
    """
    found = row(outcome)
    if found is OK:
        return NOTHING
    after = outcome.retry_after if isinstance(outcome, Refused) else None
    host_wait, longest = 0.0, LONGEST_WAIT if settings.backoff else 0.0
    if after is not None:
        again = backoff(settings.retry_wait, blocks, longest, random)
        host_wait = min(max(after, again), longest)
    elif found.blocks_host:
        host_wait = backoff(settings.backoff, blocks, longest, random)
    slowed = host_wait < _CLOSED and blocks < _IN_A_ROW and (after is not None or found is TABLE[429])
    retry = found.retry and tries < settings.retries * (_PATIENCE if slowed else 1)
    doubled = min(tries, settings.retries)
    wait = host_wait + backoff(settings.retry_wait, doubled, LONGEST_WAIT, random) if retry else 0.0
    errors = (1 if outcome.status >= 400 and outcome.status not in _NOT_THERE else -1) if isinstance(outcome, Refused) else 0
    health = 0 if silent and isinstance(outcome, Failed) and outcome.reason is not FailReason.TIMEOUT else found.health
    return Decision(retry, wait, host_wait, health, found.unreachable and not silent, errors)


def errors_after(errors: int, decision: Decision) -> int:
    """`Host.errors` of a host that had ``errors`` before; bounded, so that a host whose answers are good again is believed."""
    return min(max(errors + decision.errors, 0), 2 * ERRORS)


def health_after(points: int, decision: Decision, settings: FrontierSettings, *, on_trial: bool = False) -> int:
    """Points of a host that had ``points`` before ``decision``; starts with `FrontierSettings.health`; 0: given up (LARM-63).

    ``on_trial``: it had been given up and this was its one further try (LARM-65), so it is all well again, or is not.
    """
    if decision.unreachable:
        return 0
    if on_trial:
        return 0 if decision.health_cost else settings.health
    return points - decision.health_cost


def dormancy(times: int, random: Callable[[], float] = _random.random) -> float:
    """Seconds until a host gets one more try that was given up ``times`` times in a row before (LARM-65)."""
    return backoff(DORMANT, times, max(LONGEST_WAIT, DORMANT), random)

"""HostLeft: what a host was not asked for, as its addresses seem to go on without end; and the sentences on it. Pure."""

from collections.abc import Sequence

import msgspec

from larm.kit.counted import counted

NOFOLLOW = "links/nofollow"
"""Counts pages with links that are not followed, as they or the page say nofollow."""
TOO_DEEP = "links/too_deep"
"""Counts pages with links that are not followed, as they lead deeper than ``crawl.max_depth``, and to what was not seen."""
_NAMED = 3
"""Patterns, and hosts, that a sentence names."""
_WHY = {
    "trap": ("they look like a trap", "it looks like a trap"),
    "same": ("they say what others say that have other parameters", "it says what others say that have other parameters"),
    "limit": ("they are beyond a limit", "it is beyond a limit"),
    "closed": ("not decided yet whether they are a trap", "not decided yet whether it is a trap"),
    "open": ("they wait for the next run", "it waits for the next run"),
}
"""By the state of the pattern; of many, and of one."""


class PatternLeft(msgspec.Struct, frozen=True, gc=False):
    """A pattern of addresses."""

    pattern: str
    """``/calendar/0/0``, ``/list?page&sort``, or the setting that they are beyond."""
    state: str
    """``trap``, ``same`` (as without a parameter), ``limit``, ``closed`` (not decided yet) or ``open``."""
    urls: int
    """That are held back."""


class HostLeft(msgspec.Struct, frozen=True, gc=False):
    """One host."""

    host: str
    urls: int = 0
    """That are held back."""
    lost: int = 0
    """That are not even held back, as too many are already."""
    patterns: tuple[PatternLeft, ...] = ()
    """Those that hold back most first."""
    empty_parameters: tuple[str, ...] = ()
    """Parameters that do not change the text."""


def sentences(left: Sequence[HostLeft], held_back: int) -> list[str]:
    """One for each host and reason, of the hosts that hold back most; ``held_back``: of all hosts."""
    said = []
    for host in left[:_NAMED]:
        for state, why in _WHY.items():
            some = [each for each in host.patterns if each.state == state and each.urls]
            if some:
                names = ", ".join(each.pattern for each in some[:_NAMED]) + ", ..." * (len(some) > _NAMED)
                urls = sum(each.urls for each in some)
                said.append(f"{counted(urls, 'URL')} of {host.host} {_were(urls)} left, {why[urls == 1]}: {names}")
        if host.lost:
            said.append(f"{counted(host.lost, 'more URL')} of {host.host} {_were(host.lost)} not kept: too many wait already")
    others = held_back - sum(host.urls for host in left[:_NAMED])
    if others > 0:
        said.append(
            f"{counted(others, 'URL')} of other hosts {_were(others)} left, too; stats.json names them under figures.left"
        )
    return [*said, "'larm crawl --parked' fetches what was left"] if said else []


def _were(count: int) -> str:
    return "was" if count == 1 else "were"


def growing(hosts: Sequence[str]) -> str:
    """Of start hosts that have brought very many pages, and go on as fast as ever; empty where there are none."""
    if not hosts:
        return ""
    some = ", ".join(hosts[:_NAMED]) + (f" and {len(hosts) - _NAMED} more" if len(hosts) > _NAMED else "")
    grow = "grows" if len(hosts) == 1 else "grow"
    return f"{some} brought tens of thousands of pages and {grow} as fast as ever; --max-pages and filters.traps.pages bound it"

"""Registered domains: who is behind a host name. ``news.abc.net.au`` belongs to whoever registered ``abc.net.au``.

By the public suffix list that comes with the package publicsuffixlist; nothing is ever downloaded. It is read when first
asked, and only the rules of one top level domain at a time are made ready: 10 ms, in place of 40 for all, a thirtieth of
a crawl of 1,000 pages. Pure but for that, and fit for any thread.
"""

from __future__ import annotations

import enum
import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import cache, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from publicsuffixlist import PublicSuffixList

_IPV4 = re.compile(r"[0-9]+(?:\.[0-9]+){3}")


class DomainRule(enum.StrEnum):
    """How a registered domain is told from its host name."""

    PUBLIC_SUFFIX = "public_suffix"  # the label before the longest public suffix; unknown top level domains are one
    TWO_TWO = "two_two"  # three labels if the last two have two characters each, else two (YIOOP-40, as described)
    SHORT = "short"  # three labels if the last has two characters and the last two have six or fewer (YIOOP-40, as coded)


@lru_cache(maxsize=50_000)
def registered_domain(host: str, rule: DomainRule = DomainRule.PUBLIC_SUFFIX) -> str:
    """The registered domain of a host name, lower case; empty where there is none.

    That is so for IP addresses and, with the list, for names that are public suffixes themselves. 0.1 us where it was asked
    before, else 3 us.
    """
    host = host.lower().removesuffix(".")
    if ":" in host or _IPV4.fullmatch(host):
        return ""
    if rule is DomainRule.PUBLIC_SUFFIX:
        top = host.rpartition(".")[2]
        return _list_of(top if top in _rules() else "").privatesuffix(host) or ""  # made-up ones have one list for all
    labels = host.split(".")
    last = [len(label) for label in labels[-2:]]
    if rule is DomainRule.TWO_TWO:
        return ".".join(labels[-3:] if last == [2, 2] else labels[-2:])
    if len(labels) == 1:
        return ""
    return ".".join(labels[-3:] if last[-1] == 2 and sum(last) <= 6 else labels[-2:])


def site_of(host: str, rule: DomainRule = DomainRule.PUBLIC_SUFFIX) -> str:
    """What a host is grouped under: its registered domain or, where it has none, itself."""
    return registered_domain(host, rule) or host


@cache
def _list_of(top: str) -> PublicSuffixList:
    """The rules of one top level domain; all others say nothing of its names."""
    from publicsuffixlist import PublicSuffixList  # many a crawl never asks

    return PublicSuffixList("\n".join(_rules().get(top, ())))


@cache
def _rules() -> Mapping[str, Sequence[str]]:
    """By top level domain, in both forms where it has two."""
    from publicsuffixlist import PSLFILE

    found: defaultdict[str, list[str]] = defaultdict(list)
    for line in Path(PSLFILE).read_text(encoding="utf-8").splitlines():
        rule = line.partition(" ")[0]
        found[rule.rpartition(".")[2]].append(rule)
    international = {name.encode("idna").decode(): rules for name, rules in found.items() if not name.isascii()}
    return found | international

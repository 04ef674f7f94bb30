"""Real links (links-real): hardly one is beyond the limits of the traps filter, which are for addresses that no site needs."""

from __future__ import annotations

import json
import lzma

from larm.frontier.traps.limits import TrapRules, odd
from larm.model.message import URLMessage
from larm.model.url import BadUrl, URLNormalizer
from larm.model.url_shape import parts_of
from tests.shared_data import shared

MOST = 0.0005
"""Share of real links that may be held back."""


def test_limits_leave_real_links_alone() -> None:
    settings, parse = TrapRules(), URLNormalizer().parse
    found: set[str] = set()
    with lzma.open(shared("links-real", "given", "links.jsonl.xz"), "rt") as lines:
        for line in lines:
            found.update(_addresses(json.loads(line)))
    messages = []
    for address in sorted(found):
        try:
            messages.append(URLMessage(parse(address), depth=1))
        except BadUrl:
            continue
    beyond = [message for message in messages if odd(message, parts_of(message.url.access), settings) is not None]
    print(f"links-real: {len(beyond)} of {len(messages)} real links are beyond the limits")
    assert len(messages) > 10_000
    assert len(beyond) <= MOST * len(messages)


def _addresses(value: object) -> set[str]:
    if isinstance(value, str):
        return {value} if value.startswith(("http://", "https://")) else set()
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return set().union(*map(_addresses, parts)) if parts else set()

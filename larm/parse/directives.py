"""What a page asks of crawlers: ``<meta name="robots">`` and ``X-Robots-Tag``. Pure; any thread.

As the large search engines read them. Of several rules the strictest counts; a rule for us by name adds to those for all
crawlers, and never lifts one.
"""

from __future__ import annotations

import email.utils
import re
from datetime import UTC, datetime
from typing import NamedTuple, TypeVar

_TOKEN = re.compile(
    r"unavailable_after\s*[:=]\s*([^,]*(?:,\s*\d[^,]*)?)"  # a date may have a comma behind the day of the week
    r"|max-snippet\s*[:=]\s*(-?\d+)"
    r"|max-[\w-]*\s*[:=]\s*[\w-]*"  # of images and videos: "max-image-preview:none" is no "none"
    r"|([a-z*][\w*.-]*)\s*:"
    r"|([a-z][\w-]*)",
    re.IGNORECASE,
)
_DATE, _SNIPPET, _AGENT, _WORD = range(1, 5)  # its groups
_Number = TypeVar("_Number", int, float)


class Robots(NamedTuple):
    """What may be done with a page."""

    indexed: bool = True
    follow: bool = True
    archive: bool = True
    """A copy may be kept for others to see."""
    snippet: int | None = None
    """Characters of its text that may be shown; None: as many as one likes."""
    until: float | None = None
    """Wall time from which on it may not be found; None: never."""

    def also(self, other: Robots) -> Robots:
        """Both of these rules."""
        return Robots(
            self.indexed and other.indexed,
            self.follow and other.follow,
            self.archive and other.archive,
            _least(self.snippet, other.snippet),
            _least(self.until, other.until),
        )


def is_for_us(name: str, agent: str) -> bool:
    """Whether a ``<meta>`` of this name holds rules for the crawler ``agent``: all names with "robot" do (YIOOP-23)."""
    name = name.lower()
    return "robot" in name or name.strip() == agent


def of_meta(content: str) -> Robots:
    """The rules of a ``<meta name="robots">``."""
    return _rules(content, "*", names=False)


def of_header(header: str, agent: str) -> Robots:
    """The rules of X-Robots-Tag; a line for each header.

    Those behind ``otherbot:`` are for that crawler alone, up to the next name or the end of the line.
    """
    robots = Robots()
    for line in header.split("\n"):
        robots = robots.also(_rules(line, agent, names=True))
    return robots


def _rules(text: str, agent: str, *, names: bool) -> Robots:
    words: set[str] = set()
    snippet: int | None = None
    until: float | None = None
    ours = True
    for token in _TOKEN.finditer(text):
        kind = token.lastindex
        if kind == _AGENT and names:
            ours = token[_AGENT].lower() in (agent, "*", "robots")
        elif not ours:
            continue
        elif kind == _WORD:
            words.add(token[_WORD].lower())
        elif kind == _SNIPPET and (number := int(token[_SNIPPET][:9])) >= 0:  # -1: no limit
            snippet = _least(snippet, number)
        elif kind == _DATE:
            until = _least(until, _seconds(token[_DATE]))
    none = "none" in words
    return Robots(
        not none and "noindex" not in words,
        not none and "nofollow" not in words,
        words.isdisjoint(("noarchive", "nocache")),
        0 if "nosnippet" in words else snippet,
        until,
    )


def _least(one: _Number | None, other: _Number | None) -> _Number | None:
    return one if other is None or (one is not None and one <= other) else other


def _seconds(date: str) -> float | None:
    """Wall time of a date as in mails, or of ISO 8601; None where it is neither: then nothing is asked for that we know."""
    date = date.strip().upper()
    try:
        return email.utils.parsedate_to_datetime(date).timestamp()
    except (ValueError, TypeError, OverflowError):
        pass
    try:
        found = datetime.fromisoformat(date)
        return (found if found.tzinfo else found.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError):
        return None

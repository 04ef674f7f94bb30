"""Reading robots.txt (RFC 9309 2.2): bytes in, the directives that concern us out. Never raises, whatever the bytes are.

Pure; called by `larm.frontier.robots.rules`, on any thread. What site owners get wrong is read as it was meant, as far as the
large search engines do so too: byte order marks, UTF-16, odd line ends, misspelt ``Disallow``, a forgotten colon.
"""

import math
import re
from typing import NamedTuple

import msgspec

from larm.kit.gunzip import unpack

MAX_LINE = 16_663  # bytes of a line that count: eight times the longest URL of old browsers, as in the reference parser
MAX_UNPACKED = 512_000  # bytes; of what comes unpacked, as nearly all, larm.config says how much counts (RFC 9309 2.5)

_AGENT, _ALLOW, _DISALLOW, _SITEMAP, _DELAY = range(1, 6)  # groups of _LINE, of which exactly one takes part in a match
_VALUE = 6
_LINE = re.compile(
    rb"\s*(?:(user[ -]?agent)|(allow)|(diss?all?[oa]w|diasllow)|(site-?map)|(crawl-?delay))"
    rb"(?:[^:#]*:|[^:#\s]*[ \t]+(?=[^\s:#]+\s*(?:#|$)))"  # without a colon the line must be two words
    rb"\s*([^#]*)",
    re.IGNORECASE,
)
_TOKEN = re.compile(rb"[a-z_-]+", re.IGNORECASE)
_EVERYBODY = re.compile(rb"\*(?![\w-])")
_NUMBER = re.compile(rb"(?:\d+(?:\.\d*)?|\.\d+)(?![\w.,])")
_NOT_ASCII = re.compile(rb"[\x80-\xff]")


class Rule(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """One ``Allow`` or ``Disallow`` line."""

    allow: bool
    pattern: str
    """As in the file, but octets outside ASCII percent-encoded; never empty."""
    line: int
    """Number of the line in the file, from 1; 0 for rules that stand in no file."""


class Directives(NamedTuple):
    """What a robots.txt says to one crawler."""

    rules: tuple[Rule, ...]
    crawl_delay: float | None
    sitemaps: tuple[str, ...]


class _Group:
    """The rules for one product token (or for everybody), merged from all its groups in the file."""

    __slots__ = ("delay", "delayed", "named", "open", "rules")

    def __init__(self) -> None:
        self.rules: list[Rule] = []
        self.delay: float | None = None
        self.named = False  # some User-agent line of the file names it
        self.open = False  # rules of the current lines belong to it
        self.delayed = False  # so does a Crawl-delay


def read(body: bytes, token: str) -> Directives:
    """What ``body`` says to the crawler with the product token ``token``.

    The groups that name the token, merged, else those of ``*`` (RFC 9309 2.2.1, LARM-60). Only rules end a list of User-agent
    lines: an unknown directive, or Crawl-delay, does not (2.2.4). A Crawl-delay is for the agents right above it (LARM-61); of
    several the longest counts.
    """
    wanted = token.lower().encode("ascii", "replace")
    ours, everybody = groups = (_Group(), _Group())
    sitemaps: dict[str, None] = {}
    after_rule = after_delay = False
    for number, line in enumerate(_text(body).splitlines(), 1):
        match = _LINE.match(line[:MAX_LINE])
        if match is None:
            continue
        kind, value = next(filter(match.group, range(1, _VALUE))), match[_VALUE].strip()
        if kind in (_ALLOW, _DISALLOW):
            after_rule = after_delay = True
            group = ours if ours.open else everybody
            if group.open and value:  # an empty value forbids nothing (LARM-59)
                group.rules.append(Rule(kind == _ALLOW, _NOT_ASCII.sub(_escape, value).decode("ascii"), number))
        elif kind == _AGENT:
            for group in groups:
                group.open &= not after_rule
                group.delayed &= not after_delay
            after_rule = after_delay = False
            name = _TOKEN.match(value)
            if name is not None and name[0].lower() == wanted:
                ours.named = ours.open = ours.delayed = True
            elif _EVERYBODY.match(value):
                everybody.open = everybody.delayed = True
        elif kind == _DELAY:
            after_delay = True
            _slow_down(groups, value)
        elif value:
            sitemaps[value.decode("utf-8", "replace")] = None
    chosen = ours if ours.named else everybody
    return Directives(tuple(chosen.rules), chosen.delay, tuple(sitemaps))


def _slow_down(groups: tuple[_Group, ...], value: bytes) -> None:
    number = _NUMBER.match(value)
    seconds = float(number[0]) if number else math.inf
    if math.isfinite(seconds):
        for group in groups:
            if group.delayed:
                group.delay = max(group.delay or 0.0, seconds)


def _text(body: bytes) -> bytes:
    """``body`` as UTF-8, without byte order mark. What is not UTF-8 stays: its octets are compared as they are."""
    if body.startswith(b"\x1f\x8b"):  # packed without saying so; what would be taken for an empty file forbids things
        body, _ = unpack(body, MAX_UNPACKED)
    if body.startswith((b"\xff\xfe", b"\xfe\xff")):
        body = body.decode("utf-16", "replace").encode()
    return body.removeprefix(b"\xef\xbb\xbf").replace(b"\0", b"")  # without NUL, UTF-16 that lacks the mark is readable too


def _escape(octet: re.Match[bytes]) -> bytes:
    return b"%%%02X" % ord(octet[0])

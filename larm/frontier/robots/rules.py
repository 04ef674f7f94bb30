"""RobotsRules: what one host lets us fetch (RFC 9309), read from the bytes of its robots.txt.

Kept in the host record, asked by the handler thread once per link, so the answer takes about a microsecond. Immutable and pure;
any thread. The longest matching pattern wins, Allow before Disallow (2.2.2); ``*`` and a final ``$`` are special (2.2.3).

`read` never raises, whatever the bytes are (2.2). What site owners get wrong is read as it was meant, as far as the large
search engines do so too: byte order marks, UTF-16, odd line ends, misspelt ``Disallow``, a forgotten colon.
"""

from __future__ import annotations

import functools
import math
import re
from bisect import bisect_right
from collections.abc import Sequence
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


class RobotsRules(msgspec.Struct, frozen=True, array_like=True, dict=True):
    """The rules of one host for us. Serialisable; the search structure is built when first asked, and never stored."""

    rules: tuple[Rule, ...] = ()
    """Our group only, in the order of the file."""
    crawl_delay: float | None = None
    """Seconds between two requests that our group asks for (LARM-61)."""
    sitemaps: tuple[str, ...] = ()
    """As written in the file, may be relative; of the whole file, each once."""
    cut: int = 0
    """Bytes that were read of a file that is longer; 0: all of it was."""

    @classmethod
    def parse(cls, body: bytes, token: str) -> RobotsRules:
        """The rules for the crawler with the product token ``token``. Any bytes will do; never raises."""
        return cls(*read(body, token))

    def verdict(self, path_query: str) -> Rule | None:
        """The rule that decides about ``path_query`` (path and query of a URL), None if none matches: allowed then."""
        if not self.rules:
            return None
        if "%" in path_query or not path_query.isascii():
            path_query = _canonical(path_query)
        if path_query[:1] != "/":
            path_query = "/" + path_query
        if path_query == "/robots.txt":  # always allowed (RFC 9309 2.2.2)
            return None
        return self._matcher.strongest(path_query)

    def allows(self, path_query: str) -> bool:
        """May ``path_query`` be fetched?"""
        rule = self.verdict(path_query)
        return rule is None or rule.allow

    @functools.cached_property
    def _matcher(self) -> _Matcher:
        return _Matcher(self.rules)


ALLOW_ALL = RobotsRules()
"""There is no robots.txt, or none that says anything."""


class _Glob:
    """A pattern with ``*`` or a final ``$``.

    Each piece between two stars is looked for right behind the one before, once: the first place is always good enough, so
    there is nothing to go back for. At most one `find` per piece that fits into the path, whatever the pattern.
    """

    __slots__ = ("anchored", "head", "length", "middle", "rule", "tail")

    def __init__(self, rule: Rule) -> None:
        self.rule = rule
        self.anchored = rule.pattern.endswith("$")
        pieces = [_canonical(piece) for piece in rule.pattern.removesuffix("$").split("*")]
        self.length = sum(map(len, pieces)) + len(pieces) - 1 + self.anchored
        self.head = pieces[0]
        self.tail = pieces.pop() if self.anchored else ""
        self.middle = tuple(filter(None, pieces[1:]))

    @property
    def needle(self) -> str:
        """Its longest piece: a path without it can't match, which is the cheapest thing to ask first."""
        return max(self.head, self.tail, *self.middle, key=len)

    def matches(self, path: str) -> bool:
        if "*" not in self.rule.pattern:
            return path == self.head
        if not path.startswith(self.head):
            return False
        at = len(self.head)
        for piece in self.middle:
            at = path.find(piece, at) + len(piece)
            if at < len(piece):
                return False
        return path.endswith(self.tail, at)


class _Matcher:
    """Finds the strongest rule without asking them all.

    Plain prefixes stand sorted, each with the place of the longest other one that it starts with. All that stand between a
    prefix of a path and the path itself start with that prefix, so the longest one is found from where the path would be
    inserted, up the chain. Globs are asked one by one, the strongest first.
    """

    __slots__ = ("_globs", "_parents", "_prefixes", "_rules")

    def __init__(self, rules: Sequence[Rule]) -> None:
        prefixes: dict[str, Rule] = {}
        globs: list[_Glob] = []
        for rule in rules:
            if "*" in rule.pattern or rule.pattern.endswith("$"):
                globs.append(_Glob(rule))
            else:
                prefix = _canonical(rule.pattern)
                if prefix not in prefixes or (rule.allow and not prefixes[prefix].allow):
                    prefixes[prefix] = rule
        globs.sort(key=lambda glob: (-glob.length, not glob.rule.allow))
        # constant after construction
        self._globs = [(glob.needle, glob) for glob in globs]
        self._prefixes = sorted(prefixes)
        self._rules = [prefixes[prefix] for prefix in self._prefixes]
        self._parents = _parents(self._prefixes)

    def strongest(self, path: str) -> Rule | None:
        """The rule with the longest pattern that matches; of equally long ones Allow."""
        at = bisect_right(self._prefixes, path) - 1
        while at >= 0 and not path.startswith(self._prefixes[at]):
            at = self._parents[at]
        rule, length = (self._rules[at], len(self._prefixes[at])) if at >= 0 else (None, -1)
        for needle, glob in self._globs:
            if needle in path and glob.matches(path):
                stronger = glob.length > length or (glob.length == length and glob.rule.allow)
                return glob.rule if stronger else rule
        return rule


def _parents(prefixes: list[str]) -> list[int]:
    """For each text of the sorted list the place of the longest other one that it starts with, else -1."""
    parents: list[int] = []
    for place, prefix in enumerate(prefixes):
        parent = place - 1
        while parent >= 0 and not prefix.startswith(prefixes[parent]):
            parent = parents[parent]
        parents.append(parent)
    return parents


_ENCODED = re.compile(r"%[0-9a-fA-F]{2}|[^\x00-\x7f]+")
_DIVIDERS = "#%/?"  # encoded, they mean something else
_LEFT_RAW = "\\^|"  # not legal in a URL, but the WHATWG serialiser leaves them as they are: so do we
_PLAIN = {f"%{octet:02X}": chr(octet) for octet in range(0x20, 0x7F) if chr(octet) not in _DIVIDERS + _LEFT_RAW}


def _canonical(text: str) -> str:
    """One spelling for all equal spellings of a path or a pattern without wildcards (RFC 9309 2.2.2).

    Octets outside ASCII are encoded, ASCII ones decoded where that can't change the meaning. So ``/my file`` in a robots.txt
    forbids ``/my%20file``, and ``%2A`` and ``%24`` stand for a star and a dollar sign that are no wildcards (2.2.3).
    """
    return _ENCODED.sub(_respell, text)


def _respell(part: re.Match[str]) -> str:
    text = part[0]
    if text[0] != "%":
        return "".join(f"%{octet:02X}" for octet in text.encode("utf-8", "surrogatepass"))
    text = text.upper()
    return _PLAIN.get(text, text)

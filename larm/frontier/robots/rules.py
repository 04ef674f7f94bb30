"""RobotsRules: what one host lets us fetch (RFC 9309).

Made from the bytes of a robots.txt, kept in the host record, asked by the handler thread once per link: so the answer takes
about a microsecond. Immutable and pure; may be used on any thread. The longest matching pattern wins, Allow before Disallow
(2.2.2); ``*`` and a final ``$`` are special (2.2.3).
"""

from __future__ import annotations

import functools
import re
from bisect import bisect_right
from collections.abc import Sequence

import msgspec

from larm.frontier.robots.parser import Rule, read

__all__ = ["ALLOW_ALL", "RobotsRules", "Rule"]


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

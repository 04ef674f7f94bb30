"""Scope filter: what belongs to this crawl (LARM-49). Handler thread, but for `Outside.recall`."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import msgspec

from larm.errors import ConfigError
from larm.model.message import REDIRECT, URLMessage
from larm.model.region import Globs, Reach, Region, region_of
from larm.model.spellings import names
from larm.model.url import Url
from larm.seams import Drop

_ANY = Globs()
_OTHERS = re.compile(r"(?<!\\)(?:\\\\)*(\\[QE]|\\[pP](?:\{\^?\w+\}|\w)|\[:\^?[a-z]+:\])")
"""What expressions of Perl, Java or POSIX have, and Python's have not."""
_INSTEAD = r"write a backslash before each special character for \Q...\E, [^\W\d_] for a letter, \d for a digit, \s for a space"
_KEPT = 50_000
"""URLs outside that are remembered: 5 MB."""


class Outside:
    """URLs of which it is known that they are outside: every page of a site leads to the same ones. By fingerprint.

    The handler thread writes, any thread asks: each is one operation on a set.
    """

    def __init__(self) -> None:
        self._known: set[int] = set()

    def add(self, messages: Sequence[URLMessage], inside: Callable[[Url, str], bool] | None = None) -> None:
        """These are. ``inside``: whether one would be inside by another name (`Url.spelled`); such ones are not remembered."""
        if len(self._known) >= _KEPT:
            self._known = set()
        urls = [message.url for message in messages]
        if inside is not None:
            urls = [url for url in urls if not any(inside(url, name) for name in names(url.normalised))]
        self._known |= {url.fingerprint for url in urls}

    def recall(self, fingerprints: Sequence[int]) -> set[int]:
        """See `larm.seams.Recalling`."""
        return self._known.intersection(fingerprints)

    def forget(self) -> None:
        """They may be inside from now on."""
        self._known = set()


class ScopeFilter:
    """The regular expression must match the whole normalised URL, whatever its case; patterns may want less."""

    name = "scope"
    log_name = "URLScopeFilter"

    def __init__(self, restrict_to: str, globs: Globs = _ANY) -> None:
        if other := _OTHERS.search(restrict_to):
            raise ConfigError(f"restrictto: {other[1]} in {restrict_to!r} is Perl's, and means something else here: {_INSTEAD}")
        try:
            self._match = re.compile(restrict_to, re.IGNORECASE | re.DOTALL).fullmatch
        except (re.error, RecursionError, OverflowError) as error:
            raise ConfigError(f"restrictto: wrong expression {restrict_to!r}: {error}") from error
        self._pattern = restrict_to
        self._globs = globs
        self._outside = Outside()
        self.recall = self._outside.recall

    def without_patterns(self) -> ScopeFilter:
        """The same, of which nothing is excluded, and anything will do."""
        return ScopeFilter(self._pattern)

    def matches(self, normalised: str, spelled: str = "") -> bool:
        """Whether a URL is inside; the page of a folder is where one of its names is."""
        if not self._is_inside(normalised, spelled):
            return False
        return self._globs is _ANY or not self._globs.refuses(normalised, spelled)

    def __str__(self) -> str:
        return f"{self._pattern}{self._globs}"

    def sift(self, batch: Sequence[URLMessage], drop: Drop) -> list[URLMessage]:
        """See `larm.seams.Filter`."""
        verdicts = [self.matches(message.url.normalised, message.url.spelled) for message in batch]
        if all(verdicts):
            return list(batch)
        outside = [message for message, inside in zip(batch, verdicts, strict=True) if not inside]
        self._outside.add(outside, lambda url, name: self.matches(url.normalised, name))
        drop(outside, "out of scope")
        return [message for message, inside in zip(batch, verdicts, strict=True) if inside]

    def explain(self, message: URLMessage) -> str | None:
        """See `larm.seams.Filter`."""
        if self._is_inside(message.url.normalised, message.url.spelled):
            return self._globs.refuses(message.url.normalised, message.url.spelled) or None
        return f"{message.url.normalised} does not match {self._pattern} as a whole; another -restrictto REGEX may"

    def _is_inside(self, normalised: str, spelled: str) -> bool:
        return self._match(normalised) is not None or (spelled not in ("", normalised) and self._match(spelled) is not None)


class StartScope:
    """The scope where no expression is given: the regions of the start URLs, and of what these redirect to.

    ``http://example.org/`` that only redirects to ``https://www.example.org/`` would otherwise be a crawl of nothing. Start
    URLs themselves are always inside: somebody has asked for them. Part of the checkpoint (`larm.seams.Stateful`).
    """

    name = "scope"
    log_name = "URLScopeFilter"

    def __init__(self, regions: Iterable[Region]) -> None:
        # only the handler thread adds to these
        self.regions: dict[str, Region] = {}
        """By the address of which they are."""
        self.hosts: set[str] = set()
        """Keys of the hosts of start URLs."""
        self._whole: set[str] = set()
        self._parts: dict[str, list[Region]] = {}
        """Those that are not whole hosts, by host or domain."""
        self._outside = Outside()
        self.recall = self._outside.recall
        for region in regions:
            self._add(region)

    def sift(self, batch: Sequence[URLMessage], drop: Drop) -> list[URLMessage]:
        """See `larm.seams.Filter`."""
        for message in batch:
            if message.link_type == REDIRECT and message.depth == 0 and message.url.access not in self.regions:
                self._follow(message)
        whole, parts, regions = self._whole, self._parts, self.regions
        outside = [
            message
            for message in batch
            if message.url.host not in whole
            and message.url.access not in regions
            and not (parts and self._in_part(message.url))
        ]
        if not outside:
            return list(batch)
        self._outside.add(outside, self._in_part if parts else None)
        drop(outside, "out of scope")
        gone = set(map(id, outside))
        return [message for message in batch if id(message) not in gone]

    def explain(self, message: URLMessage) -> str | None:
        """See `larm.seams.Filter`. An address whose depth nobody knows is no start URL, unless it is one of ours."""
        url = message.url
        if url.host in self._whole or url.access in self.regions:
            return None
        near = self._near(url)
        if any(not region.holds(url) for region in near):
            return None
        if near:
            return f"{near[0].holds(url)}; -s crawl.scope=host takes whole hosts, with nothing excluded"
        if not self.regions:
            return "there is no start URL here, and so no scope; --dir names the directory of a crawl"
        others = sorted({str(each) for each in self.regions.values() if not each.whole})
        if others:
            more = f", nor in {len(others) - 1} other places" if len(others) > 1 else ""
            return f"not {others[0]}{more}; -s crawl.scope=host or domain takes more, or -restrictto REGEX"
        return f"{url.host} is not the host of a start URL; a start URL there (--add) or -restrictto REGEX has it"

    def without_patterns(self) -> StartScope:
        """The same, of which nothing is excluded, and anything will do."""
        return StartScope(msgspec.structs.replace(region, globs=_ANY) for region in self.regions.values())

    def cut(self, *, last: bool) -> dict[str, Any]:  # noqa: ARG002
        """See `larm.seams.Stateful`."""
        return {"regions": list(self.regions.values())}

    def saved(self) -> None:
        """See `larm.seams.Stateful`."""

    def _follow(self, message: URLMessage) -> None:
        """A start URL redirects: as far as it reaches, so far reaches what it leads to."""
        before = self.regions.get(message.referrer)
        start = before.start if before else message.referrer
        reach, globs = (before.reach, before.globs) if before else (Reach.HOST, _ANY)
        self._add(region_of(start, message.url, reach, globs))
        self._outside.forget()

    def _add(self, region: Region) -> None:
        self.regions[region.address] = region
        self.hosts.add(region.host)
        if region.whole:
            self._whole.add(region.place)
        else:
            self._parts.setdefault(region.place.partition("/")[0], []).append(region)

    def _in_part(self, url: Url, spelled: str = "") -> bool:
        return any(not region.holds(url, spelled) for region in self._near(url))

    def _near(self, url: Url) -> list[Region]:
        """The regions that it may be in."""
        found = self._parts.get(url.host, [])
        return [*found, *(self._parts.get(url.site, []) if url.site != url.host else ())]

"""Scope filter: what belongs to this crawl (LARM-49). Handler thread, but for `Outside.recall`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import msgspec

from larm.errors import ConfigError
from larm.kit.expression import Expression, TooSlow
from larm.model.message import REDIRECT, SITEMAP, START, URLMessage, host_in
from larm.model.region import Globs, Reach, Region, region_of
from larm.model.spellings import names
from larm.model.url import Url
from larm.seams import Drop

_ANY = Globs()
_OUTSIDE, _TOO_SLOW = "out of scope", "matching takes too long"
_SIMPLER = "without repetitions within repetitions ('larm check -s crawl.restrict_to=REGEX' tries one)"
_TOLD = 5
"""Redirects of start URLs to other hosts that are told at once; a list of them may have thousands."""
_KEPT = 50_000
"""URLs outside that are remembered: 5 MB. Hosts of which `SitemapPass` counts the sitemaps elsewhere."""
_ELSEWHERE = 100
"""Sitemaps on other hosts that the files of one host may name. They list 5 million URLs; an index could name 50,000 hosts."""

BEYOND = "scope/sitemaps_beyond"
"""Counter, of all runs: sitemaps on other hosts that were too many, by the files that were read last."""


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


class SitemapPass:
    """Sitemaps out of scope that pass, as they only name URLs that are judged themselves. Handler thread."""

    def __init__(self, *, wanted: bool) -> None:
        # constant after construction
        self._type = SITEMAP if wanted else None
        # set once, before there are other threads
        self.count: Callable[[str, int], object] = lambda _name, _n: None
        self.before = 0
        """Value of `BEYOND` after earlier runs."""
        # written by the handler thread
        self._elsewhere: dict[str, set[int]] = {}
        self._beyond = 0
        self._example = ""

    def is_for(self, message: URLMessage) -> bool:
        """Return True for a sitemap."""
        return message.link_type & SITEMAP == self._type

    def admits(self, message: URLMessage) -> bool:
        """Return True for a sitemap, unless it is one too many on other hosts than that of the file that names it."""
        if message.link_type & SITEMAP != self._type:  # as all others, and a call takes its time
            return False
        source = host_in(message.referrer)
        if message.url.host == source or message.known is not None or message.referrer == START:
            return True
        if self.before:
            self.count(BEYOND, -self.before)
            self.before = 0
        if len(self._elsewhere) >= _KEPT:
            self._elsewhere.clear()
        found = self._elsewhere.setdefault(source, set())
        if len(found) < _ELSEWHERE or message.url.fingerprint in found:
            found.add(message.url.fingerprint)
            return True
        self._beyond += 1
        self.count(BEYOND, 1)
        self._example = self._example or f"{message.url.access}, which files of {source} name"
        return False

    def beyond(self) -> dict[str, Any]:
        """Return the numbers of the note on sitemaps that were too many, in this run or before; empty: there were none."""
        sitemaps = self._beyond or self.before
        return {"sitemaps": sitemaps, "example": self._example, "most": _ELSEWHERE} if sitemaps else {}


class ScopeFilter:
    """The regular expression must match the whole normalised URL, whatever its case; patterns may want less.

    Sitemaps pass, as they only name URLs that are judged themselves.
    """

    name = "scope"
    log_name = "URLScopeFilter"

    def __init__(self, restrict_to: str, globs: Globs = _ANY, *, tried: bool = False, sitemaps: bool = True) -> None:
        """``tried``: long names are matched first. Raises ConfigError for what is no expression, or takes too long on these."""
        try:
            self._expression = Expression(restrict_to)
        except ValueError as error:
            raise ConfigError(f"restrictto: wrong expression {restrict_to!r}: {error}") from error
        if tried and (name := self._expression.slow_name()):
            raise ConfigError(f"restrictto: matching {name} with {restrict_to} takes too long; write it {_SIMPLER}")
        self._match = self._expression.matches
        self._pattern = restrict_to
        self._globs = globs
        self.sitemaps = SitemapPass(wanted=sitemaps)
        self._outside = Outside()
        self.recall = self._outside.recall

    def without_patterns(self) -> ScopeFilter:
        """The same, of which nothing is excluded, and anything will do."""
        return ScopeFilter(self._pattern)

    def refusal(self, normalised: str, spelled: str = "") -> str:
        """Return why a URL is dropped; empty: it is inside. The page of a folder is where one of its names is."""
        try:
            inside = self._is_inside(normalised, spelled)
        except TooSlow:
            return _TOO_SLOW
        return "" if inside and (self._globs is _ANY or not self._globs.refuses(normalised, spelled)) else _OUTSIDE

    def too_slow(self) -> dict[str, Any]:
        """Return the numbers of the note on URLs for which matching took too long; empty: there were none."""
        slow = self._expression.slow
        return {"urls": len(slow), "example": next(iter(slow)), "pattern": self._pattern, "simpler": _SIMPLER} if slow else {}

    def __str__(self) -> str:
        return f"{self._pattern}{self._globs}"

    def sift(self, batch: Sequence[URLMessage], drop: Drop) -> list[URLMessage]:
        """See `larm.seams.Filter`."""
        refusal, admits = self.refusal, self.sitemaps.admits
        self._expression.prepare([each.url.normalised for each in batch])
        whys = [refusal(each.url.normalised, each.url.spelled) for each in batch]
        verdicts = ["" if why and admits(each) else why for each, why in zip(batch, whys, strict=True)]
        if not any(verdicts):
            return list(batch)
        for reason in (_OUTSIDE, _TOO_SLOW):
            if dropped := [message for message, verdict in zip(batch, verdicts, strict=True) if verdict == reason]:
                self._outside.add(dropped, lambda url, name: not self.refusal(url.normalised, name))
                drop(dropped, reason)
        return [message for message, verdict in zip(batch, verdicts, strict=True) if not verdict]

    def explain(self, message: URLMessage) -> str | None:
        """See `larm.seams.Filter`. Too slow is also a URL that a crawl drops once others have taken long."""
        if self.sitemaps.is_for(message):
            return None
        try:
            if self._is_inside(message.url.normalised, message.url.spelled, least=True):
                return self._globs.refuses(message.url.normalised, message.url.spelled) or None
        except TooSlow:
            return f"{_TOO_SLOW}: {message.url.normalised} with -restrictto {self._pattern}; write it {_SIMPLER}"
        return f"{message.url.normalised} does not match {self._pattern} as a whole; another -restrictto REGEX may"

    def _is_inside(self, normalised: str, spelled: str, *, least: bool = False) -> bool:
        match = self._match
        return match(normalised, least=least) or (spelled not in ("", normalised) and match(spelled, least=least))


class StartScope:
    """The scope where no expression is given: the regions of the start URLs, and of what these redirect to.

    ``http://example.org/`` that only redirects to ``https://www.example.org/`` would otherwise be a crawl of nothing. Start
    URLs themselves are always inside: somebody has asked for them. Part of the checkpoint (`larm.seams.Stateful`).
    """

    name = "scope"
    log_name = "URLScopeFilter"

    def __init__(
        self, regions: Iterable[Region], *, sitemaps: bool = True, note: Callable[[str], object] = lambda _: None
    ) -> None:
        """``note`` is called with a sentence when a start URL brings another host into the scope."""
        # constant after construction
        self._note = note
        self.sitemaps = SitemapPass(wanted=sitemaps)
        # only the handler thread writes these
        self._told = 0
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
        whole, parts, regions, admits = self._whole, self._parts, self.regions, self.sitemaps.admits
        outside = [
            message
            for message in batch
            if message.url.host not in whole
            and message.url.access not in regions
            and not (parts and self._in_part(message.url))
            and not admits(message)
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
        if url.host in self._whole or url.access in self.regions or self.sitemaps.is_for(message):
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
        region = region_of(start, message.url, reach, globs)
        if message.url.host not in self.hosts and self._told < _TOLD:
            self._told += 1
            what = f"{start} redirects to {message.url.access}, so pages {region} are in scope, too"
            self._note(f"{what}; -restrictto REGEX sets another scope")
        self._add(region)
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

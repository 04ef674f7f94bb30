"""TrapRules: limits that no real site needs, and when a pattern is closed. `HostLimits`: what a host has had of each limit.

The rules are made of the settings and constant; `HostLimits` is plain state of a host's record.
"""

from math import ceil

import msgspec

from larm.config import TrapsSettings
from larm.frontier.traps.records import PathRecord, entry
from larm.model.message import URLMessage
from larm.model.url_shape import Parts, nested, number_of, repeats


class TrapRules(msgspec.Struct, frozen=True):
    """Limits that no real site needs (LARM-122), multiplied by the setting, and when a pattern is closed."""

    limits: bool = True
    """False: none of the following nine limits holds."""
    pages: int = 1_000_000
    foreign_pages: int = 100_000
    """URLs of a host without start URL for each host that links to it: no blog has more."""
    depth: int = 100_000
    """Links from a start URL: mailing lists have chains of tens of thousands."""
    segments: int = 25
    """Segments of a path: 21,830 real URLs had at most 12."""
    repeats: int = 3
    """Times that one segment is in a path: the same URLs had it at most twice."""
    nested: int = 1
    """Times that an address stands in itself: of ``/login?next=/join?next=/login?next=/a``, ``/login?next`` is there twice."""
    parameters: int = 40
    """Parameters of one URL: they had 18, but for a form of 56."""
    variants: int = 100_000
    """Queries of one path: a forum is one path."""
    parameter_sets: int = 500
    """Different sets of parameter names of one path."""
    repetition: bool = True
    stale_pages: int = 30
    """Pages of one pattern, in a row, before it is judged."""
    stale_share: float = 0.9
    """Share of them that says nothing new and leads on, from which on the pattern is closed."""
    held: int = 1_000_000
    """URLs of a host that are held back: 130 MB on the disk. Of more only the number is kept."""

    def beyond(self, limit: str) -> str:
        """Return the setting and the limit, as ``larm why`` shows them."""
        value = getattr(self, limit)
        return f"filters.traps.pages: {value}" if limit == "pages" else f"filters.traps.limits: {value} {_NAMES[limit]}"

    def holds(self, text: str) -> bool:
        """Return True if a limit that `beyond` showed in an earlier run is what it was."""
        return self.limits and any(text == self.beyond(limit) for limit in ("pages", *_NAMES))


_NAMES = {
    "foreign_pages": "URLs of a host for each host that links to it",
    "depth": "links from a start URL",
    "segments": "segments of a path",
    "repeats": "times the same segment",
    "nested": "x an address within itself",
    "parameters": "parameters",
    "variants": "queries of one path",
    "parameter_sets": "sets of parameter names of one path",
}
DEFAULT = TrapRules()


def trap_rules(settings: TrapsSettings, *, used: bool = True) -> TrapRules:
    """Return the rules of these settings; without ``used``, as where the filter is not in the chain, nothing is held back."""
    scaled = {limit: ceil(getattr(DEFAULT, limit) * settings.limits) for limit in _NAMES}
    limits, repetition = used and settings.limits > 0, used and settings.repetition
    return msgspec.structs.replace(DEFAULT, pages=settings.pages, limits=limits, repetition=repetition, **scaled)


_PATHS = 128
"""Are remembered, those that came last."""
_LARGE, _OFTEN = 50_000, 10_000
"""Pages. The largest manual of Debian has 22,000."""
_LINKING = 1000
"""Hosts are told apart at most."""


class HostLimits(msgspec.Struct, array_like=True, eq=False):
    """One host's; the lock of the `HostBook` is held."""

    urls: int = 0
    """That were let in."""
    paths: dict[int, PathRecord] = {}
    linking: dict[int, None] = {}
    """Other hosts that link here."""
    start: bool = False
    """It is the host of a start URL."""
    grows: bool = False
    """It has brought `_LARGE` pages, and the last ones led to as many new addresses as there were pages."""
    mark: int = 0
    """`urls` when that was asked last."""

    def beyond(self, parts: Parts, rules: TrapRules) -> str | None:
        """The limit that one more such address would break, as it is set; None: it may come in."""
        if self.urls >= rules.pages:
            return rules.beyond("pages")
        if not self.start and self.urls >= rules.foreign_pages * (1 + len(self.linking)):
            return rules.beyond("foreign_pages")
        path = self.paths.get(number_of(parts.path)) if parts.parameters else None
        if path is not None:
            if path.variants >= rules.variants:
                return rules.beyond("variants")
            if len(path.sets) >= rules.parameter_sets and (names := _names(parts)) and names not in path.sets:
                return rules.beyond("parameter_sets")
        return None

    def count_page(self, read: int) -> None:
        """A page was read, of so many; whether the host grows is asked now and then."""
        if read % _OFTEN == 0:
            self.grows, self.mark = read >= _LARGE and self.urls - self.mark >= _OFTEN, self.urls

    def admit(self, message: URLMessage, parts: Parts, rules: TrapRules) -> None:
        """Count an address that comes in."""
        self.urls += 1
        if parts.parameters:
            path = entry(self.paths, number_of(parts.path), PathRecord, _PATHS)
            path.variants += 1
            names = _names(parts)
            if names and names not in path.sets and len(path.sets) < rules.parameter_sets:
                path.sets = [*path.sets, names]
        if not self.start and not message.referrer.startswith(parts.origin) and len(self.linking) < _LINKING:
            self.linking[number_of(message.referrer[: message.referrer.find("/", 8)])] = None


def _names(parts: Parts) -> int:
    """Of the set of its parameters; 0: none has a value, as where the query alone names a page (``?java/lang/Object``)."""
    names = sorted(name for name, value in parts.parameters.items() if value)
    return number_of("&".join(names)) if names else 0


def odd(message: URLMessage, parts: Parts, rules: TrapRules) -> str | None:
    """The limit that an address is beyond whatever else its host has; None: it is like those of real sites."""
    if message.depth > rules.depth:
        return rules.beyond("depth")
    access = message.url.access
    slashes = access.count("/") - 3
    if slashes >= min(rules.segments, rules.repeats):  # else it has not so many segments
        if parts.path.count("/") > rules.segments:
            return rules.beyond("segments")
        if repeats(parts.path) > rules.repeats:
            return rules.beyond("repeats")
    if nested(access) > rules.nested:
        return rules.beyond("nested")
    if access.count("&") + access.count(";") >= rules.parameters:
        return rules.beyond("parameters")
    return None

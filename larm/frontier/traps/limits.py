"""HostLimits: how many addresses a host has had, against what no real site needs. Plain state of its record."""

from dataclasses import dataclass, field

from larm.frontier.traps.bounded import entry
from larm.frontier.traps.records import PathRecord
from larm.frontier.traps.rules import TrapRules
from larm.model.message import URLMessage
from larm.model.url_shape import Parts, number_of, repeats

_PATHS = 128
"""Are remembered, those that came last."""
_LARGE, _OFTEN = 50_000, 10_000
"""Pages. The largest manual of Debian has 22,000."""
_LINKING = 1000
"""Hosts are told apart at most."""


@dataclass(slots=True, eq=False, repr=False)
class HostLimits:
    """One host's; the lock of the `HostBook` is held."""

    urls: int = 0
    """That were let in."""
    paths: dict[int, PathRecord] = field(default_factory=dict)
    linking: dict[int, None] = field(default_factory=dict)
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
    if access.count("&") + access.count(";") >= rules.parameters:
        return rules.beyond("parameters")
    return None

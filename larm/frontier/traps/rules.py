"""TrapRules: what the traps filter goes by, made of its settings and of limits that are constants. Immutable."""

from math import ceil

import msgspec

from larm.config import TrapsFilter


class TrapRules(msgspec.Struct, frozen=True):
    """Limits that no real site needs (LARM-122), multiplied by the setting, and when a pattern is closed."""

    limits: bool = True
    """False: none of the following eight limits holds."""
    pages: int = 1_000_000
    foreign_pages: int = 100_000
    """URLs of a host without start URL for each host that links to it: no blog has more."""
    depth: int = 100_000
    """Links from a start URL: mailing lists have chains of tens of thousands."""
    segments: int = 25
    """Segments of a path: 21,830 real URLs had at most 12."""
    repeats: int = 3
    """Times that one segment is in a path: the same URLs had it at most twice."""
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
    "parameters": "parameters",
    "variants": "queries of one path",
    "parameter_sets": "sets of parameter names of one path",
}
DEFAULT = TrapRules()


def trap_rules(settings: TrapsFilter, *, used: bool = True) -> TrapRules:
    """Return the rules of these settings; without ``used``, as where the filter is not in the chain, nothing is held back."""
    scaled = {limit: ceil(getattr(DEFAULT, limit) * settings.limits) for limit in _NAMES}
    limits, repetition = used and settings.limits > 0, used and settings.repetition
    return msgspec.structs.replace(DEFAULT, pages=settings.pages, limits=limits, repetition=repetition, **scaled)

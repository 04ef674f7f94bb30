"""Sections of config.yaml: the filter chain."""

from larm.config.section import Factor, Positive, Section


class LengthSettings(Section, frozen=True):
    """URLs that are too long."""

    max: Positive = 2048  # as long as a sitemap allows; LARM-48 has 500, and a title in Bengali has 765 when it is escaped


class TrapsSettings(Section, frozen=True):
    """Hosts that never end: what no real site needs, and what goes on without saying anything new (LARM-122)."""

    limits: Factor = 1.0  # times the limits of `larm.frontier.traps.limits`, which no real site needs; 0: none, nor ``pages``
    pages: Positive = 1_000_000  # URLs of a host
    repetition: bool = True  # what goes on and on without saying anything new is held back


class VisitedSettings(Section, frozen=True):
    """URLs that were seen before."""

    log: bool = True  # URLVisitedFilter.log, as LARM has it: 1.4 KB a page of 50 links, which nobody reads who has a million


class FiltersSettings(Section, frozen=True):
    """The chain of the message handler: names of built-in filters, or ``package.module:Class`` of your own."""

    order: tuple[str, ...] = ("known_paths", "files", "scope", "length", "visited", "robots", "traps")
    length: LengthSettings = LengthSettings()
    # URLs of no use: "/path", "/beginning*", "*end" of path and query, or a host (LARM-50); Apache's views, old and new
    known_paths: tuple[str, ...] = (
        "/robots.txt",
        *(f"*/?{column}={order}" for column in "NMSD" for order in "AD"),
        *(f"*/?C={column};O={order}" for column in "NMSD" for order in "AD"),  # LARM-51
    )
    visited: VisitedSettings = VisitedSettings()
    traps: TrapsSettings = TrapsSettings()

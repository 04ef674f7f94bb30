"""Sections of config.yaml: the filter chain."""

from typing import Annotated, Any

import msgspec

from larm.config.section import Count, Positive, Section


class LengthFilter(Section, frozen=True):
    """URLs that are too long."""

    max: Positive = 2048  # as long as a sitemap allows; LARM-48 has 500, and a title in Bengali has 765 when it is escaped


class KnownPathsFilter(Section, frozen=True):
    """URLs that are known to be of no use, by path, query or host."""

    prefixes: tuple[str, ...] = ("/robots.txt$",)  # LARM-50; $ is the end
    suffixes: tuple[str, ...] = (  # Apache's directory views, old and new (LARM-50, LARM-51)
        *(f"/?{column}={order}" for column in "NMSD" for order in "AD"),
        *(f"/?C={column};O={order}" for column in "NMSD" for order in "AD"),
    )
    hosts: tuple[str, ...] = ()


class TrapsFilter(Section, frozen=True):
    """Hosts that never end: what no real site needs, and what goes on without saying anything new (LARM-122)."""

    limits: bool = True  # what no real site needs: the next eight settings
    pages: Positive = 1_000_000  # URLs of a host
    foreign_pages: Positive = 100_000  # of a host that is no start URL's, for each host that links there: no blog has more
    depth: Positive = 100_000  # links from a start URL: mailing lists have chains of tens of thousands
    segments: Positive = 25  # of a path; 21,830 real URLs had 12 at most
    repeats: Positive = 3  # of one segment in a path; the same URLs had it twice at most
    parameters: Positive = 40  # of one URL; they had 18, but for a form of 56
    variants: Positive = 100_000  # queries of one path: a forum is one path
    parameter_sets: Positive = 500  # sets of parameter names of one path
    repetition: bool = True  # what goes on and on without saying anything new is held back
    stale_pages: Annotated[int, msgspec.Meta(ge=1, le=100_000)] = 30  # of one pattern, in a row, before it is judged
    stale_share: Annotated[float, msgspec.Meta(ge=0.5, le=1)] = 0.9  # of them say nothing new, and lead on: it is closed
    held: Count = 1_000_000  # URLs of a host that are held back: 130 MB on the disk; of more only the number is kept


class VisitedFilter(Section, frozen=True):
    """URLs that were seen before."""

    recent: Positive = 200_000  # fingerprints kept in RAM in front of the disk: 20 MB
    log: bool = True  # URLVisitedFilter.log, as LARM has it: 1.4 KB a page of 50 links, which nobody reads who has a million


class Filters(Section, frozen=True):
    """The chain of the message handler: names of built-in filters, or ``package.module:Class`` of your own."""

    order: tuple[str, ...] = ("known_paths", "files", "scope", "length", "visited", "robots", "traps")
    length: LengthFilter = LengthFilter()
    known_paths: KnownPathsFilter = KnownPathsFilter()
    visited: VisitedFilter = VisitedFilter()
    traps: TrapsFilter = TrapsFilter()
    own: dict[str, dict[str, Any]] = {}  # keyword arguments for filters of your own, by their dotted name

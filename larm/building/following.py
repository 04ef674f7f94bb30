"""Following: which links of a page go on, by a run's settings. Called by the wiring on the main thread. Pure.

Links that are out of scope, too long or too deep are not kept. When a later run would take them, the pages on which they
stand must come again as a whole: "not modified" has no links.
"""

import hashlib
import sys

import msgspec

from larm.building.scoping import Scope
from larm.config import Config
from larm.filters.length import LengthFilter
from larm.filters.scope import ScopeFilter
from larm.frontier.checkpoint import Following, Header

_LATER = frozenset(("visited", "robots", "traps", LengthFilter.name))
"""Filters that keep what they drop, or ask again; and the one of which the limit is noted."""
_ALWAYS = frozenset(("hidden", "include", "exclude"))
"""Settings of files that are in every digest; one that came later is in it where it is used, so that directories of earlier
versions are not read again for its sake."""
READ_ANEW = "pages were read by several"
"""In place of the digest."""


def following_of(settings: Config, scope: Scope | None) -> Following:
    """Of this run; ``scope``: None where the crawl is of archives."""
    filters, processing = settings.filters, settings.processing
    regions = [] if scope is None or isinstance(scope, ScopeFilter) else scope.regions.values()
    said = [
        str(scope) if isinstance(scope, ScopeFilter) else "",
        sorted(repr(region) for region in regions if region.start == region.address),  # the others follow from redirects
        [name for name in filters.order if name not in _LATER],
        msgspec.structs.replace(filters.known_paths, prefixes=tuple(map(_as_before, filters.known_paths.prefixes))),
        filters.own,
        {name: value for name, value in msgspec.to_builtins(settings.files).items() if value or name in _ALWAYS},
        [processing.follow_embedded, processing.srcset, processing.nofollow, processing.strict_sitemaps],
        *([] if settings.urls.folder_pages else ["folder_pages"]),
        *(() if settings.robots.sitemaps or scope is None else ("no sitemaps",)),  # not in the digests of earlier versions
    ]
    depth = settings.crawl.max_depth
    return Following(
        hashlib.blake2b(msgspec.json.encode(said), digest_size=8).hexdigest(),
        filters.length.max if LengthFilter.name in filters.order else sys.maxsize,
        sys.maxsize if depth is None else depth,
    )


def _as_before(prefix: str) -> str:
    """The default of earlier versions had no end: for links to ``/robots.txt.html`` and the like no crawl is read again."""
    return "/robots.txt" if prefix == "/robots.txt$" else prefix


def has_changed(header: Header | None, now: Following, restrict_to: str) -> bool:
    """Whether pages of earlier runs may have links that only this one follows. An earlier larm noted the expression alone."""
    if header is None:
        return False
    before = header.following
    if before is None:
        return header.restrict_to != restrict_to
    return before.by != now.by or before.length < now.length or before.depth < now.depth


def noted(now: Following, *, changed: bool, again: bool) -> Following:
    """For the next checkpoints; a revisit that begins now reads all pages."""
    return msgspec.structs.replace(now, by=READ_ANEW) if changed and not again else now


def note_of(*, again: bool) -> str:
    """What a person should know where it has changed."""
    when = "all pages are fetched whole for it" if again else "on pages that are there they count from the next revisit on"
    return f"other links are followed than in earlier runs, by scope, length, depth or kind: {when}"

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
        filters.known_paths,
        {name: given for name, given in settings.own.items() if name in filters.order},
        settings.files,
        [processing.follow_embedded, processing.srcset, processing.nofollow, processing.strict_sitemaps],
        [settings.urls.folder_pages, settings.robots.sitemaps or scope is None],
    ]
    depth = settings.crawl.max_depth
    return Following(
        hashlib.blake2b(msgspec.json.encode(said), digest_size=8).hexdigest(),
        filters.length.max if LengthFilter.name in filters.order else sys.maxsize,
        sys.maxsize if depth is None else depth,
    )


def has_changed(header: Header | None, now: Following) -> bool:
    """Return True if pages of earlier runs may have links that only this run follows."""
    before = header.following if header else now
    return before.by != now.by or before.length < now.length or before.depth < now.depth


def noted(now: Following, *, changed: bool, again: bool) -> Following:
    """For the next checkpoints; a revisit that begins now reads all pages."""
    return msgspec.structs.replace(now, by=READ_ANEW) if changed and not again else now


def note_of(*, again: bool) -> str:
    """What a person should know where it has changed."""
    when = "all pages are fetched whole for it" if again else "on pages that are there they count from the next revisit on"
    return f"other links are followed than in earlier runs, by scope, length, depth or kind: {when}"

"""Bounds: what belongs to a crawl, and so which links of a page are followed, by the settings of a run.

Called by `larm.building.wiring` on the main thread.

Links that are out of scope, too long or too deep are not kept. When a later run would take them, the pages on which they
stand must come again as a whole: "not modified" has no links.
"""

from __future__ import annotations

import hashlib
import sys
from typing import NamedTuple

import msgspec

from larm.building.archives import archive_scope
from larm.building.ground import Ground
from larm.building.mission import Mission
from larm.building.scoping import Scope, scope_of
from larm.building.start_folders import file_rules
from larm.config import Config
from larm.filters.length import LengthFilter
from larm.filters.scope import ScopeFilter
from larm.frontier.checkpoint import Following
from larm.model.file_rules import FileRules
from larm.seams import Filter

_LATER = frozenset(("visited", "robots", "traps", LengthFilter.name))
"""Filters that keep what they drop, or ask again; and the one of which the limit is noted."""
READ_ANEW = "pages were read by several"
"""In place of the digest."""


class Bounds(NamedTuple):
    """What belongs to the crawl."""

    scope: Filter
    folders: FileRules | None
    """None: no start URL is a file."""
    following: Following
    changed: bool
    """Pages of earlier runs may have links that only this run follows."""

    def noted(self, *, again: bool) -> Following:
        """For the checkpoints of this run; a revisit that begins now reads all pages."""
        return msgspec.structs.replace(self.following, by=READ_ANEW) if self.changed and not again else self.following

    def notes(self, *, again: bool) -> list[str]:
        """What a person should know."""
        when = "all pages are fetched whole for it" if again else "on pages that are there they count from the next revisit on"
        said = f"other links are followed than in earlier runs, by scope, length, depth or kind: {when}"
        return [said] if self.changed else []


def bounds_of(ground: Ground, mission: Mission) -> Bounds:
    """Raises ConfigError, UsageError, BadUrl, StorageError."""
    settings, header = ground.settings, ground.header
    web = None if mission.archives else scope_of(settings, ground.normalizer, header, ground.notes.append)
    folders = None if mission.archives else file_rules(settings.files, ground.directory, mission.start_urls)
    now = _following_of(settings, web)
    before = header.following if header else now
    changed = before.by != now.by or before.length < now.length or before.depth < now.depth
    return Bounds(web or archive_scope(settings), folders, now, changed)


def _following_of(settings: Config, scope: Scope | None) -> Following:
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

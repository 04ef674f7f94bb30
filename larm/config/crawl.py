"""Sections of config.yaml: what to fetch, under which name, and when to stop; what URLs are the same."""

from ipaddress import ip_network
from typing import Annotated, Literal

import msgspec

from larm.config.file_names import FileName, OwnFileName, StartName
from larm.config.section import Count, Positive, Section
from larm.kit.units import Seconds


class AgentSettings(Section, frozen=True):
    """Who we say we are."""

    name: Annotated[str, msgspec.Meta(pattern=r"^[A-Za-z_-]+\Z")] = "larm"  # product token of RFC 9309 2.2.1
    contact: Annotated[str, msgspec.Meta(pattern=r"^[\x20-\x7e]*\Z")] = ""  # URL or mail address; a warning where empty


class Seed(Section, frozen=True):
    """A start URL with a scope of its own."""

    url: StartName
    scope: Literal["", "host", "below", "domain"] = ""  # empty: `Crawl.scope`
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    depth: Count | None = None  # links followed from it, `Crawl.max_depth` at most; None: that


class CrawlSettings(Section, frozen=True):
    """What to fetch, and when to stop."""

    start: tuple[StartName, ...] = ()
    seeds: tuple[Seed, ...] = ()  # start URLs of which more is to be said
    scope: Literal["", "host", "below", "domain"] = ""  # of each start URL; empty: its host, or as in earlier runs
    include: tuple[str, ...] = ()  # only URLs that one of these patterns matches
    exclude: tuple[str, ...] = ()  # no URL that one of these matches
    restrict_to: str = ""  # regular expression; empty: the hosts of the start URLs
    max_pages: Positive | None = None
    max_depth: Count | None = None
    max_time: Seconds | None = None
    on_idle: Literal["end", "wait"] = "end"  # where nothing is left; "wait": for URLs that are added from outside
    # Private addresses that it may fetch from, beside those where a start host was met first: 10.1.0.0/16, one address, "all".
    # "no-starts": not those of start hosts, as others name the start URLs. A crawler must not be a way into an intranet.
    private_networks: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.restrict_to and (self.scope or any(seed.scope or seed.include or seed.exclude for seed in self.seeds)):
            raise ValueError("restrict_to: it is the whole scope, so neither scope nor seeds may set another")
        if any(seed.depth is not None and (self.max_depth is None or seed.depth > self.max_depth) for seed in self.seeds):
            raise ValueError("seeds: depth needs max_depth, and can't be more")
        for text in {*self.private_networks} - {"all", "no-starts"}:
            try:
                ip_network(text, strict=False)
            except ValueError:
                raise ValueError(
                    f"private_networks: {text!r} is neither an address nor a network such as 10.1.0.0/16"
                ) from None


class UrlsSettings(Section, frozen=True):
    """The normaliser."""

    lowercase_path: bool = False  # paths are case-sensitive (RFC 3986); folding loses pages (LARM-22)
    folder_pages: bool = True  # /index.html is / (LARM-30), as on nearly all servers; elsewhere one of two pages would be lost
    host_resolver: FileName = ""  # file of rules (LARM-39)


Place = Annotated[str, msgspec.Meta(pattern="^[^/]+$")]


class FilesSettings(Section, frozen=True):
    """Folders of this machine, where a start URL is one."""

    hidden: bool = False  # names that begin with a dot: settings, caches, version control
    include: tuple[str, ...] = ()  # shell patterns for files; empty: all
    exclude: tuple[str, ...] = ()  # shell patterns for files and folders
    index_pages: tuple[str, ...] = ()  # where a folder has such a file, its others are read if a page links to them
    listed: tuple[str, ...] = ()  # shell patterns for folders of which all are read nonetheless; "/" is the start folder
    places: dict[Place, OwnFileName] = {}  # folders by names: file:///NAME/ is one, and nobody learns where that is

"""Sections of config.yaml: what is told of a crawl, and what others are served: a search page, peers, a network."""

from typing import Annotated, Literal

import msgspec

from larm.config.file_names import OwnFileName
from larm.config.section import Count, Section
from larm.kit.units import ByteSize, Seconds


class MonitorSettings(Section, frozen=True):
    """What is told while the crawl runs."""

    tick: Seconds = Seconds(5)  # checkpoint, flush of the logs, a line in ThreadMonitor.log (LARM-77)
    log_size: ByteSize = ByteSize(1_000_000_000)  # of each log that is for people: ten million fetches, or as many URLs
    # that were visited before as 200,000 pages lead to; 0: any
    stalled: Seconds = Seconds(160)  # a thread at work that gets no further for so long is told (LARM-81)


class ServeSettings(Section, frozen=True):
    """``larm serve``."""

    # Visitors and peers see pages of private addresses, as on an intranet; "network": a network's strangers as well.
    private: bool | Literal["network"] = False
    search_time: Seconds = Seconds(5)  # a search that takes longer is stopped; usual ones take 10 ms
    certificate: tuple[OwnFileName, ...] = ()  # PEM files, with the authorities between: certificate, key; or one with both


class PeersSettings(Section, frozen=True):
    """Many people's indexes, one search: what ``larm serve`` is to others."""

    name: Annotated[str, msgspec.Meta(max_length=64)] = ""  # of this machine among them; empty: it is no peer
    registrar: bool = False  # it keeps, in memory, who there is, and which words each has
    registrars: tuple[
        str, ...
    ] = ()  # where to tell of oneself and to ask: http://host:port, KEY@ before it to be sure who it is
    url: str = ""  # where others ask this machine, if not where it listens: https://anna.example.org:7070
    ca: OwnFileName = ""  # a PEM file with the authorities for the certificates of others; empty: those of the system
    share: tuple[OwnFileName, ...] = ()  # folders that others may search and open
    groups: dict[str, tuple[str, ...]] = {}  # names for group:, and the keys of the peers in each
    only: dict[str, tuple[str, ...]] = {}  # shared folders by names, and the groups that each is for: {Papers: [harbour]}
    signed: bool = False  # searches are signed with one's own key, or who shares with some alone can't know one
    groups_from: OwnFileName = ""  # a file or an address with more of them, as JSON: {"harbour": ["KEY", "KEY"]}
    secret: OwnFileName = ""  # a file with words that all of a private group have, 16 characters or more; empty: it is open
    allow: tuple[str, ...] = ()  # keys of the only ones that are answered; empty: all
    deny: tuple[str, ...] = ()  # keys of those that are not
    period: Seconds = Seconds(120)  # between two looks at what is shared (YOUS-1)
    timeout: Seconds = Seconds(3)  # for an answer of all peers: a median took 8 s when they were asked in turn (YOUS-4)
    cache: Seconds = Seconds(300)  # for which an answer of all peers is kept here; 0: none is


class NetworkSettings(Section, frozen=True):
    """``larm serve --network``."""

    name: Annotated[str, msgspec.Meta(pattern=r"^[A-Za-z0-9._-]{0,40}\Z")] = ""  # empty: none
    bootstrap: tuple[OwnFileName, ...] = ()  # peers (http://192.0.2.7:7070), seed lists at web servers, and files of seeds
    denied: tuple[OwnFileName, ...] = ()  # files or addresses with keys and sites of which nothing is kept or shown
    mode: Literal["dht", "private-peer", "private-cluster", "public-cluster", "public-peer"] = "dht"
    members: tuple[str, ...] = ()  # hashes of the peers of a cluster; each has the same list
    tags: tuple[str, ...] = ()  # topics: who searches with the same ones asks this peer, too
    quota: ByteSize = ByteSize(1_000_000_000)  # for what others have found; own items are not counted
    young: Seconds = Seconds(3 * 86_400)  # a peer that stays for so long will stay longer, and may keep things
    stop_words: tuple[str, ...] = ()  # neither shared nor asked for, beside the function words of English
    learn: Count = 15_000  # pages that searches have brought, kept for later ones; 0: none
    publish: OwnFileName = ""  # a file for the seed list, where some web server shows it; empty: none
    crawl_for_others: Count = 0  # pages a day that others may have this peer crawl; 0: it takes no orders
    proxy: Annotated[int, msgspec.Meta(ge=0, le=65_535)] = 0  # port of 127.0.0.1 for a browser; 0: there is no proxy
    proxy_queries: bool = False  # also pages whose addresses have a query: it may say who asks

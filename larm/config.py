"""Config: the typed, frozen mirror of config.yaml. The only reader of YAML.

Each part of larm gets its own section, never the whole. A key that is not a field here is an error that names its path; so is
a value of the wrong type or outside its bounds. `load` puts the sources together: command line, ``-s``, file, defaults.
Used at start, on the main thread.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from ipaddress import ip_network
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any, Literal, TypeVar

import msgspec

from larm.errors import ConfigError
from larm.kit.recurrence import Every
from larm.kit.units import ByteSize, Seconds
from larm.kit.yaml_text import parse_yaml, read_text
from larm.model.domain import DomainRule

CONFIG_FILE = "config.yaml"
"""In a crawl's directory."""

Count = Annotated[int, msgspec.Meta(ge=0)]
Positive = Annotated[int, msgspec.Meta(ge=1)]
Weight = Annotated[float, msgspec.Meta(ge=-1_000_000, le=1_000_000)]
Factor = Annotated[float, msgspec.Meta(ge=0, le=1_000_000)]  # an infinite one would stop a host for ever
Section = TypeVar("Section", bound=msgspec.Struct)
_LARGEST: dict[Any, Any] = {Seconds: 10**9, ByteSize: 10**15}  # 31 years, a petabyte; timers overflow beyond that


class _Section(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A mapping of config.yaml."""


class Agent(_Section, frozen=True):
    """Who we say we are."""

    name: Annotated[str, msgspec.Meta(pattern=r"^[A-Za-z_-]+\Z")] = "larm"  # product token of RFC 9309 2.2.1
    contact: Annotated[str, msgspec.Meta(pattern=r"^[\x20-\x7e]*\Z")] = ""  # URL or mail address; a warning where empty


class Seed(_Section, frozen=True):
    """A start URL with a scope of its own."""

    url: str
    scope: Literal["", "host", "below", "domain"] = ""  # empty: `Crawl.scope`
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()


class Crawl(_Section, frozen=True):
    """What to fetch, and when to stop."""

    start: tuple[str, ...] = ()
    seeds: tuple[Seed, ...] = ()  # start URLs of which more is to be said
    scope: Literal["", "host", "below", "domain"] = ""  # of each start URL; empty: its host, or as in earlier runs
    include: tuple[str, ...] = ()  # only URLs that one of these patterns matches
    exclude: tuple[str, ...] = ()  # no URL that one of these matches
    restrict_to: str = ""  # regular expression; empty: the hosts of the start URLs
    max_pages: Positive | None = None
    max_depth: Count | None = None
    max_time: Seconds | None = None
    on_idle: Literal["end", "wait"] = "end"  # where nothing is left; "wait": for URLs that are added from outside
    parked: bool = False  # fetch what earlier runs held back as it looked like a trap
    allow_private: bool = False  # a crawler must not be a way into an intranet
    private_networks: tuple[str, ...] = ()  # those that it may go to: 10.1.0.0/16, or one address

    def __post_init__(self) -> None:
        if self.restrict_to and (self.scope or any(seed.scope or seed.include or seed.exclude for seed in self.seeds)):
            raise ValueError("restrict_to: it is the whole scope, so neither scope nor seeds may set another")
        for text in self.private_networks:
            try:
                ip_network(text, strict=False)
            except ValueError:
                raise ValueError(
                    f"private_networks: {text!r} is neither an address nor a network such as 10.1.0.0/16"
                ) from None


class Urls(_Section, frozen=True):
    """The normaliser."""

    lowercase_path: bool = False  # paths are case-sensitive (RFC 3986); folding loses pages (LARM-22)
    host_resolver: str = ""  # file of rules (LARM-39), relative to the crawl's directory


class Files(_Section, frozen=True):
    """Folders of this machine, where a start URL is one."""

    hidden: bool = False  # names that begin with a dot: settings, caches, version control
    include: tuple[str, ...] = ()  # shell patterns for files; empty: all
    exclude: tuple[str, ...] = ()  # shell patterns for files and folders


class LengthFilter(_Section, frozen=True):
    """URLs that are too long."""

    max: Positive = 2048  # as long as a sitemap allows; LARM-48 has 500, and a title in Bengali has 765 when it is escaped


class KnownPathsFilter(_Section, frozen=True):
    """URLs that are known to be of no use, by path, query or host."""

    prefixes: tuple[str, ...] = ("/robots.txt",)  # LARM-50
    suffixes: tuple[str, ...] = (  # Apache's directory views, old and new (LARM-50, LARM-51)
        *(f"/?{column}={order}" for column in "NMSD" for order in "AD"),
        *(f"/?C={column};O={order}" for column in "NMSD" for order in "AD"),
    )
    hosts: tuple[str, ...] = ()


class TrapsFilter(_Section, frozen=True):
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


class VisitedFilter(_Section, frozen=True):
    """URLs that were seen before."""

    recent: Positive = 200_000  # fingerprints kept in RAM in front of the disk: 20 MB
    log: bool = True  # URLVisitedFilter.log, as LARM has it: 1.4 KB a page of 50 links, which nobody reads who has a million


class Filters(_Section, frozen=True):
    """The chain of the message handler: names of built-in filters, or ``package.module:Class`` of your own."""

    order: tuple[str, ...] = ("known_paths", "files", "scope", "length", "visited", "robots", "traps")
    length: LengthFilter = LengthFilter()
    known_paths: KnownPathsFilter = KnownPathsFilter()
    visited: VisitedFilter = VisitedFilter()
    traps: TrapsFilter = TrapsFilter()
    own: dict[str, dict[str, Any]] = {}  # keyword arguments for filters of your own, by their dotted name


class Robots(_Section, frozen=True):
    """robots.txt (RFC 9309)."""

    obey: bool = True
    size: ByteSize = ByteSize(512_000)  # at least 500 KiB (RFC 9309 2.5)
    timeout: Seconds = Seconds(30)  # LARM-58
    ttl: Seconds = Seconds(86_400)  # RFC 9309 2.4
    redirects: Count = 5  # RFC 9309 2.3.1.2
    sitemaps: bool = True  # pages that no link leads to are found by them alone


class Frontier(_Section, frozen=True):
    """Queues, politeness and health of hosts."""

    order: Literal["breadth-first", "opic", "host-budget", "pagerank"] = "breadth-first"  # all end with the same pages
    domains: DomainRule = DomainRule.PUBLIC_SUFFIX  # what host budgets, and opic_shares, take for one domain (YIOOP-40)
    opic_shares: Literal["equal", "domains"] = "equal"  # "domains": half of a page's cash leaves its domain (YIOOP-49)
    delay: Seconds = Seconds(1)  # between two requests to a host
    per_host: Positive = 1  # requests at a time to a host (LARM-66)
    per_address: Count = 4  # hosts of one IP address are together asked as often as so many hosts: a machine with a thousand
    # blogs bears no more than a few large ones, and one with two or three hosts does not get slower; 0: as often as all
    delay_factor: Factor = 1.0  # a slow answer means a busy host: wait as long again
    health: Positive = 5  # time-outs until a host is given up (LARM-63)
    retries: Count = 2  # further tries of a URL that failed for now
    retry_wait: Seconds = Seconds(5)  # before the first retry, doubling
    backoff: Seconds = Seconds(60)  # a host that answers 429 or 503 is left alone this long, doubling
    backoff_max: Seconds = Seconds(86_400)
    longest_wait: Seconds = Seconds(3_600)  # a run ends where all that is left must wait for longer: a server that is busy
    # says minutes; who says more than an hour means another day, and a crawl that sleeps till then helps nobody
    retry_hosts_after: Seconds = Seconds(3_600)  # a host given up gets one more try (LARM-65), doubling
    redirects: Count = 5  # in a row (LARM-17)
    message_block: Positive = 5_000  # messages in a block of the incoming queue (LARM-70)
    host_block: Positive = 100  # messages in a block of a host's queue (LARM-70)
    hosts_in_memory: Positive = 100_000  # records of hosts used last; the others are on disk: 1.5 KB each
    messages_in_memory: Positive = 200_000  # waiting at all hosts together; the others are on disk: 450 bytes each


class Fetch(_Section, frozen=True):
    """Transfers."""

    threads: Positive = 2  # one thread does what it can before the next begins; 16 halve the speed (the GIL)
    transfers: Positive = 32  # at a time in each thread: more than a host is asked at a time, so that one thread serves it
    timeout: Seconds = Seconds(75)  # a whole request (LARM-15)
    connect_timeout: Seconds = Seconds(20)  # or a dead host holds a transfer for the whole time-out
    page_size: ByteSize = ByteSize(20_000_000)  # decoded bytes of a body; real index pages have up to 13 MB (LARM: 2 MB)
    document_size: ByteSize = ByteSize(50_000_000)  # the same of PDF and office files: one that is cut can't be read at all
    ip: Literal["any", "4", "6"] = "any"  # "4" where a dead resolver makes AAAA look-ups slow
    http2: bool = True
    verify_tls: bool = True
    insecure_hosts: tuple[str, ...] = ()  # an appliance with a certificate of its own; better than verify_tls: false for all
    dns_ttl: Seconds = Seconds(3_600)  # LARM-126


class Site(_Section, frozen=True):
    """What belongs to one site. In ``auth``, ``headers`` and ``proxy``, ``${NAME}`` stands for a variable of the environment,
    ``${file:PATH}`` for the first line of a file that only its owner can read."""

    delay: Seconds | None = None  # None: `Frontier.delay`; what robots.txt asks for holds all the same
    per_host: Positive | None = None  # None: `Frontier.per_host`
    user_agent: Annotated[str, msgspec.Meta(pattern=r"^[\x20-\x7e]*\Z")] = ""  # empty: as everywhere
    headers: dict[str, str] = {}  # further ones
    auth: str = ""  # name:password, by basic authentication
    cookies: str = ""  # a file of them, in Netscape's form, as browsers export it
    keep_cookies: bool = False  # those that answers set are sent again, in this run
    proxy: str = ""  # http, https, socks5 or socks5h://host:port


class Documents(_Section, frozen=True):
    """PDF and office files, which are read in processes of their own."""

    processes: Count = 2  # one that hangs must not stop the others; 0: such files are stored and not read
    timeout: Seconds = Seconds(10)  # most take less than one; a crawl that is stopped waits for those that are being read
    memory: ByteSize = ByteSize(400_000_000)  # address space of each; most files need 60 MB


class Processing(_Section, frozen=True):
    """From bytes to documents."""

    parser: Literal["lexbor", "html5lib"] = "lexbor"  # the same algorithm, lexbor 60 times as fast
    follow_embedded: bool = False  # also fetch images, style sheets and scripts (they are in links.log anyway)
    srcset: bool = False  # the same images again, in other sizes: five times as many links on many a page
    nofollow: bool = True  # obey rel=nofollow and meta robots
    strict_sitemaps: bool = False  # a sitemap speaks only for what is below its directory; the filters bound it anyway
    documents: Documents = Documents()
    processes: Count | None = None  # that read pages beside the crawl; None: one for each core but one, at most 3
    by_mime: dict[str, str] = {}  # MIME type -> ``package.module:Class`` of a processor of your own


class LogStorage(_Section, frozen=True):
    """store.log, links.log and the page files."""

    page_file_size: ByteSize = ByteSize(50_000_000)  # LARM-94
    links: bool = True  # links.log, for other programs: 6.4 KB a page of 50 links; larm's own link graph takes a tenth of it


class Duplicates(_Section, frozen=True):
    """Pages that say the same."""

    merge: bool = True  # of pages with the same text index the first one
    # Share of their main texts, and of their lengths, from which on pages are nearly the same, so one search result. Articles
    # that were copied with one word changed have .97; pages of a catalogue, of which one word in 20 is their own, .9 or less.
    similarity: Annotated[float, msgspec.Meta(ge=0.5, le=1)] = 0.92
    similarity_other_title: Annotated[float, msgspec.Meta(ge=0.5, le=1)] = 0.92  # the same, where their titles differ


class IndexStorage(_Section, frozen=True):
    """The full-text index."""

    memory: ByteSize = ByteSize(50_000_000)  # of the index writer; its minimum is 15 MB a thread
    threads: Positive = 1
    text_size: ByteSize = ByteSize(20_000_000)  # text of a page that is indexed and kept for snippets: all that is fetched
    duplicates: Duplicates = Duplicates()


class WarcStorage(_Section, frozen=True):
    """WARC files, where the storage ``warc`` is in the chain."""

    size: ByteSize = ByteSize(1_000_000_000)  # of a file, as the standard recommends
    compression: Literal["gzip", "zstd"] = "gzip"  # all tools read gzip; zstd takes a fifth of the time, and few read it
    revisits: bool = True  # a payload that is in the archive is not written again
    metadata: bool = True  # where a page was found, and its links


class Limits(_Section, frozen=True):
    """What a crawl may take of its machine."""

    memory: ByteSize | None = None  # of all its processes; None: half of what the machine, or its container, has, as the other
    # half is for files that the system keeps in memory, on which index and queues live, and for everybody else; 1.1 GB at most
    disk: ByteSize = ByteSize(200_000_000)  # left free on the disk of the crawl: what the last commit, and the merges and the
    # snapshot of the graph after it, write for some hundred thousand pages; 0: crawl till it is full


class Storage(_Section, frozen=True):
    """Where documents go: names of built-in storages, or ``package.module:Class`` of your own."""

    chain: tuple[str, ...] = ("log", "index", "graph")
    queue: ByteSize = ByteSize(16_000_000)  # waiting in memory for one storage; beyond it the fetchers wait
    overflow: ByteSize = ByteSize(256_000_000)  # on the disk, where a storage makes no room for seconds; the crawl goes on
    # meanwhile. A checkpoint waits for it, so a larger one would make a crash cost more
    log: LogStorage = LogStorage()
    index: IndexStorage = IndexStorage()
    warc: WarcStorage = WarcStorage()
    own: dict[str, dict[str, Any]] = {}  # keyword arguments for storages of your own, by their dotted name


class Recrawl(_Section, frozen=True):
    """Revisiting a finished crawl."""

    every: Every | None = None  # larm serve starts it again so long after its last run, or at these times
    current: Seconds = Seconds(43_200)  # longest time for which a server is believed that a page is current (Cache-Control,
    # Expires), so that a revisit does not ask for it: who comes every day wants all of it, who comes hourly what may be new
    most_gone: Annotated[float, msgspec.Meta(ge=0, le=1)] = (
        0.5  # share of a host's pages forgotten at once; 1: believe anything
    )


class SearchFields(_Section, frozen=True):
    """What a word counts in each part of a page."""

    title: Factor = 2.0  # says most about what a page is about
    headings: Factor = 0.0
    url: Factor = 0.5
    description: Factor = 0.5
    main: Factor = 1.0
    other: Factor = 0.3  # menus: on every page of a site


class Search(_Section, frozen=True):
    """How pages are ranked. Takes effect at once: nothing is indexed again."""

    candidates: Positive = 200  # pages that tantivy proposes, to be weighed (YIOOP-54)
    fields: SearchFields = SearchFields()
    tie: Annotated[float, msgspec.Meta(ge=0, le=1)] = 0.4  # what further fields and forms count beside the best one
    other_forms: Factor = 0.9  # what a form counts that was not typed
    function_words: Factor = 0.1  # what "the" counts, next to its rarity
    rarity: Annotated[float, msgspec.Meta(ge=0, le=2)] = 0.2  # more weight to rare words than BM25 gives, as a power
    field_rarity: Annotated[float, msgspec.Meta(ge=0, le=1)] = 0.3  # of it: by how few pages have the word in that field
    coverage: Factor = 0.4  # having a word at all, beside having it often
    all_words: Factor = 0.3  # having all words, beside what the most important one counts
    within_names: Factor = 0.4  # the words of names such as os.path, apart from each other
    proximity: Factor = 0.3  # neighbours of the query that stand near each other
    proximity_slop: Count = 4  # words between them
    synonyms: str = ""  # a file, beside config.yaml or anywhere: words that mean the same
    feedback: Factor = 0.8  # words that the best pages share, beside those of a question of five words or more
    anchors: Factor = 2.0  # what others call the page, in their links to it
    link_rank: Factor = 0.5  # the importance of the page
    grouped: bool = True  # of pages that say the same, or nearly, show the best one (YIOOP-58)
    own: dict[str, Weight] = {}  # scorers of your own by "package.module:Class", each with its weight (YIOOP-69)


class Monitor(_Section, frozen=True):
    """What is told while the crawl runs."""

    tick: Seconds = Seconds(5)  # checkpoint, flush of the logs, a line in ThreadMonitor.log (LARM-77)
    plain_interval: Seconds = Seconds(60)  # between progress lines where stderr is no terminal
    stalled: Seconds = Seconds(160)  # a thread at work that gets no further for so long is told (LARM-81)


class Serve(_Section, frozen=True):
    """``larm serve``."""

    crawls: Positive = 1  # of those that `recrawl.every` makes due, at a time
    stop_crawls: bool = False  # those that it has started stop when it ends; else they go on by themselves
    searches: Positive = 2  # at a time: Python runs one thread at a time; and each has an index open, with caches of its own
    waiting: Count = 200  # searches that wait for their turn; further ones are told to come again
    search_time: Seconds = Seconds(5)  # a search that takes longer is stopped; usual ones take 10 ms


class Peers(_Section, frozen=True):
    """Many people's indexes, one search: what ``larm serve`` is to others."""

    name: Annotated[str, msgspec.Meta(max_length=64)] = ""  # of this machine among them; empty: it is no peer
    registrar: bool = False  # it keeps, in memory, who there is, and which words each has
    registrars: tuple[
        str, ...
    ] = ()  # where to tell of oneself and to ask: http://host:port, KEY@ before it to be sure who it is
    share: tuple[str, ...] = ()  # folders that others may search and open
    groups: dict[str, tuple[str, ...]] = {}  # names for group:, and the keys of the peers in each
    allow: tuple[str, ...] = ()  # keys of the only ones that are answered; empty: all
    deny: tuple[str, ...] = ()  # keys of those that are not
    administrator: str = ""  # key of who may tune all peers (larm tune); empty: nobody
    directory: str = ""  # for the key and the indexes of what is shared; empty: ~/.local/share/larm/peer
    period: Seconds = Seconds(120)  # between two looks at what is shared (YOUS-1)
    time_out: Seconds = Seconds(3)  # for an answer of all peers: a median took 8 s when they were asked in turn (YOUS-4)
    cache: Seconds = Seconds(300)  # for which an answer is kept for others who ask the same; 0: none is


class Network(_Section, frozen=True):
    """``larm serve --network``."""

    name: Annotated[str, msgspec.Meta(pattern=r"^[A-Za-z0-9._-]{0,40}\Z")] = ""  # empty: none
    seeds: tuple[str, ...] = ()  # peers whose seed lists are loaded: http://192.0.2.7:7070
    mode: Literal["dht", "private-peer", "private-cluster", "public-cluster", "public-peer"] = "dht"
    cluster: tuple[str, ...] = ()  # hashes of its members; each has the same list
    tags: tuple[str, ...] = ()  # topics: who searches with the same ones asks this peer, too
    redundancy: Annotated[int, msgspec.Meta(ge=1, le=8)] = 3  # peers that keep a thing: two may be lost at once
    quota: ByteSize = ByteSize(1_000_000_000)  # for what others have found; own items are not counted
    ping: Seconds = Seconds(30)
    young: Seconds = Seconds(3 * 86_400)  # a peer that stays for so long will stay longer, and may keep things
    private: bool = False  # pages of private addresses are shared as well; nobody else could open them
    stop_words: tuple[str, ...] = ()  # neither shared nor asked for, beside the function words of English


class ClusterTls(_Section, frozen=True):
    """Files by which agents know each other, in PEM."""

    ca: str = ""  # of the cluster's own authority
    certificate: str = ""
    key: str = ""


class Cluster(_Section, frozen=True):
    """One crawl by several agents. Those from ``agents`` on but ``weight`` must be the same for all."""

    name: Annotated[str, msgspec.Meta(pattern=r"^[A-Za-z0-9_-]{0,40}\Z")] = ""  # empty: this crawl is alone
    listen: Annotated[str, msgspec.Meta(pattern=r"^(tcp|tls)/.+:[0-9]+\Z")] = "tcp/127.0.0.1:7441"
    seeds: tuple[str, ...] = ()  # addresses of agents that are there; none: this is the first
    tls: ClusterTls = ClusterTls()
    insecure: bool = False  # listen to other machines without TLS
    weight: Annotated[float, msgspec.Meta(gt=0, lt=1000)] = 1.0  # an agent of weight 2 gets twice as many hosts
    agents: Positive = (
        1  # that must be there before the crawl begins: whoever comes later takes hosts that have to be handed over
    )
    by: Literal["site", "host"] = "site"  # what goes to one agent: all hosts of a registered domain, or each by itself
    placement: Literal["ring", "intervals"] = "ring"  # "intervals": LARM's; half of all hosts move where an agent goes
    lease: Seconds = Seconds(3)  # without a word, until nothing is sent to an agent: long enough for a busy machine
    adopt_after: Seconds = Seconds(60)  # without a word, until its hosts go to others; half of that, and it stops by itself
    minority: Literal["fence", "continue"] = "continue"  # of two agents that lose each other: both stop, or both go on
    batch: Positive = 500  # URLs that are sent at a time: 40 KB
    linger: Seconds = Seconds(2)  # fewer wait so long for more

    def __post_init__(self) -> None:
        if self.lease < 0.5 or self.adopt_after < 3 * self.lease:
            raise ValueError("adopt_after: expected three times cluster.lease or more, and that half a second or more")


class Config(_Section, frozen=True):
    """All of config.yaml."""

    agent: Agent = Agent()
    crawl: Crawl = Crawl()
    urls: Urls = Urls()
    files: Files = Files()
    filters: Filters = Filters()
    robots: Robots = Robots()
    frontier: Frontier = Frontier()
    fetch: Fetch = Fetch()
    sites: dict[str, Site] = {}
    """By hosts, or patterns for them."""
    processing: Processing = Processing()
    limits: Limits = Limits()
    storage: Storage = Storage()
    recrawl: Recrawl = Recrawl()
    search: Search = Search()
    monitor: Monitor = Monitor()
    serve: Serve = Serve()
    peers: Peers = Peers()
    network: Network = Network()
    cluster: Cluster = Cluster()


def own_modules(settings: Config) -> list[str]:
    """Modules of the user's that these settings name, as ``module:Class``."""
    names = [
        *settings.filters.order,
        *settings.storage.chain,
        *settings.processing.by_mime.values(),
        *settings.search.own,
    ]
    return list(dict.fromkeys(name.partition(":")[0] for name in names if ":" in name))


def load(
    file: Path | None,
    overrides: Iterable[str] = (),
    command_line: Mapping[str, object] | None = None,
    source: str = "command line",
    *,
    defaults: Path | None = None,
    environment: Mapping[str, str] = MappingProxyType({}),
) -> Config:
    """The effective configuration.

    ``defaults``: a file in which the user has what he wants in all crawls; ``file`` wins. ``environment``: the variables
    ``LARM_SECTION_KEY`` count, as ``LARM_FRONTIER_DELAY=2s``, and ``LARM_CONTACT`` for ``agent.contact``; they win over files.

    ``overrides`` are ``dotted.key=value`` texts (the value is YAML), ``command_line`` maps dotted keys to values and wins;
    ``source``: where these stand, for messages.
    Raises ConfigError with one line that names the key and what was expected.
    """
    tree = _read(file) if file is not None else {}
    if defaults is not None:
        usual = _read(defaults)
        _convert(usual, str(defaults))  # so that a mistake is blamed on the right file
        tree = _merged(usual, tree)
    where = str(file) if file is not None else ""
    config = _convert(tree, where)  # first alone, so that a mistake is blamed on the right source
    for name, written in sorted(environment.items()):
        dotted = _of_environment(name)
        if dotted:
            _put(tree, dotted, _yaml(written, name), name)
            config = _convert(tree, name)
    for text in overrides:
        dotted, equals, written = text.partition("=")
        if not equals:
            raise ConfigError(f"-s {text}: expected KEY=VALUE")
        _put(tree, dotted.strip(), _yaml(written, f"-s {text}"), f"-s {text}")
        config = _convert(tree, "-s")
    for key, value in (command_line or {}).items():
        _put(tree, key, value, key)
    return _convert(tree, source) if command_line else config


def _merged(below: dict[str, Any], above: dict[str, Any]) -> dict[str, Any]:
    """Two trees as one; what both have is ``above``'s."""
    both = dict(below)
    for key, value in above.items():
        inner = both.get(key)
        both[key] = _merged(inner, value) if isinstance(inner, dict) and isinstance(value, dict) else value
    return both


def _of_environment(name: str) -> str:
    """The key that a variable of the environment is for; empty: none of ours."""
    if name == "LARM_CONTACT":
        return "agent.contact"
    head, _, rest = name.partition("_")
    section, _, key = rest.lower().partition("_")
    sections = {field.name for field in msgspec.structs.fields(Config)}
    return f"{section}.{key}" if head == "LARM" and section in sections and key else ""


def changed(settings: Config, dotted: str, text: str) -> Config:
    """The settings with another value of one key, ``section.name``; ``text`` is YAML. Raises ConfigError."""
    tree: dict[str, Any] = {}
    _put(tree, dotted, _yaml(text, dotted), dotted)
    section, _, name = dotted.partition(".")
    value = getattr(getattr(_convert(tree, "set"), section), name)
    return msgspec.structs.replace(settings, **{section: msgspec.structs.replace(getattr(settings, section), **{name: value})})


def _read(file: Path) -> dict[str, Any]:
    try:
        text = read_text(file)
    except (OSError, ValueError) as error:
        raise ConfigError(f"{file}: can't read the configuration: {error}") from error
    tree = _yaml(text, str(file))
    if tree is None:
        return {}
    if not isinstance(tree, dict):
        raise ConfigError(f"{file}: expected sections such as 'fetch:', got {type(tree).__name__}")
    return tree


def _yaml(text: str, where: str) -> Any:
    try:
        return parse_yaml(text)
    except ValueError as error:
        raise ConfigError(f"{where}: {error}") from error


def _put(tree: dict[str, Any], dotted: str, value: object, where: str) -> None:
    *path, last = dotted.split(".")
    for name in path:
        if tree.get(name) is None:  # absent, or a section whose keys are all commented out
            tree[name] = {}
        if not isinstance(tree[name], dict):
            raise ConfigError(f"{where}: {name} is not a section")
        tree = tree[name]
    tree[last] = value


def _convert(tree: dict[str, Any], where: str) -> Config:
    _check_keys(tree, Config, "", where)
    try:
        return msgspec.convert(tree, Config, dec_hook=_quantity)
    except msgspec.ValidationError as error:
        raise ConfigError(_blame(str(error), where)) from error


def _check_keys(tree: object, struct: type[msgspec.Struct], path: str, where: str) -> None:
    """msgspec names an unknown key too, but can't say what was meant."""
    if not isinstance(tree, dict):
        return
    fields = {field.name: field.type for field in msgspec.structs.fields(struct)}
    for key in list(tree):
        kind = fields.get(key)
        if kind is None:
            import difflib  # for mistakes alone

            near = difflib.get_close_matches(str(key), fields, 1)
            hint = f"did you mean {near[0]}?" if near else "expected one of " + ", ".join(fields)
            raise ConfigError(f"{where}: {path}{key}: no such key; {hint}")
        if key == "sites" and kind is not None and isinstance(tree[key], dict):
            for name, site in tree[key].items():
                _check_keys(site, Site, f"{path}{key}.{name}.", where)
        elif isinstance(kind, type) and issubclass(kind, msgspec.Struct):
            if tree[key] is None:  # a section whose keys are all commented out
                del tree[key]
            else:
                _check_keys(tree[key], kind, f"{path}{key}.", where)


def _quantity(kind: Any, value: object) -> object:
    if kind is Every:
        return Every.parse(value)
    if kind not in _LARGEST:
        raise NotImplementedError(f"config field of type {kind}")
    try:
        number = kind.parse(value)
    except OverflowError:
        number = _LARGEST[kind] + 1
    if number > _LARGEST[kind]:
        raise ValueError(f"expected at most {_LARGEST[kind]}")
    return number


def _blame(message: str, where: str) -> str:
    what, at, path = message.rpartition(" - at ")
    if not at:
        return f"{where}: {message}"
    return f"{where}: {path.strip('`').removeprefix('$.')}: {what}"

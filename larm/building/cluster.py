"""The way into a cluster: the node of a crawl that several agents do together, and what it is told of the settings.

Called by `larm.building.wiring` on the main thread, where ``cluster.name`` is set; nothing of it is imported elsewhere.
"""

from collections.abc import Container, Iterator, Sequence
from itertools import islice
from pathlib import Path

import msgspec

from larm.building.ground import Ground
from larm.cluster.files import IDENTITY
from larm.cluster.identity import read_identity
from larm.cluster.membership import Rules
from larm.cluster.node import Node
from larm.cluster.placement import key_of
from larm.cluster.said import NoSeal, Sealing
from larm.cluster.terms import Doors, Rule, same_for_all
from larm.config import ClusterSettings, Config
from larm.config.file_names import certificate_and_key
from larm.crawldir.state import LOGS, PAGES, QUEUES, host_rules
from larm.engine.steering import Steering
from larm.errors import ConfigError
from larm.filters.dated_log import DatedLog
from larm.kit.clock import boot_time
from larm.model.message import LOST, URLMessage
from larm.model.url import BadUrl, URLNormalizer
from larm.store.log import LINKS_LOG, STORE_LOG
from larm.store.pages.page_rows import kept_pages, page_rows

_ROWS = 2_000
"""Of the page book, that are looked at before the beats go on."""


def node_of(ground: Ground, start_urls: Sequence[str], steering: Steering) -> Node:
    """Raises ConfigError, UsageError, StorageError."""
    settings, cluster = ground.settings, ground.settings.cluster
    path = ground.directory / QUEUES / IDENTITY
    files: tuple[Path, Path, Path] | None = None
    if cluster.ca:
        files = (
            ground.directory / cluster.ca,
            *certificate_and_key(cluster.certificate, "cluster.certificate", ground.directory),
        )
    seal: Sealing = NoSeal()
    if files:
        from larm.cluster.seal import Seal  # for who has certificates

        seal = Seal(cluster.name, *files, cluster.members)
    identity = read_identity(path, cluster.name, seal.name)
    listen = cluster.listen if cluster.listen != ClusterSettings().listen else identity.listen or cluster.listen
    try:
        from larm.cluster.zenoh_bus import Tls, ZenohBus  # for who has a cluster
    except ImportError as error:
        raise ConfigError(f"cluster.name: a cluster needs Zenoh: pip install 'larm[cluster]' ({error})") from error
    secured = Tls(*files) if files else None
    bus = ZenohBus(cluster.name, listen, cluster.lease, secured, insecure=cluster.insecure)
    rules = Rules(lease=cluster.lease, adopt_after=cluster.adopt_after, minority=cluster.minority, agents=cluster.agents)
    seeds = tuple(address for address in cluster.join if address != listen)
    rule = Rule(
        cluster=cluster.name,
        address=listen,
        seeds=seeds,
        settings=_digests(settings, ground.directory, start_urls),
        rules=rules,
        own=cluster,
        hang_after=2 * settings.monitor.stalled,
    )
    doors = Doors(
        shared=ground.shared,
        steering=steering,
        store=ground.state.store,
        key=lambda host: key_of(host, cluster.by),
        links=lambda: _links(ground.directory / LOGS / LINKS_LOG, start_urls, ground.normalizer),
        parse=ground.normalizer.parse,
        fetched=lambda members: _fetched(ground.directory / QUEUES / PAGES, members),
        kept=lambda keys: kept_pages(ground.directory / QUEUES / PAGES, keys),
        now=boot_time,
        log=lambda line: DatedLog(ground.logs.open("agents"), ground.shared.clock).lines([line]),
        directory=ground.directory,
        stored=ground.directory / LOGS / STORE_LOG,
    )
    known = ground.header.parts.get(Node.name) if ground.header else None
    return Node(rule, identity, path, bus, doors, seal, known=known)


def _digests(settings: Config, directory: Path, start_urls: Sequence[str]) -> str:
    """Of what decides which URLs belong to the crawl, what they are called, and whose they are: names and digests."""
    cluster, crawl = settings.cluster, settings.crawl
    said = {
        "start URLs": [
            sorted(start_urls),
            [[seed.url, seed.scope, seed.include, seed.exclude, seed.depth] for seed in crawl.seeds],
        ],
        "scope": [crawl.scope, crawl.restrict_to, crawl.include, crawl.exclude],
        "crawl.max_depth": crawl.max_depth,
        "crawl.max_pages": crawl.max_pages,
        "urls.*": [settings.urls.lowercase_path, settings.urls.folder_pages, host_rules(settings, directory)],
        "cluster.name": cluster.name,
        "cluster.agents": cluster.agents,
        "cluster.by": cluster.by,
        "cluster.placement": cluster.placement,
        "cluster.minority": cluster.minority,
        "cluster.lease": float(cluster.lease),
        "cluster.adopt_after": float(cluster.adopt_after),
    }
    return same_for_all({name: msgspec.json.encode(value) for name, value in said.items()})


def _links(path: Path, start_urls: Sequence[str], normalizer: URLNormalizer) -> Iterator[URLMessage]:
    """All that were found so far. How deep a link was is not written down: it counts as one of a start page."""
    for url in start_urls:
        yield URLMessage(normalizer.parse(url))
    if not path.exists():
        return
    with open(path, encoding="utf-8", errors="replace") as lines:
        for line in lines:
            page, _, rest = line.partition("\t")
            try:
                yield URLMessage(normalizer.parse(rest.partition("\t")[0].rstrip("\n")), page, 0, 1)
            except BadUrl:
                continue


def _fetched(path: Path, members: Container[str]) -> Iterator[list[URLMessage]]:
    """They are asked for as if nothing was known of them: "unchanged" would bring no page."""
    rows = page_rows(path)
    while some := list(islice(rows, _ROWS)):
        yield [
            URLMessage(row.message(key).url, row.referrer, row.link_type, row.depth, known=LOST)
            for key, row in some
            if row.by and row.by not in members and row.stored
        ]

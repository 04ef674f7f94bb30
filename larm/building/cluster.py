"""The way into a cluster: the node of a crawl that several agents do together, and what it is told of the settings.

Called by `larm.building.wiring` on the main thread, where ``cluster.name`` is set; nothing of it is imported elsewhere.
"""

import secrets
from collections.abc import Callable, Container, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Literal

import msgspec

from larm.building.etcd import RUN, credentials_of, etcd_of, listen_of, site_of
from larm.building.ground import Ground
from larm.cluster.agent_server import AgentServer
from larm.cluster.applicant import Applicant
from larm.cluster.files import ETCD, IDENTITY
from larm.cluster.identity import place_of, read_identity, write_identity
from larm.cluster.keys import Keys
from larm.cluster.node import Node, Wires
from larm.cluster.placement import PLACEMENTS, key_of
from larm.cluster.session import Session
from larm.cluster.terms import Doors, Rule, same_for_all
from larm.cluster.view_state import Rules
from larm.config import Config
from larm.crawldir.state import LOGS, PAGES, QUEUES, host_rules
from larm.engine.steering import Steering
from larm.errors import ConfigError
from larm.fetch.fence import Fence
from larm.filters.dated_log import DatedLog
from larm.kit.clock import boot_time
from larm.model.domain import is_made_up
from larm.model.message import LOST, REDIRECT, URLMessage
from larm.model.url import BadUrl, URLNormalizer
from larm.store.log import LINKS_LOG, STORE_LOG
from larm.store.pages.page_rows import kept_pages, page_rows

_ROWS = 2_000
"""Of the page book, that are looked at before anything else is done."""
_BITS = 31
"""Of a boot, random ones: two processes of one directory never have the same. Above them are seconds, so that a directory that
was put back from a backup is believed as well."""
_MARKED = 5
"""Columns behind the page, where a line of links.log ends in `larm.store.store_log.UNFOLLOWED`."""
WIRE = (1, 1)
"""Wire versions that this larm speaks; a change of what agents send each other or write to etcd makes it (1, 2)."""


def node_of(ground: Ground, start_urls: Sequence[str], steering: Steering, fence: Fence, *, fresh: bool) -> Node:
    """``fresh``: the directory starts over. Raises ConfigError, UsageError, StorageError."""
    settings, cluster = ground.settings, ground.settings.cluster
    if any(url.startswith("file:") for url in start_urls):
        raise ConfigError("cluster.name: folders can't be crawled by several agents")
    path = ground.directory / QUEUES / IDENTITY
    credentials = credentials_of(cluster, ground.directory)
    identity = read_identity(path, cluster.name, credentials.name if credentials is not None else "")
    listen = listen_of(cluster)
    site = site_of(identity.name, cluster, listen, ground.directory) if RUN in cluster.etcd else None
    etcd = etcd_of(cluster, ground.directory)
    place = place_of(path.parent)
    identity_now = msgspec.structs.replace(
        identity,
        boots=max((identity.boots >> _BITS) + 1, round(ground.shared.clock.wall())) << _BITS | secrets.randbits(_BITS),
        place=place,
        listen=str(listen),
        etcd=(*etcd.endpoints, *([site.client] if site is not None else [])),
    )
    write_identity(path, identity_now)
    log = DatedLog(ground.logs.open("agents"), ground.shared.clock)

    def say(line: str) -> None:
        log.lines([line])

    member = None
    if site is not None:
        from larm.cluster.etcd_member import EtcdMember  # for machines that run one

        member = EtcdMember(ground.directory / ETCD, site, etcd, now=boot_time, log=say)
    rules = Rules(float(cluster.lease), float(settings.fetch.timeout))
    placement = PLACEMENTS[cluster.placement]
    applicant = Applicant(
        name=identity.name,
        boot=identity_now.boots,
        weight=cluster.weight,
        settings=_digests(settings, ground.directory, start_urls),
        wire=WIRE,
        agents=cluster.agents,
        fresh=fresh,
        continues=bool(place) and place == identity.place,
    )
    session = Session(etcd, Keys(cluster.name), applicant, identity.session, rules=rules, placement=placement)
    rule = Rule(
        cluster=cluster.name,
        address=str(listen),
        rules=rules,
        own=cluster,
        hang_after=2 * settings.monitor.stalled,
    )
    doors = Doors(
        shared=ground.shared,
        steering=steering,
        store=ground.state.store,
        key=_key(cluster.by, say),
        links=lambda: _links(ground.directory / LOGS / LINKS_LOG, start_urls, ground.normalizer),
        parse=ground.normalizer.parse,
        fetched=lambda members: _fetched(ground.directory / QUEUES / PAGES, members),
        kept=lambda keys: kept_pages(ground.directory / QUEUES / PAGES, keys),
        now=boot_time,
        log=say,
        note=ground.notes.append,
        directory=ground.directory,
        stored=ground.directory / LOGS / STORE_LOG,
        fence=fence,
        records=ground.records,
    )
    wires = Wires(
        session,
        lambda origin, answer: AgentServer(listen, origin, answer, say, credentials, insecure=cluster.insecure, wires=WIRE),
        credentials,
        member,
    )
    known = ground.header.parts.get(Node.name) if ground.header else None
    return Node(rule, identity_now, path, wires, doors, known=known)


def _key(by: Literal["site", "host"], say: Callable[[str], object]) -> Callable[[str], str]:
    """Of a host, by which its owner is known."""
    told: set[str] = set()

    def key(host: str) -> str:
        found = key_of(host, by)
        top = host.partition(":")[0].rpartition(".")[2]
        if by == "site" and top not in told and is_made_up(host.partition(":")[0]):
            told.add(top)
            say(f"cluster.by: site: {top} is no public top level domain, so each of its hosts goes to an agent by itself")
        return found

    return key


def _digests(settings: Config, directory: Path, start_urls: Sequence[str]) -> dict[str, str]:
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
        "cluster.lease": float(cluster.lease),
        "fetch.timeout": float(settings.fetch.timeout),
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
            page, *columns = line.rstrip("\n").split("\t")
            if len(columns) == _MARKED and columns[2] != str(REDIRECT):
                continue  # an image, or what a page asks not to be followed
            try:
                yield URLMessage(normalizer.parse(columns[0] if columns else ""), page, 0, 1)
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

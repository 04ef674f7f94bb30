"""wiring: a peer and a registrar, put together. Called once, on the main thread, by ``larm serve``."""

import os
from collections.abc import Callable, Mapping
from functools import partial
from ipaddress import ip_address
from pathlib import Path
from queue import SimpleQueue
from typing import NamedTuple
from urllib.parse import urlsplit

import msgspec

from larm.config import FilesSettings, PeersSettings, ServeSettings
from larm.errors import LarmError, UsageError
from larm.fetch.http_client import HttpClient, is_address
from larm.index.search.shared import SharedSearcher
from larm.kit.clock import SystemClock
from larm.kit.disk.files import is_there
from larm.model.restriction import open_to
from larm.peers.addresses import kinds_of
from larm.peers.channel import ROOT, Channel, Contact
from larm.peers.door import Door, Question
from larm.peers.group_secret import GroupSecret
from larm.peers.identity import Identity
from larm.peers.passes import Passes
from larm.peers.stranger_fetch import StrangerFetch
from larm.peers.yousearch import protocol as say
from larm.peers.yousearch.announcing import Announcing, News
from larm.peers.yousearch.answering import Answering
from larm.peers.yousearch.groups import Groups
from larm.peers.yousearch.inspector import Inspectors
from larm.peers.yousearch.network import Network
from larm.peers.yousearch.peer import Peer
from larm.peers.yousearch.recommendations import Shelf
from larm.peers.yousearch.recommended import Recommended
from larm.peers.yousearch.registrar import Registrar
from larm.peers.yousearch.registrars import Registrars
from larm.peers.yousearch.shares import Shares
from larm.peers.yousearch.spot_checks import SpotChecks
from larm.peers.yousearch.visible import Visible

_MOST_ORDERS = 1_000
"""Hints for registrars that wait to be sent. While these are slow, further ones are left out: the next search has others."""
_CALL_BACK = 5.0
"""Seconds for a peer that says it is there."""


class Peering(NamedTuple):
    """What a server needs to know of it."""

    door: Door
    card: say.Card
    shares: Shares
    visible: Visible
    passes: Passes
    network: Network | None
    """All other peers, for the owner; None: this is a registrar and nothing else."""
    visitors: tuple[Network, Recommended] | None
    """The same for visitors: they have a key of their own, and no group. None: others are for members alone."""
    registrar: Registrar | None
    peer: Peer | None
    shelf: Shelf | None
    recommended: Recommended | None
    url: str
    """Of this machine, as others see it."""

    @property
    def host(self) -> str:
        """Its name there."""
        return urlsplit(self.url).hostname or ""

    def is_for_all(self, directory: Path) -> bool:
        """Return True if anybody may search and open the shared folder that this crawl indexes."""
        hidden = self.visible.hidden("")
        return not self.passes.needed and any(
            share.directory.absolute() == directory and share.name not in hidden for share in self.shares.named
        )

    @property
    def larger(self) -> dict[str, int]:
        """Paths where bodies may have more bytes than elsewhere."""
        return {ROOT + path: say.LARGEST for path in (say.ANNOUNCE, say.RECOMMEND)} if self.registrar is not None else {}


def build(
    peers: PeersSettings,
    files: FilesSettings,
    serve: ServeSettings,
    *,
    address: tuple[str, int],
    searchers: Callable[[], Mapping[Path, SharedSearcher]],
    is_closed: Callable[[str], bool],
    copies: bool,
    tell: Callable[[str], object],
) -> Peering:
    """``address``: where this server listens; ``searchers``: of its directories; ``is_closed``: visitors may not see
    the page with this address; ``copies``: all may open what these have
    stored. Raises UsageError, StorageError."""
    host, port = address
    _check(peers)
    url = peers.url or _url("https" if serve.certificate else "http", host, port)
    clock, place, readers = SystemClock(), state_folder(), open_to(private=bool(serve.private))
    identity = Identity.opened(place / "peer.key")
    http = HttpClient(interface=_own(host), ca=str(Path(peers.ca).expanduser()) if peers.ca else "")
    secret = GroupSecret.opened(Path(peers.secret).expanduser()) if peers.secret else None
    channel = Channel(identity, http, clock, secret=secret)
    passes = Passes(identity, clock, secret=secret, allowed=peers.allow or None, denied=peers.deny, signed=peers.signed)
    card = say.Card(identity.key, peers.name, peers.registrar)
    questions: list[Question] = []
    registrar = None
    if peers.registrar:
        registrar = Registrar(clock, partial(_is_there, channel), float(peers.period))
        questions += registrar.questions()
    folders = [Path(folder).expanduser() for folder in peers.share]
    shares = Shares(folders, place, files, peers.only, indexed=partial(_is_indexed, searchers))
    groups = Groups(peers.groups, peers.groups_from, http, everybody=passes.needed)
    visible = Visible(shares, groups, readers, copies=copies)
    peer = network = visitors = shelf = recommended = None
    if peers.name:
        own = Contact(identity.key, url) if peers.registrar else None
        registrars = Registrars(peers.registrars, own, http, _own(host))
        shelf = Shelf(identity, peers.name, place / "recommendations.json", clock)
        checks = SpotChecks(http, StrangerFetch(HttpClient(), clock, kinds_of([_own(host)])), clock)
        news = News(tell)
        announcing = Announcing(
            Contact(identity.key, url, peers.name),
            channel,
            registrars,
            lambda: (visible.told(searchers()), visible.more),
            period=float(peers.period),
            shelf=shelf,
            is_closed=is_closed,
            news=news,
        )
        orders: SimpleQueue[msgspec.Struct | None] = SimpleQueue()
        searching = partial(
            Network,
            registrars=registrars,
            timeout=float(peers.timeout),
            cache=float(peers.cache),
            checks=checks,
            own=identity.key,
            tell=lambda order: orders.put(order) if orders.qsize() < _MOST_ORDERS else None,
            clock=clock,
        )
        recommending = partial(Recommended, registrars=registrars.all, timeout=float(peers.timeout), clock=clock)
        signed = bool(peers.allow) or peers.signed
        network = searching(channel, groups=groups, passes=passes, signed=signed)
        recommended = recommending(channel, own=shelf.all, groups=groups, signed=signed)
        if not passes.needed:
            stranger = Channel(Identity.new(), http, clock)
            none = Groups({}, "", http)
            visitors = (
                searching(stranger, groups=none, passes=None, signed=False),
                recommending(stranger, own=tuple, groups=none, signed=False),
            )
        peer = Peer(
            announcing,
            Inspectors(shares),
            checks,
            groups,
            orders,
            period=float(peers.period),
            clock=clock,
            news=news,
            meet=[network.meet, *([visitors[0].meet] if visitors else ())],
        )
        answering = Answering(card, lambda key: visible.searchers(key, searchers()), float(serve.search_time))
        questions += answering.questions()
    door = Door(identity, questions, clock, allowed=peers.allow or None, denied=frozenset(peers.deny), secret=secret)
    return Peering(door, card, shares, visible, passes, network, visitors, registrar, peer, shelf, recommended, url)


def _check(peers: PeersSettings) -> None:
    for each in peers.registrars:
        if not is_address(each.rpartition("@")[2]):
            raise UsageError(f"peers.registrars: {each}: expected http://host:port or KEY@http://host:port")
    if peers.url and not is_address(peers.url):
        raise UsageError(f"peers.url: {peers.url}: expected https://host:port")
    if not (0.1 <= float(peers.period) <= 86_400 and float(peers.timeout) >= 0.1):
        raise UsageError("peers.period: expected 0.1 s to 1 day; peers.timeout: 0.1 s or more")
    if peers.ca and not is_there(Path(peers.ca).expanduser()):  # libcurl only says that no certificate is trusted
        raise UsageError(f"peers.ca: {peers.ca}: no such file")


def _is_there(channel: Channel, contact: Contact) -> bool:
    asked = channel.ask(contact, say.HELLO, say.Hello(), say.Card, seconds=_CALL_BACK, insist=True)
    return isinstance(asked, say.Card)  # its signature over our question says who it is


def _is_indexed(searchers: Callable[[], Mapping[Path, SharedSearcher]], directory: Path, url: str) -> bool:
    found = searchers().get(directory.absolute())
    try:
        return found is not None and found.page(url) is not None
    except LarmError:
        return False  # fail closed


def state_folder() -> Path:
    """Return the folder of a peer's key and of the indexes of what it shares."""
    return Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share") / "larm" / "peer"


def indexed(shares: Shares) -> dict[Path, str]:
    """Crawls of shared folders that have something to search, with the names of their shares."""
    return {share.directory: share.name for share in shares.all if is_there(share.directory / "index" / "meta.json")}


def _own(host: str) -> str:
    """The address that others see us under, where we listen at one; or the system chooses."""
    try:
        return "" if ip_address(host).is_unspecified else host
    except ValueError:
        return ""


def _url(scheme: str, host: str, port: int) -> str:
    try:
        local = ip_address(host)
    except ValueError:
        return f"{scheme}://{host}:{port}"
    if local.is_unspecified:
        host = "::1" if local.version == 6 else "127.0.0.1"
    return f"{scheme}://[{host}]:{port}" if ":" in host else f"{scheme}://{host}:{port}"

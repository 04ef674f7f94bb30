"""Peers and registrars as `larm serve` builds them, each on a thread and an address of its own; and peers that misbehave."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from itertools import count
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple
from unittest.mock import patch

import httpx
import msgspec

from larm.config import Config, FilesSettings, PeersSettings, ServeSettings
from larm.fetch.http_client import HttpClient
from larm.kit.clock import SystemClock
from larm.kit.threads.workers import Workers
from larm.kit.units import Seconds
from larm.model.findings import Asked, Findings
from larm.peers.channel import Channel, Contact
from larm.peers.door import Call, Door, Question
from larm.peers.identity import Identity
from larm.peers.passes import Passes
from larm.peers.yousearch import protocol as say
from larm.peers.yousearch.groups import Groups
from larm.peers.yousearch.registrar import Registrar
from larm.peers.yousearch.shares import Shares
from larm.peers.yousearch.summary import Summary, name_of, partition, positions, summary_of, to_wire
from larm.peers.yousearch.visible import Visible
from larm.peers.yousearch.wiring import Peering
from larm.web.access import Access, open_token
from larm.web.app import application
from larm.web.peering import peering_of
from larm.web.server import listen, make_server

_hosts = count(20)
_PATIENT = ServeSettings(search_time=Seconds(60), private=True)  # on however busy a machine; crawls of tests are of loopback


class Deep(msgspec.Struct):
    """An answer that has more in it than anybody asked for."""

    more: msgspec.Raw
    searcher: str = "deep"


class Running(NamedTuple):
    """One of them."""

    url: str
    client: httpx.Client
    peering: Peering
    said: list[str]
    stop: Callable[[], None]
    log: list[str] = []  # noqa: RUF012  of one that was started

    def search(self, query: str, **other: Any) -> dict[str, Any]:
        answer = self.client.get("/api/v1/search", params={"q": query, "n": 100, "wait": 60, **other})
        assert answer.status_code == 200, answer.text
        return dict(answer.json())

    def titles(self, query: str, **other: Any) -> set[str]:
        return {hit["title"] for hit in self.search(query, **other)["hits"]}


class Group:
    """All that were started."""

    def __init__(self, folder: Path, stack: ExitStack) -> None:
        self._folder = folder
        self._stack = stack
        self.http = HttpClient()
        stack.callback(self.http.close)

    def start(
        self,
        name: str,
        *directories: Path,
        host: str = "",
        port: int = 0,
        tls: Path | None = None,
        closed: bool = False,
        public: bool = False,
        config: Config | None = None,
        **peers_settings: Any,
    ) -> Running:
        """A peer, or where the name is empty a registrar alone.

        ``tls``: its certificate, with a key beside it; ``closed``: nobody sees a thing without the token;
        ``public``: everybody may search.
        """
        host = host or f"127.0.0.{next(_hosts)}"
        place = self._folder / (name or f"registrar-{host}")
        place.mkdir(exist_ok=True)
        peers = PeersSettings(
            **{
                "name": name,
                "period": Seconds(0.5),
                "cache": Seconds(0),
                "timeout": Seconds(50),
                **peers_settings,
            }
        )
        socket = listen(host, port)
        self._stack.callback(socket.close)
        said: list[str] = []
        address = host, socket.getsockname()[1]
        files = (str(tls), str(tls.with_suffix(".key"))) if tls is not None else ()
        serve = msgspec.structs.replace(_PATIENT, certificate=files)
        settings = msgspec.structs.replace(config or Config(), serve=serve)
        with patch.dict(os.environ, {"XDG_DATA_HOME": str(place / "state")}):
            served, peering = peering_of(
                settings,
                peers,
                address,
                directories=directories,
                root=None,
                others=(),
                copies=public or not closed,
                say=said.append,
            )
        access = Access(open_token(place / "token"), require_token=closed, public_search=public)
        log: list[str] = []
        app = application(served, access, _PATIENT, peering=peering, log=log.append)
        server = make_server(app, files)
        died: list[BaseException] = []
        workers = Workers(lambda _, error: died.append(error))
        workers.start(f"larm-serve-{name}", lambda: server.run(sockets=[socket]))
        url = f"{'https' if tls is not None else 'http'}://{host}:{address[1]}"
        client = self._stack.enter_context(httpx.Client(base_url=url, timeout=60, trust_env=False, verify=tls is None))

        def stop() -> None:
            server.should_exit = True
            assert workers.join(60) == []
            socket.close()
            assert died == []

        self._stack.callback(stop)
        return Running(url, client, peering, said, stop, log)

    def visitor(self, peer: Running) -> Running:
        """The peer as it is seen without a token."""
        client = httpx.Client(base_url=peer.url, timeout=60, trust_env=False)
        return peer._replace(client=self._stack.enter_context(client))

    def bad(
        self, registrar: Running, words: Sequence[str], answer: Callable[[Call, Asked], msgspec.Struct], name: str
    ) -> Running:
        """A peer that says it has the words, and answers a search in its own way."""
        identity = Identity.new()
        questions = [
            Question(say.HELLO, say.Hello, say.Card, lambda _, __: say.Card(identity.key, name)),
            Question(say.SEARCH, Asked, Findings, answer),
        ]
        host = f"127.0.0.{next(_hosts)}"
        socket = listen(host, 0)
        port = socket.getsockname()[1]
        shares = Shares([], self._folder, FilesSettings())
        peering: Any = SimpleNamespace(
            door=Door(identity, questions, SystemClock()),
            card=say.Card(identity.key),
            host=host,
            larger={},
            shares=shares,
            visible=Visible(shares, Groups({}, "", HttpClient()), "anybody"),
            passes=Passes(identity, SystemClock()),
            peer=None,
        )
        app = application(
            SimpleNamespace(root=None, all=list),
            Access(open_token(self._folder / f"{name}-token")),
            _PATIENT,
            peering=peering,  # type: ignore[arg-type]
        )
        server = make_server(app)
        workers = Workers(lambda _, error: None)
        workers.start(f"larm-serve-{name}", lambda: server.run(sockets=[socket]))

        def stop() -> None:
            server.should_exit = True
            workers.join(60)
            socket.close()

        self._stack.callback(stop)
        summary = summary_of(words, ["en"])
        http = HttpClient(interface=host)
        told = Channel(identity, http, SystemClock()).ask(
            Contact(registrar.peering.card.key, registrar.url),
            say.ANNOUNCE,
            say.Announce(name, port, name_of(summary), summary=to_wire(summary)),
            say.Announced,
            seconds=60,
        )
        http.close()
        assert isinstance(told, say.Announced), told
        return Running(f"http://{host}:{port}", None, peering, [], stop)  # type: ignore[arg-type]


@contextmanager
def group(folder: Path) -> Iterator[Group]:
    with ExitStack() as stack:
        yield Group(folder, stack)


def until(holds: Callable[[], bool]) -> None:
    """It comes true within a minute, on however busy a machine. Questions get rarer: each takes CPU from what they wait for."""
    clock, never = SystemClock(), threading.Event()
    end, pause = clock.monotonic() + 60, 0.02
    while not holds():
        assert clock.monotonic() < end, "it did not come true"
        never.wait(pause)
        pause = min(0.25, 1.3 * pause)


def members(registrar: Running) -> set[str]:
    assert registrar.peering.registrar is not None
    return {each.name for each in registrar.peering.registrar.members}


def known(registrar: Running, *names: str) -> None:
    """Wait until these are there."""
    until(lambda: members(registrar) >= set(names))


def has(summary: Summary, term: str) -> bool:
    """True also by accident."""
    vectors = summary.partitions[partition(term, len(summary.partitions))]
    return all(v[at >> 3] >> (at & 7) & 1 for v, at in zip(vectors, positions(term), strict=True))


def size(registrar: Registrar) -> int:
    """Bytes of all summaries."""
    return sum(map(len, registrar._summaries._table._rows))

"""The proxy: what passes, and which pages become known (YACY-35, 37)."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Iterator, Mapping
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from larm.errors import UsageError
from larm.kit.threads.workers import Workers
from larm.peers.yacy import proxy
from larm.peers.yacy.proxy import Proxy, is_open

HTML = {"content-type": "text/html; charset=utf-8"}


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({}, True),
        ({"method": "POST"}, False),
        ({"method": "HEAD"}, False),
        ({"status": 304}, False),
        ({"status": 401}, False),
        ({"asked": {"cookie": "a=b"}}, False),
        ({"asked": {"authorization": "Basic eA=="}}, False),
        ({"asked": {"proxy-authorization": "Basic eA=="}}, False),
        ({"asked": {"range": "bytes=0-9"}}, False),
        ({"asked": {"cache-control": "no-store"}}, False),
        ({"asked": {"cache-control": "max-age=0"}}, True),
        ({"answered": HTML | {"set-cookie": "a=b"}}, False),
        ({"answered": HTML | {"cache-control": "max-age=9, Private"}}, False),
        ({"answered": HTML | {"cache-control": 'private="x"'}}, False),
        ({"answered": HTML | {"cache-control": "no-store"}}, False),
        ({"answered": HTML | {"cache-control": "public"}}, True),
        ({"answered": {"content-type": "image/png"}}, False),
        ({"answered": {}}, False),
        ({"url": "http://a.example/?q=1"}, False),
        ({"url": "http://a.example/?q=1", "queries": True}, True),
        ({"url": "http://me:secret@a.example/"}, False),
    ],
)
def test_which_pages_are_open(fields: dict[str, object], expected: bool) -> None:
    whole: dict[str, object] = {
        "method": "GET", "url": "http://a.example/", "asked": {}, "status": 200, "answered": HTML, "queries": False,
    }  # fmt: skip
    whole |= fields
    queries = bool(whole.pop("queries"))
    assert is_open(*whole.values(), queries=queries) is expected  # type: ignore[arg-type]


class Site(BaseHTTPRequestHandler):
    """Says what it was asked."""

    protocol_version = "HTTP/1.1"
    heard: list[tuple[str, Mapping[str, str], bytes]]

    def do_GET(self) -> None:
        body = self.rfile.read(int(self.headers.get("content-length", 0)))
        self.heard.append((self.requestline, {name.lower(): value for name, value in self.headers.items()}, body))
        data = b"<title>Tide</title>" + b"x" * (200_000 if "large" in self.path else 10)
        self.send_response(200)
        self.send_header("content-type", "text/html")
        if "cookie" in self.path:
            self.send_header("set-cookie", "a=b")
        if "private" in self.path:
            self.send_header("cache-control", "private")
        self.send_header("content-length", str(len(data) + (9 if "broken" in self.path else 0)))
        self.end_headers()
        self.wfile.write(data)

    do_POST = do_GET

    def log_message(self, *_: object) -> None:
        """Nothing."""


class World:
    """A site, a proxy, and what the proxy has seen."""

    def __init__(self) -> None:
        self.seen: list[str] = []
        self.heard: list[tuple[str, Mapping[str, str], bytes]] = []
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), type("Bound", (Site,), {"heard": self.heard}))
        self.proxy = Proxy(0, self.seen.append, queries=False, private=True)
        self.site = f"http://127.0.0.1:{self.server.server_port}"
        workers = Workers(lambda name, error: self.seen.append(f"{name}: {error!r}"))
        workers.start("site", self.server.serve_forever)
        workers.start("proxy", self.proxy.run)

    def talk(self, *pieces: str | bytes) -> bytes:
        """Over one connection, up to its end: then it is known whether the page is."""
        with socket.create_connection(("127.0.0.1", self.proxy.port), timeout=20) as connection:
            for each in pieces:
                connection.sendall(each.encode() if isinstance(each, str) else each)
            found = b""
            while data := connection.recv(65_536):
                found += data
        return found

    def get(self, path: str, headers: str = "", method: str = "GET", body: str = "") -> bytes:
        return self.talk(f"{method} {self.site}{path} HTTP/1.1\r\nHost: x\r\n{headers}\r\n{body}")


@pytest.fixture(scope="module")
def world() -> Iterator[World]:
    found = World()
    yield found
    found.server.shutdown()
    found.server.server_close()


def test_a_page_passes_and_is_known(world: World) -> None:
    answer = world.get("/tide?", "Proxy-Connection: keep-alive\r\nConnection: keep-alive, X-Hop\r\nX-Hop: 1\r\nX-Stays: 2\r\n")
    assert answer.startswith(b"HTTP/1.1 200")
    assert b"<title>Tide" in answer
    assert "/tide" not in str(world.seen), "it has a query, if an empty one"
    line, headers, _ = world.heard[-1]
    assert line == "GET /tide? HTTP/1.1"
    assert not {"proxy-connection", "x-hop"} & headers.keys()
    assert (headers["connection"], headers["x-stays"]) == ("close", "2")
    assert len(world.get("/large")) > 200_000
    assert world.seen == [f"{world.site}/large"]


def test_what_is_not_open_passes_unseen(world: World) -> None:
    before = list(world.seen)
    assert world.get("/a", "Cookie: a=b\r\n").startswith(b"HTTP/1.1 200")
    assert world.heard[-1][1]["cookie"] == "a=b"
    world.get("/b", "Authorization: Basic eA==\r\n")
    world.get("/cookie")
    world.get("/private")
    world.get("/c?d=e")
    world.get("/d", "Content-Length: 5\r\n", "POST", "12345")
    assert world.heard[-1][2] == b"12345"
    world.get("/last")
    assert world.seen == [*before, f"{world.site}/last"]


def test_what_comes_by_connect_is_not_looked_at(world: World) -> None:
    before = list(world.seen)
    place = world.site.removeprefix("http://")
    request = "GET /inside HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
    answer = world.talk(f"CONNECT {place} HTTP/1.1\r\nHost: {place}\r\n\r\n", request)
    assert answer.startswith(b"HTTP/1.1 200 Connection established\r\n\r\nHTTP/1.1 200")
    assert world.heard[-1][0] == "GET /inside HTTP/1.1"
    assert world.seen == before


@pytest.mark.parametrize(
    ("request_", "status"),
    [
        ("GET / HTTP/1.1\r\nHost: x\r\n\r\n", 400),
        ("GET https://a.example/ HTTP/1.1\r\n\r\n", 400),
        ("nonsense\r\n\r\n", 400),
        ("GET http:///a HTTP/1.1\r\n\r\n", 400),
        ("GET http://a:99999/ HTTP/1.1\r\n\r\n", 400),
        ("GET http://127.0.0.1:1/ HTTP/1.1\r\n\r\n", 502),
        ("GET http://127.0.0.1:1/ HTTP/1.1\r\n folded: x\r\n\r\n", 400),
        ("GET http://a.example/ HTTP/1.1\r\nBad : x\r\n\r\n", 400),
        ("GET http://a.example/ HTTP/3\r\n\r\n", 505),
        ("GET http://a..example/ HTTP/1.1\r\n\r\n", 502),
        ("CONNECT a\0.example:443 HTTP/1.1\r\n\r\n", 502),
        ("POST http://a.example/ HTTP/1.1\r\nContent-Length: five\r\n\r\n", 400),
        ("POST http://a.example/ HTTP/1.1\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\n", 400),
    ],
)
def test_what_it_refuses(world: World, request_: str, status: int) -> None:
    assert world.talk(request_).startswith(f"HTTP/1.1 {status}".encode())


def test_a_body_is_no_other_request_whatever_the_headers_name(world: World) -> None:
    asked = len(world.heard)
    inner = "GET /inner HTTP/1.1\r\nHost: x\r\n\r\n"
    answer = world.get("/outer", f"Connection: content-length, host\r\nContent-Length: {len(inner)}\r\n", "POST", inner)
    assert answer.count(b"HTTP/1.1 ") == 1
    [(line, headers, body)] = world.heard[asked:]
    assert (line, headers["host"], body) == ("POST /outer HTTP/1.1", "x", inner.encode())


def test_an_answer_may_come_as_late_as_anything_else(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not as soon as a browser has to have told what it asks for; and it is said where none came."""
    monkeypatch.setattr(proxy, "_IDLE_SECONDS", 0.05)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        answer = world.talk(f"GET http://127.0.0.1:{silent.getsockname()[1]}/ HTTP/1.1\r\nHost: x\r\n\r\n")
    assert answer.startswith(b"HTTP/1.1 504")


def test_a_head_that_is_too_large_ends_the_connection(world: World) -> None:
    with suppress(OSError):  # it may be reset, as there is something that nobody has read
        assert world.talk("GET http://a.example/ HTTP/1.1\r\nA: " + "x" * 100_000) == b""


def test_pages_of_private_addresses_are_not_known_unless_that_was_said(world: World) -> None:
    seen: list[str] = []
    strict = Proxy(0, seen.append, queries=False, private=False)
    Workers(lambda *_: None).start("proxy", strict.run)
    with socket.create_connection(("127.0.0.1", strict.port), timeout=20) as connection:
        connection.sendall(f"GET {world.site}/intranet HTTP/1.1\r\n\r\n".encode())
        while connection.recv(65_536):
            pass
    assert world.heard[-1][0] == "GET /intranet HTTP/1.1"
    assert seen == []


def test_who_does_not_read_keeps_no_connection() -> None:
    async def close() -> None:
        closed = asyncio.Event()

        async def answer(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            writer.write(bytes(50_000_000))
            await proxy._close(writer)
            closed.set()

        server = await asyncio.start_server(answer, "127.0.0.1", 0)
        _, ours = await asyncio.open_connection(*server.sockets[0].getsockname(), limit=1)
        await asyncio.wait_for(closed.wait(), 60)
        ours.close()
        server.close()

    asyncio.run(close())


def test_a_port_that_is_taken_is_told(world: World) -> None:
    with pytest.raises(UsageError, match=r"network\.proxy"):
        Proxy(world.proxy.port, print, queries=False, private=False)

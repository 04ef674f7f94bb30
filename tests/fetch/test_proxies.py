"""Proxies of ``sites`` of every kind, by real connections: what reaches them, and what they are to blame for."""

from __future__ import annotations

import base64
import contextlib
import socket
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from larm.building.site_access import site_accesses
from larm.config import Config, FetchSettings, Site
from larm.fetch.curl_fetcher import CurlFetcher
from larm.fetch.tls import ca_file
from larm.kit.clock import SystemClock
from larm.kit.units import Seconds
from larm.model.outcome import Failed, FailReason, Fetched, Outcome
from tests.fetch.driving import drain, lease, terms
from tests.fetch.raw_server import CERTIFICATE, RawServer, page

PASSWORD = "p@ss/w:rd%#"


class Proxy(RawServer):
    """CONNECT and SOCKS 5, for whoever says the password; all that it is asked for is the one port it leads to."""

    def __init__(self, port: int, tls: bool = False) -> None:
        self._port = port
        super().__init__(b"", tls=tls)

    def _serve_one(self, connection: socket.socket) -> bool:
        self._sockets.add(connection)  # with TLS another one than was accepted
        first = connection.recv(1, socket.MSG_PEEK) if not self._tls else b""
        passed = self._socks(connection) if first == b"\x05" else self._connect(connection)
        if passed:
            with socket.create_connection(("127.0.0.1", self._port)) as site:
                self._run(pump, connection, site)
                pump(site, connection)
                connection.shutdown(socket.SHUT_RDWR)
        return False

    def _connect(self, connection: socket.socket) -> bool:
        request = b""
        while b"\r\n\r\n" not in request:
            piece = connection.recv(65536)
            if not piece:
                return False
            request += piece
        self.requests.append(request)
        good = base64.b64encode(f"me:{PASSWORD}".encode()) in request
        connection.sendall(b"HTTP/1.1 200 OK\r\n\r\n" if good else page(b"", status=b"407 Proxy Authentication Required"))
        return good

    def _socks(self, connection: socket.socket) -> bool:
        connection.recv(2 + connection.recv(2, socket.MSG_PEEK)[1])
        connection.sendall(b"\x05\x02")
        said = connection.recv(513)
        good = said == b"\x01\x02me" + bytes([len(PASSWORD)]) + PASSWORD.encode()
        connection.sendall(b"\x01" + bytes([not good]))
        if good:
            self.requests.append(connection.recv(300))
            connection.sendall(b"\x05\x00\x00\x01\x7f\x00\x00\x01\x00\x00")
        return good


def pump(source: socket.socket, target: socket.socket) -> None:
    with contextlib.suppress(OSError):
        while piece := source.recv(65536):
            target.sendall(piece)
        target.shutdown(socket.SHUT_WR)


Get = Callable[..., Outcome]


@pytest.fixture
def get(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Get]:
    """``get(url, proxy, password)``: the proxy as it stands in config.yaml."""
    with ExitStack() as stack:

        def one(url: str, proxy: str, password: str = PASSWORD, **settings: Any) -> Outcome:
            monkeypatch.setenv("PASSWORD", password)
            sites = site_accesses(Config(sites={"*": Site(proxy=proxy)}), tmp_path)
            asked = terms(FetchSettings(timeout=Seconds(10), **settings))
            fetcher = CurlFetcher(asked._replace(sites=sites), SystemClock())
            stack.callback(fetcher.close)
            fetcher.start(lease(url))
            [(_, outcome)] = drain(fetcher)
            return outcome

        yield one


@pytest.fixture
def site() -> Iterator[RawServer]:
    with RawServer(page(b"behind"), tls=True) as running:
        yield running


@pytest.mark.parametrize("scheme", ["http", "socks5", "socks5h"])
def test_a_page_comes_by_way_of_a_proxy_with_a_password(site: RawServer, get: Get, scheme: str) -> None:
    with Proxy(site.port) as proxy:
        url = f"https://behind.localhost:{site.port}/"
        outcome = get(url, f"{scheme}://me:${{PASSWORD}}@127.0.0.1:{proxy.port}", insecure_hosts=("all",))
        assert isinstance(outcome, Fetched), outcome
        assert len(proxy.requests) == len(site.requests) == 1
        assert b"Proxy-" not in site.requests[0]


def test_a_proxy_with_a_certificate(site: RawServer, get: Get, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of an authority in SSL_CERT_FILE, or of its own where ``insecure_hosts`` names the proxy."""
    url = f"https://localhost:{site.port}/"
    with Proxy(site.port, tls=True) as proxy:
        address = f"https://me:${{PASSWORD}}@localhost:{proxy.port}"
        refused = get(url, address)
        assert isinstance(refused, Failed)
        assert refused.reason is FailReason.PROXY
        assert f"its proxy, localhost:{proxy.port}: " in refused.detail
        assert "fetch.insecure_hosts trusts it" in refused.detail
        assert isinstance(get(url, address, insecure_hosts=("localhost",)), Fetched)
        monkeypatch.setenv("SSL_CERT_FILE", str(CERTIFICATE))
        ca_file.cache_clear()
        try:
            assert isinstance(get(url, address), Fetched)
        finally:
            ca_file.cache_clear()


@pytest.mark.parametrize("scheme", ["http", "socks5"])
def test_a_proxy_that_refuses_is_to_blame_and_the_password_is_not_told(site: RawServer, get: Get, scheme: str) -> None:
    with Proxy(site.port) as proxy:
        outcome = get(f"https://a.localhost:{site.port}/", f"{scheme}://me:${{PASSWORD}}@127.0.0.1:{proxy.port}", "falsch")
    assert isinstance(outcome, Failed)
    assert outcome.reason is FailReason.PROXY
    assert outcome.detail.startswith(f"its proxy, 127.0.0.1:{proxy.port}: ")
    assert "falsch" not in outcome.detail
    assert not site.requests


def test_the_answer_of_a_site_itself_is_its_own(get: Get) -> None:
    with RawServer(page(b"", status=b"502 Bad Gateway")) as proxy:
        outcome = get("http://a.localhost/", f"http://127.0.0.1:{proxy.port}")
    assert not isinstance(outcome, Failed)
    with RawServer(page(b"", status=b"407 Proxy Authentication Required")) as proxy:
        outcome = get("http://a.localhost/", f"http://127.0.0.1:{proxy.port}")
    assert isinstance(outcome, Failed)
    assert outcome.detail == f"its proxy, 127.0.0.1:{proxy.port}: it wants another name or password"


@pytest.mark.parametrize("scheme", ["http", "https", "socks5"])
@pytest.mark.parametrize("target", ["http", "https"])
def test_a_proxy_that_is_not_there(get: Get, scheme: str, target: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    outcome = get(f"{target}://a.localhost/", f"{scheme}://127.0.0.1:{port}")
    assert isinstance(outcome, Failed)
    assert outcome.reason is FailReason.PROXY
    assert outcome.detail == f"its proxy, 127.0.0.1:{port}: no way there (Connection refused)"

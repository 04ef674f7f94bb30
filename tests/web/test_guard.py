"""What every request passes: names, origins, tokens, sizes."""

from __future__ import annotations

import socket
import stat
import threading
from contextlib import suppress
from pathlib import Path

import pytest

from larm.errors import StorageError
from larm.fetch.http_client import HttpClient
from larm.model.file_url import file_url
from larm.peers.remote import RemoteSearcher
from larm.web import guard as guard_module
from larm.web import server as server_module
from larm.web.access import COOKIE, default_path, open_token
from larm.web.guard import HEADERS
from tests.index.search.test_several import index
from tests.web.conftest import Served, Start


@pytest.mark.parametrize(
    ("host", "status"),
    [
        ("127.0.0.1:1", 200),
        ("localhost", 200),
        ("a.localhost:80", 200),
        ("[::1]:7070", 200),
        ("evil.example", 421),
        ("localhost.evil.example", 421),
        ("127.0.0.1.evil.example", 421),
        ("", 421),
        ("[", 421),
        ("localhost@evil.example", 421),
    ],
)
def test_host_names(server: Served, host: str, status: int) -> None:
    """A page of somebody else's can't reach us under its own name."""
    assert server.get("/healthz", headers={"host": host}).status_code == status


@pytest.mark.parametrize("origin", ["http://evil.example", "null", "http://127.0.0.1", "https://evil.example:1"])
def test_origins(server: Served, origin: str) -> None:
    for path in ("/", "/api/v1/search?q=x"):
        assert server.get(path, headers={"origin": origin}).status_code == 403
    assert server.client.post("/login", data={"token": server.secret}, headers={"origin": origin}).status_code == 403
    assert server.get("/", headers={"origin": server.address}).status_code == 200
    sent = {"sec-fetch-site": "cross-site"}
    assert server.client.post("/login", data={"token": server.secret}, headers=sent).status_code == 403


@pytest.mark.parametrize(
    "path", ["/", "/search?q=x", "/nothing", "/static/larm.css", "/healthz", "/api/v1/search", "/api/v1/x"]
)
def test_headers(server: Served, path: str) -> None:
    headers = server.get(path).headers
    assert {name for name in HEADERS if name not in headers} == set()
    policy = headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert "server" not in headers


def test_bodies_are_bounded(server: Served) -> None:
    assert server.client.post("/login", content=b"x" * 70_000).status_code == 413
    chunked = server.client.post("/login", content=iter([b"token=", b"x"]))
    assert chunked.status_code == 413
    odd = {"content-type": "application/x-www-form-urlencoded"}
    assert server.client.post("/login", content=b"a=1&" * 2_000, headers=odd).status_code == 403
    assert server.client.post("/login", content=b"\xff\xfe=\xff", headers=odd).status_code == 403


def test_queries_are_bounded(server: Served) -> None:
    assert server.get("/search", params={"q": "x" * 4_097}).status_code == 400
    assert server.get("/api/v1/search", params={"q": "x" * 4_097}).status_code == 400
    assert server.get("/search", params={"q": "x" * 40_000}).status_code in {400, 414, 431}
    assert server.get("/search", params={"q": "漢" * 4_096}).status_code == 200
    assert server.get("/search", params={"q": "漢" * 5_000}).status_code == 414
    assert server.get("/healthz", headers={"x": "y" * 40_000}).status_code == 431


def test_signing_in(server: Served) -> None:
    with httpx_client(server) as client:
        assert client.post("/login", data={"token": "wrong"}).status_code == 403
        answer = client.post("/login", data={"token": server.secret, "next": "/search?q=x"})
        assert (answer.status_code, answer.headers["location"]) == (303, "/search?q=x")
        cookie = answer.headers["set-cookie"].lower()
        assert "httponly" in cookie
        assert "samesite=strict" in cookie
        assert server.secret.lower() not in cookie
        assert "Sign out" in client.get("/").text
        assert client.post("/logout").status_code == 303
        assert "Sign in" in client.get("/").text
    for elsewhere in ("//evil.example", "https://evil.example", "/\\evil.example", "/a\nb", "x"):
        answer = server.client.post("/login", data={"token": server.secret, "next": elsewhere})
        assert answer.headers["location"] == "/"
    server.client.cookies.clear()
    assert "Sign in" in server.get("/", headers={"cookie": f"{COOKIE}={server.secret}"}).text


def test_the_token_is_in_no_log(server: Served) -> None:
    server.get("/", headers=server.bearer)
    server.client.post("/login", data={"token": server.secret})
    server.client.cookies.clear()
    assert any(" POST /login 303 " in line for line in server.log)
    assert not [line for line in server.log if server.secret in line or server.token.cookie in line]
    assert server.secret not in repr(server.token)


def test_a_server_that_requires_the_token(start: Start, harbour: Path) -> None:
    served = start(harbour, access={"require_token": True})
    for path in ("/", "/search?q=tide", "/copy?in=harbour&url=x", "/metrics"):
        assert served.get(path).headers["location"].startswith("/login?next=%2F")
    assert served.get("/api/v1/search", params={"q": "tide"}).status_code == 401
    assert served.get("/api/v1/search", params={"q": "tide"}, headers={"authorization": "Bearer x"}).status_code == 401
    assert served.get("/search", params={"q": "tide"}, headers=served.bearer).status_code == 200
    assert served.get("/api/v1/search", params={"q": "tide"}, headers=served.bearer).status_code == 200
    assert served.get("/healthz").status_code == 200


def test_everybody_may_search_and_the_rest_needs_the_token(start: Start, harbour: Path) -> None:
    served = start(harbour, access={"public_search": True, "require_token": True})
    assert served.get("/search?q=causeway").status_code == 200
    assert served.get("/api/v1/search?q=causeway").status_code == 200
    for path in ("/crawls", "/metrics"):
        assert served.get(path).status_code == 303, path
        assert served.get(path, headers=served.bearer).status_code == 200, path
    assert served.get("/api/v1/crawls").status_code == 401


def test_a_public_search_is_nothing_but_search(start: Start, harbour: Path) -> None:
    served = start(harbour, access={"public_search": True})
    assert served.get("/search", params={"q": "tide"}).status_code == 200
    for path in ("/login", "/metrics"):
        assert served.get(path, headers=served.bearer).status_code == 404
    assert "Sign in" not in served.get("/").text


def test_a_public_search_shows_no_files(start: Start, tmp_path: Path) -> None:
    diary = file_url("/home/anna/diary.txt")
    pages = {diary: "eels and the password is hunter", "http://a.org/eel": "A page about eels in ponds."}
    mixed, web = index(tmp_path / "mixed", pages), index(tmp_path / "web", {"http://b.org/": "eels in the harbour"})
    there = start(mixed)
    remote = RemoteSearcher(there.address, HttpClient())
    for served in (
        start(mixed, web, access={"public_search": True, "require_token": True}),
        start(web, remotes=[remote], access={"public_search": True, "require_token": True}),
    ):
        answers = [served.get("/api/v1/search", params={"q": query}).json() for query in ("eels", "hunter", "eels OR hunter")]
        assert [answer["total"] for answer in answers] == [2, 0, 2]
        assert "hunter" not in served.get("/suggest", params={"q": "hunt"}).text
        for path in ("/copy", "/copy/original", "/api/v1/page"):
            assert served.get(path, params={"in": "mixed", "url": diary}).status_code == 404, path
        signed_in = served.get("/api/v1/search", params={"q": "hunter"}, headers=served.bearer).json()
        assert [hit["url"] for hit in signed_in["hits"]] == [diary]
        assert served.get("/api/v1/search", params={"q": "harbuor", "in": "web"}).json()["total"] == 1, "corrected as ever"


def test_a_token_is_made_once_and_for_its_owner_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    path = default_path()
    token = open_token(path)
    assert path == tmp_path / "larm" / "token"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    secret = path.read_text().strip()
    assert len(secret) >= 32
    assert open_token(path).matches(secret)
    assert not token.matches(secret + "x")
    assert not token.matches("\ud800")
    path.chmod(0o644)
    with pytest.raises(StorageError, match="chmod 600"):
        open_token(path)
    path.chmod(0o600)
    path.write_text("short\n")
    with pytest.raises(StorageError, match="too short"):
        open_token(path)


def test_who_does_not_say_what_he_wants_is_cut_off(start: Start, harbour: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """At the start of a connection, and in the head of a later request; who has asked may take his time."""
    monkeypatch.setattr(server_module, "_HEAD_SECONDS", 0.2)
    served = start(harbour)
    port = int(served.address.rpartition(":")[2])
    asked = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"
    for said in (b"", b"GET / HTTP/1.1\r\nHost: lo", asked + asked[:20]):
        with socket.create_connection(("127.0.0.1", port), 30) as slow:
            slow.sendall(said)
            received = b""
            while piece := slow.recv(65_536):
                received += piece
            assert received.count(b"200 OK") == said.count(asked)


def test_who_sends_a_body_by_drops_is_cut_off(start: Start, harbour: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Though each of them comes soon enough."""
    monkeypatch.setattr(guard_module, "_BODY_SECONDS", 0.5)
    served = start(harbour)
    head = (
        b"POST /api/v1/findings HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 60000\r\n\r\n"
    )
    with socket.create_connection(("127.0.0.1", int(served.address.rpartition(":")[2])), 30) as slow:
        slow.sendall(head)
        slow.settimeout(0.05)
        received, drops = b"", 0
        with suppress(ConnectionError):
            while drops < 600:
                try:
                    received = slow.recv(65_536)
                    break
                except TimeoutError:
                    slow.sendall(b" ")
                    drops += 1
        assert drops < 600, f"it was waited for: {received!r}"


def test_who_reads_nothing_is_cut_off(start: Start, harbour: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server_module, "_STALLED_SECONDS", 0.2)
    served = start(harbour)
    ended = threading.Event()
    original = server_module._PunctualProtocol.connection_lost

    def lost(self: server_module._PunctualProtocol, error: Exception | None) -> None:
        original(self, error)
        ended.set()

    monkeypatch.setattr(server_module._PunctualProtocol, "connection_lost", lost)
    with socket.create_connection(("127.0.0.1", int(served.address.rpartition(":")[2])), 30) as slow:
        asked = b"GET /api/v1/openapi.json HTTP/1.1\r\nHost: localhost\r\n\r\n"
        with suppress(ConnectionError):
            slow.sendall(asked * 2_000)
        assert ended.wait(60)


def httpx_client(server: Served):  # type: ignore[no-untyped-def]
    import httpx

    return httpx.Client(base_url=server.address, timeout=30, trust_env=False)

"""``sites``: headers, passwords, cookies, proxies and manners of single sites; secrets reach the site, and nobody else."""

from __future__ import annotations

import os
import socket
import ssl
from itertools import pairwise
from pathlib import Path

import pytest

from larm.config import load
from larm.errors import ConfigError
from larm.kit.threads.workers import Workers
from larm.ops.observers import build_crawl
from larm.testing.replies import Reply, html
from larm.testing.web import SyntheticWeb
from tests.fetch.raw_server import CERTIFICATE, RawServer, page
from tests.stories.crawls import config_of, run_crawl

PASSWORD, KEY, TOKEN = "correct-horse", "battery-staple", "s3ss10n"
ALL = {"crawl.restrict_to": ".*"}


def sent(web: SyntheticWeb, host: str) -> list[dict[str, str]]:
    """The headers of all requests to a host, robots.txt included."""
    found = [dict(request.headers) for request in web.requests if request.host == host]
    assert found
    return found


def private(path: Path, text: str) -> Path:
    path.write_text(text)
    path.chmod(0o600)
    return path


def test_each_site_gets_its_own_and_no_secret_is_left_on_the_disk(
    web: SyntheticWeb, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("wiki.localhost", "other.localhost"):
        web.host(name).page("/", links=["/1"])
        web.host(name).page("/1", links=[web.url("other.localhost")])
    monkeypatch.setenv("WIKI_PASSWORD", PASSWORD)
    private(tmp_path / "key", KEY + "\n")
    cookies = [f"wiki.localhost\tFALSE\t/\tFALSE\t0\tsid\t{TOKEN}", "wiki.localhost\tFALSE\t/\tFALSE\t1\told\texpired"]
    private(tmp_path / "cookies.txt", "\n".join(["# Netscape HTTP Cookie File", *cookies, ""]))
    wiki = {
        "auth": "me:${WIKI_PASSWORD}",
        "headers": {"X-Api-Key": "${file:key}", "Accept-Language": "sv"},
        "user_agent": "wiki-reader/2",
        "cookies": "cookies.txt",
    }
    settings = ALL | {"sites": {"wiki.*": wiki}, "storage.chain": ["log", "index", "graph", "warc"]}
    run = run_crawl(tmp_path, web.url("wiki.localhost"), settings)
    assert run.last.pages == 4
    for headers in sent(web, "wiki.localhost"):
        assert headers["authorization"] == "Basic bWU6Y29ycmVjdC1ob3JzZQ=="
        assert (headers["x-api-key"], headers["accept-language"]) == (KEY, "sv")
        assert headers["user-agent"] == "wiki-reader/2"
        assert headers["cookie"] == f"sid={TOKEN}"
    for headers in sent(web, "other.localhost"):
        assert not {"authorization", "x-api-key", "cookie", "accept-language"} & headers.keys()
        assert headers["user-agent"].startswith("larm/")
    secrets = [each.encode() for each in (PASSWORD, "bWU6Y29ycmVjdC1ob3JzZQ", KEY, TOKEN)]
    for path in tmp_path.rglob("*"):
        if path.is_file() and path.name not in ("key", "cookies.txt"):
            data = path.read_bytes()
            if path.name.endswith(".warc.gz"):
                from fastwarc.warc import ArchiveIterator

                with path.open("rb") as file:
                    data = b"".join(each.reader.read() for each in ArchiveIterator(file, parse_http=False))
                assert b"GET /1 HTTP/1.1" in data
            assert [each for each in secrets if each in data] == [], path


def test_cookies_are_kept_where_that_is_asked_for(web: SyntheticWeb, tmp_path: Path) -> None:
    for name in ("keeps.localhost", "others.localhost"):
        page = html("<title>in</title><a href=/1>")
        web.host(name).add("/", Reply(page.status, {**page.headers, "Set-Cookie": f"sid={TOKEN}; Path=/"}, page.body))
        web.host(name).page("/1")
    starts = [web.url("keeps.localhost"), web.url("others.localhost")]
    run_crawl(tmp_path, starts, {"sites": {"keeps.localhost": {"keep_cookies": True}}})
    assert sent(web, "keeps.localhost")[-1]["cookie"] == f"sid={TOKEN}"
    assert all("cookie" not in headers for headers in sent(web, "others.localhost"))


def test_the_delay_of_a_site(web: SyntheticWeb, tmp_path: Path) -> None:
    for name in ("slow.localhost", "quick.localhost"):
        web.host(name).page("/", links=["/1", "/2"])
        web.host(name).page("/1")
        web.host(name).page("/2")
    starts = [web.url("slow.localhost"), web.url("quick.localhost")]
    run_crawl(tmp_path, starts, {"sites": {"slow.*": {"delay": "300ms"}, "*": {"per_host": 2}}})
    times = [request.started for request in web.requests if request.host == "slow.localhost"]
    assert min(after - before for before, after in pairwise(times)) > 0.28


def test_a_proxy_of_a_site(web: SyntheticWeb, tmp_path: Path) -> None:
    """It is asked for this site alone; and not for what is at a private address and no start host."""
    web.host("direct.localhost").page("/", links=["http://10.1.2.3/", "http://nowhere.invalid/"])
    asked: list[bytes] = []
    listener = socket.create_server(("127.0.0.1", 0))

    def proxy() -> None:
        while True:
            try:
                client, _ = listener.accept()
            except OSError:
                return
            with client:
                head = b""
                while b"\r\n\r\n" not in head:
                    head += client.recv(4096)
                asked.append(head)
                body = b"<title>behind</title><p>the proxy</p>" if b"robots" not in head else b""
                client.sendall(
                    b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nConnection: close\r\nContent-Length: %d\r\n\r\n" % len(body)
                    + body
                )

    workers = Workers(lambda _name, _error: None)
    workers.start("proxy", proxy)
    try:
        through = {"proxy": f"http://127.0.0.1:{listener.getsockname()[1]}"}
        sites = {"behind.localhost": through, "10.1.2.3": through, "nowhere.invalid": through}
        starts = [web.url("direct.localhost"), "http://behind.localhost/"]
        run = run_crawl(tmp_path, starts, ALL | {"sites": sites, "frontier.retries": 0})
    finally:
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()
        workers.join(30)
    assert run.last.pages == 2
    assert {head.split(b"\r\n")[0] for head in asked} == {
        b"GET http://behind.localhost/robots.txt HTTP/1.1",
        b"GET http://behind.localhost/ HTTP/1.1",
    }


@pytest.fixture
def certificate(tmp_path: Path) -> Path:
    """With its key, in one file."""
    return private(tmp_path / "me.pem", CERTIFICATE.read_text())


@pytest.mark.parametrize("most", [ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3])
@pytest.mark.parametrize("apart", [False, True])
def test_a_certificate_of_who_asks(tmp_path: Path, certificate: Path, most: ssl.TLSVersion, apart: bool) -> None:
    """Of a site that wants one; other hosts never see it, also where it redirects there, and no file of the crawl has it."""
    text = certificate.read_text()
    key = text[text.index("-----BEGIN PRIVATE KEY") : text.index("-----END PRIVATE KEY")]
    site: dict[str, object] = {"certificate": "me.pem"}
    if apart:
        private(tmp_path / "key.pem", text)
        site = {"certificate": [str(CERTIFICATE), "key.pem"]}
    with (
        RawServer(
            lambda _: page(b"<title>other</title>", b"Content-Type: text/html"), tls=True, wants=ssl.CERT_OPTIONAL
        ) as other,
        RawServer(lambda request: answer(request, other), tls=True, wants=ssl.CERT_REQUIRED, most=most) as inner,
    ):
        start = inner.url(host="localhost")
        settings = ALL | {"fetch.insecure_hosts": "all", "frontier.retries": 0}
        said = run_crawl(tmp_path / "without", start, settings).ending.failed_starts
        assert len(said) == 1
        assert "no safe connection" in said[0] or "its robots.txt can't be read" in said[0]
        assert said[0].endswith("names it (larm help sites)")
        assert inner.shown == []
        crawl = tmp_path / "with"
        settings["sites"] = {f"https://localhost:{inner.port}": site, "localhost:*": {"delay": 0}}
        crawl.mkdir()
        for name in ("me.pem", "key.pem"):
            if (tmp_path / name).exists():
                private(crawl / name, (tmp_path / name).read_text())
        assert run_crawl(crawl, start, settings).last.pages == 1
        assert set(inner.shown) == {True}
        assert set(other.shown) == {False}
    files = [path for path in crawl.rglob("*") if path.is_file() and path.suffix != ".pem"]
    assert not [path for path in files if key[30:90].encode() in path.read_bytes()]


def answer(request: bytes, other: RawServer) -> bytes:
    if b"GET / " in request:
        return page(b"", b"Location: " + other.url(host="localhost").encode(), status=b"302 Found")
    return page(b"", status=b"404 Not Found") if b"robots" in request else page(b"<title>in</title>")


def test_a_server_that_says_400_where_it_wants_a_certificate(tmp_path: Path, web: SyntheticWeb) -> None:
    web.host("a.localhost").status("/", 400)
    (said,) = run_crawl(tmp_path, web.url("a.localhost")).ending.failed_starts
    assert said.endswith(
        "/: 400: Bad Request; where the server wants a certificate of who asks, sites in config.yaml names it (larm help sites)"
    )


def test_a_key_with_a_password_is_told_at_the_start(tmp_path: Path, certificate: Path) -> None:
    """OpenSSL would ask the terminal for it, in the middle of a crawl."""
    from cryptography.hazmat.primitives.serialization import (
        BestAvailableEncryption,
        Encoding,
        PrivateFormat,
        load_pem_private_key,
    )

    key = load_pem_private_key(certificate.read_bytes(), None)
    locked = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, BestAvailableEncryption(b"secret"))
    private(tmp_path / "locked.pem", locked.decode())
    with pytest.raises(ConfigError, match=r"sites\.a\.certificate: the key in .*locked\.pem has a password"):
        build_crawl(config_of("http://a/", {"sites": {"a": {"certificate": ["me.pem", "locked.pem"]}}}), tmp_path)


@pytest.mark.parametrize(
    ("site", "said"),
    [
        ({"certificate": "open"}, "sites.a.certificate: "),
        ({"certificate": "open"}, "others may read it: 'chmod 600"),
        ({"certificate": ["one", "open"]}, "sites.a.certificate: "),
        ({"certificate": "one"}, "one is no certificate with its key in PEM"),
        ({"certificate": ["missing", "one"]}, "is no certificate with its key in PEM (No such file or directory)"),
        ({"certificate": ["one", "two", "three"]}, "expected [CERTIFICATE, KEY], or one PEM file with both"),
        ({"auth": "me:plain"}, "sites.a.auth: a password is not written into the configuration"),
        ({"auth": "${LARM_TEST_NOWHERE}"}, "the environment has no variable LARM_TEST_NOWHERE"),
        ({"auth": "${file:open}"}, "others may read it: 'chmod 600"),
        ({"auth": "${file:one}"}, "expected NAME:PASSWORD"),
        ({"headers": {"Cookie": "a=b"}}, "a password is not written"),
        ({"headers": {"Host": "b"}}, "no header that can be set"),
        ({"headers": {"X": "${file:missing}"}}, "missing: No such file or directory"),
        ({"headers": {"X": "a\nb"}}, "a line end in it"),
        ({"cookies": "one"}, "no file of cookies in Netscape's form"),
        ({"proxy": "127.0.0.1:8080"}, "expected SCHEME://HOST:PORT"),
        ({"proxy": "http://me:plain@127.0.0.1:8080"}, "a password is not written"),
    ],
)
def test_what_is_wrong_is_said_at_the_start(tmp_path: Path, site: dict[str, object], said: str) -> None:
    (tmp_path / "open").write_text("a:b")
    os.chmod(tmp_path / "open", 0o644)
    private(tmp_path / "one", "word")
    with pytest.raises(ConfigError) as raised:
        build_crawl(config_of("http://a/", {"sites": {"a": site}}), tmp_path)
    assert said in str(raised.value)


def test_a_key_that_is_misspelt(tmp_path: Path) -> None:
    (tmp_path / "config.yaml").write_text("sites: {a.org: {dealy: 2s}}\n")
    with pytest.raises(ConfigError, match=r"sites\.a\.org\.dealy: no such key; did you mean sites\.a\.org\.delay\?"):
        load(tmp_path / "config.yaml")

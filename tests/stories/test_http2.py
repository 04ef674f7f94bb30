"""HTTP/2 over TLS from a real server, nginx: pages are fetched, and an archive says how."""

from __future__ import annotations

import datetime
import ipaddress
import os
import shutil
import signal
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from fastwarc.warc import ArchiveIterator

from tests.stories.crawls import run_crawl, stored

NGINX = shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin")
pytestmark = pytest.mark.skipif(NGINX is None, reason="no nginx")

_CONFIGURATION = """
{user} daemon off; worker_processes 1; pid {folder}/pid; error_log stderr;
events {{ worker_connections 64; }}
http {{
    types {{ text/html html; }} access_log {folder}/access.log; http2_max_concurrent_streams 8;
    client_body_temp_path {folder}/body; proxy_temp_path {folder}/proxy; fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi; scgi_temp_path {folder}/scgi;
    server {{
        listen 127.0.0.1:{port} ssl http2; server_name localhost; root {folder}/www; index index.html;
        ssl_certificate {folder}/certificate.pem; ssl_certificate_key {folder}/key.pem;
        gzip on; gzip_min_length 1;
    }}
}}
"""


@pytest.fixture
def server(tmp_path: Path) -> Iterator[tuple[str, Path]]:
    """The start URL of a site of 21 pages, and the server's folder."""
    folder = tmp_path / "nginx"
    (folder / "www").mkdir(parents=True)
    for number in range(20):
        (folder / "www" / f"{number}.html").write_text(f"<title>Page {number}</title><p>words of page {number}")
    links = "".join(f"<a href={number}.html>{number}</a> " for number in range(20))
    (folder / "www" / "index.html").write_text(f"<title>All</title>{links}")
    _certify(folder)
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    user = "user root;" if os.geteuid() == 0 else ""
    (folder / "nginx.conf").write_text(_CONFIGURATION.format(folder=folder, port=port, user=user))
    assert NGINX is not None
    process = subprocess.Popen([NGINX, "-p", str(folder), "-c", str(folder / "nginx.conf")], stderr=subprocess.PIPE)
    try:
        for _ in range(1_000):  # a connection that is refused takes no time
            with socket.socket() as client:
                if client.connect_ex(("127.0.0.1", port)) == 0:
                    break
            try:
                process.wait(0.03)
            except subprocess.TimeoutExpired:
                continue
            pytest.skip(f"this nginx does not start: {process.stderr.read().decode() if process.stderr else ''}")
        yield f"https://localhost:{port}/", folder
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(30)
        if process.stderr:
            process.stderr.close()


def _certify(folder: Path) -> None:
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "localhost")])
    now = datetime.datetime.now(datetime.UTC)
    names = x509.SubjectAlternativeName([x509.DNSName("localhost"), x509.IPAddress(ipaddress.ip_address("127.0.0.1"))])
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(names, critical=False)
        .sign(key, hashes.SHA256())
    )
    (folder / "certificate.pem").write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
    plain = serialization.NoEncryption()
    private = key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, plain)
    (folder / "key.pem").write_bytes(private)


def test_pages_and_archive(server: tuple[str, Path], tmp_path: Path) -> None:
    start, folder = server
    settings = {
        "fetch.insecure_hosts": ["localhost"],
        "frontier.per_host": 8,
        "storage.chain": ["log", "index", "warc"],
    }
    run = run_crawl(tmp_path / "crawl", start, settings)
    assert run.reason == "finished"
    assert len(stored(tmp_path / "crawl")) == 21
    served = (folder / "access.log").read_text().splitlines()
    assert len(served) == 22, "and robots.txt"
    assert all("HTTP/2.0" in line for line in served)
    [archive] = (tmp_path / "crawl" / "warc").glob("*.warc.gz")
    with archive.open("rb") as file:
        found = [record.headers.items() for record in ArchiveIterator(file, parse_http=False) if record.is_http]
    assert len(found) == 44, "22 requests, 22 responses"
    for headers in map(list, found):
        assert [value for name, value in headers if name == "WARC-Protocol"] in (["h2", "tls/1.3"], ["h2", "tls/1.2"])
    again = run_crawl(tmp_path / "again", archive.as_uri())
    assert again.reason == "finished"
    assert stored(tmp_path / "again") == stored(tmp_path / "crawl")

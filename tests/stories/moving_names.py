"""A network namespace with an Internet and an intranet in it, where names move between the runs of a crawl.

`crawl_among` is for tests; this file is also the main of the process that lives in the namespace. A web server answers at all
addresses, and tells at which of them it was asked; what names mean is in an /etc/hosts of the namespace's own.
"""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import NamedTuple

import pytest

INTERNET = ["8.8.8.8", "8.8.4.4"]
INTRANET = ["10.1.2.3", "10.1.2.4", "169.254.169.254", "fd00::7"]
INSIDE = [*INTRANET, "127.0.0.1", "::1"]


class Run(NamedTuple):
    """One run of `larm crawl`: what it says, and at which address it asked for what."""

    said: str
    asked: list[tuple[str, str]]

    def reached(self) -> set[str]:
        """Addresses."""
        return {ip for ip, _ in self.asked}


def crawl_among(tmp_path: Path, *plan: tuple[Mapping[str, str], Sequence[str]]) -> list[Run]:
    """Runs in one directory. ``plan``: for each the names with their addresses, and the arguments of `larm crawl`."""
    tools = [shutil.which(name) for name in ("unshare", "ip", "mount")]
    if not all(tools) or subprocess.run(["unshare", "--net", "--mount", "true"], capture_output=True, check=False).returncode:
        pytest.skip("needs root, iproute2 and util-linux for a network namespace")
    command = [
        "unshare",
        "--net",
        "--mount",
        sys.executable,
        "-P",
        "-m",
        "tests.stories.moving_names",
        str(tmp_path),
        json.dumps(plan),
    ]
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}  # where tests are, which larm's package is not
    done = subprocess.run(command, capture_output=True, check=False, text=True, timeout=100, env=environment)
    assert done.returncode == 0, done.stderr
    return [Run(said, [(ip, what) for ip, what in asked]) for said, asked in json.loads(done.stdout)]


# -- in the namespace


class Everywhere(ThreadingHTTPServer):
    """At port 80 of all addresses."""

    address_family = socket.AF_INET6
    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("::", 80), Page)
        self.asked: list[tuple[str, str]] = []

    def server_bind(self) -> None:
        self.socket.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
        super().server_bind()


class Page(BaseHTTPRequestHandler):
    """A page that leads to every place where it should not be possible to go."""

    def do_GET(self) -> None:
        host = self.headers["Host"]
        ip = self.connection.getsockname()[0].removeprefix("::ffff:")
        assert isinstance(self.server, Everywhere)
        self.server.asked.append((ip, f"{host}{self.path}"))
        inside = [f"http://[{ip}]" if ":" in ip else f"http://{ip}" for ip in INSIDE] + ["http://wiki.corp"]
        if self.path == "/moved":
            self.send_response(302)
            self.send_header("Location", f"{inside[0]}/target")
            body = b""
        else:
            self.send_response(200)
            links = [
                *(f"{place}/link" for place in inside),
                f"http://{host}/moved",
                f"http://{host}/page",
                "http://good.example/",
            ]
            text = "".join(f"<a href={link}>here</a>" for link in links)
            body = f"<title>{host} at {ip}</title>{text}".encode()
            if self.path == "/robots.txt":
                body = f"User-agent: *\nAllow: /\nSitemap: {inside[0]}/sitemap.xml\n".encode()
            self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Connection", "close")  # or the next run's names would not matter
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *arguments: object) -> None:  # noqa: A002
        """Nothing."""


def main(directory: Path, plan: Sequence[tuple[Mapping[str, str], Sequence[str]]]) -> None:
    """Do the runs; what they did goes to stdout."""
    hosts, resolver = directory / "hosts", directory / "resolv.conf"
    resolver.write_text("nameserver 127.0.0.1\n")  # nobody is there, which is known at once
    hosts.touch()
    for file, place in ((hosts, "/etc/hosts"), (resolver, "/etc/resolv.conf")):
        subprocess.run(["mount", "--bind", str(file), place], check=True)
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
    for ip in [*INTERNET, *INTRANET]:
        subprocess.run(["ip", "address", "add", ip + ("/128" if ":" in ip else "/32"), "dev", "lo"], check=True)
    server = Everywhere()
    threading.Thread(target=server.serve_forever, daemon=True).start()  # noqa: TID251
    runs = []
    for names, arguments in plan:
        hosts.write_text("".join(f"{ip} {name}\n" for name, ips in names.items() for ip in ips.split()))
        settings = [
            "-s",
            "frontier.delay=0",
            "-s",
            "frontier.retries=0",
            "-s",
            "fetch.threads=1",
            "--dir",
            str(directory / "crawl"),
        ]
        larm = [sys.executable, "-P", "-m", "larm", "crawl", *settings, *arguments]
        done = subprocess.run(larm, capture_output=True, check=False, text=True, timeout=60)
        runs.append((done.stderr, server.asked))
        server.asked = []
    json.dump(runs, sys.stdout)


if __name__ == "__main__":
    main(Path(sys.argv[1]), json.loads(sys.argv[2]))

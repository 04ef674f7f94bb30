"""Nginx: the sites on one loopback port, each under a name of its own, and the log that says who fetched what.

The first site also answers to 127.0.0.1: for contestants whose resolver does not know ``*.localhost``. One worker process,
static files from the page cache: it takes as little as possible of the machine that it shares with the contestants.
"""

from __future__ import annotations

import http.client
import os
import select
import shutil
import signal
import socket
import subprocess
import tempfile
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

from benchmarks.sites import Site

_CONFIGURATION = """
daemon off; master_process on; worker_processes 1; pid {folder}/pid; error_log {folder}/error.log warn;
events {{ worker_connections 2048; }}
http {{
    include /etc/nginx/mime.types;
    types {{ text/html en de es fr ja ko da ru tr pt-br zh-cn utf8 euc-kr; }}  # httpd's manual: index.html.en
    default_type application/octet-stream;
    charset off; sendfile on; tcp_nopush on; keepalive_timeout 60; keepalive_requests 1000000; server_tokens off;
    open_file_cache max=20000; server_names_hash_bucket_size 128;
    client_body_temp_path {folder}/body; proxy_temp_path {folder}/proxy; fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi; scgi_temp_path {folder}/scgi;
    log_format bench '$host $request_uri $status $msec $request_time $request_method $bytes_sent '
                     '"$sent_http_content_type" "$http_user_agent"';
    access_log {folder}/access.log bench;
{servers}
}}
"""
_SERVER = """    server {{
        listen 127.0.0.1:{port}{default}; server_name {name};
        root {root}; index index.html index.html.en;
        location / {{ try_files $uri $uri/ $uri.en =404; }}
    }}
"""


@dataclass(frozen=True)
class Access:
    """What the log says of one contest."""

    requests: int
    pages: int
    """Different paths (without query) of HTML pages answered with 200."""
    statuses: dict[int, int]
    megabytes: float
    seconds: float
    """From the first to the last answer."""


class Nginx:
    """The running server, as a context manager; ended by its own process id."""

    def __init__(self, sites: Sequence[Site]) -> None:
        self.sites = list(sites)
        self.port = _free_port()
        self._folder = Path()
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        program = shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin")
        if program is None:
            raise SystemExit("nginx: not found; apt-get install nginx-light")
        self._folder = Path(tempfile.mkdtemp(prefix="larm-nginx-"))
        servers = "".join(self._server(number, site) for number, site in enumerate(self.sites))
        configuration = self._folder / "nginx.conf"
        user = "user root;" if os.geteuid() == 0 else ""  # or its worker could not read what only root may
        configuration.write_text(user + _CONFIGURATION.format(folder=self._folder, servers=servers))
        self._process = subprocess.Popen(
            [program, "-p", str(self._folder), "-c", str(configuration), "-e", str(self._folder / "error.log")]
        )
        self._wait_until_it_answers()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if self._process is not None:
            self._process.send_signal(signal.SIGTERM)
            self._process.wait(timeout=10)
        shutil.rmtree(self._folder, ignore_errors=True)

    def name(self, site: Site) -> str:
        """Host name of a site."""
        return f"{site.host}.localhost"

    def start_urls(self, site: Site, host: str | None = None) -> list[str]:
        """Where to begin. ``host``: another name, such as 127.0.0.1 for the first site."""
        return [f"http://{host or self.name(site)}:{self.port}{path}" for path in site.start_paths()]

    def mark(self) -> int:
        """A place in the log, after all requests that have been answered."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=10)
        connection.request("GET", "/end-of-round", headers={"Connection": "close"})
        connection.getresponse().read()
        connection.close()  # one worker, which logs in order: when this one is there, so are the others
        return (self._folder / "access.log").stat().st_size

    def accesses(self, begin: int, end: int) -> Access:
        """What happened between two marks."""
        with (self._folder / "access.log").open("rb") as log:
            log.seek(begin)
            lines = log.read(end - begin).decode("utf-8", "replace").splitlines()
        rows = [line.split(" ", 7) for line in lines if " /end-of-round " not in line]
        pages = {
            (host, uri.partition("?")[0])
            for host, uri, status, _, _, method, _, rest in rows
            if status == "200" and method == "GET" and rest.startswith('"text/html')
        }
        times = [float(row[3]) for row in rows]
        return Access(
            requests=len(rows),
            pages=len(pages),
            statuses=dict(sorted(Counter(int(row[2]) for row in rows).items())),
            megabytes=round(sum(int(row[6]) for row in rows) / 1e6, 1),
            seconds=round(max(times) - min(times), 3) if times else 0.0,
        )

    def _server(self, number: int, site: Site) -> str:
        """A root of links: simpler than nginx's ``alias``, whose rules have exceptions."""
        root = self._folder / "roots" / str(number)
        place = root / site.prefix.strip("/")
        place.parent.mkdir(parents=True, exist_ok=True)
        place.symlink_to(site.folder)
        return _SERVER.format(
            port=self.port, default="" if number else " default_server backlog=1024", name=self.name(site), root=root
        )

    def _wait_until_it_answers(self) -> None:
        assert self._process is not None
        for _ in range(100):
            try:
                self.mark()
            except OSError:
                if self._process.poll() is not None:
                    raise SystemExit(f"nginx did not start: {(self._folder / 'error.log').read_text()}") from None
                select.select([], [], [], 0.05)
            else:
                return
        raise SystemExit("nginx does not answer")


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as free:
        return int(free.getsockname()[1])

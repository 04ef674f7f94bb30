"""EtcdProcess: an etcd that runs as a child in the crawl's directory. Called on one thread at a time.

Its data are never deleted. The process has a session of its own: Ctrl-C must not end it before the agent's last write. If the
agent is killed, its etcd goes on; the agent's next start ends it, and starts it again.
"""

import os
import select
import shutil
import signal
import socket
import subprocess
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from larm.cluster.etcd import Tls
from larm.errors import UsageError
from larm.kit.disk.disk_failure import disk_failures

_PATIENCE = 10.0
"""Seconds for an end in good order."""


class Site(NamedTuple):
    """Where a member is."""

    name: str
    """The agent's."""
    host: str
    """The name or address where other machines reach it."""
    listen: str = "127.0.0.1"
    """Its own IP address."""
    port: int = 2379
    """For clients; the next one is for members."""
    tls: Tls | None = None
    """With a certificate, which must be for the addresses of the machine too."""

    @property
    def label(self) -> str:
        """Its name in etcd, which no other member has: agents come back with another address."""
        return f"{self.name}@{self.host}:{self.port}"

    @property
    def client(self) -> str:
        """The URL for clients."""
        return self.url(self.host, self.port)

    @property
    def peer(self) -> str:
        """The URL for other members."""
        return self.url(self.host, self.port + 1)

    @property
    def options(self) -> list[str]:
        """Those of etcd's command line."""
        found = ["--name", self.label, "--advertise-client-urls", self.client, "--initial-advertise-peer-urls", self.peer]
        found += ["--listen-client-urls", self.url(self.listen, self.port)]
        found += ["--listen-peer-urls", self.url(self.listen, self.port + 1)]
        if self.tls is not None:
            for kind in ("", "peer-"):
                found += [f"--{kind}cert-file", self.tls.certificate, f"--{kind}key-file", self.tls.key or self.tls.certificate]
                found += [f"--{kind}client-cert-auth", f"--{kind}trusted-ca-file", self.tls.ca]
                if self.tls.crl and Path(self.tls.crl).exists():
                    found += [f"--{kind or 'client-'}crl-file", self.tls.crl]
        return found

    def url(self, host: str, port: int) -> str:
        """Return the URL of a port of a host as members have them."""
        return f"{'https' if self.tls else 'http'}://{f'[{host}]' if ':' in host else host}:{port}"


class EtcdProcess:
    """``folder``: has its data, its log and the number of the process."""

    def __init__(self, folder: Path, site: Site) -> None:
        # constant after construction
        self._folder = folder
        self._data = folder / "data"
        self._site = site
        self._command = ["etcd", "--data-dir", str(self._data), "--log-level", "warn", *site.options]
        self._command += ["--auto-compaction-mode", "revision", "--auto-compaction-retention", "10000"]
        # the calling thread alone
        self._child: subprocess.Popen[bytes] | None = None

    @property
    def has_data(self) -> bool:
        """True if it was a member once."""
        return any((self._data / "member" / "wal").glob("*.wal"))

    @property
    def started(self) -> bool:
        """True until `end`, also if it has ended by itself."""
        return self._child is not None

    @property
    def status(self) -> int | None:
        """The exit status; None: it runs or was not started."""
        return self._child.poll() if self._child is not None else None

    def check(self) -> None:
        """Raise UsageError if it can't run here. Ends the one that an earlier agent of this directory left behind."""
        if shutil.which("etcd") is None:
            raise UsageError(
                "etcd is not installed: apt-get install etcd-server, or name one that runs: --etcd http://HOST:2379"
            )
        self._end_orphan()
        for port in (self._site.port, self._site.port + 1):
            _bound(self._site.listen, port).close()

    def start(self, *options: str) -> None:
        """Start it. Raises StorageError."""
        with disk_failures(self._folder):
            self._folder.mkdir(parents=True, exist_ok=True)
            self._data.mkdir(mode=0o700, exist_ok=True)
            with (self._folder / "log").open("wb") as log:
                self._child = subprocess.Popen(  # noqa: S603 - our own words
                    [*self._command, *options], stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True
                )
            (self._folder / "pid").write_text(str(self._child.pid))

    def end(self) -> None:
        """End it in good order, and wait for that."""
        child, self._child = self._child, None
        if child is None:
            return
        child.terminate()
        try:
            child.wait(_PATIENCE)
        except subprocess.TimeoutExpired:
            child.kill()
            child.wait()

    def set_aside(self) -> bool:
        """Rename the data of a member that was removed. Return False if there are such data already."""
        self.end()
        aside = self._folder / "removed"
        if aside.exists():
            return False
        with disk_failures(aside):
            self._data.rename(aside)
        return True

    def last_words(self) -> str:
        """Return the last line of its log."""
        try:
            lines = (self._folder / "log").read_text("utf-8", "replace").splitlines()
        except OSError:
            return ""
        return lines[-1][-300:] if lines else ""

    def listening(self) -> socket.socket:
        """Return a socket at the port for other members, which does not block. Raises UsageError."""
        made = _bound(self._site.listen, self._site.port + 1)
        made.setblocking(False)
        return made

    def _end_orphan(self) -> None:
        with suppress(OSError, ValueError):  # there is none, or it can't be told from another process
            number = int((self._folder / "pid").read_text())
            if os.fsencode(self._data) not in Path(f"/proc/{number}/cmdline").read_bytes().split(b"\0"):
                return
            descriptor = os.pidfd_open(number)
            try:
                os.kill(number, signal.SIGTERM)
                if not select.select([descriptor], [], [], _PATIENCE)[0]:
                    os.kill(number, signal.SIGKILL)
                    select.select([descriptor], [], [], _PATIENCE)
            finally:
                os.close(descriptor)


def _bound(host: str, port: int) -> socket.socket:
    try:
        return socket.create_server((host, port), family=socket.AF_INET6 if ":" in host else socket.AF_INET)
    except OSError as error:
        remedy = "if another etcd runs there, name it: --etcd http://HOST:2379"
        raise UsageError(f"etcd can't listen at {host}, port {port}: {error.strerror}; {remedy}") from error

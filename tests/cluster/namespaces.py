"""Machines of a cluster on one machine: network namespaces that a bridge joins, whose cables can be pulled. Needs root.

Each namespace has an address on the bridge, and a loopback on which the synthetic web answers: so a cut takes an agent away
from other machines, and not from the web. The test itself has an address on the bridge, too.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import shutil
import socket
import subprocess
from types import TracebackType
from typing import Self

from larm.kit.threads.workers import Workers

_NET = 0x40000000


def possible() -> bool:
    """Return True if this process may make namespaces."""
    if os.geteuid() != 0 or shutil.which("ip") is None:
        return False
    name = f"larm-{os.getpid()}"
    made = subprocess.run(["ip", "netns", "add", name], check=False, capture_output=True).returncode == 0
    if made:
        _ip("netns", "del", name)
    return made


class Namespaces:
    """``count`` of them; a context manager."""

    def __init__(self, count: int) -> None:
        self._count = count
        self._mark = f"lm{os.getpid() % 100_000}"
        self._subnet = f"10.213.{os.getpid() % 250}"

    def __enter__(self) -> Self:
        with contextlib.ExitStack() as undo:
            undo.callback(self._remove)
            _ip("link", "add", self._mark, "type", "bridge")
            _ip("address", "add", f"{self._subnet}.1/24", "dev", self._mark)
            _ip("link", "set", self._mark, "up")
            for number in range(self._count):
                name, cable = self._name(number), self._cable(number)
                _ip("netns", "add", name)
                _ip("link", "add", cable, "type", "veth", "peer", "name", "eth0", "netns", name)
                _ip("link", "set", cable, "master", self._mark, "up")
                _ip("-n", name, "address", "add", f"{self.address(number)}/24", "dev", "eth0")
                _ip("-n", name, "link", "set", "eth0", "up")
                _ip("-n", name, "link", "set", "lo", "up")
            undo.pop_all()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._remove()

    def address(self, number: int) -> str:
        """Return where the others reach it."""
        return f"{self._subnet}.{10 + number}"

    def inside(self, number: int) -> list[str]:
        """Return the words before a command that runs there."""
        return ["ip", "netns", "exec", self._name(number)]

    def pull(self, number: int) -> None:
        """Pull its cable: all packets are lost, and no connection is closed."""
        _ip("link", "set", self._cable(number), "down")

    def plug(self, number: int) -> None:
        """Put its cable in again."""
        _ip("link", "set", self._cable(number), "up")

    def part(self, one: int, other: int) -> None:
        """Lose all packets between these two; all others reach both."""
        for here, there in ((one, other), (other, one)):
            self._neighbour(here, there, "replace", "lladdr", "02:00:00:00:00:01", "nud", "permanent")

    def join(self, one: int, other: int) -> None:
        """Undo `part`."""
        for here, there in ((one, other), (other, one)):
            self._neighbour(here, there, "del")

    def pids(self, number: int) -> list[int]:
        """Return the processes that run there."""
        done = subprocess.run(["ip", "netns", "pids", self._name(number)], check=True, capture_output=True, text=True)
        return [int(word) for word in done.stdout.split()]

    def _neighbour(self, here: int, there: int, what: str, *more: str) -> None:
        _ip("-n", self._name(here), "neighbour", what, self.address(there), *more, "dev", "eth0")

    def listen(self, number: int, port: int) -> socket.socket:
        """Return a socket on the loopback of that namespace; any thread may accept on it."""
        made: list[socket.socket] = []

        def there() -> None:  # on a thread of its own, which ends: the namespace is that of a thread
            opened = os.open(f"/run/netns/{self._name(number)}", os.O_RDONLY)
            try:
                if ctypes.CDLL(None, use_errno=True).setns(opened, _NET) != 0:
                    raise OSError(ctypes.get_errno(), "setns")
                made.append(socket.create_server(("127.0.0.1", port), backlog=1024))
            finally:
                os.close(opened)

        died: list[BaseException] = []
        workers = Workers(lambda _, error: died.append(error))
        workers.start("namespace", there)
        assert workers.join(30) == []
        assert died == []
        return made[0]

    def _remove(self) -> None:
        for number in range(self._count):
            for kind, name in (("link", self._cable(number)), ("netns", self._name(number))):  # a socket may hold the latter
                subprocess.run(["ip", kind, "del", name], check=False, capture_output=True)
        subprocess.run(["ip", "link", "del", self._mark], check=False, capture_output=True)

    def _name(self, number: int) -> str:
        return f"{self._mark}-{number}"

    def _cable(self, number: int) -> str:
        return f"{self._mark}v{number}"


def _ip(*words: str) -> None:
    done = subprocess.run(["ip", *words], check=False, capture_output=True, text=True)
    assert done.returncode == 0, f"ip {' '.join(words)}: {done.stderr}"

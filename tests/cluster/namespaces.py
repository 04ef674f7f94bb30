"""Machines of a cluster on one machine: network namespaces that a bridge joins, whose cables can be pulled. Needs root.

Each agent's namespace has an address on the bridge, for the other agents, and a loopback on which the synthetic web answers: so
a cut takes an agent away from the others, and not from the web.
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
    """Whether this process may make namespaces."""
    if os.geteuid() != 0 or shutil.which("ip") is None:
        return False
    name = f"larm-{os.getpid()}"
    made = subprocess.run(["ip", "netns", "add", name], check=False, capture_output=True).returncode == 0
    if made:
        _ip("netns", "del", name)
    return made


class Namespaces:
    """So many; a context manager."""

    def __init__(self, count: int) -> None:
        self._count = count
        self._mark = f"lm{os.getpid() % 100_000}"
        self._cut: set[tuple[int, int]] = set()

    def __enter__(self) -> Self:
        with contextlib.ExitStack() as undo:
            undo.callback(self._remove)
            _ip("link", "add", self._mark, "type", "bridge")
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
        return f"10.213.77.{10 + number}"

    def inside(self, number: int) -> list[str]:
        """What stands before a command that runs there."""
        return ["ip", "netns", "exec", self._name(number)]

    def pull(self, number: int) -> None:
        """Its cable: nobody hears of it any more, and no connection is closed."""
        _ip("link", "set", self._cable(number), "down")

    def plug(self, number: int) -> None:
        _ip("link", "set", self._cable(number), "up")

    def part(self, one: int, other: int) -> None:
        """These two do not reach each other; all others reach both."""
        for here, there in ((one, other), (other, one)):
            _ip("-n", self._name(here), "route", "add", "blackhole", f"{self.address(there)}/32")

    def join(self, one: int, other: int) -> None:
        for here, there in ((one, other), (other, one)):
            _ip("-n", self._name(here), "route", "del", "blackhole", f"{self.address(there)}/32")

    def listen(self, number: int, port: int) -> socket.socket:
        """A socket on the loopback of that namespace; it stays there, whoever accepts on it."""
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

"""Memory of a crawl of 300 good pages beside heavy bodies: proportional set sizes, read every 10 ms."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from time import perf_counter
from typing import Final, NamedTuple

from larm.testing.replies import Reply
from larm.testing.web import SyntheticWeb
from tests.support import heavy_bodies as heavy

GOOD: Final = 300
DRIPS: Final = 16
DRIP: Final = 500_000
"""Bytes that each of so many hosts sends one by one."""
_LOOK = 0.01  # seconds
BAD: Final[dict[str, Callable[[], Reply]]] = {
    "paragraphs": heavy.paragraphs,
    "short": heavy.short_paragraphs,
    "links": heavy.many_links,
    "drip": lambda: heavy.in_single_bytes(DRIP),
}


class Seen(NamedTuple):
    """One run of larm."""

    status: int
    wall: float
    cpu: float
    main: int
    """Bytes, at most."""
    together: int
    killed: bool
    said: str


def build(web: SyntheticWeb, names: Sequence[str], good: int = GOOD, drip: int = DRIP) -> list[str]:
    """The hosts, ``good`` pages on one of them; their start URLs, that of the good pages first."""
    fine = web.host("good.localhost")
    for number in range(good):
        words = " ".join(f"word{number * 40 + n}" for n in range(40))
        fine.page(f"/{number}", f"Page {number}", words, [f"/{n}" for n in range(good)])
    starts = [web.url("good.localhost", "/0")]
    for name in names:
        reply = heavy.in_single_bytes(drip) if name == "drip" else BAD[name]()
        for number in range(DRIPS if name == "drip" else 1):
            site = web.host(f"{name}{number}.localhost")
            site.add("/bad.html.gz" if name != "drip" else "/bad", reply)
            starts.append(web.url(site.name, "/bad.html.gz" if name != "drip" else "/bad"))
    return starts


def memory_of(number: int) -> int:
    """Bytes of a process, what it shares divided by those that share it; 0: it has ended."""
    try:
        for line in Path(f"/proc/{number}/smaps_rollup").read_text(encoding="ascii").splitlines():
            if line.startswith("Pss:"):
                return int(line.split()[1]) * 1024
    except OSError:
        pass
    return 0


def helpers_of(number: int) -> list[int]:
    """Processes that it has started."""
    try:
        lists = [task.read_text(encoding="ascii") for task in Path(f"/proc/{number}/task").glob("*/children")]
    except OSError:
        return []
    return [int(child) for text in lists for child in text.split()]


def watch(arguments: Sequence[str], kill_at: int | None) -> Seen:
    """Run larm, and look at its memory all the time."""
    began, main, together, killed = perf_counter(), 0, 0, False
    with tempfile.TemporaryFile() as errors:
        before = os.times()
        process = subprocess.Popen(
            [sys.executable, "-m", "larm", *arguments], stdout=subprocess.DEVNULL, stderr=errors, stdin=subprocess.DEVNULL
        )
        while True:
            try:
                process.wait(_LOOK)
                break
            except subprocess.TimeoutExpired:
                own = memory_of(process.pid)
                everything = own + sum(memory_of(helper) for helper in helpers_of(process.pid))
                main, together = max(main, own), max(together, everything)
                if kill_at is not None and everything > kill_at:
                    process.send_signal(signal.SIGKILL)
                    killed = True
        after = os.times()
        errors.seek(0)
        said = errors.read().decode("utf-8", "replace")
    cpu = after.children_user + after.children_system - before.children_user - before.children_system
    return Seen(process.returncode, perf_counter() - began, cpu, main, together, killed, said)


def crawl_of(directory: str, starts: Sequence[str], settings: Sequence[str]) -> list[str]:
    """The command."""
    own = ["frontier.delay=0", "frontier.per_host=4", "fetch.ip='4'", "agent.contact=mailto:x@example.org", *settings]
    flags = [word for start in starts for word in ("-start", start)]
    return ["crawl", "--dir", directory, *flags, *[word for setting in own for word in ("-s", setting)]]

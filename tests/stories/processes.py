"""larm as a process of its own: for signals, exit statuses, locks and memory."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import larm

DEADLINE = 60
"""Seconds: beyond, something hangs."""
ROOT = str(Path(larm.__file__).parents[1])
"""Where larm is."""
_QUICK = {
    "frontier.delay": "0",
    "frontier.retry_wait": "20ms",
    "frontier.backoff": "20ms",
    "fetch.threads": "2",
    "fetch.ip": "'4'",
}


def plain_lines_every(seconds: float) -> str:
    """Python for ``before``: progress lines come that often where stderr is no terminal."""
    return f"import larm.ops.display; larm.ops.display.PLAIN_INTERVAL = {seconds}"


class Said(NamedTuple):
    """How a command ended."""

    status: int
    out: bytes
    err: str

    @property
    def last(self) -> str:
        """Its last line on stderr, as a person would see it."""
        return self.err.rstrip("\n").rpartition("\n")[2]


class Process:
    """A running ``larm ...``. As a context manager it never outlives its story."""

    def __init__(self, *arguments: str, before: str = "", environment: Mapping[str, str] | None = None) -> None:
        """``before``: Python to run in the process first."""
        code = f"{before}\nfrom larm.__main__ import main\nmain()"
        self._popen = subprocess.Popen(
            [sys.executable, "-c", code, *arguments],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": ROOT, **(environment or {})},
        )

    @property
    def number(self) -> int:
        """Of the process."""
        return self._popen.pid

    def signal(self, number: int) -> None:
        """Any thread."""
        self._popen.send_signal(number)

    def stop(self, number: int) -> None:
        """Send it that signal, and wait for its end, while `end` is called elsewhere. Any thread: that of a web, which answers
        nobody meanwhile."""
        self._popen.send_signal(number)
        with suppress(subprocess.TimeoutExpired):  # `end` says so
            self._popen.wait(DEADLINE)

    def wait_for_line(self, text: str) -> str:
        """Read stderr up to a line that has the text. (The lines before it are gone then.)"""
        assert self._popen.stderr is not None
        for line in iter(self._popen.stderr.readline, b""):
            if text in line.decode():
                return line.decode()
        raise AssertionError(f"larm ended and never said {text!r}")

    def first_line(self) -> str:
        """Wait for what it writes first. (It is gone then.)"""
        assert self._popen.stdout is not None
        return self._popen.stdout.readline().decode()

    def end(self) -> Said:
        """Wait for it."""
        try:
            out, err = self._popen.communicate(timeout=DEADLINE)
        except subprocess.TimeoutExpired:
            self._popen.kill()
            out, err = self._popen.communicate()
            raise AssertionError(f"larm did not end; it said: {err.decode(errors='replace')}") from None
        return Said(self._popen.returncode, out, err.decode())

    def __enter__(self) -> Process:
        return self

    def __exit__(self, *_: object) -> None:
        if self._popen.poll() is None:
            self._popen.kill()
        self._popen.communicate()


def crawl_arguments(
    directory: Path, starts: Sequence[str], settings: Mapping[str, object] | None = None, *options: str
) -> list[str]:
    """``crawl ...`` with delay 0 and short waits."""
    arguments = ["crawl", "--dir", str(directory)]
    for start in starts:
        arguments += ["-start", start]
    for key, value in (_QUICK | dict(settings or {})).items():
        arguments += ["-s", f"{key}={value}"]
    return [*arguments, *options]


def larm_says(*arguments: str, before: str = "") -> Said:
    """Run a command to its end."""
    with Process(*arguments, before=before) as process:
        return process.end()

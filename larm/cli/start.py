"""Start URLs: ``-start URL`` and ``-start @FILE`` (LARM-1, LARM-2). Called by ``larm crawl`` before anything else is built."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable
from pathlib import Path

import msgspec

from larm.errors import UsageError
from larm.model.url import BadUrl

Parse = Callable[[str], object]
"""Raises BadUrl where the text is no URL that larm can fetch."""

_LINE_END = re.compile(r"\r\n|\r|\n")  # not str.splitlines: it would count form feeds
_MOST_MISTAKES = 20
"""Malformed lines of a file that are shown one by one; a wrong file should not scroll the rest away."""


class Starts(msgspec.Struct):
    """What the start options come to."""

    urls: list[str] = []
    """In order, as written."""
    mistakes: list[str] = []
    """Malformed lines, each with its file and line number; they are skipped."""
    notes: list[str] = []
    """How many lines of each file were accepted."""


def read_starts(values: Iterable[str], parse: Parse, base: Path = Path(), source: str = "-start") -> Starts:
    """Each value is a URL or ``@FILE`` (``@-``: stdin), relative to ``base``. Raises UsageError for a bad URL or file.

    ``source``: where the values stand, for messages.
    """
    starts = Starts()
    for value in values:
        if value.startswith("@"):
            _read_file(value[1:], parse, base, source, starts)
        else:
            try:
                parse(value)
            except BadUrl as error:
                raise UsageError(f"{source} {value}: {error}") from error
            starts.urls.append(value)
    return starts


def _read_file(name: str, parse: Parse, base: Path, source: str, starts: Starts) -> None:
    accepted = rejected = 0
    for number, line in enumerate(_lines(name, base, source), 1):
        text = line.strip()
        if not text or text.startswith("#"):
            continue
        try:
            parse(text)
        except BadUrl as error:
            rejected += 1
            if rejected <= _MOST_MISTAKES:
                starts.mistakes.append(f"{name}:{number}: skipped: {error}: {text[:200]}")
        else:
            accepted += 1
            starts.urls.append(text)
    if rejected > _MOST_MISTAKES:
        starts.mistakes.append(f"{name}: and {rejected - _MOST_MISTAKES} more malformed lines")
    starts.notes.append(f"{name}: {accepted} start URL{'s' * (accepted != 1)} accepted, {rejected} rejected")


def _lines(name: str, base: Path, source: str) -> list[str]:
    try:
        data = sys.stdin.buffer.read() if name == "-" else (base / name).read_bytes()
    except OSError as error:
        raise UsageError(f"{source} @{name}: can't read the file of start URLs: {error.strerror}") from error
    return _LINE_END.split(data.decode("utf-8-sig", "replace"))

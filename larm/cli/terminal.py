"""What goes to the terminal: one-line messages, JSON, lines that fit, and what a stream can show. Used by all commands.

Lines fit by columns, not characters. Chinese and Japanese characters take two columns and may be parted anywhere; other text is
parted at spaces.
"""

import json
import os
import re
import sys
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from shlex import quote
from typing import TextIO

import click

from larm.kit.printable import escaped, harmless, printable

CONFIGURED = (
    *("crawl", "search", "why", "check", "links", "export", "forget", "reindex", "repair", "warc export"),
    *("cluster status", "cluster pause", "cluster resume", "cluster set", "cluster stop"),
    *("cluster remove", "cluster found", "cluster etcd"),
)
"""Commands that have ``--dir`` and ``--config``."""
PLACED = (
    *("stats", "cat", "report", "init", "ctl [a-z]+", "starts", "backup"),
    "cluster leave",
)
"""Those that have ``--dir`` alone."""
_COMMAND = re.compile(
    rf"('(?:[^'\n]*\| )?larm (?:(?P<configured>{'|'.join(CONFIGURED)})|{'|'.join(PLACED)}))(?=[ '])(?! --dir| -\?)"
)
_LOGS = re.compile(r"(?<![\w./-])logs/(?=\w)")


class Call:
    """What the last door needs to know when a command fails."""

    def __init__(self) -> None:
        self.directory: Path | None = Path()
        """The crawl's; None: of several."""
        self.config: Path | None = None
        """The file that ``--config`` names."""
        self.verbose = False

    def here(self, text: str) -> str:
        """Commands that need them get ``--dir`` and ``--config``; paths of logs are as from here."""
        if self.directory == Path() and self.config is None:
            return text
        where = "DIR" if self.directory is None else quote(str(self.directory))
        config = "" if self.config is None else f" --config {quote(str(self.config))}"
        directory = "" if self.directory == Path() else f" --dir {where}"
        said = _COMMAND.sub(lambda found: found[1] + directory + (config if found["configured"] else ""), text)
        return _LOGS.sub(lambda _: f"{where}/logs/", said) if directory else said


with_call = click.make_pass_decorator(Call, ensure=True)
"""The command wants to know of ``-v``."""


def here(text: str) -> str:
    """As `Call.here` of the command that runs."""
    context = click.get_current_context(silent=True)
    call = context.find_object(Call) if context is not None else None
    return text if call is None else call.here(text)


_HEAD = "larm: "


def say(text: str) -> None:
    """A line for the person, on stderr: ``larm: TEXT``. Never fails: a message is no reason to end a crawl.

    On a terminal it is wrapped at words; whoever reads it from elsewhere gets one line.
    """
    try:
        click.echo(_HEAD + f"\n{' ' * len(_HEAD)}".join(_fitting(shown(text))), err=True)
    except (OSError, ValueError):
        return


def _fitting(text: str) -> list[str]:
    if not is_terminal(sys.stderr):
        return [text]
    width = os.get_terminal_size(sys.stderr.fileno()).columns - len(_HEAD)
    if columns(text) <= width:
        return [text]
    return ["".join(part for part, _ in line) for line in wrapped([(text, False)], width)]


def shown(text: str) -> str:
    """What is read on this terminal, here: nothing steers it, and commands can be copied."""
    return printable(here(text))


def topic_rows(rows: Sequence[tuple[str, object]]) -> list[str]:
    """Topics in a column, and what is said of them."""
    width = max((len(topic) for topic, _ in rows), default=0)
    return [f"{printable(topic):<{width}}  {shown(str(value))}" for topic, value in rows]


complain = say
"""The same for what went wrong; ``-q`` does not silence it."""


def is_terminal(stream: TextIO | None) -> bool:
    """Is there somebody who looks at it?"""
    return stream is not None and stream.isatty()


def write(text: str) -> None:
    """Write to stdout; on a terminal without what could steer it. Raises OSError."""
    sys.stdout.write(harmless(text) if is_terminal(sys.stdout) else text)


def has_colours(stream: TextIO | None) -> bool:
    """On a terminal, unless NO_COLOR or its kind says otherwise."""
    return is_terminal(stream) and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def as_json(value: object) -> str:
    """JSON for people and programs: readable in any script, without a raw control character (C1 included)."""
    return escaped(json.dumps(value, ensure_ascii=False, indent=2))


Piece = tuple[str, bool]
"""Text, and whether it is marked."""

_ATOM = re.compile(r"\s+|\S")


def columns(text: str) -> int:
    """How many columns of a terminal the text takes."""
    if text.isascii():
        return len(text)
    return sum(_width(letter) for letter in text)


def _width(letter: str) -> int:
    if unicodedata.combining(letter) or unicodedata.category(letter) in {"Mn", "Me", "Cf"}:
        return 0
    return 2 if unicodedata.east_asian_width(letter) in "WF" else 1


def wrapped(pieces: Iterable[Piece], width: int) -> Iterator[list[Piece]]:
    """Lines of at most ``width`` columns; a word that is longer stands alone on its line."""
    line: list[Piece] = []
    used = 0
    for atom in _atoms(pieces):
        text = "".join(part for part, _ in atom)
        size = columns(text)
        if text.isspace():
            if used:
                line += atom
                used += size
            continue
        if used and used + size > width:
            yield _joined(line)
            line, used = [], 0
        line += atom
        used += size
    if line:
        yield _joined(line)


def _atoms(pieces: Iterable[Piece]) -> Iterator[list[Piece]]:
    """What must not be parted: words (of which only a part may be marked), spaces, wide characters."""
    word: list[Piece] = []
    for text, marked in pieces:
        for match in _ATOM.finditer(text):
            atom = match[0]
            if atom.isspace() or (not atom.isascii() and _width(atom[0]) == 2):
                if word:
                    yield word
                    word = []
                yield [(atom, marked)]
            else:
                word.append((atom, marked))
    if word:
        yield word


def _joined(line: Iterable[Piece]) -> list[Piece]:
    """Neighbours of one kind as one piece, without spaces at the end."""
    found: list[Piece] = []
    for text, marked in line:
        if found and found[-1][1] == marked:
            found[-1] = (found[-1][0] + text, marked)
        else:
            found.append((text, marked))
    while found and not found[-1][0].rstrip():
        found.pop()
    if found:
        found[-1] = (found[-1][0].rstrip(), found[-1][1])
    return found

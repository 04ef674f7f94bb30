"""What goes to the terminal: one-line messages, JSON, and what a stream can show. Used by all commands."""

import json
import os
import sys
from typing import TextIO

import click

from larm.cli.call import here
from larm.cli.wrap import columns, wrapped
from larm.kit.printable import escaped, harmless, printable

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

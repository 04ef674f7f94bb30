"""What goes to the terminal: one-line messages, JSON, and what a stream can show. Used by all commands."""

import json
import os
import sys
from functools import cache
from typing import TextIO

import click

from larm.cli.call import here
from larm.cli.wrap import columns, wrapped
from larm.monitor.printable import printable

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


def has_colours(stream: TextIO | None) -> bool:
    """On a terminal, unless NO_COLOR or its kind says otherwise."""
    return is_terminal(stream) and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def as_json(value: object) -> str:
    """JSON for people and programs: readable in any script, without a raw control character (C1 included)."""
    text = json.dumps(value, ensure_ascii=False, indent=2)
    return text.translate(_escapes())


@cache
def _escapes() -> dict[int, str]:
    marks = (0x061C, 0x200E, 0x200F, *range(0x2028, 0x202F), *range(0x2066, 0x206A))
    return {code: f"\\u{code:04x}" for code in (*range(0x7F, 0xA0), *marks, *range(0xD800, 0xE000))}

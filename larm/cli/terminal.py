"""What goes to the terminal: one-line messages, and bold where there is somebody to see it. Used by all commands."""

from __future__ import annotations

import json
import os
import sys

import click

from larm.monitor.printable import printable


def say(text: str) -> None:
    """A line for the person, on stderr: ``larm: TEXT``. Never fails: a message is no reason to end a crawl."""
    try:
        click.echo(f"larm: {printable(text)}", err=True)
    except (OSError, ValueError):
        return


complain = say
"""The same for what went wrong; ``-q`` does not silence it."""


def bold(text: str) -> str:
    """Marked on a terminal, as it is elsewhere and with NO_COLOR."""
    stdout = sys.stdout
    if stdout is None or not stdout.isatty() or os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        return text
    return click.style(text, bold=True)


def as_json(value: object) -> str:
    """JSON for people and programs: readable in any script, without a raw control character (C1 included)."""
    text = json.dumps(value, ensure_ascii=False, indent=2)
    return text.translate(_ESCAPES)


_ESCAPES = {
    code: f"\\u{code:04x}"
    for code in (
        *range(0x7F, 0xA0),
        0x061C,
        0x200E,
        0x200F,
        *range(0x2028, 0x202F),
        *range(0x2066, 0x206A),
        *range(0xD800, 0xE000),
    )
}

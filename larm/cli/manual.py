"""``larm help``: the manual, section by section, on a machine without a browser or a network."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator
from importlib.resources import files
from textwrap import fill

import click

from larm.cli.options import LarmCommand, verbose_option
from larm.cli.terminal import is_terminal
from larm.errors import UsageError

_FILES = {"changes": "CHANGES.rst", "architecture": "ARCHITECTURE.rst"}
_LAID_OUT = re.compile(r"^(?:[ =.:-]|\S.*\n[=-]{3})", re.MULTILINE)
_HEADING = re.compile(r"^(?P<title>\S.*)\n(?P<line>([=-])\3{2,})$", re.MULTILINE)


@click.command("help", cls=LarmCommand)
@click.argument("topic", nargs=-1)
@verbose_option
def manual(*, topic: tuple[str, ...], verbose: bool) -> None:  # noqa: ARG001
    """Show the part of the manual that is about TOPIC: a command, or a title. Without one: which there are.

    'changes' and 'architecture' are topics, too.
    """
    wanted = " ".join(topic).lower()
    if not wanted:
        click.echo("\n".join(["larm help TOPIC, of these:", *[f"  {title}" for title in (*dict(_sections()), *_FILES)]]))
        return
    text = _text(_FILES[wanted]) if wanted in _FILES else _found(wanted)
    click.echo_via_pager(_fitting(text) if is_terminal(sys.stdout) else text)


def _fitting(text: str) -> str:
    """Paragraphs as wide as the terminal; tables, lists and examples as they are."""
    width = os.get_terminal_size(sys.stdout.fileno()).columns
    parts = text.split("\n\n")
    return "\n\n".join(part if _LAID_OUT.search(part) else fill(part, width, break_on_hyphens=False) for part in parts)


def _found(wanted: str) -> str:
    """The section of this title; else those that have it in theirs."""
    sections = list(_sections())
    titles = [title for title, _ in sections]
    hits = [n for n, title in enumerate(titles) if title.lower() in (wanted, f"larm {wanted}")]
    hits = hits or [n for n, title in enumerate(titles) if wanted in title.lower()]
    if not hits:
        raise UsageError(f"no part of the manual is about {wanted!r}; 'larm help' lists them")
    return "\n\n".join(sections[n][1] for n in hits) + "\n"


def _text(name: str) -> str:
    return (files("larm") / "manual" / name).read_text(encoding="utf-8")


def _sections() -> Iterator[tuple[str, str]]:
    """Title and text of each section of the manual, those within others by themselves."""
    text = _text("README.rst")
    marks = [mark for mark in _HEADING.finditer(text) if len(mark["line"]) >= len(mark["title"])]
    for mark, after in zip(marks, [*marks[1:], None], strict=True):
        yield mark["title"], text[mark.start() : after.start() if after else len(text)].rstrip()


help = manual  # noqa: A001  the name of the command, by which it is looked up

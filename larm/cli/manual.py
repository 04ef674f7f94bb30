"""``larm help``: the manual, section by section, on a machine without a browser or a network.

The chapters are the files of ``docs/``, which are in the package as well, in the order of the list in ``manual.rst``.
"""

import os
import re
import sys
from collections.abc import Iterator
from importlib.resources import files
from textwrap import fill

import click

from larm.cli.options import LarmCommand
from larm.cli.terminal import is_terminal
from larm.errors import UsageError

_FILES = {"changes": "CHANGES.rst", "architecture": "ARCHITECTURE.rst", "readme": "README.rst"}
_LAID_OUT = re.compile(r"^(?:[ =.:-]|\S.*\n[=-]{3})", re.MULTILINE)
_HEADING = re.compile(r"^(?P<title>\S.*)\n(?P<line>([=-])\3{2,})$", re.MULTILINE)
_TARGETS = re.compile(r"^\.\. _.*: .*\n?", re.MULTILINE)
_REFERENCE = re.compile(r"`([^`<>]+)`_(?!_)|(?<![\w`])([A-Z][a-z]+)_(?!\w)")


@click.command("help", cls=LarmCommand)
@click.argument("topic", nargs=-1)
def manual(*, topic: tuple[str, ...]) -> None:
    """Show the manual about TOPIC.

    A command, or a title. Without one: which there are. 'readme', 'changes' and 'architecture' are topics, too.
    """
    wanted = " ".join(topic).lower()
    if not wanted:
        click.echo("larm help TOPIC, of these:")
        for chapter in _chapters():
            (first, _), *others = _sections(chapter)
            click.echo("\n".join([f"  {first}", *[f"    {title}" for title, _ in others]]))
        click.echo("\n".join(f"  {name}" for name in _FILES))
        return
    text = _text(_FILES[wanted]) if wanted in _FILES else _found(wanted)
    os.environ.setdefault("LESS", "FRX")  # as git has it: what fits on the screen needs no pager
    click.echo_via_pager(_fitting(text) if is_terminal(sys.stdout) else text)


def _fitting(text: str) -> str:
    """Paragraphs as wide as the terminal; tables, lists and examples as they are."""
    width = os.get_terminal_size(sys.stdout.fileno()).columns
    parts = text.split("\n\n")
    return "\n\n".join(part if _LAID_OUT.search(part) else fill(part, width, break_on_hyphens=False) for part in parts)


def _found(wanted: str) -> str:
    """The chapter or section of this title; else the sections that have it in theirs; else those that speak of it as a name."""
    chapters = list(_chapters())
    sections = [section for chapter in chapters for section in _sections(chapter)]
    hits = [chapter for chapter in chapters if next(_sections(chapter))[0].lower() == wanted]
    hits = hits or [text for title, text in sections if title.lower() in (wanted, f"larm {wanted}")]
    hits = hits or [text for title, text in sections if wanted in title.lower()]
    hits = hits or [text for _, text in sections if f"``{wanted}``" in text.lower()]
    if not hits:
        raise UsageError(f"no part of the manual is about {wanted!r}; 'larm help' lists them")
    return "\n\n".join(hits) + "\n"


def _text(name: str) -> str:
    text = (files("larm") / "manual" / name).read_text(encoding="utf-8")
    return _REFERENCE.sub(r"'\1\2'", _TARGETS.sub("", text)).rstrip() + "\n"


def _chapters() -> Iterator[str]:
    for name in re.findall(r"^   ([\w-]+)$", _text("manual.rst"), re.MULTILINE):
        if name != "readme":
            yield _text(f"{name}.rst")


def _sections(chapter: str) -> Iterator[tuple[str, str]]:
    """Title and text of each section of a chapter, those within others by themselves."""
    marks = [mark for mark in _HEADING.finditer(chapter) if len(mark["line"]) >= len(mark["title"])]
    for mark, after in zip(marks, [*marks[1:], None], strict=True):
        yield mark["title"], chapter[mark.start() : after.start() if after else len(chapter)].rstrip()


help = manual  # noqa: A001  the name of the command, by which it is looked up

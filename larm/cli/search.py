"""``larm search``: words in, the best pages out, for a person or (``--json``) for a program.

The JSON is stable: an object of ``query``, ``total``, ``page``, ``seconds`` and ``hits``, a list of objects of ``rank``,
``url``, ``title``, ``snippet``, ``mime`` and ``score``; with ``--explain`` also ``explanation``.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from larm.cli.options import LarmCommand, directory_option, existing, verbose_option
from larm.cli.terminal import as_json, bold, say
from larm.monitor.printable import printable

if TYPE_CHECKING:
    from larm.search.searcher import Hit, Results

_DEPTH = 6
"""Levels of an explanation that are shown; below are the constants of the formula."""


@click.command(cls=LarmCommand)
@click.argument("words", nargs=-1, required=True)
@directory_option
@click.option("-n", "--number", type=click.IntRange(min=1), default=10, metavar="N", help="Results on a page; default 10.")
@click.option("--page", type=click.IntRange(min=1), default=1, metavar="N", help="Which page of results; default 1.")
@click.option("--json", "raw", is_flag=True, help="For programs.")
@click.option("--explain", is_flag=True, help="Show the score and how it came about.")
@verbose_option
def search(
    *,
    words: tuple[str, ...],
    directory: Path,
    number: int,
    page: int,
    raw: bool,
    explain: bool,
    verbose: bool,  # noqa: ARG001
) -> None:
    """Find the pages that have all the WORDS, best first.

    '"two words"' in quotes (the shell's around them) must stand next to each other. A word that begins with - comes after --.
    """
    from larm.search.searcher import Searcher

    query = " ".join(words)
    results = Searcher(existing(directory)).search(query, number, page, explain)
    first = number * (page - 1) + 1
    if raw:
        click.echo(as_json(document(query, results, page, first)))
        return
    for rank, hit in enumerate(results.hits, first):
        for line in _lines(rank, hit, explain):
            click.echo(line)
    if not results.total:
        say(f"nothing found for {query}")
    elif not results.hits:
        say(f"{results.total:,} pages found, none of them on page {page}")
    else:
        say(f"{first:,} to {first + len(results.hits) - 1:,} of {results.total:,} pages, {results.took:.3f} s")


def document(query: str, results: Results, page: int, first: int) -> dict[str, Any]:
    """The results as ``--json`` prints them."""
    hits = []
    for rank, hit in enumerate(results.hits, first):
        row = {"rank": rank, "url": hit.url, "title": hit.title, "snippet": hit.text, "mime": hit.mime, "score": hit.score}
        if hit.explanation:
            row["explanation"] = json.loads(hit.explanation)
        hits.append(row)
    return {"query": query, "total": results.total, "page": page, "seconds": round(results.took, 6), "hits": hits}


def _lines(rank: int, hit: Hit, explain: bool) -> Iterator[str]:
    """Title, URL, snippet, and why it stands where it stands."""
    yield f"{rank}. {bold(printable(hit.title))}"
    yield f"   {printable(hit.url)}"
    snippet = "".join(bold(_clean(text)) if marked else _clean(text) for text, marked in hit.snippet)
    if snippet.strip():
        yield f"   {snippet}"
    if explain:
        yield f"   score {hit.score:.4f}"
        if hit.explanation:
            yield from _factors(json.loads(hit.explanation), 0)
    yield ""


def _clean(text: str) -> str:
    """As `printable`, but the spaces at the ends stay: they part marked words from others."""
    before, after = text[:1].isspace(), text[1:][-1:].isspace()
    return f"{' ' * before}{printable(text)}{' ' * after}"


def _factors(explanation: dict[str, Any], depth: int) -> Iterator[str]:
    """An indented line for each factor of the score."""
    if depth < _DEPTH:
        yield f"   {'  ' * depth}{explanation.get('value', 0):.4f}  {printable(str(explanation.get('description', '')))}"
        for detail in explanation.get("details") or ():
            yield from _factors(detail, depth + 1)

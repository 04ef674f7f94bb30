"""``larm search``: words in, the best pages out, for a person or (``--json``) for a program.

The JSON is stable, docs/searching.rst has it. Words may begin with ``-``, so this command reads its arguments in its own way.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import msgspec

from larm.cli.options import (
    LarmCommand,
    cluster_option,
    config_options,
    directories_option,
    effective,
    existing,
    no_such_option,
    remote_opener,
    remote_options,
    remote_searchers,
)
from larm.cli.terminal import as_json, say
from larm.errors import REPAIR, StorageError, UsageError
from larm.kit.printable import printable
from larm.model.findings import MOST_HITS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from larm.config import SearchSettings
    from larm.index.search.results import Results
    from larm.model.facets import Narrowed
    from larm.model.findings import Asked
    from larm.seams import Searcher


_ONLY = "site=HOST, type=MIME, language=CODE, age=day|week|month|year"


class SearchCommand(LarmCommand):
    """``-word`` is a word that must not be found; whatever is no option is part of the query."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Sort the arguments into options and words, for click would take a word such as ``-nest`` for options."""
        options = {name: p for p in self.get_params(ctx) if isinstance(p, click.Option) for name in p.opts}
        ours: list[str] = []
        words: list[str] = []
        rest = iter(args)
        for argument in rest:
            name, equals, _ = argument.partition("=")
            if argument == "--":
                words += rest
            elif name in options or (argument[:2] == "-n" and argument[2:].isdigit()):
                ours.append(argument)
                if name in options and not options[name].is_flag and not equals:
                    ours += [value for value in [next(rest, None)] if value is not None]
            elif argument.startswith("--") or "-" + name in options:
                raise no_such_option(self, ctx, name)
            else:
                words.append(argument)
        return click.Command.parse_args(self, ctx, [*ours, "--", *words])


@click.command(cls=SearchCommand)
@click.argument("words", nargs=-1, required=True)
@directories_option
@click.option("--weight", "weights", type=float, multiple=True, metavar="X", help="What results of each count; default 1.")
@cluster_option
@remote_options
@click.option(
    "-n", "--number", type=click.IntRange(1, MOST_HITS), default=10, metavar="N", help="Results on a page; default 10."
)
@click.option("--page", type=click.IntRange(min=1), default=1, metavar="N", help="Which page of results; default 1.")
@click.option(
    "--sort", type=click.Choice(["relevance", "date"]), default="relevance", help="By date: changed last comes first."
)
@click.option("--facets", is_flag=True, help="Show what the results can be narrowed down to.")
@click.option(
    "--only",
    multiple=True,
    metavar="NAME=VALUE",
    help=f"Narrow down: {_ONLY}.",
)
@click.option("--alike", is_flag=True, help="Show pages that say nearly the same as a better one, too.")
@click.option("--as-typed", is_flag=True, help="No other spelling takes the place of WORDS.")
@click.option("--suggest", is_flag=True, help="Show what WORDS may be the beginning of, and search for nothing.")
@click.option("--json", "raw", is_flag=True, help="For programs.")
@click.option("--explain", is_flag=True, help="Show the score and how it came about.")
@click.option("--hyperlinks", is_flag=True, help="On a terminal that knows them: titles that can be clicked.")
@config_options
def search(
    *,
    words: tuple[str, ...],
    directories: tuple[Path, ...],
    weights: tuple[float, ...],
    cluster: bool,
    remotes: tuple[str, ...],
    remote_token: Path | None,
    only: tuple[str, ...],
    suggest: bool,
    raw: bool,
    hyperlinks: bool,
    file: Path | None,
    overrides: tuple[str, ...],
    **given: Any,
) -> int:
    """Find pages by the WORDS, best first.

    \b
    '"two words"'        next to each other (quotes within the shell's)
    -word                without this word; NOT word
    vac* gath?r          any letters, one letter
    one OR other         one of them; '|' is the same
    site:example.org     on this host or its parts; site:example.org/docs
    intitle:word         in the title; inurl:word in the address
    filetype:pdf         also lang:de, before:2024-05, after:2024
    link:URL             pages that link to URL; info:URL the page itself
    """
    from larm.crawldir.form import MARKER
    from larm.kit.disk.files import is_there
    from larm.model.findings import Asked

    if remotes and directories == (Path(),) and not is_there(Path() / MARKER):
        directories = ()  # nothing is searched here
    settings = effective(existing(directories[0]) if directories else Path(), file, overrides).search
    if suggest:
        return _suggest(" ".join(words), directories, settings, raw=raw)
    asked = Asked(query=" ".join(words), narrowed=_narrowed(only), **given)  # the other options are called as its fields
    others = remote_searchers(remotes, remote_token)
    if cluster:
        if weights:
            raise UsageError("--weight and --cluster: all agents count alike")
        named = {each.name for each in others}
        others += [each for each in _agents(directories, settings, remote_token) if each.name not in named]
    if len(directories) == 1 and not weights and not others:
        results = _of_one(directories[0], settings, asked, cluster=cluster)
    else:
        results = _of_several(directories, weights, settings, asked, others)
    first = asked.number * (asked.page - 1) + 1
    if raw:
        from larm.index.search.answer import answer_of

        click.echo(as_json(msgspec.to_builtins(answer_of(results, asked.page, first))))
        return int(not results.hits)
    from larm.cli.results import Style, facet_lines, lines

    style = Style.of_stdout(hyperlinks)
    for rank, hit in enumerate(results.hits, first):
        for line in lines(rank, hit, style, asked.explain):
            click.echo(line)
    for line in facet_lines(results.facets, style):
        click.echo(line)
    for sentence in _about(results, asked.page, first):
        say(sentence)
    return int(not results.hits)  # as grep does


def _narrowed(only: Sequence[str]) -> Narrowed:
    from larm.model.facets import Narrowed

    given = {name: value for name, _, value in (each.partition("=") for each in only)}
    if wrong := [name for name in given if name not in Narrowed.__struct_fields__ or not given[name]]:
        raise UsageError(f"--only {wrong[0]}: expected {_ONLY}")
    try:
        return msgspec.convert(given, Narrowed)
    except msgspec.ValidationError:
        raise UsageError(f"--only age={given['age']}: expected day, week, month or year") from None


def _suggest(typed: str, directories: Sequence[Path], settings: SearchSettings, *, raw: bool) -> int:
    from larm.building.searching import open_searcher
    from larm.index.search.suggesting import merged

    found = merged([open_searcher(existing(directory), settings).suggest(typed) for directory in directories])
    if raw:
        click.echo(as_json(msgspec.to_builtins(found)))
    else:
        for each in found:
            click.echo(printable(each.query))
    return int(not found)


def _agents(directories: Sequence[Path], settings: SearchSettings, remote_token: Path | None) -> list[Searcher]:
    from larm.peers.cluster import ClusterSearchers, roster_of

    if not any(roster_of(existing(directory)) for directory in directories):
        named = ", ".join(map(str, directories)) or "no directory"
        raise UsageError(f"--cluster: {named} has no part of a crawl by several agents (larm crawl --cluster NAME)")
    return ClusterSearchers(settings, remote_opener(remote_token)).of(directories)


def _of_one(directory: Path, settings: SearchSettings, asked: Asked, *, cluster: bool) -> Results:
    from larm.building.searching import open_searcher
    from larm.cluster.files import ROSTER
    from larm.crawldir.state import QUEUES
    from larm.index.search.coverage import shortfall
    from larm.index.search.links import DAMAGED
    from larm.kit.disk.files import is_there

    searcher = open_searcher(directory, settings)
    results = searcher.results(asked)
    missing = [shortfall(directory)]
    if not cluster and is_there(directory / QUEUES / ROSTER):
        from larm.cluster.roster import read_roster  # for who has a cluster

        roster = read_roster(directory / QUEUES)
        if roster is not None and roster.others:
            others = len(roster.others)
            missing.append(f"{others + 1} agents did this crawl, and this is what one of them has; --cluster searches all")
    notes = [f"{note}; {REPAIR}" if note.endswith(DAMAGED) else note for note in results.notes]
    return msgspec.structs.replace(results, notes=(*notes, *filter(None, missing)))


def _of_several(
    directories: Sequence[Path], weights: Sequence[float], settings: SearchSettings, asked: Asked, remotes: Sequence[Searcher]
) -> Results:
    """By the settings of the first one: scores of different settings can't be compared."""
    from larm.building.searching import several
    from larm.index.search.coverage import shortfall

    asked_there = len(directories) + len(remotes)
    if weights and len(weights) != asked_there:
        wanted = "one for each --dir, then one for each --remote" if remotes else "one for each --dir"
        raise UsageError(f"--weight: {len(weights)} for {asked_there} directories; give {wanted}, or none")
    results = several([existing(directory) for directory in directories], settings, weights, remotes).results(asked)
    if len(results.unanswered) == asked_there:
        raise StorageError("; ".join(results.unanswered))
    missing = [f"{directory}: {sentence}" for directory in directories if (sentence := shortfall(directory))]
    return msgspec.structs.replace(results, notes=(*results.notes, *missing))


def _about(results: Results, page: int, first: int) -> list[str]:
    """Where in the results we are, what is to be known of the query, and what to do next."""
    last = first + len(results.hits) - 1
    if not results.total:
        place = f"nothing found for {results.query}"
    elif not results.hits:
        place = f"{results.total:,} pages found, none of them on page {page}"
    else:
        more = f"; --page {page + 1} has more" if last < results.total else ""
        some = f"{results.complete or 'none'} of them with all the words, " if results.complete < results.total else ""
        least = "" if results.exact else "at least "
        found = "1 page" if results.total == 1 else f"{first:,} to {last:,} of {least}{results.total:,} pages"
        place = f"{found}, {some}{results.took:.3f} s{more}"
    said = [place, *results.unanswered, *results.notes]
    if results.instead:
        said.append(f"--as-typed has the pages for {results.query} as it is")
    if results.alike:
        pages = "1 page that says" if results.alike == 1 else f"{results.alike:,} pages that say"
        said.append(f"left out: {pages} nearly the same as one of these; --alike shows all")
    if results.suggestion:
        said.append(f"did you mean: {results.suggestion}")
    elif not results.total and not results.notes:
        said.append("fewer or other words may find something; 'larm stats' shows what was crawled")
    return said

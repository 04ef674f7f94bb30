"""``larm stats`` and ``larm report``: the numbers of a directory's crawl, running or not, as lines and as a page of HTML."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click
import msgspec

from larm.cli.options import LarmCommand, directory_option, existing
from larm.cli.terminal import Call, as_json, shown, with_call
from larm.errors import StorageError, UsageError
from larm.kit.counted import counted

if TYPE_CHECKING:
    from larm.engine.figures.reporter import SavedFigures
    from larm.engine.figures.snapshot import Snapshot

_STALE = 60.0
"""Seconds without new figures after which it is said that they are old: twelve ticks."""


@click.command(cls=LarmCommand)
@directory_option
@click.option("--json", "raw", is_flag=True, help="The whole file, for programs.")
@with_call
def stats(call: Call, /, *, directory: Path, raw: bool) -> None:
    """Numbers of this directory's crawl."""
    from larm.crawldir.form import refuse_other_form
    from larm.engine.figures.reporter import STATS, saved_figures
    from larm.kit.clock import SystemClock
    from larm.kit.disk.lock import is_held

    refuse_other_form(directory)
    saved = saved_figures(directory)
    if saved is None:
        raise UsageError(f"{directory}: no crawl here (no {STATS}); 'larm crawl URL' makes one, --dir names another")
    if raw:
        click.echo(as_json(msgspec.to_builtins(saved)))
        return
    lines = [
        *agent_rows(directory),
        *rows(saved, SystemClock().wall(), held=is_held(directory), verbose=call.verbose),
        *unsaid_rows(directory, saved),
        *graph_rows(directory, verbose=call.verbose),
    ]
    for name, value in lines:
        click.echo(shown(f"{name}: {value}"))


def agent_rows(directory: Path) -> list[tuple[str, object]]:
    """Whose figures these are, where several agents do the crawl, and where the others are."""
    from larm.cluster.files import ROSTER
    from larm.crawldir.state import QUEUES
    from larm.kit.disk.files import is_there

    if not is_there(directory / QUEUES / ROSTER):
        return []
    from larm.cluster.roster import place_of, read_roster

    try:
        roster = read_roster(directory / QUEUES)
    except StorageError as error:
        return [("cluster", error)]
    if roster is None:
        return []
    others = [
        f"{place_of(name, card)}" + (f" ({card.directory})" * bool(card.directory)) for name, card in roster.others.items()
    ]
    said = f"agent {roster.me} of {roster.cluster}; the figures are its own, but for those of all agents"
    return [("cluster", said), *(("another agent", each) for each in others)]


def rows(saved: SavedFigures, wall: float, *, held: bool, verbose: bool) -> list[tuple[str, object]]:
    """What is shown: the state and the speed; with -v every figure by the name that Scrapy has for it, and each thread.

    ``held``: a process has the directory's lock, without which no crawl runs."""
    from larm.engine.figures.rates import duration, size
    from larm.ops.outcome import cluster_line, errors_of, how

    now = saved.figures
    age = wall - saved.written if saved.written else 0.0
    state, running = how(saved.finish_reason) or saved.state, saved.state == "running"
    if running and not held:
        state = "not running any more (ended without a word; the same command continues it)"
    elif running and age > _STALE:
        state = "running, but without new figures (it hangs, was stopped, or another command has its directory)"
    shown: list[tuple[str, object]] = [
        ("state", state),
        ("figures from", f"{duration(max(age, 0))} ago"),
        ("running time", duration(now.elapsed)),
        ("pages", f"{now.pages:,} ({now.pages_run:,} in the last run)"),
        ("received", size(now.received)),
        ("queued", f"{now.queued:,}"),
        ("hosts", f"{now.hosts_known:,} ({now.hosts_given_up:,} given up)"),
        ("all agents", cluster_line(now.cluster) if now.cluster else ""),
        ("speed", f"{saved.pages_per_second:.1f} pages/s, {size(saved.bytes_per_second)}/s" if running and held else ""),
        ("limited by", saved.limited_by if running and held else ""),
        ("errors", errors_of(now.counters)),
        ("dropped", ", ".join(f"{count:,} by {name}" for name, count in now.filtered.items() if count)),
    ]
    shown = [row for row in shown if row[1] != ""] + list(saved.stats.items() if verbose else ())
    shown += [("at its end", each.text) for each in saved.said]
    return shown + (_details(now) if verbose else [])


def unsaid_rows(directory: Path, saved: SavedFigures) -> list[tuple[str, object]]:
    """What is held back, as it may be a trap, and what is missing of pages, unless it was said at the end."""
    from larm.model.cuts import was_cut
    from larm.ops.left_out import cut_numbers, held_back, notes_of

    if saved.said:
        return []
    now = saved.figures
    rows: list[tuple[str, object]] = [("left", each.text) for each in notes_of(held_back(now.left, now.held_back, now.growing))]
    try:
        cut = notes_of([("cut", cut_numbers(directory))]) if was_cut(saved.stats) else []
        return rows + [("cut", each.text) for each in cut]
    except StorageError as error:
        return [*rows, ("cut", error)]


def _details(now: Snapshot) -> list[tuple[str, object]]:
    """Patterns that are held back, where the processor time of the last run went, and each thread."""
    shown: list[tuple[str, object]] = []
    for host in now.left:
        shown += [(f"left at {host.host}", f"{each.urls:,} of {each.pattern} ({each.state})") for each in host.patterns]
        shown += [(f"left at {host.host}", f"parameter {name} does not change the page") for name in host.empty_parameters]
    total = sum(now.cpu.values())
    each_page = f", {total / now.pages_run * 1000:.2f} ms a page" if now.pages_run else ""
    shown.append(("CPU of the last run", f"{total:.2f} s{each_page}"))
    shown += [(f"CPU {name}", f"{seconds:.2f} s ({seconds / total:.0%})") for name, seconds in now.cpu.items() if total]
    return shown + [(each.name, f"{each.state} {each.info} {each.tasks:,} tasks") for each in now.threads]


def graph_rows(directory: Path, *, verbose: bool) -> list[tuple[str, object]]:
    """What is shown of the link graph, where there is one; with -v the pages that rank highest."""
    from larm.crawldir.state import GRAPH
    from larm.graph.reader import open_graph
    from larm.index.search.coverage import shortfall

    try:
        missing: list[tuple[str, object]] = [("not complete", sentence)] if (sentence := shortfall(directory)) else []
        graph = open_graph(directory / GRAPH)
        if graph is None:
            return missing
        known = f"{graph.pages:,} pages, {graph.nodes - graph.pages:,} that were not fetched"
        links = f"{graph.links:,}; {counted(graph.dangling, 'page')} without"
        best = [(f"rank {rank:.2f}", url) for url, rank in graph.top(10)] if verbose else []
    except StorageError as error:
        return [("link graph", error)]
    return [("link graph", known), ("links", links), *missing, *best]


@click.command(cls=LarmCommand)
@click.argument("where", required=False, metavar="[DIR]", type=click.Path(path_type=Path, file_okay=False))
@click.option("--changes", is_flag=True, help="In its place lines of text: what the last run found new, changed or gone.")
@directory_option
def report(*, where: Path | None, changes: bool, directory: Path) -> None:
    """One page of HTML about the crawl, on stdout.

    Such as: larm report DIR > report.html. Curves over time; what the last run changed; sites, answers, errors by cause,
    types, sizes, depth, languages, what was slowest and largest.
    """
    from larm.kit.printable import harmless

    found = existing(where or directory)
    if changes:
        from larm.ops.report import changes_of

        for change in changes_of(found):
            click.echo(harmless(f"{change.what}\t{change.url}"))
        return
    from larm.ops.report import report_of
    from larm.store.reader import LeftOut
    from larm.web.report_page import page

    left_out = LeftOut()
    click.echo(harmless(page(report_of(found, left_out))))
    left_out.refuse()

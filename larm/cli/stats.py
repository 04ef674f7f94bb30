"""``larm stats``: the numbers of a directory's crawl, running or not, from the file that its reporter writes every tick."""

import json
from pathlib import Path
from typing import Any

import click
import msgspec

from larm.cli.call import Call, with_call
from larm.cli.options import LarmCommand, directory_option
from larm.cli.terminal import as_json, shown
from larm.errors import StorageError, UsageError
from larm.kit.counted import counted
from larm.kit.disk.disk_failure import disk_failure

_STALE = 60.0
"""Seconds without new figures after which it is said that they are old: twelve ticks."""


@click.command(cls=LarmCommand)
@directory_option
@click.option("--json", "raw", is_flag=True, help="The whole file, for programs.")
@with_call
def stats(call: Call, /, *, directory: Path, raw: bool) -> None:
    """Numbers of this directory's crawl."""
    from larm.crawldir.form import refuse_other_form
    from larm.kit.clock import SystemClock
    from larm.kit.disk.lock import is_held

    refuse_other_form(directory)
    report = read_stats(directory)
    if raw:
        click.echo(as_json(report))
        return
    lines = [
        *agent_rows(directory),
        *rows(report, SystemClock().wall(), held=is_held(directory), verbose=call.verbose),
        *graph_rows(directory, verbose=call.verbose),
        *cut_rows(directory, report),
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


def cut_rows(directory: Path, report: dict[str, Any]) -> list[tuple[str, object]]:
    """What is missing of pages, if anything is, and it was not said at the end."""
    from larm.model.cuts import was_cut

    if report.get("said") or not was_cut(report.get("stats", {})):
        return []
    from larm.ops.left_out import cut_sentence

    try:
        said: object = cut_sentence(directory)
    except StorageError as error:
        said = error
    return [("cut", said)] if said else []


def cpu_rows(stages: dict[str, float], pages: int) -> list[tuple[str, object]]:
    """Where the processor time of the last run went."""
    total = sum(stages.values())
    each = f", {total / pages * 1000:.2f} ms a page" if pages else ""
    rows: list[tuple[str, object]] = [("CPU of the last run", f"{total:.2f} s{each}")]
    return rows + [(f"CPU {name}", f"{seconds:.2f} s ({seconds / total:.0%})") for name, seconds in stages.items() if total]


def read_stats(directory: Path) -> dict[str, Any]:
    """stats.json of a crawl. Raises UsageError where there is none, StorageError where it can't be read."""
    from larm.engine.figures.reporter import STATS

    path = directory / STATS
    try:
        report = json.loads(path.read_bytes())
        if not isinstance(report, dict):
            raise ValueError("not an object")
    except FileNotFoundError as error:
        raise UsageError(f"{directory}: no crawl here (no {STATS}); 'larm crawl URL' makes one, --dir names another") from error
    except OSError as error:
        raise disk_failure(path, error) from error
    except ValueError as error:
        raise StorageError(f"{path}: can't read the figures: {error}") from error
    return report


def rows(report: dict[str, Any], wall: float, *, held: bool, verbose: bool) -> list[tuple[str, object]]:
    """What is shown: the state and the speed; with -v every figure by the name that Scrapy has for it, and each thread.

    ``held``: a process has the directory's lock, without which no crawl runs."""
    from larm.engine.figures.rates import duration, size
    from larm.ops.outcome import errors_of, how

    figures = report.get("figures", {})
    age = wall - report.get("written", wall)
    state = how(report.get("finish_reason", "")) or report.get("state", "")
    running = report.get("state") == "running"
    if running and not held:
        state = "not running any more (ended without a word; the same command continues it)"
    elif running and age > _STALE:
        state = "running, but without new figures (it hangs, was stopped, or another command has its directory)"
    shown: list[tuple[str, object]] = [
        ("state", state),
        ("figures from", f"{duration(max(age, 0))} ago"),
        ("running time", duration(figures.get("elapsed", 0))),
        ("pages", f"{figures.get('pages', 0):,} ({figures.get('pages_run', 0):,} in the last run)"),
        ("received", size(figures.get("received", 0))),
        ("queued", f"{figures.get('incoming', 0) + figures.get('waiting', 0):,}"),
        ("hosts", f"{figures.get('hosts_known', 0):,} ({figures.get('hosts_given_up', 0):,} given up)"),
    ]
    if figures.get("cluster"):
        from larm.engine.figures.snapshot import ClusterFigures
        from larm.ops.cluster_line import cluster_line

        shown.append(("all agents", cluster_line(msgspec.convert(figures["cluster"], ClusterFigures))))
    if running and held:
        rate = f"{report.get('pages_per_second', 0):.1f} pages/s, {size(report.get('bytes_per_second', 0))}/s"
        shown += [("speed", rate), ("limited by", report.get("limited_by", ""))]
    dropped = ", ".join(f"{count:,} by {name}" for name, count in figures.get("filtered", {}).items() if count)
    shown += [(name, said) for name, said in (("errors", errors_of(figures.get("counters", {}))), ("dropped", dropped)) if said]
    if verbose:
        shown += report.get("stats", {}).items()
    shown += [("at its end", sentence) for sentence in report.get("said", ())]
    shown += _left(figures, said=bool(report.get("said")), verbose=verbose)
    if verbose:
        shown += cpu_rows(figures.get("cpu", {}), figures.get("pages_run", 0))
        for thread in figures.get("threads", ()):
            shown.append((thread["name"], f"{thread['state']} {thread['info']} {thread['tasks']:,} tasks"))
    return shown


def _left(figures: dict[str, Any], *, said: bool, verbose: bool) -> list[tuple[str, object]]:
    """What is held back, as it may be a trap, unless it was ``said``; with -v a line for each pattern."""
    from larm.model.left import HostLeft, growing, sentences

    left = msgspec.convert(figures.get("left", []), list[HostLeft])
    shown: list[tuple[str, object]] = []
    if not said:
        sentence = growing(figures.get("growing", []))
        shown += [("left", each) for each in (*sentences(left, figures.get("held_back", 0)), sentence) if each]
    if verbose:
        for host in left:
            shown += [(f"left at {host.host}", f"{each.urls:,} of {each.pattern} ({each.state})") for each in host.patterns]
            shown += [(f"left at {host.host}", f"parameter {name} does not change the page") for name in host.empty_parameters]
    return shown


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

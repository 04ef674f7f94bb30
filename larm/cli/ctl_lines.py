"""What a running crawl answers, as lines for a person; used by ``larm ctl``."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from larm.cli.terminal import shown
from larm.engine.figures.rates import duration, size
from larm.kit.counted import counted
from larm.kit.printable import harmless, printable
from larm.ops.display import details
from larm.ops.outcome import cluster_line

if TYPE_CHECKING:
    from larm.ops.control.requests import Fetches, HostTable, Lines, Report


def topic_rows(rows: Sequence[tuple[str, object]]) -> list[str]:
    """Topics in a column, and what is said of them."""
    width = max((len(topic) for topic, _ in rows), default=0)
    return [f"{printable(topic):<{width}}  {shown(str(value))}" for topic, value in rows]


def report_rows(report: Report, *, verbose: bool) -> list[tuple[str, object]]:
    """What `larm ctl status` shows."""

    now = report.figures
    rows: list[tuple[str, object]] = [
        ("state", f"{report.state}, for {duration(now.elapsed)}, process {report.pid}"),
        ("pages", f"{now.pages_run:,} in this run, {now.pages:,} in all, {counted(now.errors, 'error')}"),
        ("speed", f"{report.pages_per_second:.1f} pages/s, {size(report.bytes_per_second)}/s"),
        ("queued", f"{now.queued:,}, {now.in_flight:,} in the air"),
        ("hosts", f"{now.hosts_known:,} known, {now.hosts_queued:,} with URLs, {now.hosts_given_up:,} given up"),
        ("limited by", report.limited_by),
        *([("all agents", cluster_line(now.cluster))] if now.cluster is not None else []),
        *(("set", f"{key} = {value}") for key, value in report.changes.items()),
        *(("stalled", f"{each.thread}: {each.doing} for {duration(each.seconds)}") for each in now.stalled),
        *(("waits for", each) for each in report.waits),
    ]
    return rows + [("", line) for line in details(now)] if verbose else rows


def report_line(report: Report) -> str:
    """A line of `larm ctl watch`."""

    now = report.figures
    pages = f"{counted(now.pages, 'page')} ({report.pages_per_second:.1f}/s), {counted(now.errors, 'error')}"
    queue = f"{now.queued:,} queued, {now.in_flight:,} in the air"
    return shown(f"{duration(now.elapsed)}  {report.state}: {pages}, {queue}; limited by {report.limited_by}")


def host_lines(table: HostTable, *, verbose: bool) -> list[str]:
    """What `larm ctl hosts` shows."""
    width = max((len(each.host) for each in table.hosts), default=4)
    lines = [f"{'host':<{width}}  {'state':<11}{'queued':>10}{'air':>5}{'next s':>9}{'delay s':>9}{'health':>8}  robots.txt"]
    for each in table.hosts:
        lines.append(
            f"{printable(each.host):<{width}}  {each.state:<11}{each.queued:>10,}{each.in_flight:>5}{each.next:>9.1f}"
            f"{each.delay:>9.1f}{each.health:>8}  {each.robots}"
        )
        if verbose and each.held:
            lines.append(f"{'':<{width}}  holds back {each.held:,}: {printable(', '.join(each.closed))}")
    resting = f"; {table.resting:,} others were not used for long: name them to see them" if table.resting else ""
    return [*lines, f"page {table.page} of {table.pages}; {table.found:,} hosts of {table.known:,}{resting}"]


def fetch_lines(fetches: Fetches) -> list[str]:
    """What `larm ctl pages` and `errors` show."""

    return [
        f"{datetime.fromtimestamp(each.at):%H:%M:%S}  {each.status or '---'}  {each.seconds * 1000:>6.0f} ms  "
        f"{size(each.received):>11}  {printable(each.url)}" + (f"  {printable(each.error)}" if each.error else "")
        for each in fetches.fetches
    ]


def log_lines(lines: Lines) -> list[str]:
    """What `larm ctl tail` shows."""
    return [harmless(line) for line in lines.lines] if lines.log else list(lines.logs)

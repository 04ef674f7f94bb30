"""``larm ctl``: talk to a crawl that runs, by the socket in its directory. One request, one answer, as text or as JSON."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import datetime
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import click
import msgspec

from larm.building.start_urls import read_starts
from larm.cli.options import CONTEXT, Function, LarmGroup, directory_option, key_and_value
from larm.cli.terminal import Call, as_json, complain, shown, topic_rows, with_call
from larm.engine.figures.rates import duration, size
from larm.engine.orders import Add, AnyOrder, Block, Done, Pause, Reopen, Resume, Set, Unblock
from larm.kit.counted import counted
from larm.kit.printable import harmless, printable
from larm.model.url import URLNormalizer
from larm.ops.control.requests import Checkpoint, Do, Errors, Hosts, Pages, Request, Status, Stop, Tail, Watch, Why
from larm.ops.display import details
from larm.ops.outcome import cluster_line

if TYPE_CHECKING:
    from larm.ops.control.requests import Fetches, HostTable, Lines, Report

A = TypeVar("A")


@click.group("ctl", cls=LarmGroup, context_settings=CONTEXT)
def ctl() -> None:
    """Look at a crawl that runs, and steer it.

    Such as: larm ctl status --dir DIR
    """


class Talk(NamedTuple):
    """With the crawl of a directory; what it answers is shown."""

    directory: Path
    json: bool
    verbose: bool

    def ask(self, request: Request[A], lines: Callable[[A], Iterable[str]]) -> A:
        """One request, one answer."""
        from larm.ops.control.client import Control

        with Control(self.directory) as crawl:
            answer = crawl.ask(request)
        for line in [as_json(msgspec.to_builtins(answer))] if self.json else lines(answer):
            click.echo(line)
        return answer

    def order(self, order: AnyOrder) -> Done:
        """Have it do something."""
        return self.ask(Do(order), _says)

    def stream(self, request: Request[A], lines: Callable[[A], Iterable[str]]) -> None:
        """One request, answers until it ends."""
        from larm.ops.control.client import Control

        with Control(self.directory) as crawl:
            for answer in crawl.stream(request):
                for line in [as_json(msgspec.to_builtins(answer)).replace("\n", " ")] if self.json else lines(answer):
                    click.echo(line)


def _says(done: Done) -> list[str]:
    return [shown(done.says)]


def _talking(command: Function) -> Any:
    """``--dir`` and ``--json``, of all requests: the command gets its `Talk`."""

    @wraps(command)
    @with_call
    def begun(call: Call, /, *, directory: Path, json: bool, **given: Any) -> Any:
        return command(Talk(directory, json, call.verbose), **given)

    as_json_text = "The answer as JSON; of a stream, one line each."
    return directory_option(click.option("--json", "json", is_flag=True, help=as_json_text)(begun))


@ctl.command()
@_talking
def status(talk: Talk) -> None:
    """How it stands now."""
    talk.ask(Status(), lambda report: topic_rows(report_rows(report, verbose=talk.verbose)))


@ctl.command()
@_talking
def watch(talk: Talk) -> None:
    """A line every second, until the crawl ends or Ctrl-C."""
    talk.stream(Watch(), lambda report: [report_line(report)])


@ctl.command()
@click.option("--sort", default="queued", metavar="FIELD", help="Such as queued (default), held, next, health, host, state.")
@click.option("--page", type=int, default=1, metavar="N", help="Which page of the table.")
@click.option("--size", type=int, default=50, metavar="N", help="Hosts of a page, at most 1,000.")
@click.option("--having", default="", metavar="TEXT", help="Only hosts with this text in their names.")
@_talking
def hosts(talk: Talk, **asked: Any) -> None:
    """Its hosts: queue, state, delay, health, robots.txt; with -v what they hold back, by which patterns."""
    talk.ask(Hosts(**asked), lambda table: host_lines(table, verbose=talk.verbose))


@ctl.command()
@click.argument("count", type=int, default=20)
@_talking
def pages(talk: Talk, *, count: int) -> None:
    """The last pages, the newest first."""
    talk.ask(Pages(count), fetch_lines)


@ctl.command()
@click.argument("count", type=int, default=20)
@_talking
def errors(talk: Talk, *, count: int) -> None:
    """The last fetches that failed, the newest first."""
    talk.ask(Errors(count), fetch_lines)


@ctl.command()
@click.argument("log", default="")
@click.option("-n", "--lines", type=int, default=20, metavar="N", help="So many lines.")
@click.option("-f", "--follow", is_flag=True, help="Go on with what is added.")
@_talking
def tail(talk: Talk, *, log: str, lines: int, follow: bool) -> None:
    """The last lines of a log, by its name in logs/ without .log; without a name, which logs there are."""
    request = Tail(log, lines, follow and bool(log))
    if request.follow:
        talk.stream(request, log_lines)
    else:
        talk.ask(request, log_lines)


@ctl.command()
@click.argument("url")
@_talking
def why(talk: Talk, *, url: str) -> None:
    """What it thinks of URL at this moment; larm why also says what became of it."""
    talk.ask(Why(url), lambda found: topic_rows(found.rows))


@ctl.command()
@_talking
def pause(talk: Talk) -> None:
    """Ask for nothing more; what is in the air lands."""
    talk.order(Pause())


@ctl.command()
@_talking
def resume(talk: Talk) -> None:
    """Go on after a pause."""
    talk.order(Resume())


@ctl.command()
@_talking
def stop(talk: Talk) -> None:
    """End it in good order, as Ctrl-C does."""
    talk.ask(Stop(), _says)


@ctl.command()
@_talking
def checkpoint(talk: Talk) -> None:
    """Save all of it now; returns when it is on the disk."""
    talk.ask(Checkpoint(), _says)


@ctl.command()
@click.argument("urls", nargs=-1, required=True, metavar="URL|@FILE...")
@_talking
def add(talk: Talk, *, urls: tuple[str, ...]) -> int:
    """Add URLs to the crawl; they pass all its filters. @FILE has one a line."""
    starts = read_starts(urls, URLNormalizer(files=True).parse, source="add")
    for mistake in starts.mistakes:
        complain(mistake)
    done = talk.order(Add(tuple(starts.urls)))
    for refused in done.refused:
        complain(f"{refused.url}: {refused.why}")
    return 2 if done.refused or starts.mistakes else 0


@ctl.command("set")
@click.argument("setting", metavar="KEY=VALUE")
@_talking
def set_(talk: Talk, *, setting: str) -> None:
    """Change a setting while it runs, such as frontier.delay=2s; a wrong one says which can be changed."""
    talk.order(Set(*key_and_value(setting)))


@ctl.command()
@click.argument("host")
@_talking
def block(talk: Talk, *, host: str) -> None:
    """Do not ask HOST any more, in this and later runs; what waits there stays."""
    talk.order(Block(host))


@ctl.command()
@click.argument("host")
@_talking
def unblock(talk: Talk, *, host: str) -> None:
    """Ask HOST again."""
    talk.order(Unblock(host))


@ctl.command()
@click.argument("pattern")
@click.option("--host", default="", metavar="HOST", help="Only there; default: at all hosts that hold something back by it.")
@_talking
def reopen(talk: Talk, *, pattern: str, host: str) -> None:
    """Ask for what PATTERN holds back as it looked like a trap; 'larm ctl hosts -v' lists the patterns."""
    talk.order(Reopen(pattern, host))


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

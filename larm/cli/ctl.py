"""``larm ctl``: talk to a crawl that runs, by the socket in its directory. One request, one answer, as text or as JSON."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from larm.cli.ctl_lines import fetch_lines, host_lines, log_lines, report_line, report_rows, topic_rows
from larm.cli.options import CONTEXT, Function, LarmCommand, LarmGroup, directory_option, verbose_option
from larm.cli.terminal import as_json, complain
from larm.errors import UsageError

if TYPE_CHECKING:
    from larm.control.requests import Request
    from larm.river.orders import AnyOrder, Done

A = TypeVar("A")


@click.group("ctl", cls=LarmGroup, context_settings=CONTEXT)
def ctl() -> None:
    """Look at a crawl that runs, and steer it.

    Such as: larm ctl status --dir DIR
    """


def _options(command: Function) -> Function:
    """Of all requests."""
    as_json_text = "The answer as JSON; of a stream, one line each."
    command = click.option("--json", "json", is_flag=True, help=as_json_text)(command)
    return directory_option(verbose_option(command))


@ctl.command(cls=LarmCommand)
@_options
def status(*, directory: Path, json: bool, verbose: bool) -> None:
    """How it stands now."""
    from larm.control.requests import Status

    _show(_ask(directory, Status()), lambda report: topic_rows(report_rows(report, verbose=verbose)), json=json)


@ctl.command(cls=LarmCommand)
@_options
def watch(*, directory: Path, json: bool, verbose: bool) -> None:  # noqa: ARG001
    """A line every second, until the crawl ends or Ctrl-C."""
    from larm.control.requests import Watch

    _stream(directory, Watch(), lambda report: [report_line(report)], json=json)


@ctl.command(cls=LarmCommand)
@click.option("--sort", default="queued", metavar="FIELD", help="Such as queued (default), held, next, health, host, state.")
@click.option("--page", type=int, default=1, metavar="N", help="Which page of the table.")
@click.option("--size", type=int, default=50, metavar="N", help="Hosts of a page, at most 1,000.")
@click.option("--having", default="", metavar="TEXT", help="Only hosts with this text in their names.")
@_options
def hosts(*, directory: Path, json: bool, verbose: bool, **asked: Any) -> None:
    """Its hosts: queue, state, delay, health, robots.txt; with -v what they hold back, by which patterns."""
    from larm.control.requests import Hosts

    _show(_ask(directory, Hosts(**asked)), lambda table: host_lines(table, verbose=verbose), json=json)


@ctl.command(cls=LarmCommand)
@click.argument("count", type=int, default=20)
@_options
def pages(*, count: int, directory: Path, json: bool, verbose: bool) -> None:  # noqa: ARG001
    """The last pages, the newest first."""
    from larm.control.requests import Pages

    _show(_ask(directory, Pages(count)), fetch_lines, json=json)


@ctl.command(cls=LarmCommand)
@click.argument("count", type=int, default=20)
@_options
def errors(*, count: int, directory: Path, json: bool, verbose: bool) -> None:  # noqa: ARG001
    """The last fetches that failed, the newest first."""
    from larm.control.requests import Errors

    _show(_ask(directory, Errors(count)), fetch_lines, json=json)


@ctl.command(cls=LarmCommand)
@click.argument("log", default="")
@click.option("-n", "--lines", type=int, default=20, metavar="N", help="So many lines.")
@click.option("-f", "--follow", is_flag=True, help="Go on with what is added.")
@_options
def tail(*, log: str, lines: int, follow: bool, directory: Path, json: bool, verbose: bool) -> None:  # noqa: ARG001
    """The last lines of a log, by its name in logs/ without .log; without a name, which logs there are."""
    from larm.control.requests import Tail

    request = Tail(log, lines, follow and bool(log))
    if request.follow:
        _stream(directory, request, log_lines, json=json)
    else:
        _show(_ask(directory, request), log_lines, json=json)


@ctl.command(cls=LarmCommand)
@click.argument("url")
@_options
def why(*, url: str, directory: Path, json: bool, verbose: bool) -> None:  # noqa: ARG001
    """What it thinks of URL at this moment; larm why also says what became of it."""
    from larm.control.requests import Why

    _show(_ask(directory, Why(url)), lambda found: topic_rows(found.rows), json=json)


@ctl.command(cls=LarmCommand)
@_options
def pause(*, directory: Path, json: bool, verbose: bool) -> None:  # noqa: ARG001
    """Ask for nothing more; what is in the air lands."""
    from larm.river.orders import Pause

    _order(directory, Pause(), json=json)


@ctl.command(cls=LarmCommand)
@_options
def resume(*, directory: Path, json: bool, verbose: bool) -> None:  # noqa: ARG001
    """Go on after a pause."""
    from larm.river.orders import Resume

    _order(directory, Resume(), json=json)


@ctl.command(cls=LarmCommand)
@_options
def stop(*, directory: Path, json: bool, verbose: bool) -> None:  # noqa: ARG001
    """End it in good order, as Ctrl-C does."""
    from larm.control.requests import Stop

    _show(_ask(directory, Stop()), lambda done: [done.says], json=json)


@ctl.command(cls=LarmCommand)
@_options
def checkpoint(*, directory: Path, json: bool, verbose: bool) -> None:  # noqa: ARG001
    """Save all of it now; returns when it is on the disk."""
    from larm.control.requests import Checkpoint

    _show(_ask(directory, Checkpoint()), lambda done: [done.says], json=json)


@ctl.command(cls=LarmCommand)
@click.argument("urls", nargs=-1, required=True, metavar="URL|@FILE...")
@_options
def add(*, urls: tuple[str, ...], directory: Path, json: bool, verbose: bool) -> int:  # noqa: ARG001
    """Add URLs to the crawl; they pass all its filters. @FILE has one a line."""
    from larm.building.start_urls import read_starts
    from larm.model.url import URLNormalizer
    from larm.river.orders import Add

    starts = read_starts(urls, URLNormalizer(files=True).parse, source="add")
    for mistake in starts.mistakes:
        complain(mistake)
    done = _order(directory, Add(tuple(starts.urls)), json=json)
    for refused in done.refused:
        complain(f"{refused.url}: {refused.why}")
    return 2 if done.refused or starts.mistakes else 0


@ctl.command("set", cls=LarmCommand)
@click.argument("setting", metavar="KEY=VALUE")
@_options
def set_(*, setting: str, directory: Path, json: bool, verbose: bool) -> None:  # noqa: ARG001
    """Change a setting while it runs, such as frontier.delay=2s; a wrong one says which can be changed."""
    from larm.river.orders import Set

    key, equals, value = setting.partition("=")
    if not equals:
        raise UsageError(f"{setting}: expected KEY=VALUE")
    _order(directory, Set(key.strip(), value.strip()), json=json)


@ctl.command(cls=LarmCommand)
@click.argument("host")
@_options
def block(*, host: str, directory: Path, json: bool, verbose: bool) -> None:  # noqa: ARG001
    """Do not ask HOST any more, in this and later runs; what waits there stays."""
    from larm.river.orders import Block

    _order(directory, Block(host), json=json)


@ctl.command(cls=LarmCommand)
@click.argument("host")
@_options
def unblock(*, host: str, directory: Path, json: bool, verbose: bool) -> None:  # noqa: ARG001
    """Ask HOST again."""
    from larm.river.orders import Unblock

    _order(directory, Unblock(host), json=json)


@ctl.command(cls=LarmCommand)
@click.argument("pattern")
@click.option("--host", default="", metavar="HOST", help="Only there; default: at all hosts that hold something back by it.")
@_options
def reopen(*, pattern: str, host: str, directory: Path, json: bool, verbose: bool) -> None:  # noqa: ARG001
    """Ask for what PATTERN holds back as it looked like a trap; 'larm ctl hosts -v' lists the patterns."""
    from larm.river.orders import Reopen

    _order(directory, Reopen(pattern, host), json=json)


# -- the talk


def _ask(directory: Path, request: Request[A]) -> A:
    from larm.control.client import Control

    with Control(directory) as crawl:
        return crawl.ask(request)


def _order(directory: Path, order: AnyOrder, *, json: bool) -> Done:
    from larm.control.requests import Do

    done = _ask(directory, Do(order))
    _show(done, lambda done: [done.says], json=json)
    return done


def _show(answer: A, lines: Callable[[A], Iterable[str]], *, json: bool) -> None:
    if json:
        click.echo(as_json(_plain(answer)))
        return
    for line in lines(answer):
        click.echo(line)


def _stream(directory: Path, request: Request[A], lines: Callable[[A], Iterable[str]], *, json: bool) -> None:
    from larm.control.client import Control

    with Control(directory) as crawl:
        for answer in crawl.stream(request):
            for line in [" ".join(as_json(_plain(answer)).split("\n"))] if json else lines(answer):
                click.echo(line)


def _plain(answer: object) -> Any:
    import msgspec

    return msgspec.to_builtins(answer)

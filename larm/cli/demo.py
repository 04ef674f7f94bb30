"""``larm demo``: a small web is served on loopback, crawled and searched, with the commands that a person would type.

Each command runs in a process of its own, exactly as it is printed, so the demo can't do what the program can't.
"""

import shlex
import shutil
import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from types import FrameType

import click

from larm.cli.options import LarmCommand, directory_option
from larm.cli.signals import INTERRUPTED
from larm.cli.terminal import Call, say, with_call
from larm.errors import LarmError, UsageError

DIRECTORY = Path("larm-demo")


@click.command(cls=LarmCommand)
@directory_option
@click.option("--serve", "served", is_flag=True, help="Then show the search page, until Ctrl-C.")
@with_call
def demo(call: Call, /, *, directory: Path, served: bool) -> int:
    """Crawl and search a small web that comes with larm. The first command of a newcomer."""
    from larm.testing.demo_web import serve_demo

    directory = DIRECTORY if directory == Path() else directory
    if _is_another_crawl(directory):  # the demo starts over each time
        raise UsageError(f"{directory} has a crawl that is not the demo's; use another directory")
    with serve_demo() as web:
        say(f"serving a small web of several hosts on 127.0.0.1, port {web.port}, while this runs")
        scope = rf"http://[^/]+\.localhost:{web.port}/.*"
        start = web.start_urls[0]  # all other hosts are reached from it
        crawl = ["crawl", "-start", start, "-restrictto", scope, "--delay", "0.1", "--fresh", "--dir", str(directory)]
        status = _larm([*crawl, "-v"] if call.verbose else crawl)
        if served and not status:  # while its pages are served as well: results can be clicked
            return _searches(directory) or _larm(["serve", str(directory), "--port", "0", "--open"])
    if status:
        return status
    return _searches(directory) or _say_what_is_next(directory, start)


def _searches(directory: Path) -> int:
    """The exit status of the first that fails, or 0."""
    from larm.testing.demo_web import SEARCHES

    found = (_larm(["search", *words.split(), "-n", "3", "--dir", str(directory)]) for words in SEARCHES[:2])
    return next((status for status in found if status), 0)


def _say_what_is_next(directory: Path, start: str) -> int:
    from larm.testing.demo_web import SEARCHES

    other = ", ".join(SEARCHES[2:5])
    click.echo(_NEXT.format(larm=_program(), directory=shlex.quote(str(directory)), start=start, other=other))
    return 0


def _is_another_crawl(directory: Path) -> bool:
    """Of somebody who would miss it."""
    from larm.crawldir.state import QUEUES
    from larm.store.reader import StoreLog
    from larm.testing.demo_web import HOSTS

    if not (directory / QUEUES).exists():
        return False
    try:
        first = next(iter(StoreLog(directory)), None)
    except LarmError:
        return True
    return first is not None and not first.url.startswith(tuple(f"http://{name}.localhost:" for name in HOSTS))


_NEXT = """
What to do next:
  {larm} search WORDS --dir {directory}      such as: {other}
  {larm} serve {directory}                   the same in a browser; larm demo --serve does both
  {larm} why {start} --dir {directory}
  {larm} stats --dir {directory}             the numbers of this crawl; its logs are in {directory}/logs
With a site of your own, in a directory of its own:
  {larm} crawl -start https://www.example.org/ --max-pages 1000 --dir example -s agent.contact=you@example.org
  {larm} search WORDS --dir example"""


def _larm(arguments: Sequence[str]) -> int:
    """Print the command, run it, give its status. Ctrl-C is for the command: it stops in good order, and we wait for that."""

    def leave_it_to_the_command(_signal: int, _frame: FrameType | None) -> None:
        return

    import subprocess  # here: each command would pay for it

    click.echo(f"\n$ {_program()} {shlex.join(arguments)}")
    sys.stdout.flush()
    before = signal.signal(signal.SIGINT, leave_it_to_the_command)  # a handler, unlike "ignore", is not inherited
    try:
        status = subprocess.run([sys.executable, "-m", "larm", *arguments], check=False).returncode  # noqa: S603 - our own words
    finally:
        signal.signal(signal.SIGINT, before)
    return status if status >= 0 else INTERRUPTED


def _program() -> str:
    """``larm``, where a shell finds it."""
    return "larm" if shutil.which("larm") else f"{shlex.quote(sys.executable)} -m larm"

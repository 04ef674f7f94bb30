"""Crawls: what is known of the crawl of a directory, running or not, and how a running one is asked. On threads.

A running crawl is asked by its control socket; of one that does not run its last figures are read. Whoever dies, the other goes
on.
"""

from collections import Counter
from typing import Any, TypeVar

import msgspec

from larm.config import CONFIG_FILE
from larm.crawldir.state import LOGS
from larm.engine.figures.notes import Note
from larm.engine.figures.reporter import LOG, SavedFigures, saved_figures
from larm.errors import LarmError, StorageError
from larm.kit.disk.files import is_there
from larm.model.seen import Seen
from larm.ops.control.client import Control, NotRunning
from larm.ops.control.requests import Errors, Pages, Request, Standing, Status
from larm.ops.history import Step, history, steps
from larm.ops.outcome import how
from larm.web.directories import Served

_PATIENCE = 5.0
"""Seconds for an answer; a crawl answers within milliseconds, whatever it does."""
_LAST = 10
"""Pages, errors and causes that are shown."""
_COUNTED = 500
"""Errors that are counted by their causes."""
A = TypeVar("A")


class Crawl(Standing, frozen=True, kw_only=True):
    """How the crawl of a directory stands; where it does not run, its state is why it ended."""

    name: str
    runs: bool = False
    can_start: bool = False
    """It does not run, and there is something to run: a configuration, or a crawl to go on with."""
    said: str = ""
    """What is wrong with the directory; empty: nothing."""
    left_out: tuple[Note, ...] = ()
    """What was said at the end of the last run."""


class Lately(msgspec.Struct, frozen=True):
    """What a running crawl did last, the newest first."""

    pages: tuple[Seen, ...]
    errors: tuple[Seen, ...]
    causes: tuple[tuple[str, int], ...] = ()
    """What went wrong with the last 500 that failed, and how often, the most frequent first."""


def ask(served: Served, request: Request[A]) -> A:
    """One question. Raises NotRunning; UsageError for what the crawl refuses; StorageError, StageError."""
    with Control(served.path, timeout=_PATIENCE) as crawl:
        return crawl.ask(request)


def crawl_of(served: Served) -> Crawl:
    """Raises nothing."""
    try:
        report = ask(served, Status())
        return Crawl(name=served.name, runs=True, **{field: getattr(report, field) for field in Standing.__struct_fields__})
    except NotRunning:
        return _of_saved(served)
    except LarmError as error:
        return msgspec.structs.replace(_of_saved(served), said=str(error))


def lately(served: Served) -> Lately:
    """Raises NotRunning, and as `ask`."""
    with Control(served.path, timeout=_PATIENCE) as crawl:
        pages, errors = crawl.ask(Pages(_LAST)).fetches, crawl.ask(Errors(_COUNTED)).fetches
    causes = Counter(each.error or f"HTTP status {each.status}" for each in errors)
    return Lately(pages, errors[:_LAST], tuple(causes.most_common(_LAST)))


def past(served: Served) -> list[Step]:
    """How it went over time. Raises StorageError."""
    return steps(history(served.path / LOGS / LOG))


def _of_saved(served: Served) -> Crawl:
    said, saved, configured = "", SavedFigures(), False
    try:
        configured = is_there(served.path / CONFIG_FILE)
        saved = saved_figures(served.path) or saved
    except StorageError as error:
        said = str(error)
    state = how(saved.finish_reason) or ("ended without a word" if saved.state == "running" else "no crawl yet")
    return Crawl(
        name=served.name,
        state=state,
        figures=saved.figures,
        written=saved.written,
        can_start=configured or bool(saved.written),
        said=said,
        left_out=saved.said,
    )


def rows_of(crawl: Crawl) -> list[tuple[str, Any]]:
    """Labels and numbers of the figures, as they are shown."""
    now = crawl.figures
    return [
        ("Pages", f"{now.pages:,}"),
        ("in this run", f"{now.pages_run:,}"),
        ("URLs that wait", f"{now.queued:,}"),
        ("Requests in the air", f"{now.in_flight:,}"),
        ("Errors", f"{now.errors:,}"),
        ("URLs seen", f"{now.visited:,}"),
        ("Hosts", f"{now.hosts_known:,}"),
        ("ready", f"{now.hosts_ready:,}"),
        ("waiting for a delay", f"{now.hosts_waiting:,}"),
        ("left alone for a while", f"{now.hosts_blocked:,}"),
        ("given up", f"{now.hosts_given_up:,}"),
        ("URLs held back", f"{now.held_back:,}"),
    ]

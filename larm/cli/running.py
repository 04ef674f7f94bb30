"""A crawl that the command line runs: shown while it goes on, stopped by signals, told of at its end. Main thread only."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click
import msgspec

from larm.cli.signals import INTERRUPTED, stopping_by_signal
from larm.cli.terminal import complain, here, say
from larm.errors import StorageError

if TYPE_CHECKING:
    from larm.config import Config
    from larm.engine.crawl import Crawl
    from larm.engine.ending import Ending
    from larm.engine.figures.notes import Note
    from larm.engine.figures.snapshot import Snapshot
    from larm.ops.display import Display

_TOLD = 20
"""Failed start URLs that are told one by one: a screen of them."""
_FILES = 300
"""That are open beside the connections: some 50 logs and databases; the index and its merges have most of the others."""
_FEWEST = 100
"""With which a crawl begins: one of a single host opens some 80, and one that can't open its databases has nothing to tell."""


def run(config: Config, directory: Path, notes: Sequence[str], *, fresh: bool, parked: bool, quiet: bool, verbose: bool) -> int:
    """To its end; ``notes`` are said before it begins. Returns the exit status. Raises as `build_crawl`."""
    import larm.model.link_memo
    import larm.parse.reading.protocol
    import larm.seams  # noqa: F401  what both processes need is loaded before there are two
    from larm.kit.garbage import collect_rarely
    from larm.kit.processes.open_files import enough_open_files
    from larm.parse.reading.ahead import reader_ahead

    wanted = config.fetch.threads * config.fetch.transfers + _FILES
    fewer = "fewer requests at a time (fetch.threads, fetch.transfers)"
    if few := enough_open_files(wanted, _FEWEST, "a crawl", fewer):
        before, config = config.fetch, with_fewer_requests(config)
        notes = [*notes, *few]
        if config.fetch != before:
            at_most = config.fetch.threads * config.fetch.transfers
            notes.append(f"so this run makes {at_most:,} requests at a time at most, not {wanted - _FILES:,}")
    ahead = reader_ahead(config.processing)  # before all else is loaded
    try:
        from larm.kit.clock import SystemClock
        from larm.ops.observers import build_crawl

        river = build_crawl(config, directory, fresh=fresh, parked=parked, ahead=ahead)
    except BaseException:
        if ahead is not None:
            ahead.close()
        raise
    collect_rarely()
    clock = SystemClock()
    display, tell, news = None, None, None
    told = len(river.notes)
    if not quiet:
        from larm.ops.display import Display

        for note in (*notes, *river.notes):
            say(note)
        display = Display(river.snapshot, clock, sys.stderr, verbose=verbose, here=here)
        news = _News(display, river.notes)
        river.on_second = river.on_end = news
        if display.live:
            tell = partial(_interrupt, display)
    try:
        with stopping_by_signal(river.stop, tell, display.hurry if display else None) as signals:
            ending = river.run()
    finally:
        if display:
            display.close()
    now = river.snapshot()
    said = _notes(directory, config, river, ending, told)
    if news is not None:
        for each in said[news.said - told :]:
            say(each.text)
        if verbose:
            _tell_figures(now, ending, clock.wall())
    _tell_failed(ending.failed_starts, directory)
    return _status(ending, interrupted=bool(signals))


class _News:
    """Says new notes of a crawl at once, and refreshes the display. Called on the main thread."""

    def __init__(self, display: Display, notes: Sequence[str]) -> None:
        self._display, self._notes = display, notes
        self.said = len(notes)
        """Number of notes that were said."""

    def __call__(self, waits: Sequence[str] = ()) -> None:
        for note in self._notes[self.said :]:
            _interrupt(self._display, note)
            self.said += 1
        self._display.refresh(waits)


def with_fewer_requests(config: Config) -> Config:
    """A quarter of the files that may be open, or databases and the index could not open theirs: look-ups take some, too."""
    import resource

    most = resource.getrlimit(resource.RLIMIT_NOFILE)[0] // 4 // config.fetch.threads
    fetch = msgspec.structs.replace(config.fetch, transfers=max(min(config.fetch.transfers, most), 1))
    return msgspec.structs.replace(config, fetch=fetch)


def _interrupt(display: Display, text: str) -> None:
    display.interrupt(lambda: say(text))


def _notes(directory: Path, config: Config, river: Crawl, ending: Ending, told: int) -> list[Note]:
    """What is to be said at the end, but for notes that were told; ``larm stats`` and the monitor say it again."""
    from larm.engine.figures.notes import plain
    from larm.engine.figures.reporter import keep_notes
    from larm.ops.left_out import left_out
    from larm.ops.outcome import next_step, outcome

    now, said = river.snapshot(), [plain(each) for each in river.notes[told:]]
    try:
        said += left_out(directory, config, now, river.own_filters, river.filters)
    except StorageError as error:
        said.append(plain(str(error)))
    said += outcome(now, ending.reason, str(directory), ending.slowest)
    try:
        keep_notes(directory, [*said, *map(plain, _first(ending.failed_starts, "logs/starts.log"))])
    except StorageError as error:
        said.append(plain(str(error)))
    return said + next_step(now, ending.reason)


def _tell_figures(now: Snapshot, ending: Ending, wall: float) -> None:
    from larm.engine.figures.reporter import summary, summary_lines

    with suppress(OSError):
        click.echo("\n".join(summary_lines(summary(now, ending.reason, wall))), err=True)


def _tell_failed(lines: Sequence[str], directory: Path) -> None:
    """Also with -q, and where other start URLs were fetched: it is what the user asked for."""
    for line in _first(lines, str(directory / "logs" / "starts.log")):
        complain(line)


def _first(lines: Sequence[str], log: str) -> list[str]:
    more = len(lines) - _TOLD
    return [*lines[:_TOLD], *([f"{more:,} more start URLs failed: {log}"] if more > 0 else [])]


def _status(ending: Ending, *, interrupted: bool) -> int:
    if ending.error is not None:
        complain(str(ending.error))
        return ending.error.exit_status
    if ending.reason == "shutdown":
        if interrupted:  # whoever stopped it by larm ctl, or on the monitor, was answered there
            say("interrupted; the same command continues the crawl")
        return INTERRUPTED
    if ending.reason == "failed":
        return 1
    if ending.reason == "disk_nearly_full":
        complain("stopped before the disk is full (limits.disk); make room and run the same command again")
        return 3
    if not ending.start_fetched:
        advice = "" if ending.failed_starts else "; 'larm why URL' says what became of it"
        complain(f"no start URL could be fetched{advice}")
        return 4
    return 0

"""TrapDesk: which addresses of a host are worth while, by what its pages were worth so far (LARM-122).

Knowledge flows in a circle: the index storage tells what a page had to say, the host's record learns which patterns of
addresses go on without anything new, the traps filter drops what comes in of them, and a lease passes over what waits already.
It is part of the host's record, so it has the record's bounds and its place in checkpoints. What the storage had not told at
the cut is forgotten in a crash: a pattern may then be judged a few pages later.

`screen` runs on the handler thread, `learn` on ``larm-store-index``, `refuses_locked` and `passed_over` on the fetcher threads,
`explain` on any; records are guarded by the book's lock.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import groupby

from larm.config import TrapsFilter as Settings
from larm.frontier.host import Host
from larm.frontier.hosts import HostBook
from larm.frontier.traps import HostTraps, closed_lines
from larm.model.file_url import FILES
from larm.model.message import REDIRECT, URLMessage
from larm.model.told import Told
from larm.model.url_shape import parts_of
from larm.seams import Drop


class TrapDesk:
    """Implements `larm.seams.TrapGate` on the host records."""

    def __init__(
        self,
        book: HostBook,
        settings: Settings,
        log: Callable[[Sequence[str]], None] = lambda _: None,
        count: Callable[[str, int], None] = lambda _name, _n: None,
    ) -> None:
        """``log`` takes lines for the filter's log; ``count`` is that of the crawl."""
        # constant after construction
        self._book = book
        self._settings = settings
        self._log = log
        self._count = count

    # -- the handler thread

    def screen(self, batch: Sequence[URLMessage], drop: Drop) -> list[URLMessage]:
        """See `larm.seams.TrapGate`."""
        passing: list[URLMessage] = []
        refused: list[URLMessage] = []
        settings = self._settings
        self._book.warm(message.url.host for message in batch)
        with self._book.lock:
            for key, group in groupby(batch, lambda message: message.url.host):
                host = self._book.get_locked(key)
                traps = host.traps = host.traps or HostTraps()
                for message in group:
                    if exempt(message):
                        passing.append(message)
                        continue
                    parts = parts_of(message.url.access)
                    if traps.refuse(parts, settings) and not traps.probe(parts, message.url.fingerprint):
                        refused.append(message)
                    else:
                        traps.admit(parts, settings)
                        passing.append(message)
                self._book.changed_locked(host)
        if refused:
            drop(refused, "trap")
        return passing

    def explain(self, message: URLMessage) -> str | None:
        """See `larm.seams.TrapGate`."""
        with self._book.lock:
            host = self._book.find_locked(message.url.host)
            if host is None or host.traps is None or exempt(message, start=False):
                return None
            return host.traps.refuse(parts_of(message.url.access), self._settings)

    # -- the writer thread of the index storage

    def learn(self, told: Sequence[Told]) -> None:
        """Pages that were stored, and what they were worth."""
        said: list[str] = []
        self._book.warm(each.url.host for each in told)
        with self._book.lock:
            for key, group in groupby(told, lambda each: each.url.host):
                if key == FILES:  # many copies of a licence are no trap
                    continue
                host = self._book.get_locked(key)
                traps = host.traps = host.traps or HostTraps()
                for each in group:
                    said += [f"{key}\t{line}" for line in traps.learn(each, self._settings)]
                self._book.changed_locked(host)
        if said:
            self._count("traps/closed", sum("\tclosed: " in line for line in said))
            self._count("traps/opened_again", sum("\topened again: " in line for line in said))
            self._count("traps/parameters", sum("\tparameter " in line for line in said))
            self._log([f"# {line}" for line in said])

    # -- the fetcher threads

    def refuses_locked(self, host: Host, message: URLMessage) -> bool:
        """What waited for its lease is not worth while any more. See `larm.frontier.queues.Guard`."""
        traps = host.traps
        if traps is None or not traps.active or exempt(message):
            return False
        return traps.closed(parts_of(message.url.access), message.url.fingerprint) is not None

    def passed_over(self, messages: Sequence[URLMessage]) -> None:
        """These were refused; called without the lock."""
        self._count("traps/filtered", len(messages))
        self._log([message.url.access for message in messages])


def exempt(message: URLMessage, *, start: bool = True) -> bool:
    """What was stored before is asked for again, start URLs are what a person wants, and a disk has an end."""
    return (
        message.known is not None
        or message.url.host == FILES
        or (start and message.depth == 0 and message.link_type != REDIRECT)
    )


def closed_here(host: Host) -> Sequence[str]:
    """What is closed on a host, for `larm why`."""
    return closed_lines(host.traps) if host.traps is not None else ()

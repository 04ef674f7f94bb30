"""Landed: a fetch that has ended, and all that follows from it: made by the `Lander`, carried out by `larm.engine.unloading`.

Each belongs to the thread that fetches or reads.
"""

from collections.abc import Sequence
from typing import Any

import msgspec

from larm.model.document import Document, Visit
from larm.model.exchange import Exchange
from larm.model.lease import Lease
from larm.model.links import Link, Links
from larm.model.message import ORDINARY, URLMessage
from larm.model.outcome import Outcome


class Landed(msgspec.Struct):
    """A fetch that has ended, and all that follows from it."""

    lease: Lease
    outcome: Outcome
    counts: dict[str, int]
    log_line: str
    error: bool = False
    """The line belongs into the thread's error log, too."""
    visit: Visit | None = None
    messages: Sequence[URLMessage] = ()
    """For the message handler."""
    again: URLMessage | None = None
    """The same page under another address: it was visited, so the filters would drop it; straight to its host's queue."""
    warnings: Sequence[str] = ()
    forgotten: bool = False
    """Its address shall count as never seen: a later run comes by it again."""

    @property
    def document(self) -> Document | None:
        """The document that is stored, if there is one."""
        return self.visit.document if self.visit is not None else None

    @property
    def page(self) -> bool:
        """A document that is stored."""
        return self.visit is not None and self.visit.document is not None


def landed_of(
    lease: Lease,
    outcome: Outcome,
    text: str,
    *,
    status: int = 0,
    counts: dict[str, int] | None = None,
    **fields: Any,
) -> Landed:
    """What is counted and logged of any fetch; ``text``: what came of it. ``fields``: all others of `Landed`."""
    timing = outcome.timing
    counts = counts if counts is not None else {}
    counts["downloader/request_count"] = 1
    counts["downloader/response_bytes"] = timing.received
    if status:
        counts[f"downloader/response_status_count/{status}"] = 1
    line = f"{timing.seconds * 1000:.0f} ms: {text}: {lease.message.url.access}"
    return Landed(lease, outcome, counts, line, **fields)


def with_exchanges(landed: Sequence[Landed], robots: Sequence[tuple[Lease, Outcome]]) -> tuple[list[Visit], list[Visit]]:
    """The visits of all, with what was exchanged for them; and those for storages of exchanges alone, see `larm.seams.Storage`.

    ``robots``: answers to requests for robots.txt.
    """
    visits, answers = [], []
    for each in landed:
        exchange = each.outcome.exchange
        if each.visit is not None:
            visits.append(each.visit if exchange is None else msgspec.structs.replace(each.visit, exchange=exchange))
        elif exchange is not None:
            answers.append(_answer(each.lease, exchange))
    answers += [_answer(lease, outcome.exchange) for lease, outcome in robots if outcome.exchange is not None]
    return visits, answers


def _answer(lease: Lease, exchange: Exchange) -> Visit:
    message = lease.message
    return Visit(page=message.url.access, url=message.url, referrer=message.referrer, exchange=exchange)


def start_visit(messages: Sequence[URLMessage]) -> Visit:
    """The links.log lines of the start URLs (LARM-89)."""
    return Visit(page="<start>", links=Links.of(Link(message.url, ORDINARY, "") for message in messages))

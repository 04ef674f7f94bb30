"""Filters, storages and processors of a user's own, most of them bad ones. Named in the configuration of some stories."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

from larm.filters.chain import MessageFilter
from larm.model.document import Document, Visit
from larm.model.message import URLMessage
from larm.model.outcome import Fetched
from larm.seams import Drop
from larm.store.base import DocumentStorage

HERE = __name__


class StuckStorage(DocumentStorage):
    """Never comes back from a commit once the file ``flag`` is there."""

    def __init__(self, flag: str) -> None:
        self._flag = Path(flag)

    def store(self, visits: Sequence[Visit]) -> None:
        pass

    def commit(self) -> Mapping[str, Any]:
        if self._flag.exists():
            threading.Event().wait()
        return {}


class LongStore(DocumentStorage):
    """Takes the first page until somebody says `release`; what is to be fetched first it takes at once."""

    release: ClassVar[threading.Event] = threading.Event()

    def store(self, visits: Sequence[Visit]) -> None:
        if any(visit.document is not None for visit in visits):
            self.release.wait()


class LongClose(DocumentStorage):
    """Its close takes until somebody says `release`."""

    release: ClassVar[threading.Event] = threading.Event()

    def store(self, visits: Sequence[Visit]) -> None:
        pass

    def close(self) -> None:
        self.release.wait()


class NoWilderness(MessageFilter):
    """Can't judge one URL, and drops another."""

    def judge(self, message: URLMessage) -> str | None:
        if message.url.path_query == "/riddle":
            raise LookupError("what is it?")
        return "wilderness" if message.url.path_query == "/wild" else None


class NoJudge(MessageFilter):
    """Judges nothing."""


class NoStore(DocumentStorage):
    """Stores nothing."""


class Leaves(MessageFilter):
    """Ends whoever makes it."""

    def __init__(self) -> None:
        raise SystemExit("I leave")

    def judge(self, message: URLMessage) -> str | None:
        return None


class BatchBreaker:
    """A filter without our base class that raises at each batch but the first."""

    name = "breaker"
    log_name = "BatchBreaker"

    def __init__(self) -> None:
        self._first = True

    def sift(self, batch: Sequence[URLMessage], drop: Drop) -> list[URLMessage]:
        if not self._first:
            raise RuntimeError("no more")
        self._first = False
        return list(batch)

    def explain(self, message: URLMessage) -> str | None:
        return None


class Deadly(MessageFilter):
    """Ends its thread once, at the URL ``at``, as no filter's exception should."""

    left = 0

    def __init__(self, at: str) -> None:
        self._at = at

    def judge(self, message: URLMessage) -> str | None:
        if message.url.path_query == self._at and Deadly.left:
            Deadly.left -= 1
            raise SystemExit("the filter wants to leave")
        return None


class BadStorage(DocumentStorage):
    """Raises at what it is told to; ``after`` so many pages."""

    def __init__(self, at: str, after: int = 0, fatal: bool = False) -> None:
        self._at = at
        self._left = after
        self._fatal = fatal

    def open(self, position: Mapping[str, Any] | None) -> None:
        self._raise("open")

    def store_visit(self, visit: Visit) -> None:
        self._left -= visit.document is not None
        if self._left < 0:
            self._raise("store")

    def commit(self) -> Mapping[str, Any]:
        self._raise("commit")
        return {}

    def _raise(self, where: str) -> None:
        if where == self._at:
            raise KeyboardInterrupt if self._fatal else ValueError(f"I can't {where}")


class BadProcessor:
    """Raises for a page whose address says so."""

    def process(self, message: URLMessage, fetched: Fetched, mime: str) -> Document:
        path = message.url.path_query
        if path.startswith("/bad"):
            raise ValueError(f"can't read {path}")
        if path.startswith("/deadly"):
            raise MemoryErrorLike(path)
        return Document(mime, title="read", raw_text="by a processor of my own")


class GoodProcessor:
    """Reads all."""

    def process(self, message: URLMessage, fetched: Fetched, mime: str) -> Document:
        return Document(mime, title="read", raw_text="by a processor that was mended")


class MemoryErrorLike(BaseException):
    """What no `except Exception` sees."""

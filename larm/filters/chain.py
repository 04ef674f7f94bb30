"""FilterChain: the chain of responsibility that each message passes before it may wait for its fetch (LARM-43 to LARM-47).

The chain is a list. Each filter takes a batch and returns what goes on; what it drops is counted and logged here. A filter
that raises drops what it was given: the chain fails closed. Runs on the handler thread only, but for
`FilterChain.recall` and `FilterChain.note`.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Sequence
from typing import Protocol, runtime_checkable

from larm.errors import StorageError
from larm.kit.blame import blamed
from larm.model.message import URLMessage
from larm.seams import Drop, Filter, Recalling

ERRORS_LOG, FAILED = "filter_errors", "filters/failed"
"""The log of what filters raised, and the counter of links that were dropped for that."""
SEEN = "visited"
"""The filter behind which a URL comes once."""

Count = Callable[[str, int], None]
Tell = Callable[[URLMessage, str, str], object]
"""Of a start URL, or what one leads to, that was dropped: by which filter, and why."""
Note = Callable[[Sequence[URLMessage], str], object]
"""What was dropped, and by which filter."""


class FilterLog(Protocol):
    """Where the URLs that a filter dropped are written, one a line."""

    def lines(self, lines: Sequence[str], /) -> None:
        """Append lines; buffered."""


class NoLog:
    """A `FilterLog` for a filter of which it is only counted what it drops."""

    def lines(self, lines: Sequence[str], /) -> None:
        """Nothing."""


@runtime_checkable
class SiftingKnown(Protocol):
    """A filter that can drop, at once and at any place of the chain, what it let pass before."""

    def sift_known(self, batch: Sequence[URLMessage], drop: Drop) -> list[URLMessage]:
        """As `Filter.sift`, but only for messages that are certain to be dropped by it."""


class FilterChain:
    """The filters of config.yaml, in their order.

    Nine of ten links lead to pages that were visited. They have passed the filters before once already, so they are dropped
    first, whatever the order is: measured, 0.3 us a link instead of 1.0.
    """

    def __init__(
        self,
        filters: Sequence[Filter],
        open_log: Callable[[str], FilterLog],
        count: Count,
        tell: Tell = lambda *_: None,
        forget: Callable[[Sequence[int]], object] = lambda _: None,
        *,
        note: Note = lambda *_: None,
        own: Collection[str] = (),
    ) -> None:
        """``forget``: fingerprints of messages on which a filter failed, so that they were not seen for a later run.

        ``note`` is told what filters of the user's, by the names ``own``, have dropped that counts as seen already, so that no
        link leads there any more: each revisit asks again.
        """
        # constant after construction
        names = [part.name for part in filters]
        behind = set(names[names.index(SEEN) + 1 :] if SEEN in names else ())
        self._behind = behind
        self.filters = filters
        self.own = [part for part in filters if part.name in own]
        """Those of the user's."""
        logs = [open_log(part.log_name) for part in filters]
        takes = [note if name in behind and name in own else lambda *_: None for name in names]
        self._tell = tell
        self._stages = [
            (part, self._drop_of(part, log, count, tell, take)) for part, log, take in zip(filters, logs, takes, strict=True)
        ]
        self._logs = {part.name: log for part, log in zip(filters, logs, strict=True)}
        self._sifting = [(part.sift_known, drop) for part, drop in self._stages if isinstance(part, SiftingKnown)]
        recalling = [part for part in filters if isinstance(part, Recalling)]
        recalling.sort(key=lambda part: not isinstance(part, SiftingKnown))  # as in `run`
        self._recalling = [(part.name, part.recall) for part in recalling]
        self._errors = open_log(ERRORS_LOG)
        self._count = count
        self._forget = forget

    def run(self, batch: Sequence[URLMessage], start: str | None = None) -> list[URLMessage]:
        """The messages that passed all filters; from the filter named ``start`` on, where it is given."""
        passing = list(batch)
        if start is None:
            for sift_known, drop in self._sifting:
                passing = sift_known(passing, drop)
        for part, drop in self._from(start):
            if not passing:
                break
            try:
                passing = list(part.sift(passing, drop))
            except StorageError:  # the disk, not the filter: nothing may be dropped for that
                raise
            except Exception as error:  # noqa: BLE001  whatever a filter of the user's raises, the crawl goes on
                passing = self._one_by_one(part, drop, passing, error)
            except BaseException as error:
                error.add_note(f"in the filter {part.name}")
                raise
        return passing

    def recall(self, fingerprints: Sequence[int]) -> dict[str, set[int]]:
        """Of some links those that would be dropped, as far as that is known at once, by the name of the filter. Any thread."""
        dropped: dict[str, set[int]] = {}
        left = fingerprints
        for name, recall in self._recalling:
            try:
                gone = recall(left)
            except StorageError:
                raise
            except Exception:  # noqa: BLE001  whatever a filter of the user's raises, `run` asks it again
                self._count(f"{name}/error", 1)
                continue
            if gone:
                dropped[name] = gone
                left = [each for each in left if each not in gone]
        return dropped

    def note(self, name: str, urls: Sequence[str]) -> None:
        """Count and log URLs, in their access forms, that were dropped before the filter ``name`` would have. Thread-safe."""
        self._count(f"{name}/filtered", len(urls))
        self._logs[name].lines(urls)

    def _one_by_one(self, part: Filter, drop: Drop, batch: Sequence[URLMessage], error: Exception) -> list[URLMessage]:
        """A batch for which a filter raised: find the messages to blame, if the filter keeps no state; else drop them all."""
        if len(batch) > 1 and isinstance(part, MessageFilter):
            passing: list[URLMessage] = []
            for message in batch:
                try:
                    passing += part.sift([message], drop)
                except StorageError:
                    raise
                except Exception as own:  # noqa: BLE001  as above
                    self._failed(part, [message], own)
            return passing
        self._failed(part, batch, error)
        return []

    def _failed(self, part: Filter, batch: Sequence[URLMessage], error: Exception) -> None:
        self._count(f"{part.name}/error", len(batch))
        self._count(FAILED, len(batch))
        if part.name in self._behind:
            self._forget([each.url.fingerprint for each in batch if each.known is None])  # what is stored stays known
        for message in batch:
            if not message.depth:
                self._tell(message, part.name, f"fails: {blamed(error)}")
        self._errors.lines([f"{part.name}\t{blamed(error)}\t{each.url.access}" for each in batch])

    def _from(self, start: str | None) -> Sequence[tuple[Filter, Drop]]:
        if start is None:
            return self._stages
        names = [part.name for part, _ in self._stages]
        return self._stages[names.index(start) :] if start in names else []

    @staticmethod
    def _drop_of(part: Filter, log: FilterLog, count: Count, tell: Tell, note: Note) -> Drop:
        def drop(messages: Sequence[URLMessage], reason: str) -> None:
            note(messages, part.name)
            count(f"{part.name}/filtered", len(messages))
            log.lines([message.url.access for message in messages])
            for message in messages:
                if not message.depth:
                    tell(message, part.name, verdict(part, message) or reason)

        return drop


def verdict(part: Filter, message: URLMessage) -> str | None:
    """What a filter says of a message; if that is an exception, the message would be dropped for it."""
    try:
        return part.explain(message)
    except StorageError:
        raise
    except (Exception, SystemExit) as error:  # noqa: BLE001  whatever a filter of the user's raises
        return f"fails: {blamed(error)}"


class MessageFilter(ABC):
    """The easy way to a filter of your own: subclass it and write `judge`.

    ``filters.order`` names it as ``package.module:Class``; ``own`` may give keyword arguments for its constructor.
    """

    name = ""
    log_name = ""

    def __init_subclass__(cls) -> None:
        cls.name = cls.__dict__.get("name") or cls.__name__
        cls.log_name = cls.__dict__.get("log_name") or cls.__name__

    @abstractmethod
    def judge(self, message: URLMessage) -> str | None:
        """Why this message is dropped, None if it passes. A message for which it raises is dropped too."""

    def sift(self, batch: Sequence[URLMessage], drop: Drop) -> list[URLMessage]:
        """`judge` for each; nothing is dropped before all are judged, so that a batch that raised can be tried again."""
        reasons = [self.judge(message) for message in batch]
        if reasons.count(None) == len(reasons):
            return list(batch)
        for reason in reasons:
            if not isinstance(reason, str | None):
                raise TypeError(f"judge returned {reason!r:.100}, expected a reason or None")
        for message, reason in zip(batch, reasons, strict=True):
            if reason is not None:
                drop([message], reason)
        return [message for message, reason in zip(batch, reasons, strict=True) if reason is None]

    def explain(self, message: URLMessage) -> str | None:
        """What `judge` says."""
        return self.judge(message)

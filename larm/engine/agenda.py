"""Agenda: what a run asks for by itself, before there are links; called by `larm.engine.crawl`.

Start URLs come first, then those of an archive. A revisit brings its pages in parts, each further one after a checkpoint.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from larm.engine.landed import start_visit
from larm.engine.recrawl.revisit import Recrawl
from larm.engine.starts import StartWatch
from larm.frontier.handler import MessageHandler
from larm.kit.threads.gate import Gate
from larm.model.message import URLMessage
from larm.store.lines import StorageLines


class Agenda(NamedTuple):
    """`begin` on the main thread, all else on ``larm-tick``, but where it is said."""

    starts: Sequence[URLMessage]
    feed: Iterable[Sequence[URLMessage]]
    """URLs that are known before the river flows, in batches: those of an archive."""
    recrawl: Recrawl | None
    watch: StartWatch
    """What becomes of the start URLs."""
    log: Callable[[Sequence[str]], object]
    """Told of those that brought no page."""

    def begin(self, gate: Gate, handler: MessageHandler, lines: StorageLines, *, whole: bool) -> bool:
        """Put it into the river, of a revisit a part unless it shall be there as a ``whole``. Whether there was any."""
        with gate.step():
            if self.starts:
                lines.put([start_visit(self.starts)])
                handler.put(self.starts)
        for batch in self.feed:
            handler.put(batch)
        while self.ask_again(gate, handler, dry=False) and whole:
            continue
        return bool(self.recrawl is not None or self.feed or self.starts)

    def ask_again(self, gate: Gate, handler: MessageHandler, *, dry: bool) -> bool:
        """The next part of a revisit, where there is one. ``dry``: all answers were in the last checkpoint."""
        recrawl = self.recrawl
        if recrawl is None or not (recrawl.begins or (dry and recrawl.goes_on)):
            return False
        for batch, reached in recrawl.more():
            with gate.step():
                handler.put(batch)
                recrawl.go_on(reached)
        return True

    @property
    def goes_on(self) -> bool:
        """There is more to come when the river has run dry. Main thread."""
        return self.recrawl is not None and self.recrawl.goes_on

    def end(self) -> tuple[list[str], list[str]]:
        """The start URLs that brought no page, each in a line; what is to be told of the revisit. Main thread."""
        failed = self.watch.causes()
        self.log(failed)
        behind = self.recrawl.behind() if self.recrawl is not None else ""
        return failed, [behind] if behind else []

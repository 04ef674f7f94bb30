"""Crawl: the whole river in one read.

    put -> incoming queue -> handler thread: filters -> host queues -> lease -> fetcher threads: transfer, process
        -> storages, each behind its queue and on its thread; the page's links go back to put

Threads: ``larm-handler``, ``larm-fetch-<n>``, ``larm-document-<n>``, ``larm-page-<n>``, ``larm-store-<name>``, ``larm-tick``,
``larm-control``, and ``larm-last`` for the last checkpoint; the main thread starts them, waits for the end and drains. Those
that fetch and read are the `larm.engine.crew`. What flows between them all does so in steps of the gate, so that a checkpoint
finds each page either not yet done or done altogether.

The end is counted by the tally, never guessed: it holds every message that has entered and has neither been dropped nor ended
in an outcome. How long the threads may take to end depends on how much they have left, so nobody cuts them off who gets on
(`larm.engine.patience`).
"""

from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import NamedTuple

from larm.engine.agenda import Agenda
from larm.engine.aside import waiting_sentence
from larm.engine.checkpointer import Checkpointer
from larm.engine.crew import Crew
from larm.engine.ending import WAITING, Ending
from larm.engine.figures.rates import duration
from larm.engine.moves import Moves
from larm.engine.parts import FINISHED, Frontier, Member, Observers, Shared
from larm.engine.patience import HANGS, Patience
from larm.engine.recrawl.revisit import Recrawl
from larm.engine.steering import Steering
from larm.errors import LarmError, StageError, StorageError
from larm.kit.blame import blamed
from larm.kit.garbage import give_back
from larm.kit.threads.workers import Workers
from larm.store.lines import StorageLines

_GOODBYE = 5.0
"""Seconds for ``larm-control`` to close its connections: it never waits for anybody."""
_ROLES = {"larm-handler": "filters what has come", "larm-tick": "saves a checkpoint", "larm-last": "saves the last checkpoint"}
"""What the threads do that have nothing to add."""


class Helm(NamedTuple):
    """Who may tell a running crawl what to do; any thread."""

    steering: Steering
    """People and programs."""
    moves: Moves
    """Other crawls, which hand hosts over or take them."""
    member: Member | None = None
    """The others that do the same crawl."""


class Crawl:
    """One run. Built by `larm.building.wiring`; `run` once, on the main thread."""

    def __init__(
        self,
        *,
        shared: Shared,
        agenda: Agenda,
        frontier: Frontier,
        crew: Crew,
        lines: StorageLines,
        checkpointer: Checkpointer,
        helm: Helm,
        observers: Observers,
        close: Callable[[bool], object],
    ) -> None:
        """``close`` closes all that the parts have open, and is told whether nothing of the run failed; it raises
        StorageError."""
        # constant after construction
        self._clock, self._counters, self._gate, self._tally, self._bell, self._ticker, self._cpu, _ = shared
        self._agenda = agenda
        self._handler, self._queues = frontier.handler, frontier.queues
        self.filters, self.own_filters = frontier.chain.filters, frontier.chain.own
        self._crew = crew
        self._lines = lines
        self._checkpointer = checkpointer
        self.steering, self.moves, self._member = helm
        self.snapshot, self._reporter, self._watchdog, self._door, self.notes = observers
        self._close = close
        self._workers = Workers(self._thread_died, self._cpu)
        self._writers = Workers(self._thread_died, self._cpu)
        self._talkers = Workers(self._thread_died, self._cpu)
        self._patience = Patience(self._clock, self._doing, self._tell)
        self.on_second: Callable[[], object] = lambda: None
        """Called by the main thread about once a second."""
        self.on_end: Callable[[Sequence[str]], object] = lambda _waits: None
        """The same while it ends: what it waits for, a line for each thread."""
        # written by the main thread
        self._told = self._clock.monotonic()
        """When the reporter last had its turn, while it ends."""

    # -- the main thread

    def run(self) -> Ending:
        """Crawl until the end, and leave the directory in a state that the next run continues. Raises nothing of its own."""
        self._cpu.begin("main")
        self._crew.begin()
        for line in self._lines:
            self._writers.start(line.thread, line.run)
        try:
            self._door.open()
            self._talkers.start("larm-control", self._door.run)
        except StorageError as error:
            self.notes.append(f"{error}; so 'larm ctl' can't talk to this crawl")
        ending: str | LarmError
        try:
            for line in self._lines:
                line.opened.result()
            self._put_starts()
            if self._member is not None:
                self._talkers.start("larm-agents", self._member.run)
            self._workers.start("larm-handler", self._handler.run)
            self._crew.start(self._workers)
            self._workers.start("larm-tick", self._tick)
            ending = self._wait_for_end()
        except LarmError as error:
            ending = error
        ended = self._drain(ending)
        self.notes += self._crew.left()
        return ended

    def stop(self) -> None:
        """End the crawl soon; safe in a signal handler and on any thread."""
        self._bell.ring("shutdown")

    def _put_starts(self) -> None:
        whole = self._member is not None  # hosts may move from the first moment on: all that is to be asked for goes with them
        if self._agenda.begin(self._gate, self._handler, self._lines, whole=whole):
            self._checkpointer.save()  # all or nothing: who is killed before begins anew
        self.steering.carry_out()  # what was ordered after the last checkpoint of a run that was killed
        if self._tally.value == 0:
            self._bell.ring(FINISHED)

    def _wait_for_end(self) -> str | LarmError:
        began = self._clock.monotonic()
        while True:
            limit = self.steering.limits.now.crawl.max_time
            left = 1.0 if limit is None else min(1.0, began + limit - self._clock.monotonic())
            if left <= 0:
                return "closespider_timeout"
            reason = self._bell.wait(left)
            if reason is None:
                self._watchdog.look()
                if self._member is not None:
                    self._member.gives_up()
                self.on_second()
            elif reason != FINISHED or self._may_end():  # else more has come meanwhile, or is waited for
                return reason

    def _may_end(self) -> bool:
        if self._agenda.goes_on:
            self._ticker.hurry()
            return False
        return self.steering.may_end()

    def _drain(self, ending: str | LarmError) -> Ending:
        """Stop taking work, give back what is in the air, save, and let the storages write what they have."""
        self._crew.stop()
        if self._member is not None:
            self._member.ending("failed" if isinstance(ending, LarmError) else ending)
        self.steering.close()
        self._door.tell(())
        self._handler.stop()
        self._ticker.stop()
        self._lines.wake()
        stuck = self._patience.wait(self._workers)
        self._crew.give_back()
        failed, told = self._agenda.end()
        self.notes += told
        error = ending if isinstance(ending, LarmError) else self._unheard()  # a thread may have failed after the bell rang
        if stuck:
            error = error or _hang(stuck, "the state is that of the last checkpoint, and the same command continues the crawl")
        if not (isinstance(error, StorageError) or stuck):  # else the last checkpoint is the better one
            finished = ending == FINISHED
            gone = self._agenda.recrawl if finished and error is None else None
            self._writers.start("larm-last", lambda: self._save_last(finished, gone))
        else:
            self._lines.close()
        if stuck := self._patience.wait(self._writers):
            error = error or _hang(stuck, "what they have not done, the same command does")
        error = error or self._unheard()  # a storage may fail on its last words
        reason = "failed" if error else str(ending)
        try:
            self._reporter.finish(reason)
        except StorageError as failure:
            error = error or failure
        self._door.stop()
        if self._member is not None:
            self._member.stop()
        self._talkers.join(_GOODBYE if self._member is None else self._member.goodbye)
        try:
            self._close(error is None and not stuck)
        except StorageError as failure:  # all is saved, but a disk that writes no more is to be told
            reason, error = "failed", failure
        counts = self._counters.snapshot()
        fetched = counts.get("start/fetched", 0) > 0 or counts.get("start/elsewhere", 0) > 0
        return Ending(reason, error, fetched, tuple(failed), self._queues.slowest())

    def _doing(self, name: str) -> str:
        """What a thread does, as far as it can be seen from outside."""
        return ({line.thread: line.doing for line in self._lines} | self._crew.doing() | _ROLES).get(name, "")

    def _tell(self, waits: Sequence[str]) -> None:
        """The end takes a while: whoever looks shall see for what."""
        self._door.tell(tuple(waits))
        self._watchdog.look()
        self.on_end(waits)
        now = self._clock.monotonic()
        if now >= self._told + self._ticker.seconds and "larm-tick" not in self._workers.alive():
            self._told = now
            with suppress(StorageError):  # the last report will say it again
                self._reporter.tick(waits)

    def _unheard(self) -> LarmError | None:
        """The first failure that the bell has not told yet."""
        while (reason := self._bell.wait(0.0)) is not None:
            if isinstance(reason, LarmError):
                return reason
        return None

    def _thread_died(self, name: str, error: BaseException) -> None:
        """On the dying thread."""
        if isinstance(error, LarmError):
            self._bell.ring(error)
        else:
            notes = getattr(error, "__notes__", ())  # in which part
            failure = StageError(f"{name} died of {', '.join((blamed(error), *notes))}; the same command continues the crawl")
            failure.__cause__ = error
            self._bell.ring(failure)

    # -- larm-tick

    def _tick(self) -> None:
        self._reporter.tick()  # `larm stats` has something to show from the start
        while self._ticker.wait():
            dry = self._tally.value == 0
            if saved := not self._checkpointer.held:
                self._checkpointer.save()
            give_back()
            self._reporter.tick()
            if saved and self._handler.keeps_up() and self._agenda.ask_again(self._gate, self._handler, dry=dry):
                self.steering.ask_again()
            else:
                self._look_for_the_end()

    def _look_for_the_end(self) -> None:
        """After a checkpoint: where nothing is left but suspects, the next of them; where nothing but long waits, the end."""
        far = self._queues.far_off(self.steering.limits.now.frontier.longest_wait)
        if (far or self._tally.value == 0) and self._crew.take_up_suspect():
            return
        if far and not self.steering.holds:
            self.notes.append(waiting_sentence(far, self._clock.wall()))
            self._bell.ring(WAITING)

    # -- larm-last

    def _save_last(self, finished: bool, recrawl: Recrawl | None) -> None:
        """On a thread of its own, for the storages may have much to write before they commit."""
        try:
            if recrawl is not None:
                self._forget_gone(recrawl)
            self._checkpointer.save(finished=finished, last=True)
        finally:
            self._lines.close()

    def _forget_gone(self, recrawl: Recrawl) -> None:
        """A revisit is over: what it found gone leaves the storages. When nobody else makes checkpoints any more.

        The page book must know of all answers before. By a checkpoint, for storages can go back behind one commit, not two.
        """
        self._checkpointer.save()
        gone = recrawl.gone()
        self._counters.add("revisit/gone", sum(visit.gone for visit in gone))
        with self._gate.step():
            self._lines.put(gone)


def _hang(stuck: Sequence[str], then: str) -> StageError:
    """Threads from which nothing will come any more."""
    return StageError(f"nothing has moved for {duration(HANGS)} in {'; '.join(stuck)}: it hangs; {then}")

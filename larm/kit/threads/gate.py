"""Gate: many steps at a time, or one cut. It makes a checkpoint one consistent picture of all parts.

Every thread that moves something from one part to another does so inside a step; the checkpoint copies the state of all parts
inside a cut, when no step is under way. Whatever has left one part has thus arrived in the next.

Rules. A cut should be short: all threads wait for it. A step must not wait for another step to be made (by a full queue whose
reader makes steps, say). Neither may be entered again by the thread that is already inside: with a cut waiting in between,
that is a deadlock.
"""

import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from types import TracebackType


class Gate:
    """Shared by steps, exclusive for a cut; a waiting cut goes before new steps, so it can't starve."""

    def __init__(self) -> None:
        # constant after construction
        self._lock = threading.Lock()
        self._changed = threading.Condition(self._lock)
        self._step = _Step(self)
        # guarded by self._lock
        self._steps = 0
        self._cutting = False
        # only ever becomes True
        self.broken = False
        """A step ended by an exception: something may be half done, and no further cut can be trusted."""

    def step(self) -> AbstractContextManager[None]:
        """``with gate.step():`` waits only while a cut is made or waited for. Half a microsecond."""
        return self._step

    @contextmanager
    def cut(self) -> Iterator[None]:
        """``with gate.cut():`` waits for the steps that are under way; no other step or cut runs in its body."""
        with self._lock:
            while self._cutting:
                self._changed.wait()
            self._cutting = True
            while self._steps:
                self._changed.wait()
        try:
            yield
        finally:
            with self._lock:
                self._cutting = False
                self._changed.notify_all()

    def _enter(self) -> None:
        with self._lock:
            while self._cutting:
                self._changed.wait()
            self._steps += 1

    def _leave(self) -> None:
        with self._lock:
            self._steps -= 1
            if self._cutting and not self._steps:
                self._changed.notify_all()

    def __repr__(self) -> str:
        return f"<Gate {'cut' if self._cutting else 'open'}, {self._steps} steps>"


class _Step(AbstractContextManager[None]):
    """Stateless, therefore one object for all steps of all threads: nothing is allocated on the hot path."""

    __slots__ = ("_enter", "_gate", "_leave")

    def __init__(self, gate: Gate) -> None:
        self._gate = gate
        self._enter = gate._enter
        self._leave = gate._leave

    def __enter__(self) -> None:
        self._enter()

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if kind is not None:
            self._gate.broken = True
        self._leave()

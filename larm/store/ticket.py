"""Ticket: a promise that a commit has happened, from a storage's writer thread to whoever asked for it.

Made by `larm.store.pipeline`; waited for on the thread that writes checkpoints.
"""

import threading
from collections.abc import Mapping
from typing import Any

from larm.errors import StorageError


class Ticket:
    """The position of one commit, or the reason why there is none. Settled once, by the writer thread."""

    def __init__(self, storage: str, *, last: bool = False) -> None:
        # constant after construction
        self._storage = storage
        self.last = last
        """Of the run: what is committed is to be visible, too."""
        self._settled = threading.Event()
        # written before self._settled is set, read after it
        self._position: Mapping[str, Any] = {}
        self._failure: StorageError | None = None

    def __repr__(self) -> str:
        state = "waiting" if not self.done else "failed" if self._failure else "done"
        return f"<Ticket of storage {self._storage}: {state}>"

    @property
    def done(self) -> bool:
        """`result` would not wait."""
        return self._settled.is_set()

    def result(self, timeout: float | None = None) -> Mapping[str, Any]:
        """The position that `Storage.commit` returned; waits at most ``timeout`` seconds.

        Raises StorageError if the storage failed or did not come to it in time.
        """
        if not self._settled.wait(timeout):
            raise StorageError(f"storage {self._storage} did not commit within {timeout:g} s: is its disk too slow or stuck?")
        if self._failure is not None:
            raise StorageError(str(self._failure)) from self._failure
        return self._position

    def settle(self, position: Mapping[str, Any]) -> None:
        """The commit is done. Only the writer thread."""
        self._position = position
        self._settled.set()

    def fail(self, failure: StorageError) -> None:
        """There will be no commit."""
        self._failure = failure
        self._settled.set()

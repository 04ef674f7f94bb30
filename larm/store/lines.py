"""StorageLines: all storages of a crawl, each behind its queue, and what is done to all of them alike.

Made by the wiring; each method is for the threads that `larm.store.pipeline` has it for.
"""

from collections.abc import Callable, Mapping, Sequence

from larm.model.document import Visit
from larm.store.pipeline import StorageLine, Ticket, cost_of


class StorageLines(tuple[StorageLine, ...]):
    """In the order of ``storage.chain``; the page book comes last."""

    __slots__ = ()

    @property
    def exchanges(self) -> bool:
        """One of them wants all answers, as they were transferred."""
        return any(line.exchanges for line in self)

    def named(self, name: str) -> StorageLine:
        """The line of a storage that is there."""
        return next(line for line in self if line.name == name)

    def put(self, visits: Sequence[Visit], answers: Sequence[Visit] = ()) -> None:
        """Queue a batch for all of them; ``answers``: for those that want exchanges alone. Never blocks."""
        cost = cost_of(visits) if visits else 0
        for line in self:
            line.put(visits, cost)
            if line.exchanges:
                line.put(answers)

    def wait_for_room(self, stop: Callable[[], bool]) -> None:
        """Until none of them is full."""
        for line in self:
            line.wait_for_room(stop)

    def wake(self) -> None:
        """Let all who wait for room ask their ``stop`` again."""
        for line in self:
            line.wake()

    def request_commits(self, *, last: bool) -> Mapping[str, Ticket]:
        """A commit by each of them, of all that was put before; by their names. Returns at once."""
        return {line.name: line.request_commit(last=last) for line in self}

    def close(self) -> None:
        """No more comes: each writes what it has, and its thread ends. Returns at once."""
        for line in self:
            line.close()

"""DocumentStorage: the base of a storage of your own; NullStorage: the one that keeps nothing.

Name the class in config.yaml (``storage.chain: [log, my_package.my_module:MyStorage]``). All calls come from the storage's own
writer thread. An exception ends the crawl with the last checkpoint intact.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from larm.model.document import Visit


class DocumentStorage:
    """Override `store_visit`; and `open`, `commit` and `close` where there is something to open, to make durable, to close.

    A storage that overrides `commit` to return a position gets it back in `open` when a crawl goes on, and should then undo
    what it wrote later; one that doesn't may see a few pages twice after a crash.
    """

    name: str = ""
    """In messages and thread names; by default the name of the class."""

    def __init_subclass__(cls, **arguments: Any) -> None:
        super().__init_subclass__(**arguments)
        if "name" not in cls.__dict__:
            cls.name = cls.__name__

    def open(self, position: Mapping[str, Any] | None) -> None:
        """Begin (None: a new crawl), or go on at what the last checkpoint's `commit` returned."""

    def store(self, visits: Sequence[Visit]) -> None:
        """Store a batch; calls `store_visit` for each. Override it where a batch is cheaper."""
        for visit in visits:
            self.store_visit(visit)

    def store_visit(self, visit: Visit) -> None:
        """Store one page (``visit.url``, ``visit.body``, ``visit.document``) and its links; ``document`` may be None."""
        raise NotImplementedError(f"{type(self).__name__} has neither store_visit() nor store()")

    def commit(self) -> Mapping[str, Any]:
        """Make what was stored durable; the position may hold str, int and nested mappings."""
        return {}

    def close(self) -> None:
        """The last call; also comes after a failure, even of `open`."""


class NullStorage(DocumentStorage):
    """Takes everything and keeps nothing (LARM-86): to measure the rest of the river, or to crawl for the filters' logs."""

    name = "null"

    def store(self, visits: Sequence[Visit]) -> None:
        """Nothing."""

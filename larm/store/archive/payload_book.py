"""PayloadBook: which payloads a crawl has in its archive, by digest and by address, so that none is there twice.

A `Table` in the folder of the queues. Owned by the writer thread of the storage; what was noted after the checkpoint
that a run goes on from is forgotten.
"""

from collections.abc import Callable
from pathlib import Path

import msgspec

from larm.errors import REPAIR, StorageError
from larm.kit.disk.table import Table, TableRow
from larm.model.crawl_hash import digest
from larm.store.archive.records import Original

_BATCH = 1000
_decoder = msgspec.msgpack.Decoder(tuple[str, str, str])


class PayloadBook:
    """Open from the start. Every method may raise StorageError."""

    def __init__(self, path: Path, generation: int | None) -> None:
        """``generation``: of the last checkpoint; None: a new crawl."""
        # constant after construction
        self._path = path
        # only the writer thread
        self._table = Table.of_checkpoint(path, generation)
        self.generation = generation or 0
        self._fresh: dict[int, bytes] = {}

    def same_payload(self, payload: str) -> Original | None:
        """The first capture with this digest."""
        return self._find(_key("payload", payload))

    def of_address(self, url: str) -> Original | None:
        """The last capture of this address that has a payload."""
        return self._find(_key("url", url))

    def note(self, url: str, original: Original) -> None:
        """What was captured of an address; ``original`` has its payload, and may be the capture itself."""
        row = msgspec.msgpack.encode(original)
        self._fresh[_key("url", url)] = row
        if original.url == url:
            self._fresh.setdefault(_key("payload", original.digest), row)

    def commit(self) -> int:
        """Make it durable; the generation for the position."""
        if self._fresh:
            self._table.write(self.generation + 1, [TableRow(key, key, data) for key, data in sorted(self._fresh.items())])
            self.generation += 1
            self._fresh = {}
        return self.generation

    def close(self) -> None:
        """A second call does nothing."""
        self._table.close()

    def _find(self, key: int) -> Original | None:
        row = self._fresh.get(key)
        if row is None:
            record = self._table.get(key)
            if record is None:
                return None
            row = record.data
        try:
            return Original(*_decoder.decode(row))
        except (msgspec.MsgspecError, UnicodeDecodeError) as error:
            raise StorageError(f"{self._path}: a record is damaged ({error}); {REPAIR}") from error


def forget_payloads(path: Path, unwanted: Callable[[str], bool]) -> None:
    """Of pages that are gone from the archive: what is like them is written again. ``unwanted``: addresses of these.

    Of a table that nobody else has open. Raises StorageError.
    """
    table = Table(path)
    try:
        last = -1
        while rows := table.after(last, _BATCH):
            last = rows[-1].key
            table.write(table.generation, [], [row.key for row in rows if unwanted(_decoder.decode(row.data)[0])])
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise StorageError(f"{path}: a record is damaged ({error}); {REPAIR}") from error
    finally:
        table.close()


def _key(kind: str, text: str) -> int:
    return digest(f"{kind} {text}".encode("utf-8", "replace"))

"""Mail: what is found of hosts whose records are on the disk waits there, too, until they come into the memory.

To take a URL in, the record of its host would have to be read and written: 40 us, and with a million hosts that is so for nine
URLs of ten. Instead, where the host stands in a place and so has its turn some time, its URLs are written as they come
(`larm.kit.disk.letter_box`). When the record comes into the memory it gets all of them: they are parked there, and the filters
go on with them. So there is mail only for hosts that are not in memory, and who has a record has all that waits there.

A checkpoint writes what has come since the last one, and removes what records got that are a part of it. A record can't leave
the memory before that.

Belongs to the `HostBook`, by whose lock all but `read` is guarded; `larm.filters.mail_filter` decides what comes here.
"""

from collections.abc import Iterable, Mapping
from itertools import count

import msgspec
import xxhash

from larm.errors import REPAIR, StorageError
from larm.kit.disk.block_store import BlockStore
from larm.kit.disk.database import Database
from larm.kit.disk.letter_box import Done, Letter, read, size_of, write
from larm.model.message import URLMessage, pack_message, unpack_message

Numbered = dict[int, URLMessage]
"""Messages by their numbers, which rise: of one box, and so of one host but for a chance of some millionths."""


class MailCut(msgspec.Struct, frozen=True):
    """What a checkpoint is to write of it."""

    new: Mapping[int, Numbered]
    done: Mapping[int, Done]
    """Both by box."""

    def write(self, database: Database) -> None:
        """In the transaction of the checkpoint. Raises StorageError."""
        letters = [
            Letter(box, number, pack_message(message))
            for box, messages in self.new.items()
            for number, message in messages.items()
        ]
        write(database, letters, list(self.done.values()))


NO_MAIL = MailCut({}, {})


class Mail:
    """Of all hosts."""

    def __init__(self, store: BlockStore) -> None:
        """Raises StorageError."""
        size = store.ask(size_of)
        # constant after construction
        self._store = store
        self._numbers = count(size.last + 1)
        # guarded by the lock of the book
        self.waiting = size.there
        """Messages of all hosts."""
        self.unwritten = 0
        """Of them, those that no checkpoint has been given."""
        self._new: dict[int, Numbered] = {}
        self._done: dict[int, Done] = {}
        self.last_cut = NO_MAIL
        """Of the checkpoint that is being written."""

    def put(self, message: URLMessage) -> None:
        """It waits for its host, which is not in memory."""
        self._new.setdefault(_box(message.url.host), {})[next(self._numbers)] = message
        self.waiting += 1
        self.unwritten += 1

    def read(self, keys: Iterable[str]) -> dict[str, Numbered]:
        """What the disk has for these hosts, for `take`. Any thread, without the lock. Raises StorageError."""
        if not self.waiting:
            return {}
        asked = {key: _box(key) for key in keys}
        found: dict[int, Numbered] = {}
        for box, number, data in self._store.ask(lambda database: read(database, set(asked.values()))):
            try:
                message = unpack_message(data)
            except (msgspec.MsgspecError, UnicodeDecodeError) as error:
                raise StorageError(f"{self._store}: letter {number} of {box} is damaged ({error}); {REPAIR}") from error
            found.setdefault(box, {})[number] = message
        return {key: found[box] for key, box in asked.items() if box in found}

    def take(self, key: str, there: Numbered) -> list[URLMessage]:
        """All that waits for a host, which comes into the memory; ``there``: what the disk has.

        A checkpoint may have been written while the disk was read: what it wrote is in both. Another host may have the
        same box: its messages go into it again, and what it has taken since the disk was read does not count.
        """
        box = _box(key)
        marks = [marks[box] for marks in (self.last_cut.done, self._done) if box in marks]
        last = max((mark.last for mark in marks), default=0)
        known = there | self.last_cut.new.get(box, {})
        written = {number: message for number, message in known.items() if number > last}
        new = self._new.pop(box, {})
        if written:
            rows = self._done[box].rows if box in self._done else 0
            self._done[box] = Done(box, max(written), len(written) + rows)
        self.waiting -= len(written) + len(new)
        self.unwritten -= len(new)
        taken = [message for _, message in sorted({**written, **new}.items())]
        for message in taken:
            if message.url.host != key:
                self.put(message)
        return [message for message in taken if message.url.host == key]

    def cut(self) -> None:
        """Makes the next `last_cut`."""
        self.last_cut = MailCut(self._new, self._done)
        self._new, self._done, self.unwritten = {}, {}, 0

    def written(self) -> None:
        """It is on the disk."""
        self.last_cut = NO_MAIL


def _box(key: str) -> int:
    return xxhash.xxh3_64_intdigest(key.encode()) >> 1

"""Catalogue: of each address in some archives the capture that counts, and where it is; a table in the folder of the queues.

Made on the main thread before the river flows, by one walk through all files; asked by the fetcher threads, one at a time. Of
several captures of an address the last one counts, but for redirects to itself and for what says only "not modified".
"""

import threading
from array import array
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import msgspec
from fastwarc.warc import resource, response, revisit

from larm.kit.disk.table import Table, TableRow
from larm.model.crawl_hash import digest
from larm.model.message import URLMessage
from larm.model.url import BadUrl, Url
from larm.store.archive.answers import Answer
from larm.store.archive.arc import convert, is_arc
from larm.store.archive.scanning import Record, is_by_record, is_wacz, not_an_archive, scan, unpack
from larm.store.archive.wacz import unpack_wacz

_BATCH = 1_000
_HEAD = 1_000_000
"""Bytes of a record that are looked at: its header is in them, and whether there is a body."""
_HELD = 50_000
"""Captures that wait to be written: 20 MB."""
_KINDS = int(response) | int(revisit) | int(resource)


class Capture(msgspec.Struct, frozen=True, array_like=True):
    """Where a record is."""

    file: str
    offset: int
    url: str = ""
    rank: tuple[int, float] = (0, 0.0)
    """The highest one counts: whether it has a page, then when it was made."""
    payload: str = ""
    """Of a revisit the digest of the payload that it has not."""


_decoder = msgspec.msgpack.Decoder(Capture)


class Catalogue:
    """Open from the start. Every method may raise StorageError."""

    def __init__(
        self,
        folder: Path,
        parse: Callable[[str], Url],
        counted: Callable[[str, int], object],
        log: Callable[[str], object],
        note: Callable[[str], object],
    ) -> None:
        """``folder``: for the table; ``log`` takes a line for all that is damaged or left out, ``note`` how much that is."""
        # constant after construction
        self._folder = folder
        self._parse = parse
        self._counted = counted
        self._log = log
        self._note_it = note
        self._table = Table(folder / "captures.db")
        self._lock = threading.Lock()
        # only the main thread, before the river flows
        self._fresh: dict[int, Capture] = {}
        self._table.open_at(self._table.generation)  # only this process writes it
        self._empty = not self._table.generation  # then nothing need be looked for in it
        self._lost = {"damaged": 0, "left out": 0}  # records

    def read(self, files: Sequence[Path]) -> Iterator[list[URLMessage]]:
        """Walk through the files; then all addresses in them, in their order."""
        seen = array("Q")  # those of several captures more than once: the filter of what was visited knows them
        for path in files:
            seen.extend(self._walk(path))
        self._write()
        if any(self._lost.values()):
            said = " and ".join(f"{n:,} {what}" for what, n in self._lost.items() if n)
            self._note_it(f"records of the archives: {said}; logs/archive.log names them")
        for at in range(0, len(seen), _BATCH):
            found = self.find_many(list(dict.fromkeys(seen[at : at + _BATCH])))
            yield [URLMessage(self._parse(capture.url)) for capture in found.values()]

    def find_many(self, fingerprints: Sequence[int]) -> dict[int, Capture]:
        """The captures of addresses, in their order, where there are any. Any thread, after `read`."""
        with self._lock:
            rows = self._table.get_many(fingerprints)
        return {key: _decoder.decode(rows[key].data) for key in fingerprints if key in rows}

    def payload(self, payload: str) -> Capture | None:
        """A capture that has it. Any thread."""
        return self._get(_payload_key(payload))

    def close(self) -> None:
        """A second call does nothing."""
        self._table.close()

    def _get(self, key: int) -> Capture | None:
        with self._lock:
            record = self._fresh.get(key)
            if record is not None or self._empty:
                return record
            row = self._table.get(key)
        return None if row is None else _decoder.decode(row.data)

    def _walk(self, path: Path) -> Iterator[int]:
        def damaged(offset: int, why: str) -> None:
            self._lose("damaged", f"{path}: byte {offset:,}: damaged: {why}")

        readable = path
        if is_arc(path):
            readable = self._folder / f"converted-{digest(str(path).encode()):016x}.warc"
            convert(path, readable, damaged)
        elif (in_zip := is_wacz(path)) or not is_by_record(path):
            readable = self._folder / f"unpacked-{digest(str(path).encode()):016x}.warc"
            if why := (unpack_wacz if in_zip else unpack)(path, readable):
                damaged(path.stat().st_size, why)
        records = 0
        for record in scan(readable, damaged, _KINDS, most=_HEAD):
            records += 1
            try:
                yield from self._note(readable, record)
            except BadUrl as error:
                address = record.get("warc-target-uri")[:200]
                self._lose("left out", f"{path}: byte {record.offset:,}: left out: {error}: {address}")
            except ValueError as error:
                damaged(record.offset, str(error))
            if len(self._fresh) >= _HELD:
                self._write()
        self._counted("archive/captures", records)
        if not records and not next(scan(readable, lambda *_: None, most=_HEAD), None):
            raise not_an_archive(path)

    def _lose(self, what: str, line: str) -> None:
        self._lost[what] += 1
        self._counted(f"archive/{what.replace(' ', '_')}", 1)
        self._log(line)

    def _note(self, path: Path, record: Record) -> Iterator[int]:
        answer = Answer(record)
        url = self._parse(answer.url)
        again = answer.kind == "revisit"
        moved = 300 <= answer.status < 400
        only_checked = again and (answer.status == 304 or "not-modified" in record.get("warc-profile"))
        rank = (0 if only_checked else 1 if moved else 2, answer.date)
        payload = answer.digest if again else ""
        there = Capture(str(path), record.offset, url.access, rank, payload)
        if answer.digest and not again and answer.body:
            key = _payload_key(answer.digest)
            if self._get(key) is None:
                self._fresh[key] = there
        before = self._get(url.fingerprint)
        if before is None or before.rank <= rank:
            self._fresh[url.fingerprint] = there
        if before is not None and (before.file, before.offset) != (there.file, there.offset):
            self._counted("archive/superseded", 1)
        yield url.fingerprint

    def _write(self) -> None:
        rows = [TableRow(key, key, msgspec.msgpack.encode(capture)) for key, capture in sorted(self._fresh.items())]
        self._table.write(self._table.generation + 1, rows)
        self._empty = self._empty and not rows
        self._fresh = {}


def _payload_key(payload: str) -> int:
    return digest(f"payload {payload}".encode())

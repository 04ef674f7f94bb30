"""LogFile: whole lines into one file, buffered (LARM-98). Any thread writes; the tick flushes.

A page must not forge a line or move the cursor of a terminal that shows ``tail -f``: every control character but the tab is
written as ``\\x1b``.
"""

import os
import re
import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from larm.kit.disk.disk_failure import disk_failure, disk_failures
from larm.kit.disk.files import sync_directory

_BUFFER = 256 * 1024  # bytes; beyond it the writer of a line flushes, or a busy log would fill the memory between two ticks
_BLOCK = 16_000_000  # bytes of a log that are searched at a time
_CONTROLS = bytes(byte for byte in range(32) if byte != ord("\t")) + b"\x7f"
_WIDE_CONTROLS = re.compile(rb"\xc2[\x80-\x9f]")  # U+0080 to U+009F: some terminals obey them too
_ODD_MARKS = re.compile(rb"\xe2\x80[\xa8-\xae]|\xe2\x81[\xa6-\xa9]|\xf3\xa0[\x80\x81]")
# U+2028 and 2029 end a line for many readers; those behind them turn the direction of what follows; tags are invisible
_UNSAFE = re.compile("[\x00-\x08\x0a-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\U000e0000-\U000e007f]")


class LogFile:
    """One log, appended to."""

    def __init__(self, path: Path, header: str | None = None) -> None:
        """Open or make the file. ``header`` becomes the first line of a file that is empty. Raises StorageError."""
        # constant after construction
        self.path = path
        self._header = b"" if header is None else encode_lines([header])
        self._lock = threading.Lock()
        self._write_lock = threading.Lock()  # taken before the other
        # guarded by self._write_lock
        with disk_failures(path):
            path.parent.mkdir(parents=True, exist_ok=True)
            self._file = open(path, "ab+", buffering=0)  # noqa: SIM115  open as long as the crawl
            size = os.fstat(self._file.fileno()).st_size
            whole = size == 0 or os.pread(self._file.fileno(), 1, size - 1) == b"\n"
        self._written = size
        self._synced = 0 if size == 0 else -1  # length at the last sync; -1: unknown
        self._turned = False  # since the last sync
        # guarded by self._lock
        self._position = size
        self._buffer: list[bytes] = []
        self._buffered = 0
        if size == 0:
            self._append(self._header)
        elif not whole:
            self._append(b"\n")  # a killed process left half a line

    def line(self, text: str) -> None:
        """Append one line; a newline at its end is not needed. No disk is touched unless much is buffered."""
        self._append(encode_lines((text,)))

    def lines(self, texts: Iterable[str]) -> None:
        """Append several lines; those of other threads don't come between them."""
        lines = list(texts)
        if lines:
            self._append(encode_lines(lines))

    @property
    def position(self) -> int:
        """Length of the file in bytes with all that is still buffered."""
        with self._lock:
            return self._position

    def flush(self) -> None:
        """Write what is buffered. Raises StorageError; then the file ends with a whole line, and the rest stays buffered."""
        with self._write_lock:
            self._flush_locked()

    def sync(self) -> None:
        """Flush, and wait until it is on the disk, if anything is new. Raises StorageError."""
        with self._write_lock:
            self._flush_locked()
            if self._written == self._synced:
                return
            with disk_failures(self.path):
                os.fsync(self._file.fileno())
            if self._turned:
                sync_directory(self.path.parent)
            self._synced, self._turned = self._written, False

    def turn(self, number: int) -> int:
        """Go on in a new file: what is on the disk becomes the old part `number`, and the one before it goes.

        Returns how many bytes went. What is buffered will be in the new file. Raises StorageError; `sync` makes it durable.
        """
        gone = 0
        with self._write_lock:
            with disk_failures(self.path):
                for before in {part(self.path, number - 1), part(self.path, number)}:
                    gone += before.stat().st_size if before.exists() else 0
                    before.unlink(missing_ok=True)
                os.replace(self.path, part(self.path, number))
                new = open(self.path, "ab+", buffering=0)  # noqa: SIM115  as above
            self._file.close()
            self._file = new
            self._written, self._synced, self._turned = 0, -1, True
            with self._lock:
                self._buffer.insert(0, self._header)
                self._buffered += len(self._header)
                self._position = self._buffered
        return gone

    def close(self) -> None:
        """Flush and close; a second call does nothing. Raises StorageError."""
        with self._write_lock:
            if not self._file.closed:
                try:
                    self._flush_locked()
                finally:
                    self._file.close()

    def _append(self, data: bytes) -> None:
        with self._lock:
            self._buffer.append(data)
            self._position += len(data)
            self._buffered += len(data)
            full = self._buffered > _BUFFER
        if full:
            self.flush()

    def _flush_locked(self) -> None:
        with self._lock:
            data = b"".join(self._buffer)
            self._buffer.clear()
            self._buffered = 0
        if not data:
            return
        try:
            rest = memoryview(data)
            while rest:
                rest = rest[self._file.write(rest) or 0 :]
        except OSError as error:
            with suppress(OSError):
                os.ftruncate(self._file.fileno(), self._written)
            with self._lock:
                self._buffer.insert(0, data)
                self._buffered += len(data)
            raise disk_failure(self.path, error) from error
        self._written += len(data)

    def __repr__(self) -> str:
        return f"<LogFile {self.path} {self._position} bytes, {self._buffered} buffered>"


def part(path: Path, number: int) -> Path:
    """Where the old part of a log is, after so many turns."""
    return path.with_name(f"{path.name}.{number}")


def with_parts(logs: Path, pattern: str) -> list[Path]:
    """The logs of this pattern, such as ``thread*.log``, and their old parts, each of which comes before its log."""
    return [*sorted(logs.glob(f"{pattern}.[1-9]*")), *sorted(logs.glob(pattern))]


def blocks(log: Path) -> Iterator[bytes]:
    """A log from its beginning, in blocks of whole lines. It may grow meanwhile, or be cut back, as a crawl that starts does:
    who had it mapped would be killed by a signal then. Raises OSError."""
    with log.open("rb") as file:
        while block := file.read(_BLOCK):
            yield block + file.readline()


def encode_lines(lines: Sequence[str]) -> bytes:
    """The lines as UTF-8, each with its newline; control characters and lone surrogates are written as escapes.

    Nearly all lines are harmless, so they are looked at together and as bytes: 0.1 us a line.
    """
    data = ("\n".join(lines) + "\n").encode("utf-8", "backslashreplace")
    harmless = (
        len(data) - len(data.translate(None, _CONTROLS)) == len(lines)  # nothing but a line end for each
        and not (b"\xc2" in data and _WIDE_CONTROLS.search(data))
        and not ((b"\xe2" in data or b"\xf3" in data) and _ODD_MARKS.search(data))
    )
    if harmless:
        return data
    safe = "\n".join(_UNSAFE.sub(_escape, line.removesuffix("\n")) for line in lines)
    return (safe + "\n").encode("utf-8", "backslashreplace")


def _escape(match: re.Match[str]) -> str:
    code = ord(match[0])
    return f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"

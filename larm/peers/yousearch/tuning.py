"""Tuning: what an administrator has all peers of a group do alike (YOUS-34 to 37). Any thread.

A message has all tunables and a number, and is signed with the administrator's key; only one with a higher number than the last
takes effect, whoever brings it. It is kept in a file, so a restart changes nothing. Registrars and peers hand it on to each
other.
"""

import threading
from pathlib import Path
from typing import Annotated

import msgspec
from msgspec import Meta

from larm.kit.disk.atomic import write_atomically
from larm.kit.disk.json_file import read_json
from larm.model.findings import Asked
from larm.peers.identity import Identity, is_signed
from larm.peers.yousearch.summary import Parameters

_PURPOSE = "tuning"


class Tunables(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What can be tuned (YOUS-36)."""

    length: int = Parameters().length
    filters: int = Parameters().filters
    period: Annotated[float, Meta(ge=0.1, le=86_400)] = 120.0
    """Seconds between two looks at what is shared, after which registrars are told."""
    timeout: Annotated[float, Meta(ge=0.1, le=600)] = 3.0
    """Seconds for the answers of all peers."""
    cache: Annotated[float, Meta(ge=0, le=86_400)] = 300.0
    """Seconds for which an answer is kept."""

    def __post_init__(self) -> None:
        self.parameters  # noqa: B018 - raises ValueError

    @property
    def parameters(self) -> Parameters:
        """Of summaries."""
        return Parameters(self.length, self.filters)


class Tuning(msgspec.Struct, frozen=True):
    """One message."""

    serial: Annotated[int, Meta(ge=1, le=1 << 53)]
    tunables: Tunables
    signature: Annotated[str, Meta(max_length=100)]


def signed(administrator: Identity, serial: int, tunables: Tunables) -> Tuning:
    """A message of an administrator."""
    return Tuning(serial, tunables, administrator.sign(_PURPOSE, _data(serial, tunables)))


class Tuner:
    """What holds on this machine."""

    def seconds_for(self, asked: Asked) -> float:
        """That a search of other machines may take: who asks has to hear of it before his own time is over."""
        times = [self.now.timeout, asked.wait, None if asked.seconds is None else asked.seconds * 0.9]
        return min(each for each in times if each is not None)

    def __init__(self, administrator: str, file: Path, configured: Tunables) -> None:
        """``administrator``: his key; empty: there is none, and what is ``configured`` holds. Raises StorageError."""
        # constant after construction
        self._administrator = administrator
        self._file = file
        self._lock = threading.Lock()
        # guarded by self._lock; replaced as a whole, so read without it
        self.now = configured
        self.message: Tuning | None = None
        kept = read_json(file, Tuning, "remove it, and the next message is as good") if administrator else None
        if kept is not None and self._is_good(kept):
            self.message, self.now = kept, kept.tunables

    def take(self, tuning: Tuning | None) -> bool:
        """True where it holds from now on. Raises StorageError."""
        if tuning is None or not self._is_newer(tuning) or not self._is_good(tuning):
            return False
        with self._lock:
            if not self._is_newer(tuning):
                return False
            write_atomically(self._file, msgspec.json.encode(tuning))
            self.message, self.now = tuning, tuning.tunables
            return True

    def _is_newer(self, tuning: Tuning) -> bool:
        return self.message is None or tuning.serial > self.message.serial

    def _is_good(self, tuning: Tuning) -> bool:
        return bool(self._administrator) and is_signed(
            self._administrator, _PURPOSE, _data(tuning.serial, tuning.tunables), tuning.signature
        )


def _data(serial: int, tunables: Tunables) -> bytes:
    return msgspec.json.encode([serial, *map(float, msgspec.structs.astuple(tunables))])  # 60 and 60.0 are the same

"""Standing: where all hosts stood when a run ended well, and what they came to: so the next one begins without their records.

It is a row of the last checkpoint of a run. It counts where nothing has touched the checkpoint since, and where the rules by
which hosts are resumed are the same; else all records are read. Pure.
"""

import msgspec

from larm.errors import StorageError
from larm.kit.squash import squash, zstd


class Standing(msgspec.Struct, frozen=True, array_like=True):
    """Keys of hosts, and sums."""

    rules: int
    """A number of the settings by which records of earlier runs are looked at."""
    known: int
    counted: int
    """Messages that wait at hosts and keep the crawl going."""
    queued: int
    uncounted: int
    blocked: int
    given_up: int
    ready: list[str]
    """In the order of their turns."""
    later: list[tuple[float, str]]
    """Wall time, and who may be asked then."""
    slowed: list[str]
    shut: list[str]
    """Given up, blocked or on their way."""
    special: list[str]
    """Whose records have to be read: something was in the air, or they hold something back, or have grown. Few."""
    saved: float
    """Wall time."""
    epoch: int = 0
    """Of the checkpoint."""
    closed: int = 0
    """Hosts that somebody has blocked."""

    def encode(self, epoch: int) -> bytes:
        """For the checkpoint of this number."""
        return squash(msgspec.msgpack.encode(msgspec.structs.replace(self, epoch=epoch)))


_decoder = msgspec.msgpack.Decoder(Standing)


def decode_standing(data: bytes, path: object) -> Standing:
    """Raises StorageError on damage."""
    try:
        return _decoder.decode(zstd.decompress(data))
    except (zstd.ZstdError, msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise StorageError(f"{path}: where hosts stood is damaged ({error}); start over with --fresh") from error

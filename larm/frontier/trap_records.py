"""What is remembered of one pattern of addresses, and of one path, and the row of all of it. Plain state, of `HostTraps`."""

from __future__ import annotations

import msgspec

from larm.model.url_shape import number_of

ENOUGH = 10
"""Pages after which a pattern may be proven: one in seven of the last ones was worth while."""


class PatternRecord(msgspec.Struct, array_like=True, gc=False):
    """One pattern."""

    text: str
    judged: int = 0
    news: bytes = b""
    """The last pages, a bit each: 1 was worth while. As bytes, for msgpack's numbers end at 64 bits."""
    closed: bool = False
    dropped: int = 0
    tried: int = 0
    """Addresses let through although a broader pattern is closed, because little was known of this one."""

    @property
    def key(self) -> int:
        """That of its pattern."""
        return number_of(self.text)

    def add(self, fresh: bool, window: int) -> None:
        """One more page."""
        bits = (int.from_bytes(self.news) << 1 | fresh) & ((1 << window) - 1)
        self.news = bits.to_bytes((window + 7) // 8)
        self.judged += 1

    @property
    def proven(self) -> bool:
        """It is worth while, whatever is said of broader patterns."""
        return not self.closed and self.judged >= ENOUGH and self.fresh * 7 >= min(self.judged, 8 * len(self.news))

    @property
    def fresh(self) -> int:
        """Pages of the window that were worth while."""
        return int.from_bytes(self.news).bit_count()


class PathRecord(msgspec.Struct, array_like=True, gc=False):
    """One path that has parameters."""

    variants: int = 0
    sets: list[int] = []
    """Of parameter names; at most as many as are allowed."""


class SavedTraps(msgspec.Struct, array_like=True, gc=False):
    """One host's, in its row; what came later is at the end and may be missing."""

    urls: int
    patterns: dict[int, PatternRecord]
    paths: dict[int, PathRecord]
    parameters: dict[str, tuple[int, int]]
    forms: dict[int, int]
    claims: dict[int, int]
    probes: list[int]
    newcomers: int
    choices: dict[str, list[int]] = {}
    views: dict[int, PatternRecord] = {}


encode_traps = msgspec.msgpack.Encoder().encode
decode_traps = msgspec.msgpack.Decoder(SavedTraps).decode

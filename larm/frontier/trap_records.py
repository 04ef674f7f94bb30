"""What is remembered of one pattern of addresses, and of one path, and the row of all of it. Plain state, of `HostTraps`."""

from __future__ import annotations

import msgspec

ENOUGH = 10
"""Pages after which a pattern may be proven: one in seven of the last ones was worth while."""


class SavedPattern(msgspec.Struct, array_like=True, frozen=True, gc=False):
    """One pattern, in the host's row."""

    text: str
    judged: int = 0
    news: bytes = b""
    """As bytes, for msgpack's numbers end at 64 bits."""
    closed: bool = False
    dropped: int = 0
    tried: int = 0


class PatternRecord:
    """One pattern."""

    __slots__ = ("_kept", "_news", "closed", "dropped", "judged", "text", "tried")

    def __init__(self, text: str) -> None:
        self.text = text
        self.judged = 0
        self._news = 0  # the last pages, a bit each: 1 was worth while
        self._kept = 0  # bits that are saved
        self.closed = False
        self.dropped = 0
        self.tried = 0
        """Addresses let through although a broader pattern is closed, because little was known of this one."""

    @classmethod
    def of(cls, saved: SavedPattern) -> PatternRecord:
        """From a row."""
        made = cls(saved.text)
        made.judged, made.closed, made.dropped, made.tried = saved.judged, saved.closed, saved.dropped, saved.tried
        made._news, made._kept = int.from_bytes(saved.news), 8 * len(saved.news)
        return made

    def saved(self) -> SavedPattern:
        """For a row."""
        news = self._news.to_bytes(self._kept // 8)
        return SavedPattern(self.text, self.judged, news, self.closed, self.dropped, self.tried)

    def add(self, fresh: bool, window: int) -> None:
        """One more page; of the last ``window`` it is remembered what they were."""
        self._news = (self._news << 1 | fresh) & ((1 << window) - 1)
        self._kept = (window + 7) & ~7
        self.judged += 1

    @property
    def proven(self) -> bool:
        """It is worth while, whatever is said of broader patterns."""
        return not self.closed and self.judged >= ENOUGH and self.fresh * 7 >= min(self.judged, self._kept)

    @property
    def fresh(self) -> int:
        """Pages of the window that were worth while."""
        return self._news.bit_count()


class PathRecord(msgspec.Struct, array_like=True, gc=False):
    """One path that has parameters."""

    variants: int = 0
    sets: list[int] = []
    """Of parameter names; at most as many as are allowed."""


class SavedTraps(msgspec.Struct, array_like=True, gc=False):
    """One host's, in its row; what came later is at the end and may be missing."""

    urls: int
    patterns: dict[int, SavedPattern]
    paths: dict[int, PathRecord]
    parameters: dict[str, tuple[int, int]]
    forms: dict[int, int]
    claims: dict[int, int]
    probes: list[int]
    newcomers: int
    choices: dict[str, list[int]] = {}
    views: dict[int, SavedPattern] = {}


encode_traps = msgspec.msgpack.Encoder().encode
decode_traps = msgspec.msgpack.Decoder(SavedTraps).decode

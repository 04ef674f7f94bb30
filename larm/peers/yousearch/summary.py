"""Summary: which words a peer has, in three bit vectors (YOUS-1, 2, 13, 14). Pure.

Vector j gets a bit for each word, so a registrar may keep each vector elsewhere. A word that is there is always found; one that
is not is found by accident, the oftener the fuller the vectors are. Beside the words of an index it has their stems, marked by
the language, as a search finds all forms of a word. A peer with many words has several summaries, each for a part of the words,
so that none is too full.
"""

import zlib
from collections.abc import Iterable, Sequence
from hashlib import md5, sha256

import msgspec

from larm.index.forms import can_have_forms
from larm.index.stems import LANGUAGES, Stemmer

LENGTH = 65_536
"""Bits of a vector. All peers have the same, as vectors of different lengths can't be compared (YOUS-37)."""
FILTERS = 3
"""Vectors of a summary."""
_MOST_IN_ONE = 20_000
"""Words and stems of a partition: a quarter of the bits are set then, and one absent word in 55 is found by accident."""
_MOST_PARTITIONS = 64
"""1.3 million words and stems. Beyond that they get fuller."""


class Summary(msgspec.Struct, frozen=True):
    """Of one peer."""

    languages: tuple[str, ...]
    """Those whose stems are in it, for every word of letters."""
    partitions: tuple[tuple[bytes, ...], ...]
    """Of each part of the words, its vectors."""
    moment: str = ""
    """Of what it was made of: where that has changed, answers may have, whether its words have or not."""


def positions(term: str) -> tuple[int, ...]:
    """Its bit in each vector (YOUS-2)."""
    digest = _digest(term)
    return tuple(int.from_bytes(digest[2 * j : 2 * j + 2]) % LENGTH for j in range(FILTERS))


def partition(term: str, partitions: int) -> int:
    """The part of a summary that it belongs to."""
    return int.from_bytes(_digest(term)[14:16]) % partitions


def _digest(term: str) -> bytes:
    return md5(term.lower().encode("utf-8", "replace"), usedforsecurity=False).digest()


def summary_of(words: Iterable[str], languages: Sequence[str], moment: str = "") -> Summary:
    """Of all the words of a peer, in the languages of its pages."""
    plain = set(words)
    known = sorted({language for language in languages if language in LANGUAGES})
    keys = set(plain)
    formed = [word for word in plain if can_have_forms(word)]
    for language in known:
        keys.update(marked(language, stem) for stem in Stemmer(language).stems(formed))
    count = min(_MOST_PARTITIONS, max(1, -(-len(keys) // _MOST_IN_ONE)))
    vectors = [[bytearray(LENGTH // 8) for _ in range(FILTERS)] for _ in range(count)]
    for key in keys:
        for vector, at in zip(vectors[partition(key, count)], positions(key), strict=True):
            vector[at >> 3] |= 1 << (at & 7)
    return Summary(tuple(known), tuple(tuple(bytes(vector) for vector in each) for each in vectors), moment)


def marked(language: str, stem: str) -> str:
    """What stands for a stem; no word has a colon."""
    return f"{language}:{stem}"


# -- on the wire


class WireSummary(msgspec.Struct, frozen=True):
    """A summary, or the bits of one that differ from the one before."""

    languages: tuple[str, ...]
    partitions: int
    data: bytes
    """zlib; all vectors of the first partition, then of the next one. Of changes: bits that are 1 where they differ."""
    changes: bool = False


def to_wire(summary: Summary, before: Summary | None = None) -> WireSummary:
    """Changed bits where there was a summary of the same kind ``before``, and they are shorter."""
    data = _joined(summary)
    whole = WireSummary(summary.languages, len(summary.partitions), zlib.compress(data, 6))
    if before is None or len(before.partitions) != len(summary.partitions):
        return whole
    differing = int.from_bytes(data) ^ int.from_bytes(_joined(before))
    changed = zlib.compress(differing.to_bytes(len(data)), 6)
    return msgspec.structs.replace(whole, data=changed, changes=True) if len(changed) < len(whole.data) else whole


def unpacked(wire: WireSummary) -> tuple[tuple[bytes, ...], ...] | None:
    """Its vectors by partitions; of changes, bits that are 1 where they differ. None for what is no summary."""
    one = LENGTH // 8
    size = wire.partitions * FILTERS * one
    if not 1 <= wire.partitions <= _MOST_PARTITIONS or not set(wire.languages) <= LANGUAGES:
        return None
    unpacker = zlib.decompressobj()
    try:
        data = unpacker.decompress(wire.data, size + 1)
    except zlib.error:
        return None
    if len(data) != size:
        return None
    vectors = [data[at : at + one] for at in range(0, size, one)]
    return tuple(tuple(vectors[at : at + FILTERS]) for at in range(0, len(vectors), FILTERS))


def name_of(summary: Summary) -> str:
    """Equal for equal ones: by it two sides know that they speak of the same."""
    return sha256(_joined(summary) + summary.moment.encode()).hexdigest()[:32]


def _joined(summary: Summary) -> bytes:
    return b"".join(vector for vectors in summary.partitions for vector in vectors)

"""Fingerprints of texts: what tells, in a few bytes, how much of two texts is the same, and how much of one is new.

Called by `larm.index.duplicates.aliases` on the writer thread of the index storage, a batch of pages at a time.

A *feature* is 16 bytes of the text, beginning at a word: two or three words. Where words are not set apart (Chinese, Japanese,
Thai) one begins at each character, which makes it five characters. Case, punctuation and white space do not count. From the
features come

- the *sketch*: the features by their hash in 128 drawers, of each drawer's smallest one byte. The share of equal bytes is,
  give or take 4 %, the share of features that two texts have in common (one-permutation minhash, Li, Owen and Zhang 2012);
- the *simhash*: for each of 64 bits, what most features' hashes say (Charikar 2002);
- the *bands*: pieces of the sketch. Texts of which 90 % is the same have one in common 99 times in 100. Short texts have none.

``larm/index/duplicates/compiled.pyx`` does the counting or, where it could not be compiled, `larm.index.duplicates.features`.
"""

from collections.abc import Sequence
from importlib import import_module
from typing import Any, Final

import xxhash

from larm.model.novelty import Fingerprint

LEAST = 150
"""Features, about as many words; a text with fewer is never nearly the same as another: of two pages about parts, errors or
algorithms, one number or name is what tells them apart."""
BANDS, ROWS = 6, 6
"""Bands of a sketch, and drawers in each."""
_SLOTS = 1 << 22
_NOTHING = bytes(ROWS)
_counting: Any
try:
    _counting = import_module("larm.index.duplicates.compiled")
except ImportError:  # not compiled, or for another machine
    _counting = import_module("larm.index.duplicates.features")
COMPILED: Final = _counting.__name__.endswith("compiled")


def new_memory(slots: int = _SLOTS) -> Any:
    """Features of the texts of late, in bounded memory: what tells new text from that which is only put together anew.

    A quarter of the features (all of a short text), in a table in which new ones overwrite old ones: 8 MB for the last
    10,000 pages or so. It is not kept across restarts, after which all text is new for a while. For one thread. ``slots``: a
    power of two.
    """
    return _counting.Memory(slots)


def fingerprints(texts: Sequence[str], memory: Any, *, links: bool = False) -> list[Fingerprint]:
    """One for each text, of all of it, in order; the memory has read them afterwards. About 20 us for 10 KB of text.

    ``links``: the texts are those of links, in which there is always one more identifier.
    """
    found = _counting.measured(texts, memory, links)
    return [Fingerprint(count, simhash, sketch, _bands(sketch, count), news) for count, simhash, sketch, news in found]


def _bands(sketch: bytes, features: int) -> tuple[int, ...]:
    if features < LEAST:
        return ()
    pieces = [sketch[at : at + ROWS] for at in range(0, BANDS * ROWS, ROWS)]
    hashed = xxhash.xxh3_64_intdigest
    return tuple([hashed(piece, seed=number) >> 1 for number, piece in enumerate(pieces) if piece != _NOTHING])

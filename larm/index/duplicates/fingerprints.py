"""Fingerprints of texts: what tells, in a few bytes, how much of two texts is the same, and how much of one is new.

Texts are measured where pages are read (`larm.index.duplicates.novelty`); `larm.index.duplicates.aliases` compares them on the
writer thread of the index storage.

A *feature* is 16 bytes of the text, beginning at a word: two or three words. Where words are not set apart (Chinese, Japanese,
Thai) one begins at each character, which makes it five characters. Case, punctuation and white space do not count. From the
features come

- the *sketch*: the features by their hash in 128 drawers, of each drawer's smallest one byte. The share of equal bytes is,
  give or take 4 %, the share of features that two texts have in common (one-permutation minhash, Li, Owen and Zhang 2012);
- the *simhash*: for each of 64 bits, what most features' hashes say (Charikar 2002);
- the *bands*: parts of the sketch. Texts of which 90 % is the same have one in common 99 times in 100. Short texts have none;
- the *pieces*: a quarter of the features, all of a short text. A memory of them tells new text from text that is only put
  together again. Words with digits are all one there.

``larm/index/duplicates/compiled.pyx`` does the counting or, where it could not be compiled, `larm.index.duplicates.features`.
"""

from collections.abc import Callable
from importlib import import_module
from typing import Any, Final

import xxhash

from larm.index.duplicates.likeness import Measured
from larm.model.novelty import Fingerprint

LEAST = 150
"""Features, about as many words; a text with fewer is never nearly the same as another: of two pages about parts, errors or
algorithms, one number or name is what tells them apart."""
BANDS, ROWS = 6, 6
"""Bands of a sketch, and drawers in each."""
_NOTHING = bytes(ROWS)
_counting: Any
try:
    _counting = import_module("larm.index.duplicates.compiled")
except ImportError:  # not compiled, or for another machine
    _counting = import_module("larm.index.duplicates.features")
COMPILED: Final = _counting.__name__.endswith("compiled")


measured: Final[Callable[[str, bool], Measured]] = _counting.measured
"""See `larm.index.duplicates.features.measured`. About 20 us for 10 KB of text."""
_SLOTS = 1 << 22


def new_memory(slots: int = _SLOTS) -> Any:
    """Return a `larm.index.duplicates.features.Memory`, by default of 8 MB for the last 10,000 pages or so."""
    return _counting.Memory(slots)


def text_fingerprint(text: str) -> Fingerprint:
    """Return the fingerprint of a whole text."""
    return Fingerprint(*measured(text, False)[:3])


def bands_of(made: Fingerprint) -> tuple[int, ...]:
    """Return the bands of a fingerprint, 63 bits each; none where the text is too short."""
    if made.features < LEAST:
        return ()
    pieces = [made.sketch[at : at + ROWS] for at in range(0, BANDS * ROWS, ROWS)]
    hashed = xxhash.xxh3_64_intdigest
    return tuple([hashed(piece, seed=number) >> 1 for number, piece in enumerate(pieces) if piece != _NOTHING])

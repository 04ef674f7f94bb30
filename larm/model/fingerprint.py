"""Fingerprint: what tells, in a few bytes, how much of two texts is the same. Made and compared by `larm.duplicates`."""

from __future__ import annotations

from typing import NamedTuple


class Fingerprint(NamedTuple):
    """One text."""

    features: int
    simhash: int
    sketch: bytes
    """0 where a drawer is empty."""
    bands: tuple[int, ...]
    """63 bits each; none where the text is too short."""
    news: tuple[int, int]
    """Features that were looked at for the memory of texts, and how many it did not know. Words with digits are all one."""

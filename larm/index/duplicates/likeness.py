"""What is known of a text by its fingerprint, and how much two texts have in common. Pure.

How one is made: `larm.index.duplicates.fingerprints`.
"""

DRAWERS = 128
"""Of a sketch."""


Measured = tuple[int, int, bytes, bytes]
"""Features, simhash and sketch of a text as in `Fingerprint`; its pieces as in `PageText`."""


def likeness(one: bytes, other: bytes) -> float:
    """The share of their features that two texts have in common, estimated from their sketches; 0 for empty ones."""
    # as numbers: equal bytes of the two, and bytes that are 0 in both, become 0
    equal = (int.from_bytes(one) ^ int.from_bytes(other)).to_bytes(DRAWERS).count(0)
    empty = (int.from_bytes(one) | int.from_bytes(other)).to_bytes(DRAWERS).count(0)
    return (equal - empty) / (DRAWERS - empty) if empty < DRAWERS else 0.0


def distance(one: int, other: int) -> int:
    """Bits in which two simhashes differ."""
    return (one ^ other).bit_count()

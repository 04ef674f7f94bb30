"""Seconds, ByteSize, Share: numbers with a unit, as people write them in config.yaml (``2s``, ``1h``, ``10MB``, ``5%``).

Pure. A plain number is taken as seconds or bytes. Sizes are decimal (1 MB = 1,000,000 bytes), as LARM counts its page files.
"""

from __future__ import annotations

import re

_SECONDS = {"": 1.0, "ms": 0.001, "s": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0, "d": 86400.0}
_BYTES = {"": 1, "b": 1, "kb": 10**3, "mb": 10**6, "gb": 10**9, "kib": 2**10, "mib": 2**20, "gib": 2**30}
_QUANTITY = re.compile(r"\s*(\d+(?:\.\d*)?|\.\d+)\s*([a-z]*|%)\s*", re.IGNORECASE)


class Seconds(float):
    """A duration; at least 0."""

    @classmethod
    def parse(cls, text: object) -> Seconds:
        """``2``, ``0.5``, ``"2s"``, ``"5min"``, ``"1h"``, ``"1d"``. Raises ValueError saying what was expected."""
        value = _quantity(text, _SECONDS)
        if value is None:
            raise ValueError("expected a duration such as 2s, 500ms, 5min or 1h")
        return cls(value)


class ByteSize(int):
    """A size in bytes; at least 0."""

    @classmethod
    def parse(cls, text: object) -> ByteSize:
        """``500``, ``"40KB"``, ``"10MB"``, ``"512KiB"``. Raises ValueError saying what was expected."""
        value = _quantity(text, _BYTES)
        if value is None:
            raise ValueError("expected a size such as 500KB, 10MB or 512KiB")
        return cls(value)


class Share(float):
    """Of all; 0 to 1."""

    @classmethod
    def parse(cls, text: object) -> Share:
        """``0.1`` or ``"10%"``. Raises ValueError saying what was expected."""
        value = _quantity(text, {"": 1.0, "%": 0.01})
        if value is None or value > 1:
            raise ValueError("expected a share such as 10% or 0.1")
        return cls(value)


def _quantity(text: object, units: dict[str, float] | dict[str, int]) -> float | None:
    if isinstance(text, bool):
        return None
    if isinstance(text, int | float):
        return float(text) if 0 <= text < float("inf") else None
    match = _QUANTITY.fullmatch(text) if isinstance(text, str) else None
    if match is None or match[2].lower() not in units:
        return None
    return float(match[1]) * units[match[2].lower()]

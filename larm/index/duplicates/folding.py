"""How a text is folded before its features are counted, whoever counts them. Pure."""

from typing import Final

_SPACE = ord(" ")
_KEPT = b"abcdefghijklmnopqrstuvwxyz0123456789"
FOLD: Final = bytes(
    each if each in _KEPT or each >= 0x80 else each + 32 if 0x41 <= each <= 0x5A else _SPACE for each in range(256)
)
"""ASCII in lower case, everything but letters and digits a space; other bytes of UTF-8 as they are."""

"""Which language a page is written in (YIOOP-14). Pure; called by the `Assembler`."""

from __future__ import annotations

import re

_TAG = re.compile(r"\s*([A-Za-z]{2})(?![A-Za-z])")


def declared(tag: str) -> str:
    """The ISO 639-1 code in a language tag such as ``en-GB`` (BCP 47), in lower case; "" if there is none."""
    match = _TAG.match(tag)
    return match[1].lower() if match else ""

"""squeeze: text on one line, without runs of spaces. Pure; any thread."""

from __future__ import annotations

import re

_SPACES = re.compile("  +")


def squeeze(text: str) -> str:
    """As ``" ".join(text.split())``, but faster where most white space is indentation, as in the text of pages."""
    for blank in "\t\xa0":
        if blank in text:
            text = text.replace(blank, " ")
    text = " ".join(filter(None, map(str.strip, text.split("\n"))))
    return _SPACES.sub(" ", text) if "  " in text else text

"""clean: a text that fits into one column of a log. Pure; any thread."""

import re

_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff\U000e0000-\U000e007f]")


def clean(text: str) -> str:
    """The text with a space for every control character (LARM-93), and for what UTF-8 can't say."""
    return text if text.isprintable() else _CONTROL.sub(" ", text)

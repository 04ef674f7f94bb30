"""Text from the web, made fit for a terminal. Pure.

A title or a URL may hold escape sequences that recolour, retitle or even type into a terminal, and marks that turn the reading
direction of what follows. None of them may reach one. Used by the display and by every command that prints what pages say.
"""

import json
import re

_CONTROLS = dict.fromkeys((*range(0x20), *range(0x7F, 0xA0), 0x2028, 0x2029), " ")
_TURNERS = dict.fromkeys(
    (0x061C, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A), 0xFEFF, *range(0xE0000, 0xE0080))
)
_SURROGATES = dict.fromkeys(range(0xD800, 0xE000), "\N{REPLACEMENT CHARACTER}")
_LINES_KEPT: dict[int, str | None] = {**_CONTROLS, **_TURNERS, **_SURROGATES, ord("\n"): "\n", ord("\t"): "\t"}
_TABLE: dict[int, str | None] = {**_CONTROLS, **_TURNERS, **_SURROGATES}
_UNSAFE = "[\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff\ufeff\U000e0000-\U000e007f]"
"""Those of the table that JSON need not escape."""
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_FORMULA = re.compile(r"\t|\s*[=+\-@\uff1d\uff0b\uff0d\uff20]")
"""The beginning of a cell that spreadsheets take for a formula."""


def harmless(text: str) -> str:
    """The text with its lines and tabs, but for the rest as `printable`."""
    return text.replace("\r\n", "\n").translate(_LINES_KEPT)


def printable(text: str) -> str:
    """One line without control characters, direction marks and lone surrogates; spaces squeezed."""
    return " ".join(text.translate(_TABLE).split())


def escaped(text: str) -> str:
    """Return a text in JSON with escapes for what must not reach a terminal, or ends a line for some readers. Loses nothing."""
    return re.sub(_UNSAFE, lambda found: json.dumps(found[0])[1:-1], text)


def without_controls(text: str) -> str:
    """Return a text with spaces for the control characters but line ends and tabs, for files."""
    return _CONTROL.sub(" ", text)


def cell(text: str, *, raw: bool = False) -> str:
    """Return a cell of CSV without control characters, and unless ``raw`` with a quotation mark before a formula."""
    text = without_controls(text)
    return text if raw or not _FORMULA.match(text) else f"'{text}"

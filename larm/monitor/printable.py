"""Text from the web, made fit for a terminal. Pure.

A title or a URL may hold escape sequences that recolour, retitle or even type into a terminal, and marks that turn the reading
direction of what follows. None of them may reach one. Used by the display and by every command that prints what pages say.
"""

_CONTROLS = dict.fromkeys((*range(0x20), *range(0x7F, 0xA0), 0x2028, 0x2029), " ")
_TURNERS = dict.fromkeys((0x061C, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A), 0xFEFF))
_SURROGATES = dict.fromkeys(range(0xD800, 0xE000), "\N{REPLACEMENT CHARACTER}")
_LINES_KEPT: dict[int, str | None] = {**_CONTROLS, **_TURNERS, **_SURROGATES, ord("\n"): "\n", ord("\t"): "\t"}
_TABLE: dict[int, str | None] = {**_CONTROLS, **_TURNERS, **_SURROGATES}


def harmless(text: str) -> str:
    """The text with its lines and tabs, but for the rest as `printable`."""
    return text.replace("\r\n", "\n").translate(_LINES_KEPT)


def printable(text: str) -> str:
    """One line without control characters, direction marks and lone surrogates; spaces squeezed."""
    return " ".join(text.translate(_TABLE).split())

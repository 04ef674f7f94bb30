"""Lines that fit a terminal: columns, not characters, with marks in them. Pure; used by ``larm search``, and for messages.

Chinese and Japanese characters take two columns and may be parted anywhere; other text is parted at spaces.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator

Piece = tuple[str, bool]
"""Text, and whether it is marked."""

_ATOM = re.compile(r"\s+|\S")


def columns(text: str) -> int:
    """How many columns of a terminal the text takes."""
    if text.isascii():
        return len(text)
    return sum(_width(letter) for letter in text)


def _width(letter: str) -> int:
    if unicodedata.combining(letter) or unicodedata.category(letter) in {"Mn", "Me", "Cf"}:
        return 0
    return 2 if unicodedata.east_asian_width(letter) in "WF" else 1


def wrapped(pieces: Iterable[Piece], width: int) -> Iterator[list[Piece]]:
    """Lines of at most ``width`` columns; a word that is longer stands alone on its line."""
    line: list[Piece] = []
    used = 0
    for atom in _atoms(pieces):
        text = "".join(part for part, _ in atom)
        size = columns(text)
        if text.isspace():
            if used:
                line += atom
                used += size
            continue
        if used and used + size > width:
            yield _joined(line)
            line, used = [], 0
        line += atom
        used += size
    if line:
        yield _joined(line)


def _atoms(pieces: Iterable[Piece]) -> Iterator[list[Piece]]:
    """What must not be parted: words (of which only a part may be marked), spaces, wide characters."""
    word: list[Piece] = []
    for text, marked in pieces:
        for match in _ATOM.finditer(text):
            atom = match[0]
            if atom.isspace() or (not atom.isascii() and _width(atom[0]) == 2):
                if word:
                    yield word
                    word = []
                yield [(atom, marked)]
            else:
                word.append((atom, marked))
    if word:
        yield word


def _joined(line: Iterable[Piece]) -> list[Piece]:
    """Neighbours of one kind as one piece, without spaces at the end."""
    found: list[Piece] = []
    for text, marked in line:
        if found and found[-1][1] == marked:
            found[-1] = (found[-1][0] + text, marked)
        else:
            found.append((text, marked))
    while found and not found[-1][0].rstrip():
        found.pop()
    if found:
        found[-1] = (found[-1][0].rstrip(), found[-1][1])
    return found

"""entry_at: where a text explains what was asked for, as manuals do. Pure; called by the ranker and for snippets.

A manual on one page has hundreds of entries, and the one that was asked for may be half a million characters down: what is
looked through of a page begins there. `larm.index.defined` is how the index knows that a page has one.
"""

import re
from collections.abc import Callable, Sequence

from larm.index.defined import together
from larm.index.tree import Phrase, Word

_LONGEST = 100
"""Characters of a name."""


def names_of(items: Sequence[Word | Phrase], is_explained: Callable[[str], bool]) -> list[str]:
    """What may be the name of an entry: all that was asked for, or what its words make together, if some page explains that:
    else no text need be looked through for it."""
    names = [items[0].text] if len(items) == 1 else filter(is_explained, together([each.text for each in items]))
    return [name for name in names if len(name) <= _LONGEST]


def entry_at(text: str, names: Sequence[str]) -> int:
    """The beginning of the entry of the first name that has one; 0 where none has."""
    return next((place for name in names if (place := _entry(text, name))), 0)


def _entry(text: str, name: str) -> int:
    """The name has a line of its own but for what it takes, and within two lines one of some words follows, or its signature,
    as they do not in a table of contents."""
    if f"\n{name}" not in text:
        return 0
    own, gap = re.escape(name), "[ \\t\u00a0]?"
    follows = rf"(?:[^\n]{{0,60}}\n)?(?:(?:\S+[ \t]+){{4}}|{own}{gap}\()"
    found = re.search(rf"\n{own}(?:{gap}\([^\n]*\))?[:\u00b6 \t]*\n{follows}", text)
    return found.start() + 1 if found else 0

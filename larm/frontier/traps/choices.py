"""Choices: parameters that say which view of something is wanted, such as ``action=edit``. Plain state of one host's traps.

Many sites have one path for everything, and the value of a parameter stands for what is a folder elsewhere: of ``/wiki?action``
the pages may be new and the histories of pages not. Names say nothing of it, so it is told by the values: words, and few of
them. A parameter is taken for a choice until it has had too many: what was learned by then of these is little.
"""

import re

from larm.model.url_shape import Parts, Pattern, chosen_pattern, generalised, number_of

_MOST_VALUES = 32
"""A choice has at most so many: programs have some 25 views, sites some more sections."""
_MOST_NAMES = 64
"""Are remembered, those that came last."""
_LONGEST = 32
"""Characters of a value."""
_WORD, _DIGIT = re.compile(r"[^\W\d_]"), re.compile("[0-9]")


class Choices:
    """One host's."""

    __slots__ = ("values",)

    def __init__(self, values: dict[str, list[int]] | None = None) -> None:
        self.values = values or {}
        """By name: 16 bits for each value; one more than are allowed if it is no choice."""

    def learn(self, parts: Parts) -> None:
        """An address that was read."""
        for name, word in _words(parts).items():
            key = generalised(name)
            known = self.values.pop(key, [])
            if len(known) <= _MOST_VALUES and (number := number_of(word) & 0xFFFF) not in known:
                known = [*known, number]
            if len(self.values) >= _MOST_NAMES:
                del self.values[next(iter(self.values))]
            self.values[key] = known

    def pattern(self, parts: Parts) -> Pattern | None:
        """What has the same choices, and all else as the address; None: it has no choices."""
        found = _words(parts).items()
        words = {name: word for name, word in found if len(self.values.get(generalised(name), ())) <= _MOST_VALUES}
        return chosen_pattern(parts, words) if words else None


def _words(parts: Parts) -> dict[str, str]:
    """Values that may be choices. What has digits is none: of numbers, dates and identifiers there is always one more."""
    found = parts.parameters.items()
    return {name: value for name, value in found if len(value) <= _LONGEST and _WORD.search(value) and not _DIGIT.search(value)}

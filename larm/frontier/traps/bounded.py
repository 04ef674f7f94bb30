"""Tables that keep the entries that were used last."""

from collections.abc import Callable
from typing import TypeVar

_K = TypeVar("_K")
_V = TypeVar("_V")


def entry(table: dict[_K, _V], key: _K, make: Callable[[], _V], most: int) -> _V:
    """The entry of a bounded table, made where it is missing; it is now the one that was used last."""
    found = table.pop(key, None)
    if found is None:
        found = make()
        if len(table) >= most:
            del table[next(iter(table))]
    table[key] = found
    return found

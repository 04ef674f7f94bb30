"""Forgotten: what the user wants a crawl to have no more, and not to fetch again. Pure.

Made by ``larm forget``; it stands in the header of the checkpoint, so every run knows it.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime

import msgspec

from larm.model.region import Globs

PART = "forgotten"
"""Its key in the checkpoint's header."""
NO_LONGER = "<forgotten>"
"""Stands for its address where the record of another page has to say something."""


class Forgotten(msgspec.Struct, frozen=True):
    """One page, or all that a pattern matches."""

    said: str
    """As the user wrote it."""
    when: int
    """Seconds since 1970."""
    page: str = ""
    """Normalised form of the one page; empty: what ``globs`` match."""
    globs: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"on {datetime.fromtimestamp(self.when):%Y-%m-%d} (larm forget {self.said})"


class ForgottenPart(msgspec.Struct, frozen=True):
    """What the header has of it."""

    items: tuple[Forgotten, ...] = ()
    pending: bool = False
    """Some of it may still be in the storages: ``larm forget`` was ended before it was done."""
    days: tuple[tuple[int, int, int], ...] = ()
    """While it is pending: where the days of the log storage begin when its files are purged, see `larm.store.log.Day`."""


class ForgottenPages:
    """All that is forgotten. Any thread: constant after construction."""

    def __init__(self, items: Sequence[Forgotten] = ()) -> None:
        self._items = items
        self._pages = {item.page: item for item in items if item.page}
        self._globs = Globs(exclude=tuple(glob for item in items for glob in item.globs))

    def __bool__(self) -> bool:
        return bool(self._items)

    def holds(self, normalised: str) -> bool:
        """Whether this page is."""
        return normalised in self._pages or bool(self._globs.refuses(normalised))

    def find(self, normalised: str) -> Forgotten | None:
        """By what it is; None: it is not."""
        if not self.holds(normalised):
            return None
        return self._pages.get(normalised) or next(
            item for item in self._items if item.globs and Globs(exclude=item.globs).refuses(normalised)
        )

    def hint(self, more: Iterable[str] = ()) -> re.Pattern[str]:
        """What is in every address that is, and in few others, so that these need not be parsed; ``more``: other forms of some.

        Of a pattern that is its longest part without a sign.
        """
        of_pages = [re.escape(page) for page in [*self._pages, *more]]
        parts = [max(re.split(r"[*?\[\]]", glob), key=len) for glob in self._globs.exclude]
        return re.compile("|".join([*of_pages, *(f"(?i:{re.escape(part)})" for part in parts)]))


def forgotten(text: str, normalised: Callable[[str], str], now: int) -> Forgotten:
    """``text``: a pattern with ``*``, the name of a host, or an address, of which ``normalised`` makes the normalised form.

    Raises what that raises.
    """
    if "*" in text:
        return Forgotten(text, now, globs=(text,))
    if "/" not in text:
        return Forgotten(text, now, globs=(f"{text}/*",) if ":" in text else (f"{text}/*", f"{text}:*/*"))
    return Forgotten(text, now, page=normalised(text))

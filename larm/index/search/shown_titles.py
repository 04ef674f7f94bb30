"""ShownTitles: titles as results show them, without what most titles of their host say as well, such as the name of the site.

``enum — Support for enumerations — Python 3.11.2 documentation`` is shown without its last part. In the ranking such words
count next to nothing anyway: all pages have them. One for each searcher, on its thread.
"""

import re
from collections.abc import Callable

from larm.index import fields
from larm.index.reader import IndexReader
from larm.index.tree import All, In, Meta, Node, Word

_PARTED = re.compile(r"\s+(?:--|[-\u2010-\u2015|\u00b7\u2022\u00bb\u00ab:~]|::)\s+|(?<=\w):\s+|\s+(?=\([^()]+\)$)")
_LEAST = 10
"""Pages with such a title: of fewer, nobody knows what is the site's and what is theirs."""
_SHARE = 0.5
"""Of the pages of the host."""
_REMEMBERED = 1_000


class ShownTitles:
    """Remembers what it has counted until pages come or go."""

    def __init__(self, reader: IndexReader, count: Callable[[Node], int]) -> None:
        # constant after construction
        self._reader = reader
        self._count = count
        # only the calling thread
        self._known: dict[tuple[str, str], bool] = {}
        self._documents = -1

    def shown(self, title: str, url: str) -> str:
        """What is left has a word, and is the title itself where nothing is shared."""
        host = url.partition("://")[2].partition("/")[0].partition(":")[0].lower()
        parts = [match.span() for match in _PARTED.finditer(title)] if host else []
        begin, end = 0, len(title)
        while parts:
            (first, after), (before, last) = parts[0], parts[-1]
            if _says(title[begin:before]) and self._is_shared(host, title[last:end]):
                end = parts.pop()[0]
            elif _says(title[after:end]) and self._is_shared(host, title[begin:first]):
                begin = parts.pop(0)[1]
            else:
                break
        return title[begin:end]

    def _is_shared(self, host: str, end: str) -> bool:
        if self._documents != self._reader.documents or len(self._known) >= _REMEMBERED:
            self._known.clear()
            self._documents = self._reader.documents
        found = self._known.get((host, end))
        if found is None:
            found = self._known[host, end] = self._is_of_most(host, end)
        return found

    def _is_of_most(self, host: str, end: str) -> bool:
        words, reader = self._reader.analyzer.words(end), self._reader
        likely = max(_LEAST, _SHARE / 2 * reader.frequency("host", host))  # half, as pages that were replaced count, too
        if not words or any(reader.statistics.frequency(fields.TITLE, word) < likely for word in words):
            return False
        here = Meta("host", host)
        titles = self._count(All((here, *(In("title", Word(word)) for word in words))))  # a phrase costs ten times as much
        return titles >= max(_LEAST, _SHARE * self._count(here))


def _says(text: str) -> bool:
    return any(map(str.isalnum, text))

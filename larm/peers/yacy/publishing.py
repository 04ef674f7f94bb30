"""Publishing: makes items of the pages of an index on the own shelf, from where they spread (YACY-28, 32 to 34).

After a crawl, never while it runs. Items that are out stay, or are renewed when they are old. Items of pages that are gone are
withdrawn. Pages are read in groups by the hashes of their URLs, so memory does not grow with the index.
"""

import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import groupby
from typing import NamedTuple

from larm.peers.identity import Signer
from larm.peers.yacy.chunk import Reference, cut, depth_for, write_chunk
from larm.peers.yacy.hashes import position_of
from larm.peers.yacy.item import RENEWED, Header, Kind, digest_of, new_header
from larm.peers.yacy.page import TEXT, Page, Words, place_of, references_of, write_page
from larm.peers.yacy.ring import EXPONENT
from larm.peers.yacy.shelf import Shelf

_GROUP = 500
"""Pages that are in memory at a time: some 100,000 references, 40 MB."""


class Source(NamedTuple):
    """A page that may be published; it is read when its turn comes."""

    hash: str
    read: Callable[[], Page | None]


class Published(NamedTuple):
    """The result of one publication, in pages and items."""

    pages: int
    new: int
    """Items."""
    renewed: int
    withdrawn: int
    truncated: int
    """Pages whose text is longer than what is shared."""


class Publishing:
    """Makes items of pages. Used by one thread. ``lock``: that of the node, held during writes."""

    def __init__(
        self,
        shelf: Shelf,
        lock: threading.RLock,
        signer: Signer,
        *,
        words: Words,
        stems: Callable[[Page], Words],
        is_common: Callable[[str], bool],
    ) -> None:
        # constant after construction
        self._shelf = shelf
        self._lock = lock
        self._signer = signer
        self._words = words
        self._stems = stems
        self._is_common = is_common

    def publish(self, sources: Sequence[Source], peers: int, now: float) -> Published:
        """Publish exactly these pages, and withdraw all others. ``peers``: size of the network."""
        with self._lock:
            known = self._shelf.own()
        depth = _depth(known.values(), peers)
        out: set[bytes] = set()
        pages = new = renewed = truncated = 0
        for group in _groups(sorted(sources, key=lambda source: position_of(source.hash))):
            read = [page for source in group if (page := source.read()) is not None]
            bodies = [(kind, places, body, digest_of(body)) for kind, places, body in self._bodies(read, depth)]
            pages += len(read)
            truncated += sum(len(page.text) > TEXT for page in read)
            with self._guarded():
                for kind, places, body, digest in bodies:
                    out.add(digest)
                    before = known.get(digest)
                    if before is None or before.gone:
                        self._shelf.handed(new_header(kind, digest, places, now, self._signer), body, now, own=True)
                        new += 1
                    elif now - before.created > RENEWED:
                        self._shelf.put_own(new_header(kind, digest, places, now, self._signer))
                        renewed += 1
        withdrawn = [header for digest, header in known.items() if digest not in out and not header.gone]
        with self._guarded():
            for header in withdrawn:
                places = (header.first, header.last)
                self._shelf.put_own(new_header(header.kind, header.digest, places, now, self._signer, gone=True))
        return Published(pages, new, renewed, len(withdrawn), truncated)

    @contextmanager
    def _guarded(self) -> Iterator[None]:
        with self._lock, self._shelf.at_once():
            yield

    def _bodies(self, pages: Sequence[Page], depth: int) -> Iterator[tuple[Kind, tuple[int, int], bytes]]:
        references: list[tuple[str, Reference]] = []
        for page in pages:
            for body in write_page(page):
                yield Kind.PAGE, (place_of(page), place_of(page)), body
            references += references_of(page, self._words, self._stems(page), self._is_common)
        for places, words in cut(references, depth):
            yield Kind.WORDS, places, write_chunk(words)


def _depth(known: Iterable[Header], peers: int) -> int:
    """Return the depth of the items that are out, unless the size of the network is another one: then all items change."""
    wanted = depth_for(peers)
    widths = [header.last - header.first + 1 for header in known if header.kind is Kind.WORDS and not header.gone]
    before = 64 - max(widths).bit_length() if widths else wanted
    return before if abs(before - wanted) <= 1 else wanted


def _groups(sources: Sequence[Source], depth: int = EXPONENT) -> Iterator[Sequence[Source]]:
    """Yield groups of one partition each. A large group is halved by the next bit, so a new page moves few others."""
    for _, each in groupby(sources, lambda source: position_of(source.hash) >> 63 - depth):
        group = list(each)
        if len(group) > _GROUP and depth < 60:
            yield from _groups(group, depth + 1)
        else:
            yield group

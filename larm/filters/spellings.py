"""Spellings: the links that differ from the request of their page only in what normalisation folds together.

Some of that is guessed, as ``/a/`` and ``/a/index.html`` may be two pages. `VisitedFilter` files such links here, on the
handler thread. Where a request has failed, or robots.txt forbids it, each of them gets its turn. `Spellings.is_news` is
thread-safe.
"""

import re
from collections import OrderedDict
from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet
from mmap import ACCESS_COPY, mmap

import msgspec

from larm.kit.disk.block_store import BlockStore
from larm.model.links import SPELLED, Links
from larm.model.message import URLMessage, as_whole, pack_messages, unpack_messages
from larm.model.url import Url, fingerprint_of

ROW = "spelling-"
"""Keys of the rows begin with this."""
MOST = 8
"""Spellings of one page; a hostile page may invent any number."""
_FAILED = 10_000
"""Failed requests without another spelling that are kept in memory: 6 MB. Of others a spelling that is linked later gets its
turn at the next revisit."""
_SLOTS = 1 << 19
"""Spellings that are known at once: 4 MB. Of others the disk is asked again."""
_ESCAPED = re.compile(r"%[2-7]|\$")
"""Parts of a normal form that may be spelled in another way, such as ``/a$b`` of ``/a%24b`` (LARM-26)."""


class Spellings:
    """Rows in the store of the queues, one a page. A row that is newer than the last checkpoint is dropped after a crash."""

    def __init__(self, store: BlockStore) -> None:
        # constant after construction
        self._store = store
        # written by the handler thread
        self._known = memoryview(mmap(-1, 8 * _SLOTS, access=ACCESS_COPY)).cast("Q")  # memory that is taken as it fills
        self._failed: OrderedDict[str, URLMessage] = OrderedDict()
        self._filed = bytearray(_SLOTS)  # by page, not 0 if there may be a row: most pages have none, and the disk is not asked
        for key in store.keys(ROW):
            self._filed[_slot(key)] = 1

    def is_news(self, access: str, fingerprint: int) -> bool:
        """Return True if the link may be another spelling of its page that is not filed yet. At most 1 us."""
        number = fingerprint_of(access)
        return self._known[number % _SLOTS] != number and (number != fingerprint or _ESCAPED.search(access) is not None)

    def news_among(self, links: Links, accesses: Sequence[str], targets: Sequence[int], seen: AbstractSet[int]) -> set[int]:
        """Return the places of links for which `is_news` is True, among those that are followed and lead to pages in ``seen``.

        ``accesses``, ``targets``: of all links that are followed.
        """
        places: Iterable[int] = range(len(targets))
        if "%" not in links.accesses and "$" not in links.accesses:
            places = [place for place, each in enumerate(links.follow.translate(None, b"\0")) if each == SPELLED]
        return {place for place in places if targets[place] in seen and self.is_news(accesses[place], targets[place])}

    def learn(self, urls: Sequence[Url]) -> None:
        """Remember the spellings that are requested first, or filed."""
        for url in urls:
            number = url.spelling
            if number != url.fingerprint or _ESCAPED.search(url.access) is not None:
                self._known[number % _SLOTS] = number

    def file(self, messages: Sequence[URLMessage]) -> list[URLMessage]:
        """File links to pages that are known, and requests that failed (`URLMessage.failed`); return those to make now."""
        rows: dict[str, list[URLMessage]] = {}
        before: dict[str, tuple[list[str], list[URLMessage]]] = {}
        passing = []
        for message in messages:
            prefix = f"{ROW}{message.url.fingerprint:x}-"
            if prefix not in rows:
                if message.failed and prefix not in self._failed and not self._filed[message.url.fingerprint % _SLOTS]:
                    self._failed[prefix] = message  # nearly all of those that failed
                    continue
                alone = self._failed.pop(prefix, None)
                keys = self._store.keys(prefix) if alone is None and self._filed[_slot(prefix)] else []
                found = unpack_messages(self._store.get_many(keys[-1:])[keys[-1]]) if keys else []
                rows[prefix] = found if alone is None else [alone]
                before[prefix] = keys, found.copy()
            following = _filed(rows[prefix], message)
            if following is not None:
                passing.append(following)
        puts = {}
        for prefix, (keys, old) in before.items():
            new = rows[prefix]
            if not keys and len(new) == 1 and new[0].tried:
                self._failed[prefix] = new[0]
            elif new != old:
                number = int(keys[-1][len(prefix) : -4]) + 1 if keys else 0
                puts[f"{prefix}{number:08}.cqb"] = pack_messages(new)
                self._filed[_slot(prefix)] = 1
                for key in keys:
                    self._store.retire(key)
        while len(self._failed) > _FAILED:
            self._failed.popitem(last=False)
        if puts:
            self._store.put_many(puts)
        return passing


def _slot(key: str) -> int:
    return int(key.split("-")[1], 16) % _SLOTS


def _filed(rows: list[URLMessage], message: URLMessage) -> URLMessage | None:
    """Add a message to the rows of its page; return the one to make now.

    Where all spellings failed, the first row has their numbers as `URLMessage.tried`.
    """
    new = all(row.url.access != message.url.access for row in rows)
    if not message.failed and (not new or len(rows) >= MOST):
        return None
    tried = message.tried if message.failed else (rows[0].tried if rows else ())
    if new:
        rows.append(msgspec.structs.replace(message, known=None))
    rows[:] = [msgspec.structs.replace(row, tried=()) for row in rows]
    following = next((row for row in rows if row.url.spelling not in tried), None) if tried else None
    if following is None:
        rows[0] = msgspec.structs.replace(rows[0], tried=tried)
        return None
    known = None if message.known is None else as_whole(message.known)
    return msgspec.structs.replace(following, known=known, tried=tried)

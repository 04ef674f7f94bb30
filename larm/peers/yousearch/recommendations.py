"""Recommendations: "for this query, that page", said by somebody or by nobody (YOUS-29, 30). Any thread.

Each is signed by its author and lives with him, on his disk; a registrar has those of all its peers in memory, and is told
again by them. An anonymous one is signed by a key that was made for it alone and stays with its maker, so that he can take it
back. What is taken back is said to be gone, with a signature as well. Each is good for 30 days, in which its author signs it
again: so a registrar forgets those of who is gone for good, and what was taken back can't be brought up again by others.
"""

import threading
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Annotated

import msgspec
from msgspec import Meta

from larm.kit.disk.atomic import write_atomically
from larm.kit.disk.json_file import read_json
from larm.peers.identity import Identity, is_signed
from larm.seams import Clock

_PURPOSE = "recommendation"
_MOST_OWN = 1_000
_LASTS = 30 * 86_400.0
"""Seconds since it was signed. An author may be on holiday for so long."""
_SIGNED_AGAIN = 7 * 86_400.0
_SKEW = 600.0
"""Seconds that clocks may differ."""
_MOST_PER_QUERY = 100
_MOST_PER_QUERY_OF_ONE = 20
_MOST = 50_000
"""On a registrar."""
_MOST_OF_ONE = 2 * _MOST_OWN
"""Of those, from one address: whoever has one can't fill it."""
_SWEEP = 3_600.0
"""Seconds between two looks at what is too old."""


class Recommendation(msgspec.Struct, frozen=True, kw_only=True):
    """One of them."""

    query: Annotated[str, Meta(max_length=4_096)]
    """Canonical."""
    url: Annotated[str, Meta(max_length=4_096)]
    title: Annotated[str, Meta(max_length=500)]
    author: Annotated[str, Meta(max_length=64)]
    name: Annotated[str, Meta(max_length=64)] = ""
    """What the author calls himself; empty: nobody."""
    made: float
    """Seconds since 1970."""
    gone: bool = False
    """It was taken back."""
    signature: Annotated[str, Meta(max_length=100)] = ""


def signed(author: Identity, said: Recommendation) -> Recommendation:
    """With the author's key and signature."""
    said = msgspec.structs.replace(said, author=author.key, signature="")
    return msgspec.structs.replace(said, signature=author.sign(_PURPOSE, msgspec.json.encode(said)))


def is_good(said: Recommendation, now: float) -> bool:
    """Its author has said so, and not long ago. Takes 150 us."""
    if not 0 <= now - said.made + _SKEW <= _LASTS + _SKEW:
        return False
    data = msgspec.json.encode(msgspec.structs.replace(said, signature=""))
    return is_signed(said.author, _PURPOSE, data, said.signature)


class _Own(msgspec.Struct, frozen=True):
    said: Recommendation
    secret: str = ""
    """Of an anonymous one, the key."""


class Shelf:
    """Those of one peer, in a file."""

    def __init__(self, identity: Identity, name: str, file: Path, clock: Clock) -> None:
        """Raises StorageError."""
        # constant after construction
        self._identity = identity
        self._name = name
        self._file = file
        self._clock = clock
        self._lock = threading.Lock()
        # guarded by self._lock; replaced as a whole, so read without it
        self._own: list[_Own] = read_json(file, list[_Own], "remove it, and your recommendations are gone") or []

    def add(self, query: str, url: str, title: str, *, anonymous: bool) -> Recommendation | None:
        """None where there are too many. Raises StorageError."""
        author = Identity.new() if anonymous else self._identity
        said = signed(
            author,
            Recommendation(
                query=query[:4_096],
                url=url[:4_096],
                title=title[:500],
                author="",
                name="" if anonymous else self._name,
                made=self._clock.wall(),
            ),
        )
        with self._lock:
            kept = [
                each
                for each in self._own
                if (each.said.query, each.said.url, each.said.author) != (said.query, said.url, author.key)
            ]
            if sum(not each.said.gone for each in kept) >= _MOST_OWN:
                return None
            self._write_locked([*kept, _Own(said, author.secret if anonymous else "")])
        return said

    def take_back(self, query: str, url: str, author: str) -> Recommendation | None:
        """What there is to say to registrars; None where there is no such one. Raises StorageError."""
        with self._lock:
            for at, each in enumerate(self._own):
                if (each.said.query, each.said.url, each.said.author) == (query, url, author) and not each.said.gone:
                    key = Identity.of_secret(each.secret) if each.secret else self._identity
                    gone = signed(key, msgspec.structs.replace(each.said, title="", made=self._clock.wall(), gone=True))
                    self._write_locked([*self._own[:at], _Own(gone, each.secret), *self._own[at + 1 :]])
                    return gone
        return None

    def renew(self, is_closed: Callable[[str], bool]) -> list[Recommendation]:
        """Sign old recommendations again, take back those of pages that strangers can no longer have, and drop expired ones.

        Return the recommendations that registrars must hear of. Raises StorageError.
        """
        now = self._clock.wall()
        with self._lock:
            kept = [each for each in self._own if not each.said.gone or now - each.said.made <= _LASTS]
            own = [self._renewed(each, now, is_closed) for each in kept]
            renewed = [new.said for new, old in zip(own, kept, strict=True) if new is not old]
            if len(own) < len(self._own) or renewed:
                self._write_locked(own)
        return renewed

    def _renewed(self, each: _Own, now: float, is_closed: Callable[[str], bool]) -> _Own:
        gone = not each.said.gone and is_closed(each.said.url)
        if each.said.gone or (not gone and 0 <= now - each.said.made < _SIGNED_AGAIN):
            return each
        key = Identity.of_secret(each.secret) if each.secret else self._identity
        said = msgspec.structs.replace(each.said, made=now, gone=gone, title="" if gone else each.said.title)
        return _Own(signed(key, said), each.secret)

    def all(self) -> list[Recommendation]:
        """Also those that are gone, of which registrars have to hear."""
        return [each.said for each in self._own]

    def _write_locked(self, own: list[_Own]) -> None:
        write_atomically(self._file, msgspec.json.encode(own))
        self._file.chmod(0o600)
        self._own = own


class Board:
    """Those of all, on a registrar. Its lock guards it."""

    def __init__(self) -> None:
        self._said: dict[str, dict[tuple[str, str], tuple[Recommendation, str]]] = {}
        """By queries, and authors and addresses; each with who has brought it."""
        self._from: Counter[str] = Counter()
        self._swept = 0.0

    def take(self, said: Iterable[Recommendation], now: float, payer: str = "") -> int:
        """Those that are newer than what was known; for how many there was no room. ``said``: only good ones. ``payer``: who
        brings them."""
        if not 0 <= now - self._swept < _SWEEP:
            self._sweep(now)
        refused = 0
        for each in said:
            there = self._said.get(each.query, {})
            known = there.get((each.author, each.url))
            if known is None and not self._has_room(there, payer):
                refused += 1
            elif known is None or known[0].made < each.made:
                payer_of = payer if known is None else known[1]
                self._from[payer] += known is None
                self._said.setdefault(each.query, {})[each.author, each.url] = each, payer_of
        return refused

    def of(self, query: str, now: float) -> tuple[Recommendation, ...]:
        """For one query."""
        there = self._said.get(query, {}).values()
        return tuple(each for each, _ in there if not each.gone and now - each.made <= _LASTS)

    def _has_room(self, there: Mapping[tuple[str, str], tuple[Recommendation, str]], payer: str) -> bool:
        if len(there) >= _MOST_PER_QUERY or self._from.total() >= _MOST or self._from[payer] >= _MOST_OF_ONE:
            return False
        return sum(other == payer for _, other in there.values()) < _MOST_PER_QUERY_OF_ONE

    def _sweep(self, now: float) -> None:
        self._swept = now
        for query, there in list(self._said.items()):
            self._said[query] = {name: each for name, each in there.items() if now - each[0].made <= _LASTS}
            if not self._said[query]:
                del self._said[query]
        self._from = Counter(payer for there in self._said.values() for _, payer in there.values())

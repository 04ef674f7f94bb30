"""Recommendations: "for this query, that page", said by somebody or by nobody (YOUS-29, 30). Any thread.

Each is signed by its author and lives with him, on his disk; a registrar has those of all its peers in memory, and is told
again by them. An anonymous one is signed by a key that was made for it alone and stays with its maker, so that he can take it
back. What is taken back is said to be gone, with a signature as well.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated

import msgspec
from msgspec import Meta

from larm.errors import StorageError
from larm.kit.disk.atomic import write_atomically
from larm.kit.disk.disk_failure import disk_failure
from larm.peers.identity import Identity, is_signed
from larm.seams import Clock

_PURPOSE = "recommendation"
_MOST_OWN = 1_000
_MOST_PER_QUERY = 100
_MOST = 50_000
"""On a registrar."""
_MOST_OF_ONE = 2 * _MOST_OWN
"""Of those, from one address: whoever has one can't fill it."""


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


def is_good(said: Recommendation) -> bool:
    """Its author has said so."""
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
        self._own = _read(file)

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
            if len(kept) >= _MOST_OWN:
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

    def all(self) -> list[Recommendation]:
        """Also those that are gone, of which registrars have to hear."""
        return [each.said for each in self._own]

    def _write_locked(self, own: list[_Own]) -> None:
        write_atomically(self._file, msgspec.json.encode(own))
        self._file.chmod(0o600)
        self._own = own


def _read(file: Path) -> list[_Own]:
    try:
        return msgspec.json.decode(file.read_bytes(), type=list[_Own])
    except FileNotFoundError:
        return []
    except OSError as error:
        raise disk_failure(file, error) from error
    except msgspec.MsgspecError as error:
        raise StorageError(f"{file}: damaged ({error}); remove it, and your recommendations are gone") from error


class Board:
    """Those of all, on a registrar. Its lock guards it."""

    def __init__(self) -> None:
        self._said: dict[str, dict[tuple[str, str], Recommendation]] = {}
        self._number = 0
        self._from: Counter[str] = Counter()

    def take(self, said: Iterable[Recommendation], now: float, payer: str = "") -> None:
        """Those that are signed and newer than what was known. ``payer``: who brings them."""
        for each in said:
            there = self._said.get(each.query, {})
            name = each.author, each.url
            known = there.get(name)
            newer = known is None or known.made < each.made
            room = known is not None or (
                len(there) < _MOST_PER_QUERY and self._number < _MOST and self._from[payer] < _MOST_OF_ONE
            )
            if newer and room and each.made < now + 600 and is_good(each):
                self._number += known is None
                self._from[payer] += known is None
                self._said.setdefault(each.query, {})[name] = each

    def of(self, query: str) -> tuple[Recommendation, ...]:
        """For one query."""
        return tuple(each for each in self._said.get(query, {}).values() if not each.gone)

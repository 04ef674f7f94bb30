"""Trust: the user's votes on other peers, and the deny lists that the user follows. Thread-safe.

A vote is about a key, and so about a peer under any name and address. A denied peer is neither asked nor answered. Its items
are neither kept nor shown; the same holds for pages of denied sites. Users may share their lists and follow those of others.
Nothing else denies a peer. A trusted peer stays trusted, whatever the lists say.
"""

import threading
from collections.abc import Collection, Iterable
from enum import StrEnum
from pathlib import Path
from urllib.parse import urlsplit

import msgspec

from larm.kit.disk.atomic import write_atomically
from larm.kit.disk.json_file import read_json

MOST = 10_000
"""Number of keys in a list, and of sites."""
_LONGEST_SITE = 253
_KEY = 43


class Vote(StrEnum):
    """The user's vote on a peer."""

    TRUSTED = "trusted"
    DENIED = "denied"
    NONE = ""


class DenyList(msgspec.Struct, frozen=True):
    """The keys and sites that a list denies."""

    keys: tuple[str, ...] = ()
    sites: tuple[str, ...] = ()


class Opinions(msgspec.Struct, frozen=True):
    """The user's votes and the followed lists; as JSON in ``trust.json``."""

    votes: dict[str, Vote] = {}
    """Votes by key."""
    sites: tuple[str, ...] = ()
    shared: bool = False
    """True if others may read the list."""
    followed: dict[str, DenyList] = {}
    """The last version of each followed list, by the key of its peer, its file or its address."""


class Trust:
    """The votes and lists of one peer."""

    def __init__(self, path: Path | None) -> None:
        """``path``: its file; None: it is kept in memory. Raises StorageError."""
        # constant after construction
        self._path = path
        self._lock = threading.Lock()
        # guarded by self._lock; replaced as a whole, so read without it
        self.opinions = (read_json(path, Opinions, "mend it or remove it, and vote anew") if path else None) or Opinions()
        self.denied = frozenset[str]()
        """Denied keys."""
        self.denied_sites = frozenset[str]()
        self._count()

    def __contains__(self, key: object) -> bool:
        """Return True if this key is denied."""
        return key in self.denied

    def trusts(self, key: str) -> bool:
        """Return True if the user trusts this key."""
        return self.opinions.votes.get(key) is Vote.TRUSTED

    def denies_page(self, url: str) -> bool:
        """Return True if a page is of a denied site, or of one below it."""
        labels = (urlsplit(url).hostname or "").split(".")
        return bool(self.denied_sites) and any(".".join(labels[at:]) in self.denied_sites for at in range(len(labels)))

    @property
    def own_list(self) -> DenyList:
        """The list that others may read; empty if it is not shared."""
        saved = self.opinions
        if not saved.shared:
            return DenyList()
        return DenyList(tuple(sorted(key for key, vote in saved.votes.items() if vote is Vote.DENIED)), saved.sites)

    def vote(self, key: str, vote: Vote) -> None:
        """Save the user's vote on a peer. Raises StorageError."""
        if not _is_key(key):
            return
        with self._lock:
            votes = {**self.opinions.votes, key: vote}
            self._keep_locked(votes={each: its for each, its in votes.items() if its is not Vote.NONE})

    def deny_site(self, site: str, *, denied: bool) -> bool:
        """Deny or allow a site and all below it. Return False if ``site`` is no host name. Raises StorageError."""
        site = site.strip().lower().removeprefix("http://").removeprefix("https://").partition("/")[0]
        if not _is_site(site):
            return False
        with self._lock:
            sites = {*self.opinions.sites, site} if denied else {*self.opinions.sites} - {site}
            self._keep_locked(sites=tuple(sorted(sites))[:MOST])
        return True

    def share(self, *, shared: bool) -> None:
        """Let others read the list, or not. Raises StorageError."""
        with self._lock:
            self._keep_locked(shared=shared)

    def follow(self, key: str, *, follow: bool) -> None:
        """Follow the list of a peer, or stop following it. Raises StorageError."""
        with self._lock:
            followed = {each: its for each, its in self.opinions.followed.items() if each != key}
            if follow and _is_key(key):
                followed[key] = self.opinions.followed.get(key, DenyList())
            self._keep_locked(followed=followed)

    def configure(self, places: Collection[str]) -> None:
        """Follow the lists at these places, files or addresses, and at no other ones. Raises StorageError."""
        with self._lock:
            followed = {each: its for each, its in self.opinions.followed.items() if _is_key(each) or each in places}
            self._keep_locked(followed={each: DenyList() for each in places} | followed)

    @property
    def places(self) -> list[str]:
        """Files and addresses whose lists are followed."""
        return [each for each in self.opinions.followed if not _is_key(each)]

    def read(self, place: str, lines: Iterable[str]) -> None:
        """Take over the list at a place: a key or a site a line, ``#`` before a remark. Raises StorageError."""
        said = [word for line in lines if (word := line.partition("#")[0].strip())]
        self.heard(place, DenyList(tuple(filter(_is_key, said)), tuple(each.lower() for each in said if not _is_key(each))))

    def heard(self, key: str, said: DenyList) -> None:
        """Replace a followed list by its new version. Raises StorageError."""
        keys, sites = filter(_is_key, said.keys[:MOST]), filter(_is_site, said.sites[:MOST])
        heard = DenyList(tuple(keys), tuple(sites))
        with self._lock:
            if key in self.opinions.followed:
                self._keep_locked(followed={**self.opinions.followed, key: heard})

    def _keep_locked(self, **changed: object) -> None:
        saved = msgspec.structs.replace(self.opinions, **changed)
        if saved == self.opinions:
            return
        if self._path is not None:
            write_atomically(self._path, msgspec.json.format(msgspec.json.encode(saved)))
        self.opinions = saved
        self._count()

    def _count(self) -> None:
        votes, lists = self.opinions.votes, self.opinions.followed.values()
        own = {key for key, vote in votes.items() if vote is Vote.DENIED}
        trusted = {key for key, vote in votes.items() if vote is Vote.TRUSTED}
        self.denied = frozenset(own | ({key for each in lists for key in each.keys} - trusted))
        self.denied_sites = frozenset({*self.opinions.sites, *(site for each in lists for site in each.sites)})


def _is_key(text: str) -> bool:
    return len(text) == _KEY and text.isascii() and text.replace("-", "a").replace("_", "a").isalnum()


def _is_site(text: str) -> bool:
    return 0 < len(text) <= _LONGEST_SITE and text.isascii() and text.replace("-", "a").replace(".", "a").isalnum()

"""Authors: what this peer knows of each peer whose items it keeps: since when, from which address, and what samples showed.

Only members of the network may write: peers that this peer has met, or for which one that it has met vouches. A new author gets
a trickle of the room. An author of false pages loses everything. Under the node's lock; `shows` on any thread.
"""

from collections.abc import Container, Iterable

import msgspec

from larm.kit.disk.database import Database
from larm.peers.yacy.item import LIFE, decoded_key, encoded_key

TABLE = """
CREATE TABLE IF NOT EXISTS author (
    key BLOB PRIMARY KEY, since REAL NOT NULL, payer TEXT NOT NULL, vouched INTEGER NOT NULL, good INTEGER NOT NULL,
    bad INTEGER NOT NULL, convicted REAL NOT NULL) WITHOUT ROWID;
"""
_FALSE, _SHARE = 2, 3
"""Number of false pages by which an author is doubtful, if more than one of this number of samples was false. A site may have
changed some pages since they were crawled."""
_REMEMBERED = 20
"""Number of samples of one author; the older ones count half from then on."""
_MOST = 50_000
"""Number of authors. Further ones are refused until others are forgotten."""
_MOST_AT_ADDRESS = 1_000
"""Number of authors on the account of one address, so that no address takes the room of all."""


class Author(msgspec.Struct, frozen=True):
    """One peer, as an author."""

    since: float
    """When it was first met, in seconds since 1970."""
    payer: str
    """The address, or network of addresses, on whose account its items are (`larm.peers.rates.payer`)."""
    vouched: bool = False
    """True if it is known by the word of another peer alone."""
    good: int = 0
    """Number of sampled pages that are as it says."""
    bad: int = 0
    """Number of sampled pages that are not."""
    convicted: float = 0.0
    """When its pages were found to be false; 0: they were not."""

    @property
    def doubtful(self) -> bool:
        """True if samples show too many other pages."""
        return self.bad >= _FALSE and _SHARE * self.bad > self.good + self.bad


_UNMET = Author(0.0, "", vouched=True)
"""An author that is no member here: searches have brought a page of it."""


class Authors:
    """All authors that one peer knows, in a table of the shelf's database. Methods may raise StorageError."""

    def __init__(self, base: Database, young: float) -> None:
        """``young``: seconds for which a new author gets a trickle."""
        # constant after construction
        self._base = base
        self._young = young
        # only under the node's lock
        self._authors = {
            decoded_key(key): Author(since, payer, bool(vouched), good, bad, convicted)
            for key, since, payer, vouched, good, bad, convicted in base.rows(
                "SELECT key, since, payer, vouched, good, bad, convicted FROM author"
            )
        }
        self._by_payer: dict[str, set[str]] = {}
        for key, each in self._authors.items():
            self._by_payer.setdefault(each.payer, set()).add(key)
        # replaced as a whole, so read without the lock
        self._confirmed = frozenset[str]()
        self.convicted = frozenset[str]()
        """Keys of authors whose pages were false."""
        self._count()

    def meet(self, key: str, payer: str, now: float) -> None:
        """Note that the peer with this key has asked or answered from an address."""
        known = self._authors.get(key)
        if known is None or known.vouched:
            since = now if known is None or not (known.good and known.payer) else known.since
            self._put(key, msgspec.structs.replace(known or Author(now, payer), since=since, payer=payer, vouched=False))
        elif known.payer != payer:
            self._put(key, msgspec.structs.replace(known, payer=payer))

    def vouch(self, by: str, keys: Iterable[str]) -> None:
        """Take the word of one peer for others that are not known. Their items are on the account of that peer."""
        voucher = self._authors.get(by)
        if voucher is None or voucher.vouched or voucher.convicted:
            return
        for key in keys:
            if not self.knows(key):
                known = self._authors.get(key) or _UNMET
                self._put(key, msgspec.structs.replace(known, since=voucher.since, payer=voucher.payer))

    def knows(self, key: str) -> bool:
        """Return True if this author is a member."""
        known = self._authors.get(key)
        return known is not None and bool(known.payer)

    def get(self, key: str) -> Author | None:
        """Return what is known of an author."""
        return self._authors.get(key)

    def is_young(self, key: str, now: float) -> bool:
        """Return True if the author gets a trickle only."""
        known = self._authors.get(key)
        return now - (now if known is None else known.since) < self._young

    def at_address_of(self, key: str) -> Iterable[str]:
        """Return the keys of all authors on the account of the same address."""
        known = self._authors.get(key)
        return self._by_payer.get(known.payer, ()) if known is not None else (key,)

    def judge(self, key: str, now: float, *, good: bool, fresh: bool) -> bool:
        """Count a sampled page. Return True if the author is convicted by it.

        ``fresh``: the author says that it is as it was lately. The site may have changed an older one.
        """
        known = self._authors.get(key) or _UNMET
        good_ones, bad_ones = known.good + good, known.bad + (not good)
        if good_ones + bad_ones > _REMEMBERED:  # an author who begins to lie is not covered by what it was
            good_ones, bad_ones = (good_ones + 1) // 2, (bad_ones + 1) // 2
        judged = msgspec.structs.replace(known, good=good_ones, bad=bad_ones)
        convicts = judged.doubtful and fresh and not good and not known.convicted
        self._put(key, msgspec.structs.replace(judged, convicted=now) if convicts else judged)
        self._count()
        return convicts

    def acquit(self, key: str) -> None:
        """Forget what samples showed: the user trusts this author."""
        known = self._authors.get(key)
        if known is not None and (known.bad or known.convicted):
            self._put(key, msgspec.structs.replace(known, bad=0, convicted=0.0))
            self._count()

    def age(self, now: float, known: Container[str]) -> None:
        """Forget convictions after the life of an item, and authors that are neither ``known`` to the network nor convicted."""
        over = [
            key for key, each in self._authors.items() if (now - each.convicted > LIFE if each.convicted else key not in known)
        ]
        for key in over:
            self._by_payer[self._authors.pop(key).payer].discard(key)
            self._base.write("DELETE FROM author WHERE key = ?", (encoded_key(key),))
        self._by_payer = {payer: keys for payer, keys in self._by_payer.items() if keys}
        if over:
            self._count()

    def shows(self, key: str) -> bool:
        """Return True if pages of this author may be shown: a sample confirmed one, or no sample confirms anything here.

        The latter is so in a network whose sites this peer can't reach."""
        return key not in self.convicted and (key in self._confirmed or not self._confirmed)

    def _put(self, key: str, author: Author) -> None:
        before = self._authors.get(key)
        if before is None or before.payer != author.payer:
            full = len(self._by_payer.get(author.payer, ())) >= _MOST_AT_ADDRESS
            if full or (before is None and len(self._authors) >= _MOST):
                return
        if before is not None:
            self._by_payer[before.payer].discard(key)
        self._authors[key] = author
        self._by_payer.setdefault(author.payer, set()).add(key)
        self._base.write(
            "INSERT OR REPLACE INTO author VALUES (?, ?, ?, ?, ?, ?, ?)", (encoded_key(key), *msgspec.structs.astuple(author))
        )

    def _count(self) -> None:
        self.convicted = frozenset(key for key, each in self._authors.items() if each.convicted)
        good = frozenset(key for key, each in self._authors.items() if each.good and not each.doubtful)
        self._confirmed = good - self.convicted

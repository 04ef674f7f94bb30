"""Order book: addresses that our user would have others crawl, who does it, and what became of it (YACY-39). Any thread.

Orders are fetched, not sent: whoever crawls for others asks for as much as it can do. What it takes is its own for a day, and
then anybody's again; it says what became of each with a receipt, and only who has an order can do that. An order is on the disk
before it is counted, and so is a receipt before it is acknowledged. `OrderDesk` answers those who crawl for us.
"""

import threading
from pathlib import Path
from typing import NamedTuple

from larm.kit.disk.database import Database
from larm.peers.door import Call, Question
from larm.peers.yacy.desk import Desk
from larm.peers.yacy.node import Node
from larm.peers.yacy.questions import MOST_ORDERS, ORDERS, RECEIPT, Noted, Order, Orders, OrdersOf, Receipt

DEEPEST = 3
"""Links that are followed from an address, as in YaCy (YACY-36)."""
LONGEST = 2_048
MOST_OPEN = 1_000
"""Orders that wait: what a person can mean."""
_HELD = 86_400
"""Seconds for which who has taken an order may be at it: with the delays of a polite crawl, a site takes hours."""
_TRIES = 3
_KEPT = 30 * 86_400
_SAID = 300
_SHOWN = 100
_TABLES = """
CREATE TABLE IF NOT EXISTS given (
    id INTEGER PRIMARY KEY, url TEXT NOT NULL, depth INTEGER NOT NULL, made INTEGER NOT NULL, key TEXT NOT NULL DEFAULT '',
    until INTEGER NOT NULL DEFAULT 0, tries INTEGER NOT NULL DEFAULT 0, done INTEGER NOT NULL DEFAULT 0,
    pages INTEGER NOT NULL DEFAULT 0, said TEXT NOT NULL DEFAULT '');
"""


class Given(NamedTuple):
    """An order, as a person is shown it."""

    number: int
    url: str
    depth: int
    key: str
    """Of the peer that has taken it; empty: none has."""
    done: bool
    pages: int
    said: str
    """A stranger's words."""


class OrderBook:
    """Of one peer; ``path``: its file. Every method may raise StorageError."""

    def __init__(self, path: Path) -> None:
        # constant after construction
        self._lock = threading.Lock()
        # guarded by self._lock
        self._base = Database(path, _TABLES)
        self.open = self._count()
        """Orders that nobody has done yet; read by anybody."""

    def add(self, url: str, depth: int, now: float) -> bool:
        """False: it is no address of the web, or too many wait."""
        good = (
            url.startswith(("http://", "https://")) and len(url) <= LONGEST and "@" not in url.partition("://")[2].split("/")[0]
        )
        with self._lock:
            if not good or self.open >= MOST_OPEN:
                return False
            self._base.write(
                "INSERT INTO given (url, depth, made) VALUES (?, ?, ?)", (url, min(max(0, depth), DEEPEST), int(now))
            )
            self.open = self._count()
        return True

    def remove(self, number: int) -> None:
        """Nobody shall do it any more, or nobody wants to see what became of it."""
        with self._lock:
            self._base.write("DELETE FROM given WHERE id = ?", (number,))
            self.open = self._count()

    def take(self, key: str, most: int, now: float) -> list[Order]:
        """For this peer, which has so many at most at a time."""
        with self._lock:
            self._base.write("DELETE FROM given WHERE made < ?", (now - _KEPT,))
            has = self._base.row("SELECT COUNT(*) FROM given WHERE key = ? AND NOT done AND until > ?", (key, now))[0]
            most = min(most, MOST_ORDERS - has)
            rows = self._base.rows(
                "SELECT id, url, depth FROM given WHERE NOT done AND until <= ? AND tries < ? ORDER BY id LIMIT ?",
                (now, _TRIES, max(0, most)),
            )
            with self._base.transaction():
                for number, _, _ in rows:
                    until = int(now + _HELD)
                    self._base.write(
                        "UPDATE given SET key = ?, until = ?, tries = tries + 1 WHERE id = ?", (key, until, number)
                    )
            self.open = self._count()
        return [Order(*row) for row in rows]

    def done(self, key: str, number: int, pages: int, said: str) -> bool:
        """A receipt; False: it is not of who has the order."""
        with self._lock:
            changed = self._base.write(
                "UPDATE given SET done = 1, pages = ?, said = ? WHERE id = ? AND key = ? AND NOT done",
                (max(0, pages), said[:_SAID], number, key),
            )
            self.open = self._count()
        return changed > 0

    def shown(self) -> list[Given]:
        """The newest first."""
        columns = "id, url, depth, key, done, pages, CASE WHEN NOT done AND tries >= ? AND until <= strftime('%s') + 0 "
        columns += "THEN 'three peers have taken it, and none has done it' ELSE said END"
        with self._lock:
            rows = self._base.rows(f"SELECT {columns} FROM given ORDER BY id DESC LIMIT ?", (_TRIES, _SHOWN))  # noqa: S608
        return [Given(number, url, depth, key, bool(done), pages, said) for number, url, depth, key, done, pages, said in rows]

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._base.close()

    def _count(self) -> int:
        return int(self._base.row("SELECT COUNT(*) FROM given WHERE NOT done AND tries < ?", (_TRIES,))[0])


class OrderDesk:
    """Of one node."""

    def __init__(self, node: Node, desk: Desk, book: OrderBook) -> None:
        # constant after construction
        self._node = node
        self._desk = desk
        self._book = book

    @property
    def questions(self) -> list[Question]:
        """For the `larm.peers.door.Door`."""
        return [Question(ORDERS, OrdersOf, Orders, self.orders), Question(RECEIPT, Receipt, Noted, self.receipt)]

    def orders(self, call: Call, asked: OrdersOf) -> Orders:
        """Some for who asks."""
        self._desk.admit(call, asked.network)
        return Orders(tuple(self._book.take(call.key, asked.most, self._node.now())))

    def receipt(self, call: Call, asked: Receipt) -> Noted:
        """What became of one. Of one that is not his, or is over, nothing is kept, and he need not ask again."""
        self._desk.admit(call, asked.network)
        known = self._book.done(call.key, asked.number, asked.pages, asked.said)
        self._node.count("orders done by others" if known else "receipts for nothing")
        return Noted(known)

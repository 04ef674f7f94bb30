"""OrderBook: the addresses that others are to crawl for this peer, their crawling peer, and the result (YACY-39). Thread-safe.

A peer that crawls for others fetches orders, as many as it can do. An order is leased to it for a day; then any peer may take
it. Its receipt has the result, and only the holder of an order can send one. Orders and receipts are on the disk before
they are counted or acknowledged. `OrderDesk` answers peers that crawl for this one.
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
"""Largest depth of an order, as in YaCy (YACY-36)."""
LONGEST = 2_048
MOST_OPEN = 1_000
"""Number of open orders: more than a person types."""
_HELD = 86_400
"""Lease of an order in seconds: with the delays of a polite crawl, a site takes hours."""
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
    """An order, as the page shows it."""

    number: int
    url: str
    depth: int
    key: str
    """Key of the peer that holds it; empty: none does."""
    done: bool
    pages: int
    said: str
    """The result, in a stranger's words."""


class OrderBook:
    """The orders of one peer; ``path``: its file. Every method may raise StorageError."""

    def __init__(self, path: Path) -> None:
        # constant after construction
        self._lock = threading.Lock()
        # guarded by self._lock
        self._base = Database(path, _TABLES)
        self.open = self._count()
        """Number of open orders. Read on any thread."""

    def add(self, url: str, depth: int, now: float) -> bool:
        """Add an order. Return False if it is no address of the web, or too many are open."""
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
        """Remove an order, done or not."""
        with self._lock:
            self._base.write("DELETE FROM given WHERE id = ?", (number,))
            self.open = self._count()

    def take(self, key: str, most: int, now: float) -> list[Order]:
        """Lease orders to a peer, which holds at most ``most`` at a time."""
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
        """Save a receipt. Return False if it is not from the holder of the order."""
        with self._lock:
            changed = self._base.write(
                "UPDATE given SET done = 1, pages = ?, said = ? WHERE id = ? AND key = ? AND NOT done",
                (max(0, pages), said[:_SAID], number, key),
            )
            self.open = self._count()
        return changed > 0

    def shown(self) -> list[Given]:
        """Return the orders, the newest first."""
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
    """Answers questions about the orders of one node."""

    def __init__(self, node: Node, desk: Desk, book: OrderBook) -> None:
        # constant after construction
        self._node = node
        self._desk = desk
        self._book = book

    @property
    def questions(self) -> list[Question]:
        """The questions, for the `larm.peers.door.Door`."""
        return [Question(ORDERS, OrdersOf, Orders, self.orders), Question(RECEIPT, Receipt, Noted, self.receipt)]

    def orders(self, call: Call, asked: OrdersOf) -> Orders:
        """Lease some orders to the asking peer."""
        self._desk.admit(call, asked.network)
        return Orders(tuple(self._book.take(call.key, asked.most, self._node.now())))

    def receipt(self, call: Call, asked: Receipt) -> Noted:
        """Save a receipt. One for an order that is over, or of another peer, is acknowledged and dropped."""
        self._desk.admit(call, asked.network)
        known = self._book.done(call.key, asked.number, asked.pages, asked.said)
        self._node.count("orders done by others" if known else "receipts for nothing")
        return Noted(known)

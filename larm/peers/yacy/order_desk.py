"""Order desk: what a peer answers those who crawl for it (YACY-39). Any thread."""

from __future__ import annotations

from larm.peers.door import Call, Question
from larm.peers.yacy.desk import Desk
from larm.peers.yacy.node import Node
from larm.peers.yacy.order_book import OrderBook
from larm.peers.yacy.questions import ORDERS, RECEIPT, Noted, Orders, OrdersOf, Receipt


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

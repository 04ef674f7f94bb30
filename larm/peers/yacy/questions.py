"""The questions of a network's peers, below ``/peer/v1/yacy/``, and their answers, in their forms on the wire."""

from typing import Annotated

import msgspec

from larm.peers.yacy.item import Header, Item

PING, COUNT, OFFER, HAND, SEARCH, PAGES = (f"/yacy/{name}" for name in ("ping", "count", "offer", "hand", "search", "pages"))
DENIED = "/yacy/denied"
ORDERS, RECEIPT = "/yacy/orders", "/yacy/receipt"
SEEDS = "/yacy/seeds"
"""The seed list, for any reader."""
WIRE = 1
"""Version of these questions. Peers whose versions differ by one understand each other: new fields have defaults, and
unknown ones are ignored."""
MOST_HEADERS = 100
"""Headers in an offer: some 25 KB."""
MOST_NAMED = 64
"""Hashes in a ping, 1 KB: three pings a period go through 10,000 peers in half an hour."""
MOST_WORDS = 64
"""Hashes in a search: sixteen words with three stems each, or thirty with one."""
MOST_ABSTRACT = 5_000
"""URLs of a word in an answer: 60 KB."""
MOST_ROWS = 1_000
"""Postings of a word in an answer."""
MOST_PAGES = 40
"""Documents in an answer."""
MOST_ORDERS = 10
"""Orders that one peer holds of another at a time."""

Number = Annotated[int, msgspec.Meta(ge=0, lt=1 << 53)]
"""A number in a stranger's message. The disk can't keep one without bound, nor can one be multiplied with fractions."""


class Ping(msgspec.Struct, frozen=True):
    """The description of the asking peer (YACY-14)."""

    network: str
    seed: str
    stretch: tuple[str, ...] = ()
    """The known peers of a part of the ring: any other peer between the first and the last of them is news."""
    wire: int = 1
    """Version of the questions that the asking peer speaks."""


class Pong(msgspec.Struct, frozen=True):
    """How the asking peer is seen, and which other peers are there (YACY-22)."""

    address: str
    """Address from which the ping came."""
    reachable: bool
    """True if the answering peer has reached the asking one."""
    seed: str
    seeds: tuple[str, ...] = ()
    wire: int = 1


class Count(msgspec.Struct, frozen=True):
    """The call-back."""

    network: str


class Counted(msgspec.Struct, frozen=True):
    """The answer of a peer that is there."""

    hash: str
    words: Number


class DeniedOf(msgspec.Struct, frozen=True):
    """The question for a deny list. The answer is a `larm.peers.yacy.trust.DenyList`."""

    network: str


class Offer(msgspec.Struct, frozen=True):
    """Headers of items for an owner."""

    network: str
    headers: tuple[Header, ...]
    seeds: tuple[str, ...] = ()
    """Seeds of their authors that the owner did not know."""


class Offered(msgspec.Struct, frozen=True):
    """The numbers of wanted bodies, and the reasons of refusals."""

    wanted: tuple[int, ...] = ()
    refused: dict[int, str] = {}
    takes: bool = True
    """False if the peer takes no items of others."""
    unknown: tuple[int, ...] = ()
    """Numbers of items whose authors are not known as members."""


class Hand(msgspec.Struct, frozen=True):
    """Items with bodies."""

    network: str
    items: tuple[Item, ...]


class Handed(msgspec.Struct, frozen=True):
    """All items are on the disk, except refused ones."""

    refused: dict[int, str] = {}


class Search(msgspec.Struct, frozen=True):
    """The words of a search, as hashes only (YACY-46)."""

    network: str
    words: tuple[str, ...]
    partitions: tuple[int, ...]
    most: Number = 100
    """Postings of each word at most, the best."""
    abstracts: bool = False
    """True if the URLs of all postings are wanted too (YACY-47)."""
    urls: tuple[str, ...] = ()
    """The second round: postings of these URLs only."""
    sites: tuple[str, ...] = ()
    """Ends of URLs' hashes: references of pages of these hosts come before all others."""


class Row(msgspec.Struct, frozen=True, array_like=True):
    """A posting."""

    url: str
    hits: Number
    where: Number
    length: Number
    author: Number
    """Number of the author in the answer."""


class WordFound(msgspec.Struct, frozen=True):
    """The postings of one word."""

    total: Number
    rows: tuple[Row, ...] = ()
    urls: bytes = b""
    """The abstract: nine bytes for each address."""


class Found(msgspec.Struct, frozen=True):
    """Postings for each word, in the order of the question."""

    words: tuple[WordFound, ...]
    authors: tuple[str, ...] = ()
    length: Number = 0
    """Mean number of characters of the texts that the peer keeps; 0: it keeps none."""


class PagesOf(msgspec.Struct, frozen=True):
    """The question for documents, by the hashes of their URLs."""

    network: str
    urls: tuple[str, ...]


class PagesFound(msgspec.Struct, frozen=True):
    """Documents in any order, with their headers, so no owner can change them."""

    pages: tuple[Item, ...] = ()


class OrdersOf(msgspec.Struct, frozen=True):
    """The question for crawl orders (YACY-39)."""

    network: str
    most: Number


class Order(msgspec.Struct, frozen=True, array_like=True):
    """An address to be crawled."""

    number: Number
    url: str
    depth: Number
    """Depth of links to be followed from it."""


class Orders(msgspec.Struct, frozen=True):
    """Orders, leased to the asking peer for a day."""

    orders: tuple[Order, ...] = ()


class Receipt(msgspec.Struct, frozen=True):
    """The result of an order."""

    network: str
    number: Number
    pages: Number
    """Number of pages that it brought."""
    said: str
    """A sentence about the address itself."""


class Noted(msgspec.Struct, frozen=True):
    """The receipt is on the disk."""

    known: bool
    """True if the asking peer still held the order."""

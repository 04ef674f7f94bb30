"""What peers of a network ask each other, below ``/peer/v1/yacy/``, and what they answer. The forms on the wire; every text in
them is a stranger's."""

from typing import Annotated

import msgspec

from larm.peers.yacy.item import Header, Item

PING, COUNT, OFFER, HAND, SEARCH, PAGES = (f"/yacy/{name}" for name in ("ping", "count", "offer", "hand", "search", "pages"))
DENIED = "/yacy/denied"
ORDERS, RECEIPT = "/yacy/orders", "/yacy/receipt"
SEEDS = "/yacy/seeds"
"""Not asked but read, by anybody."""
WIRE = 1
"""Version of these questions. Peers whose versions differ by one understand each other: new fields have defaults, and
unknown ones are ignored."""
MOST_HEADERS = 100
"""In an offer: some 25 KB."""
MOST_NAMED = 64
"""Hashes in a ping, 1 KB: with three pings a period 10,000 peers are gone through in half an hour."""
MOST_WORDS = 64
"""Hashes in a search: sixteen words with three stems each, or thirty with one."""
MOST_ABSTRACT = 5_000
"""Addresses of a word in an answer: 60 KB."""
MOST_ROWS = 1_000
"""References of a word in an answer."""
MOST_PAGES = 40
"""Documents in an answer."""
MOST_ORDERS = 10
"""That one peer has of another at a time."""

Number = Annotated[int, msgspec.Meta(ge=0, lt=1 << 53)]
"""A number in a stranger's message. The disk can't keep one without bound, nor can one be multiplied with fractions."""


class Ping(msgspec.Struct, frozen=True):
    """Who I am (YACY-14)."""

    network: str
    seed: str
    stretch: tuple[str, ...] = ()
    """The known peers of a part of the ring: any other peer between the first and the last of them is news."""
    wire: int = 1
    """Version of the questions that the asking peer speaks."""


class Pong(msgspec.Struct, frozen=True):
    """Who you are, and who else is there (YACY-22)."""

    address: str
    """Where the ping came from."""
    reachable: bool
    """The one who answers has tried it."""
    seed: str
    seeds: tuple[str, ...] = ()
    wire: int = 1


class Count(msgspec.Struct, frozen=True):
    """The call-back: are you there?"""

    network: str


class Counted(msgspec.Struct, frozen=True):
    """Yes."""

    hash: str
    words: Number


class DeniedOf(msgspec.Struct, frozen=True):
    """Whom do you deny? The answer is a `larm.peers.yacy.trust.DenyList`."""

    network: str


class Offer(msgspec.Struct, frozen=True):
    """Items that you should have."""

    network: str
    headers: tuple[Header, ...]
    seeds: tuple[str, ...] = ()
    """Of authors of these that the peer did not know."""


class Offered(msgspec.Struct, frozen=True):
    """Numbers of those whose bodies are wanted; a reason for each that is refused."""

    wanted: tuple[int, ...] = ()
    refused: dict[int, str] = {}
    takes: bool = True
    """Items of others at all."""
    unknown: tuple[int, ...] = ()
    """Numbers of those whose authors are not known to be members."""


class Hand(msgspec.Struct, frozen=True):
    """Their bodies."""

    network: str
    items: tuple[Item, ...]


class Handed(msgspec.Struct, frozen=True):
    """All are on the disk, but those that are refused."""

    refused: dict[int, str] = {}


class Search(msgspec.Struct, frozen=True):
    """Words as hashes only (YACY-46)."""

    network: str
    words: tuple[str, ...]
    partitions: tuple[int, ...]
    most: Number = 100
    """References of each word; the best."""
    abstracts: bool = False
    """All addresses of each word are wanted, too (YACY-47)."""
    urls: tuple[str, ...] = ()
    """The second round: only references of these."""
    sites: tuple[str, ...] = ()
    """Ends of URLs' hashes: references of pages of these hosts come before all others."""


class Row(msgspec.Struct, frozen=True, array_like=True):
    """A reference."""

    url: str
    hits: Number
    where: Number
    length: Number
    author: Number
    """Number of the author in the answer."""


class WordFound(msgspec.Struct, frozen=True):
    """Of one word."""

    total: Number
    rows: tuple[Row, ...] = ()
    urls: bytes = b""
    """The abstract: nine bytes for each address."""


class Found(msgspec.Struct, frozen=True):
    """For each word, in the order of the question."""

    words: tuple[WordFound, ...]
    authors: tuple[str, ...] = ()
    length: Number = 0
    """Characters of a text, on the average of the documents that the peer keeps; 0: it keeps none."""


class PagesOf(msgspec.Struct, frozen=True):
    """Documents with these hashes."""

    network: str
    urls: tuple[str, ...]


class PagesFound(msgspec.Struct, frozen=True):
    """In any order, with their headers: whoever keeps a document can't change it."""

    pages: tuple[Item, ...] = ()


class OrdersOf(msgspec.Struct, frozen=True):
    """What may I crawl for you (YACY-39)?"""

    network: str
    most: Number


class Order(msgspec.Struct, frozen=True, array_like=True):
    """An address to be crawled."""

    number: Number
    url: str
    depth: Number
    """Links to be followed from it."""


class Orders(msgspec.Struct, frozen=True):
    """They are the asker's for a day."""

    orders: tuple[Order, ...] = ()


class Receipt(msgspec.Struct, frozen=True):
    """What became of an order."""

    network: str
    number: Number
    pages: Number
    """That it brought."""
    said: str
    """A sentence about the address itself."""


class Noted(msgspec.Struct, frozen=True):
    """It is on the disk."""

    known: bool
    """The order was still the asker's."""

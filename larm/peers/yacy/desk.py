"""Desk: what a peer answers the others of its network. Any thread; state is touched under the node's lock, and nobody is asked
under it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import islice

from larm.peers.door import Call, Question, RefusedError
from larm.peers.rates import Rates, payer
from larm.peers.yacy.chunk import ITSELF, Reference
from larm.peers.yacy.hashes import is_hash, packed
from larm.peers.yacy.item import Header, Item
from larm.peers.yacy.node import Node
from larm.peers.yacy.own_hash import belongs
from larm.peers.yacy.questions import (
    COUNT,
    DENIED,
    FREQUENCIES,
    HAND,
    MOST_ABSTRACT,
    MOST_COUNTED,
    MOST_HEADERS,
    MOST_PAGES,
    MOST_ROWS,
    MOST_WORDS,
    OFFER,
    PAGES,
    PING,
    SEARCH,
    Count,
    Counted,
    DeniedOf,
    Found,
    Frequencies,
    FrequenciesFound,
    Hand,
    Handed,
    Offer,
    Offered,
    PagesFound,
    PagesOf,
    Ping,
    Pong,
    Row,
    Search,
    WordFound,
)
from larm.peers.yacy.ring import PARTITIONS, partition_of
from larm.peers.yacy.seed import BadSeedError, read_seed, write_seed
from larm.peers.yacy.trust import DenyList

_TOLD = 20
"""Seeds in an answer to a ping: as many as YaCy asks for (YACY-22)."""
_LARGEST_ANSWER = 700_000
"""Bytes of documents in an answer."""
_MEAN = 300.0
"""Words of a page, where nobody knows better."""
_SHARE = 8
"""Part of the quota that one address may hand over in a day: keys are for free, addresses are not."""
_LEAST_SHARE = 10_000_000
_DAY = 86_400.0
_SLACK = 3
"""Owners beside the right ones that may be given an item: two peers seldom know exactly the same others."""


class Desk:
    """Of one node."""

    def __init__(self, node: Node) -> None:
        # constant after construction
        self._node = node
        share = max(_LEAST_SHARE, node.shelf.quota / _SHARE)
        self._given = Rates(node.clock, share / _DAY, share)

    @property
    def questions(self) -> list[Question]:
        """For the `larm.peers.door.Door`."""
        return [
            Question(PING, Ping, Pong, self.ping),
            Question(COUNT, Count, Counted, self.count),
            Question(DENIED, DeniedOf, DenyList, self.denied),
            Question(OFFER, Offer, Offered, self.offer),
            Question(HAND, Hand, Handed, self.hand),
            Question(SEARCH, Search, Found, self.search, cost=2.0),
            Question(FREQUENCIES, Frequencies, FrequenciesFound, self.frequencies, cost=4.0),
            Question(PAGES, PagesOf, PagesFound, self.pages),
        ]

    def ping(self, call: Call, asked: Ping) -> Pong:
        """Who asks is tried first: at the address that the question came from, and nowhere else."""
        node = self._node
        self.admit(call, asked.network)
        try:
            seed = read_seed(asked.seed)
        except BadSeedError as error:
            raise RefusedError(f"your seed is none: {error}", 400) from error
        if seed.key != call.key:
            raise RefusedError("this is the seed of somebody else", 400)
        if not belongs(seed.hash, seed.key):
            raise RefusedError("its hash is not one of your key", 400)
        reachable = node.reaches(seed, call.address)
        node.met(seed, call.address, reachable=reachable)
        with node.lock:
            seeds = node.membership.youngest(_TOLD, without={seed.hash})
        return Pong(call.address, reachable, write_seed(node.seed()), tuple(map(write_seed, seeds)))

    def count(self, call: Call, asked: Count) -> Counted:
        """We are there."""
        self.admit(call, asked.network)
        return Counted(self._node.hash, self._node.words)

    def denied(self, call: Call, asked: DeniedOf) -> DenyList:
        """Whom we deny, if others may know."""
        self.admit(call, asked.network)
        return self._node.trust.own_list

    def offer(self, call: Call, asked: Offer) -> Offered:
        """Headers first."""
        self.admit(call, asked.network)
        if len(asked.headers) > MOST_HEADERS:
            raise RefusedError(f"an offer has {MOST_HEADERS} headers at most", 400)
        wanted, refused = [], {}
        node = self._node
        if not node.takes_references:
            return Offered(takes=False)
        with node.lock, node.shelf.at_once():
            for number, header in enumerate(asked.headers):
                if header.author == node.key:
                    continue
                why = self._not_ours(header)
                kept = None if why else node.shelf.offered(header, node.now())
                if why or (kept is not None and kept.reason):
                    refused[number] = why or (kept.reason if kept else "")
                elif kept is not None and kept.wanted:
                    wanted.append(number)
        node.count("items refused", len(refused))
        return Offered(tuple(wanted), refused)

    def hand(self, call: Call, asked: Hand) -> Handed:
        """Then bodies."""
        self.admit(call, asked.network)
        if len(asked.items) > MOST_HEADERS:
            raise RefusedError(f"at most {MOST_HEADERS} items at a time", 400)
        refused, node = {}, self._node
        size = sum(len(item.body) for item in asked.items)
        if not self._given.allows(payer(call.address), size):
            raise RefusedError("this address has handed over as much as one may in a day", 429)
        with node.lock, node.shelf.at_once():
            for number, item in enumerate(asked.items):
                why = self._not_ours(item.header) or node.shelf.handed(item.header, item.body, node.now())
                if why:
                    refused[number] = why
        node.count("items received", len(asked.items) - len(refused))
        node.count("items refused", len(refused))
        return Handed(refused)

    def search(self, call: Call, asked: Search) -> Found:
        """References of words, the best first."""
        self.admit(call, asked.network)
        self._node.count("searches answered")
        return self.find(asked)

    def find(self, asked: Search) -> Found:
        """The same for ourselves."""
        known = all(map(is_hash, (*asked.words, *asked.urls)))
        if not known or len(asked.words) > MOST_WORDS or len(asked.urls) > MOST_ROWS:
            raise RefusedError("that is no search", 400)
        partitions = {each for each in asked.partitions if 0 <= each < PARTITIONS}
        authors: dict[str, int] = {}
        node = self._node
        references = node.shelf.reader.references(asked.words, partitions, node.now())

        def number_of(author: str) -> int:
            return authors.setdefault(author, len(authors))

        found = tuple(_word_found(references[word], asked, number_of) for word in asked.words)
        averages = node.averages
        return Found(found, tuple(authors), averages.lengths, averages.documents, averages.languages)

    def frequencies(self, call: Call, asked: Frequencies) -> FrequenciesFound:
        """How many pages have some words, and where."""
        self.admit(call, asked.network)
        return self.count_pages(asked)

    def count_pages(self, asked: Frequencies) -> FrequenciesFound:
        """The same for ourselves."""
        fits = len(asked.words) == len(asked.partitions) <= MOST_COUNTED
        if not fits or len(asked.common) > MOST_COUNTED or not all(map(is_hash, asked.words)):
            raise RefusedError("that is no question for frequencies", 400)
        node = self._node
        references = node.shelf.reader.references(asked.words, range(PARTITIONS), node.now())
        return FrequenciesFound(
            tuple(_counted(references[word], meant) for word, meant in zip(asked.words, asked.partitions, strict=True)),
            node.averages.documents,
            tuple(node.averages.common.get(word, (0.0, 0.0, 0.0, 0.0)) for word in asked.common),
        )

    def pages(self, call: Call, asked: PagesOf) -> PagesFound:
        """Documents."""
        self.admit(call, asked.network)
        if len(asked.urls) > MOST_PAGES or not all(map(is_hash, asked.urls)):
            raise RefusedError("that is no question for documents", 400)
        return self.pages_of(asked)

    def pages_of(self, asked: PagesOf, most: int | None = _LARGEST_ANSWER) -> PagesFound:
        """The same for ourselves, of any number; ``most``: bytes."""
        rows = self._node.shelf.reader.pages(asked.urls, self._node.now())
        found, size = [], 0
        for header, body in rows:
            size += len(body)
            if most is not None and size > most:
                break
            found.append(Item(header, body))
        return PagesFound(tuple(found))

    def admit(self, call: Call, name: str) -> None:
        """Raises RefusedError for who is of another network, or is not answered."""
        node = self._node
        if name != node.network:
            raise RefusedError("this is another network", 404)
        if node.stealthy or not node.has_to_do_with(call.key):
            raise RefusedError("this peer does not answer you now")

    def _not_ours(self, header: Header) -> str:
        node = self._node
        if header.author == node.key:
            return "it is our own"
        if not node.takes_references:
            return "this peer takes no references"
        if header.author in node.trust:
            return "its author is denied here"
        owners = node.ring_locked().owners_between(header.first, header.last, node.redundancy + _SLACK)
        return "" if node.hash in owners else "others own it"


def _word_found(references: list[tuple[str, Reference]], asked: Search, number_of: Callable[[str], int]) -> WordFound:
    best: dict[str, tuple[str, Reference]] = {}
    for author, each in references:
        best.setdefault(each.url, (author, each))
    urls = b"".join(map(packed, islice(best, MOST_ABSTRACT))) if asked.abstracts else b""
    if asked.urls:
        wanted = set(asked.urls)
        chosen = [each for url, each in best.items() if url in wanted]
    else:
        chosen = sorted(best.values(), key=lambda pair: worth(pair[1]), reverse=True)
    rows = [
        Row(each.url, each.hits, each.where, each.length, number_of(author))
        for author, each in chosen[: max(0, min(asked.most, MOST_ROWS))]
    ]
    return WordFound(len(best), tuple(rows), urls)


def _counted(references: Iterable[tuple[str, Reference]], partitions: int) -> tuple[int, int, int, int]:
    where: dict[str, int] = {}
    for _, each in references:
        if partitions >> partition_of(each.url) & 1:
            where[each.url] = where.get(each.url, 0) | each.where // ITSELF
    text, title, description, address = (sum(bool(each & bit) for each in where.values()) for bit in (8, 1, 2, 4))
    return text, title, description, address


def worth(reference: Reference, mean: float = 0.0) -> float:
    """By what a reference says alone, how well a page goes with the word: as larm's ranking has it, with its usual settings.

    ``mean``: words of a page, on the average."""
    longer: float = 2.0 ** (reference.length / 4) / (mean or _MEAN)
    hits = reference.hits
    text = 2.2 * hits / (hits + 1.2 * (0.25 + 0.75 * longer))
    title = 2.0 * bool(reference.where & 1)
    return max(text, title) + 0.4 * min(text, title) + 0.2 * bool(reference.where & 6) + 0.4

"""Desk: answers the questions of other peers. Any thread; state is used under the node's lock, under which no peer is asked."""

from collections.abc import Callable
from itertools import islice

from larm.peers.door import Call, Question, RefusedError
from larm.peers.rates import Rates, payer
from larm.peers.yacy import questions as say
from larm.peers.yacy.chunk import ADDRESS, DESCRIPTION, NAMED, TITLE, Reference
from larm.peers.yacy.greeting import Greeting
from larm.peers.yacy.hashes import is_hash, packed
from larm.peers.yacy.item import Header, Item
from larm.peers.yacy.node import Node
from larm.peers.yacy.ring import PARTITIONS
from larm.peers.yacy.trust import DenyList
from larm.peers.yacy.url_hash import SITE

_LARGEST_ANSWER = 700_000
"""Bytes of the documents in an answer."""
_MEAN = 300.0
"""Mean number of words of a page."""
_SHARE = 8
"""Part of the quota that one address may hand over in a day."""
_LEAST_SHARE = 10_000_000
_DAY = 86_400.0
_SLACK = 3
"""Number of further owners that accept an item, as two peers seldom know exactly the same others."""


class Desk:
    """The answers of one node."""

    def __init__(self, node: Node, greeting: Greeting) -> None:
        # constant after construction
        self._node = node
        self._greeting = greeting
        share = max(_LEAST_SHARE, node.shelf.quota / _SHARE)
        self._given = Rates(node.clock, share / _DAY, share)

    @property
    def questions(self) -> list[Question]:
        """The questions, for the `larm.peers.door.Door`."""
        return [
            Question(say.PING, say.Ping, say.Pong, self.ping),
            Question(say.COUNT, say.Count, say.Counted, self.count),
            Question(say.DENIED, say.DeniedOf, DenyList, self.denied),
            Question(say.OFFER, say.Offer, say.Offered, self.offer),
            Question(say.HAND, say.Hand, say.Handed, self.hand),
            Question(say.SEARCH, say.Search, say.Found, self.search, cost=2.0),
            Question(say.PAGES, say.PagesOf, say.PagesFound, self.pages),
        ]

    def ping(self, call: Call, asked: say.Ping) -> say.Pong:
        """Answer a ping."""
        self.admit(call, asked.network)
        return self._greeting.answer(call, asked)

    def count(self, call: Call, asked: say.Count) -> say.Counted:
        """Answer a call-back."""
        self.admit(call, asked.network)
        return say.Counted(self._node.hash, self._node.words)

    def denied(self, call: Call, asked: say.DeniedOf) -> DenyList:
        """Return the own deny list, if it is shared."""
        self.admit(call, asked.network)
        return self._node.trust.own_list

    def offer(self, call: Call, asked: say.Offer) -> say.Offered:
        """Take offered headers."""
        self.admit(call, asked.network)
        if len(asked.headers) > say.MOST_HEADERS:
            raise RefusedError(f"an offer has {say.MOST_HEADERS} headers at most", 400)
        wanted, unknown, refused = [], [], {}
        node = self._node
        if not node.takes_references:
            return say.Offered(takes=False)
        if asked.seeds:
            self._greeting.vouched(call.key, asked.seeds[: say.MOST_HEADERS])
        with node.lock, node.shelf.at_once():
            for number, header in enumerate(asked.headers):
                if header.author == node.key:
                    continue
                if not node.shelf.authors.knows(header.author):
                    unknown.append(number)
                    refused[number] = "its author is no member"
                    continue
                why = self._not_ours(header)
                kept = None if why else node.shelf.offered(header, node.now())
                if why or (kept is not None and kept.reason):
                    refused[number] = why or (kept.reason if kept else "")
                elif kept is not None and kept.wanted:
                    wanted.append(number)
        node.count("items refused", len(refused))
        return say.Offered(tuple(wanted), refused, unknown=tuple(unknown))

    def hand(self, call: Call, asked: say.Hand) -> say.Handed:
        """Take the bodies of items."""
        self.admit(call, asked.network)
        if len(asked.items) > say.MOST_HEADERS:
            raise RefusedError(f"at most {say.MOST_HEADERS} items at a time", 400)
        refused, node = {}, self._node
        size = sum(len(item.body) for item in asked.items)
        if not self._given.allows(payer(call.address), size):
            raise RefusedError("this address has handed over as much as one may in a day", 429)
        with node.lock, node.shelf.at_once():
            for number, item in enumerate(asked.items):
                why = self._not_ours(item.header) or node.shelf.handed(item.header, item.body, node.now(), shows=node.shows)
                if why:
                    refused[number] = why
        node.count("items received", len(asked.items) - len(refused))
        node.count("items refused", len(refused))
        return say.Handed(refused)

    def search(self, call: Call, asked: say.Search) -> say.Found:
        """Return the postings of words, the best first."""
        self.admit(call, asked.network)
        self._node.count("searches answered")
        return self.find(asked)

    def find(self, asked: say.Search) -> say.Found:
        """Do the same for a search of this peer."""
        known = all(map(is_hash, (*asked.words, *asked.urls)))
        if not known or len(asked.words) > say.MOST_WORDS or max(len(asked.urls), len(asked.sites)) > say.MOST_ROWS:
            raise RefusedError("that is no search", 400)
        partitions = {each for each in asked.partitions if 0 <= each < PARTITIONS}
        authors: dict[str, int] = {}
        node = self._node
        references = node.shelf.reader.references(asked.words, partitions, node.now())

        def number_of(author: str) -> int:
            return authors.setdefault(author, len(authors))

        found = tuple(
            _word_found(sorted(references[word], key=lambda pair: not node.shows(pair[0])), asked, number_of)
            for word in asked.words
        )
        return say.Found(found, tuple(authors), node.length)

    def pages(self, call: Call, asked: say.PagesOf) -> say.PagesFound:
        """Return documents."""
        self.admit(call, asked.network)
        if len(asked.urls) > say.MOST_PAGES or not all(map(is_hash, asked.urls)):
            raise RefusedError("that is no question for documents", 400)
        return self.pages_of(asked)

    def pages_of(self, asked: say.PagesOf, most: int | None = _LARGEST_ANSWER) -> say.PagesFound:
        """Do the same for this peer, for any number. ``most``: bytes. Of a document all items are returned, or none."""
        found, size = list[Item](), 0
        for url in asked.urls:
            items = [
                Item(header, body) for header, body in self._node.shelf.reader.pages(url, self._node.now(), self._node.shows)
            ]
            size += sum(len(item.body) for item in items)
            if most is not None and size > most and found:
                break
            found += items
        return say.PagesFound(tuple(found))

    def admit(self, call: Call, name: str) -> None:
        """Check the network and the mode. Raises RefusedError."""
        node = self._node
        if name != node.network:
            raise RefusedError("this is another network", 404)
        if node.stealthy or not node.deals_with(call.key):
            raise RefusedError("this peer does not answer you now")

    def _not_ours(self, header: Header) -> str:
        node = self._node
        if header.author == node.key:
            return "it is our own"
        if not node.takes_references:
            return "this peer takes no references"
        if header.author in node.trust:
            return "its author is denied here"
        if not node.shelf.authors.knows(header.author):
            return "its author is no member"
        if header.author in node.shelf.authors.convicted and not node.trust.trusts(header.author):
            return "pages of its author are not as it says"
        owners = node.ring_locked().owners_between(header.first, header.last, node.redundancy + _SLACK)
        return "" if node.hash in owners else "others own it"


def _word_found(references: list[tuple[str, Reference]], asked: say.Search, number_of: Callable[[str], int]) -> say.WordFound:
    best: dict[str, tuple[str, Reference]] = {}
    for author, each in references:
        best.setdefault(each.url, (author, each))
    urls = b"".join(map(packed, islice(best, say.MOST_ABSTRACT))) if asked.abstracts else b""
    if asked.urls:
        wanted = set(asked.urls)
        chosen = [each for url, each in best.items() if url in wanted]
    else:
        sites = set(asked.sites)
        chosen = sorted(best.values(), key=lambda pair: (pair[1].url[SITE] in sites, worth(pair[1])), reverse=True)
    rows = [
        say.Row(each.url, each.hits, each.where, each.length, number_of(author))
        for author, each in chosen[: max(0, min(asked.most, say.MOST_ROWS))]
    ]
    return say.WordFound(len(best), tuple(rows), urls)


def worth(reference: Reference, mean: float = 0.0) -> float:
    """Return the score of a posting alone, as larm's ranking computes it with its usual settings.

    ``mean``: mean number of words of a page; 0: not known.
    """
    longer: float = 2.0 ** (reference.length / 4) / (mean or _MEAN)
    hits = reference.hits
    text = 2.2 * hits / (hits + 1.2 * (0.25 + 0.75 * longer))
    title, named = 2.0 * bool(reference.where & TITLE), 1.5 * bool(reference.where & NAMED)
    return max(text, title) + 0.4 * min(text, title) + 0.2 * bool(reference.where & (DESCRIPTION | ADDRESS)) + named + 0.4

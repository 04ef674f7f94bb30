"""Samples: requests some pages of each author at their sites, and compares them with what the author says (YACY-48).

One thread, ``larm-network-samples``. A new author's pages are sampled first, any other's now and then. An author of
recent pages that are false loses all that it has placed here; one of old pages is not shown. Only a response that shows another
page counts: a site that can't be reached, or whose pages are made by scripts, shows nothing.
"""

from collections import Counter
from collections.abc import Callable, Iterable
from typing import NamedTuple

from larm.fetch.http_client import HttpAnswer
from larm.peers.stranger_fetch import StrangerFetch, text_of
from larm.peers.yacy.item import LIFE
from larm.peers.yacy.node import Node
from larm.peers.yacy.page import BadPageError, Page, read_page

_FIRST = 4
"""Samples of an author before it is believed for an hour."""
_TRIES = 12
"""Requests that showed nothing, and seconds of these, after which an author rests for an hour."""
_PERIOD = 3_600.0
_GATHERED = 10.0
"""Seconds between two looks for authors to be sampled."""
_MOST_WAITING = 200
_AS_SAID, _ANOTHER = 0.9, 0.5
"""Share of the author's words that each part of a page must have, and that a page of another text has at most."""
_OTHER_ENCODINGS = frozenset("\ufffd\x1b\0")
"""Characters of a text that is not UTF-8, such as ISO-2022-JP."""
_FEWEST = 5
"""Words of a page by which it can be judged."""


class Sample(NamedTuple):
    """A page to be requested."""

    author: str
    page: Page


class Samples:
    """The samples of one node."""

    def __init__(
        self, node: Node, fetch: StrangerFetch, words: Callable[[str], Iterable[str]], say: Callable[[str], object]
    ) -> None:
        """``words``: of a text, as the index has them."""
        # constant after construction
        self._node = node
        self._fetch = fetch
        self._words = words
        self._say = say
        # only the samples' thread
        self._waiting: list[Sample] = []
        self._gathered = float("-inf")
        self._tries: Counter[str] = Counter()
        """Requests for pages of each author in this period."""
        self._period = node.now()

    def tick(self) -> None:
        """Request the pages whose hosts may be asked now."""
        node, now = self._node, self._node.now()
        if node.stealthy:
            return
        if now - self._period > _PERIOD:
            self._tries.clear()
            self._period = now
        if not self._waiting and now - self._gathered > _GATHERED:
            self._gathered = now
            self._gather()
        later = list[Sample]()
        for each in self._waiting:
            if self._fetch.is_due(each.page.url):
                self._look(each)
            else:
                later.append(each)
        self._waiting = later

    def _gather(self) -> None:
        node, authors = self._node, self._node.shelf.authors
        met, node.met = node.met, {}  # documents of authors of which nothing is known, from searches
        with node.lock:
            settled = {key for key in self._tries if self._enough(key)} | authors.convicted
            rows = node.shelf.sample(settled, node.random)
        samples = [Sample(key, page) for key, page in met.items() if self._tries[key] < _TRIES and key not in authors.convicted]
        for key, body in rows:
            try:
                samples.append(Sample(key, read_page(body)))
            except BadPageError:
                continue
        self._waiting = [each for each in samples if not node.trust.trusts(each.author)][:_MOST_WAITING]

    def _enough(self, author: str) -> bool:
        known = self._node.shelf.authors.get(author)
        judged = 0 if known is None else known.good + known.bad
        return self._tries[author] >= (_TRIES if judged < _FIRST else 1)

    def _look(self, sample: Sample) -> None:
        node, author = self._node, sample.author
        began = node.clock.monotonic()
        came = self._fetch.fetch(sample.page.url)
        self._tries[author] += 1 + int(node.clock.monotonic() - began)  # a slow site must not take the time of others
        good = verdict(sample.page, came, self._words) if isinstance(came, HttpAnswer) else None
        if good is None:
            node.count("samples of pages that showed nothing")
            return
        node.count("samples of pages as their authors say" if good else "samples of pages with another text")
        with node.lock:
            fresh = node.now() - sample.page.fetched < LIFE
            convicted = node.shelf.authors.judge(author, node.now(), good=good, fresh=fresh)
            if convicted:
                node.shelf.drop_authors([author])
        if convicted:
            self._say(
                f"network {node.network}: pages of the peer with the key {author} are not as it says ({sample.page.url}): "
                "all its items here are dropped. To take them back, trust that peer on the page Network of 'larm serve'."
            )


def verdict(page: Page, came: HttpAnswer, words: Callable[[str], Iterable[str]]) -> bool | None:
    """Return True if a response shows the page as its author says, False if it is another one, None if that can't be known."""
    if came.status in {404, 410}:
        return False
    text = text_of(came)
    if came.status != 200 or text is None or not _OTHER_ENCODINGS.isdisjoint(text):
        return None
    parts = [set(words(each)) for each in (page.text, page.title, page.description, page.other)]
    said, there = set[str]().union(*parts), set(words(text))
    if len(said) < _FEWEST or len(there) < len(said) / 2:
        return None
    if _share(said, there) < _ANOTHER:
        return False
    return True if min(_share(each, there) for each in parts) >= _AS_SAID else None  # a true text proves no title


def _share(said: set[str], there: set[str]) -> float:
    return len(said & there) / len(said) if said else 1.0

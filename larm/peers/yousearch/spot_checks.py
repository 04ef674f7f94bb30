"""SpotChecks: samples of the results of peers. A result is fetched, and must have any of the words of the query.

Files that the peer serves are fetched from the peer, pages of other hosts as by a stranger (`larm.peers.stranger_fetch`). Other
types than HTML and plain text count neither way, nor long files whose beginning has none of the words, nor pages that can't be
had. Later samples of a peer are inspected on the thread ``larm-spot-checks``; no search waits for them.
"""

import random
import threading
from collections import OrderedDict, deque
from collections.abc import Iterable, Sequence
from contextlib import suppress
from queue import Empty, Full, Queue
from typing import NamedTuple
from urllib.parse import unquote

from larm.fetch.http_client import HttpAnswer, HttpClient, NoAnswer
from larm.index.analysis import Analyzer
from larm.index.stems import LANGUAGES, Stemmer
from larm.model.hit import Hit
from larm.peers.channel import Contact
from larm.peers.passes import PASS, Passes
from larm.peers.rates import Rates
from larm.peers.stranger_fetch import StrangerFetch, origin_of, text_of
from larm.peers.yousearch.needs import Needs, Term
from larm.peers.yousearch.shares import FILES_ROOT
from larm.seams import Clock

_ALWAYS = 5
"""Samples of a peer before which each of its answers is sampled."""
_SELDOM = 0.1
"""Share of later answers that are sampled."""
_FIRST = 10
"""Hits of an answer, best first, of which one is the sample: those that are shown."""
_WAITING = 100
"""Length of the queue; further samples are dropped."""
_READ = 300_000
"""Bytes of a file."""
_SECONDS = 10.0
_PER_HOST = (5 / 3_600, 5.0)
"""Pages of one host a second, and at once: peers must not have us ask a host again and again."""
_MOST_PEERS = 10_000
_MOST_CHECKS = 20
"""Samples of a peer that count: the last ones."""
_REMEMBERED = 3_600.0
"""Seconds for which a sample counts: a peer may mend its index."""
_ENOUGH = 5
"""Samples before a peer is not asked any more: one page may have changed, or be found by the text of a link."""
_SHARE = 0.2
"""Share of good samples below which a peer is not asked."""
_UNPROVED = 0.85
"""Weight of a peer without a good sample: its first hit comes after the tenth one of others."""


class Trust:
    """What samples say of each peer. Any thread."""

    def __init__(self, clock: Clock) -> None:
        # constant after construction
        self._clock = clock
        self._lock = threading.Lock()
        # guarded by self._lock
        self._checks: OrderedDict[str, deque[tuple[float, bool]]] = OrderedDict()

    def checked(self, key: str, *, good: bool) -> None:
        """Note a sample of the peer with this key."""
        with self._lock:
            checks = self._checks.setdefault(key, deque(maxlen=_MOST_CHECKS))
            self._checks.move_to_end(key)
            checks.append((self._clock.monotonic(), good))
            if len(self._checks) > _MOST_PEERS:
                self._checks.popitem(last=False)

    def found(self, key: str) -> tuple[int, int]:
        """Return the numbers of samples, and of bad ones."""
        since = self._clock.monotonic() - _REMEMBERED
        with self._lock:
            lately = [good for at, good in self._checks.get(key, ()) if at > since]
        return len(lately), lately.count(False)

    def has_proved_itself(self, key: str) -> bool:
        """Return True if more samples were good than bad."""
        checks, bad = self.found(key)
        return checks > 2 * bad

    def of(self, key: str) -> float:
        """Return the weight of its results, more than 0 and at most 1."""
        checks, bad = self.found(key)
        return (checks - bad + 2) / (checks + 2) * (1.0 if checks > bad else _UNPROVED)

    def believes(self, key: str) -> bool:
        """Return True if the peer is worth asking."""
        checks, bad = self.found(key)
        return checks < _ENOUGH or checks - bad >= _SHARE * checks


class _Check(NamedTuple):
    contact: Contact
    hit: Hit
    needs: Needs
    passes: Passes | None


class SpotChecks:
    """Samples of all peers that one machine asks."""

    def __init__(self, http: HttpClient, pages: StrangerFetch, clock: Clock, chance: random.Random | None = None) -> None:
        """``http`` fetches files of peers, ``pages`` those of other hosts."""
        # constant after construction
        self.trust = Trust(clock)
        self._http = http
        self._pages = pages
        self._hosts = Rates(clock, *_PER_HOST)
        self._chance = chance or random.Random()
        self._waiting: Queue[_Check | None] = Queue(_WAITING)
        self._lock = threading.Lock()
        """Held while a page of another host is fetched."""

    def offer(self, contact: Contact, needs: Needs, hits: Sequence[Hit], passes: Passes | None = None) -> None:
        """Queue a sample of some answers of a peer. ``passes`` opens its files. Any thread; does not wait."""
        often = self.trust.found(contact.key)[0] < _ALWAYS
        if (often or self._chance.random() < _SELDOM) and (check := self._sample(contact, needs, hits, passes)):
            self._put(check)

    def inspect(
        self, contact: Contact, needs: Needs, hits: Sequence[Hit], passes: Passes | None, seconds: float
    ) -> bool | None:
        """Inspect a sample now. Return True if it has any of the words, None if that is not known. Any thread."""
        check = self._sample(contact, needs, hits, passes)
        return self._inspect(check, seconds) if check is not None else None

    def run(self) -> None:
        """Inspect what is queued until `stop`."""
        while (check := self._waiting.get()) is not None:
            self._inspect(check, _SECONDS)

    def stop(self) -> None:
        """End `run`; queued samples are dropped. Any thread."""
        while not self._put(None):
            with suppress(Empty):
                self._waiting.get_nowait()

    def _sample(self, contact: Contact, needs: Needs, hits: Sequence[Hit], passes: Passes | None) -> _Check | None:
        first = [hit for hit in hits[:_FIRST] if hit.complete] or hits[:_FIRST]
        return _Check(contact, self._chance.choice(first), needs, passes) if first and needs else None

    def _inspect(self, check: _Check, seconds: float) -> bool | None:
        came = self._fetched(check, seconds)
        good = _judged(came, check) if isinstance(came, HttpAnswer) else None  # a page that is not reached now is no lie
        if good is not None:
            self.trust.checked(check.contact.key, good=good)
        return good

    def _fetched(self, check: _Check, seconds: float) -> HttpAnswer | NoAnswer:
        if check.hit.url.startswith(check.contact.url + FILES_ROOT) and check.hit.url.isascii():
            headers = {"range": f"bytes=0-{_READ - 1}"}
            if check.passes is not None and check.passes.given:
                headers[PASS] = check.passes.make(check.contact.key)
            at = check.contact.address
            return self._http.ask("GET", check.hit.url, headers, b"", seconds=seconds, most=_READ, at=at)
        if not self._lock.acquire(timeout=seconds):
            return NoAnswer("another page is being fetched")
        try:
            if not (self._pages.is_due(check.hit.url) and self._hosts.allows(origin_of(check.hit.url))):
                return NoAnswer("its host was asked often enough")
            return self._pages.fetch(check.hit.url, seconds / 2)
        finally:
            self._lock.release()

    def _put(self, check: _Check | None) -> bool:
        try:
            self._waiting.put_nowait(check)
        except Full:
            return False
        return True


def _judged(came: HttpAnswer, check: _Check) -> bool | None:
    """Return None if the response does not say."""
    if came.status not in {200, 206}:
        return False if came.status in {404, 410} else None
    text = text_of(came)
    if text is None:
        return None
    if has_any(check.needs, text):
        return True  # also words in tags: nothing that a stranger has written is parsed here
    path = check.hit.url.removeprefix(check.contact.url + FILES_ROOT)
    if has_any(check.needs, unquote(path)):  # of a file its name is a part; a server may show a page at any address
        return None if path == check.hit.url else True
    if "\ufffd" in text:
        return None  # it is in another encoding
    return False if _is_whole(came) and check.hit.complete else None  # another hit may have function words alone


def _is_whole(came: HttpAnswer) -> bool:
    return came.status == 200 or came.headers.get("content-range", "").rpartition("/")[2] == str(len(came.body))


def has_any(needs: Needs, text: str) -> bool:
    """Return True if the text has any of the needed words, in any form."""
    words = set(Analyzer().words(text))
    terms = {term for clause in needs for way in clause for term in way}
    return any(term.word in words for term in terms) or _has_forms(terms, words)


def _has_forms(terms: Iterable[Term], words: Iterable[str]) -> bool:
    known = sorted(words)
    for language in sorted(LANGUAGES):
        wanted = {stem for term in terms for name, stem in term.stems if name == language}
        if wanted and not wanted.isdisjoint(Stemmer(language).stems(known)):
            return True
    return False

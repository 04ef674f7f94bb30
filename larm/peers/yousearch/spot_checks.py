"""SpotChecks: now and then a result of a peer is looked at: can it be opened, and has it any of the words?

Only files that the peer serves itself are looked at: a page elsewhere would tell its site who has searched, and a stranger
could have us fetch what he likes. What can't be judged counts neither way: other types than HTML and plain text, and long files
whose beginning has none of the words. One thread, ``larm-spot-checks``; no search waits for it.
"""

import html
import random
import threading
from collections import OrderedDict, deque
from collections.abc import Iterable, Sequence
from contextlib import suppress
from queue import Empty, Full, Queue
from typing import NamedTuple
from urllib.parse import unquote

from larm.fetch.http_client import HttpAnswer, HttpClient
from larm.index.analysis import Analyzer
from larm.index.stems import LANGUAGES, Stemmer
from larm.model.hit import Hit
from larm.peers.channel import Contact
from larm.peers.passes import PASS, Passes
from larm.peers.yousearch.needs import Needs, Term
from larm.peers.yousearch.shares import FILES_ROOT
from larm.seams import Clock

_ALWAYS = 5
"""Of a peer that few results were looked at, every answer is."""
_SELDOM = 0.1
"""Of any other, this share."""
_WAITING = 100
"""Further ones are left out: these are samples."""
_READ = 300_000
"""Bytes of a file."""
_SECONDS = 10.0
_MOST_PEERS = 10_000
_MOST_CHECKS = 20
"""The last ones of each peer."""
_REMEMBERED = 3_600.0
"""Seconds: who has mended his index is asked again."""
_ENOUGH = 5
"""Checks: one bad result may be a page that was changed since it was indexed, or found by the words of a link to it."""
_SHARE = 0.2
"""Of good ones; with fewer it is not asked."""


class _Check(NamedTuple):
    contact: Contact
    url: str
    needs: Needs


class Trust:
    """Of one peer in all others: what checks have shown of each lately. Who was never checked is believed. Any thread."""

    def __init__(self, clock: Clock) -> None:
        # constant after construction
        self._clock = clock
        self._lock = threading.Lock()
        # guarded by self._lock
        self._checks: OrderedDict[str, deque[tuple[float, bool]]] = OrderedDict()

    def checked(self, key: str, *, good: bool) -> None:
        """One of its results was looked at."""
        with self._lock:
            checks = self._checks.setdefault(key, deque(maxlen=_MOST_CHECKS))
            self._checks.move_to_end(key)
            checks.append((self._clock.monotonic(), good))
            if len(self._checks) > _MOST_PEERS:
                self._checks.popitem(last=False)

    def found(self, key: str) -> tuple[int, int]:
        """Of how many results that were looked at how many were bad."""
        since = self._clock.monotonic() - _REMEMBERED
        with self._lock:
            lately = [good for at, good in self._checks.get(key, ()) if at > since]
        return len(lately), lately.count(False)

    def of(self, key: str) -> float:
        """At most 1, more than 0: what its results count."""
        checks, bad = self.found(key)
        return (checks - bad + 2) / (checks + 2)

    def believes(self, key: str) -> bool:
        """It is worth asking."""
        checks, bad = self.found(key)
        return checks < _ENOUGH or checks - bad >= _SHARE * checks


class SpotChecks:
    """Of one peer."""

    def __init__(self, http: HttpClient, clock: Clock, passes: Passes, chance: random.Random | None = None) -> None:
        # constant after construction
        self.trust = Trust(clock)
        self._http = http
        self._passes = passes
        self._chance = chance or random.Random()
        self._waiting: Queue[_Check | None] = Queue(_WAITING)

    def offer(self, contact: Contact, needs: Needs, hits: Sequence[Hit]) -> None:
        """Its answer to a query; perhaps one of these will be looked at. Any thread; does not wait."""
        often = self.trust.found(contact.key)[0] < _ALWAYS
        own = [hit.url for hit in hits if hit.complete and hit.url.startswith(contact.url + FILES_ROOT)]
        if own and needs and (often or self._chance.random() < _SELDOM):
            self._put(_Check(contact, self._chance.choice(own), needs))

    def run(self) -> None:
        """Until `stop`."""
        while (check := self._waiting.get()) is not None:
            headers = {"range": f"bytes=0-{_READ - 1}"}
            if self._passes.given:
                headers[PASS] = self._passes.make(check.contact.key)
            at = check.contact.address
            came = self._http.ask("GET", check.url, headers, b"", seconds=_SECONDS, most=_READ, at=at)
            good = _judged(came, check) if isinstance(came, HttpAnswer) else None  # that it is gone just now is no lie
            if good is not None:
                self.trust.checked(check.contact.key, good=good)

    def stop(self) -> None:
        """What waits is left out. Any thread."""
        while not self._put(None):
            with suppress(Empty):
                self._waiting.get_nowait()

    def _put(self, check: _Check | None) -> bool:
        try:
            self._waiting.put_nowait(check)
        except Full:
            return False
        return True


def _judged(came: HttpAnswer, check: _Check) -> bool | None:
    """None: nobody can say."""
    if came.status not in {200, 206}:
        return False if came.status in {404, 410} else None
    mime = came.headers.get("content-type", "").partition(";")[0].strip().lower()
    if mime not in {"text/html", "text/plain"}:
        return None
    text = came.body.decode("utf-8", "replace")
    path = unquote(check.url.removeprefix(check.contact.url + FILES_ROOT))
    if has_any(check.needs, f"{path} {html.unescape(text) if mime == 'text/html' else text}"):
        return True  # a word in a tag is one, too: nothing is parsed here that a stranger has written
    if "\ufffd" in text:
        return None  # it is in another encoding
    return False if _is_whole(came) else None


def _is_whole(came: HttpAnswer) -> bool:
    return came.status == 200 or came.headers.get("content-range", "").rpartition("/")[2] == str(len(came.body))


def has_any(needs: Needs, text: str) -> bool:
    """Any of what is needed is there, in any form."""
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

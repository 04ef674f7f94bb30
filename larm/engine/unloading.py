"""Unloader: fetches that have ended are read, and what follows is carried out: the last bend of the river.

Called by the threads that fetch, and by those that read what others have fetched (``larm-fetch-<n>``, ``larm-document-<n>``,
``larm-page-<n>``), each with a number, and so with a log and a slot of its own. Reading happens outside all locks; what
follows is one step of the gate.
"""

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

import msgspec

from larm.engine.allowance import RECEIVED, SPENT, Allowance
from larm.engine.aside import Aside
from larm.engine.landed import Landed, landed_of, with_exchanges
from larm.engine.landing import Lander
from larm.engine.parts import Frontier, Logbook, Shared
from larm.engine.probe import AGAIN
from larm.engine.suspects import Suspects
from larm.fetch.host_cookies import HostCookies
from larm.frontier.robots.desk import RobotsDesk
from larm.index.duplicates.novelty import NoveltyJudge
from larm.model import hollow
from larm.model.document import Document
from larm.model.lease import Lease
from larm.model.lost import Lost
from larm.model.message import URLMessage
from larm.model.novelty import Novelty
from larm.model.outcome import Fetched, Outcome
from larm.model.restriction import CREDENTIALS
from larm.model.session_links import SessionLinks, session_links
from larm.store.lines import StorageLines

Ended = tuple[Lease, Outcome]
_LOGIN_FORM = f"{hollow.COUNTED}{hollow.LOGIN}"
_READ = frozenset(("text/html", "application/xhtml+xml", "text/plain", "application/pdf"))
"""Types of which some page could be indexed, if it did not say noindex."""
COOKIES = "cookies/hosts"
"""The counter of hosts whose cookies are kept, as their links have sessions."""


class Unloader:
    """Shared by all threads that fetch or read."""

    def __init__(
        self,
        *,
        shared: Shared,
        frontier: Frontier,
        lander: Lander,
        judge: NoveltyJudge | None,
        cookies: HostCookies,
        lines: StorageLines,
        allowance: Allowance,
        suspects: Suspects,
        logbook: Logbook,
    ) -> None:
        """``judge``: says of pages whether they say anything new, which the traps are told; None: nobody wants to know.
        ``cookies``: kept of hosts that set one and write sessions into their links, as a browser keeps them."""
        # constant after construction
        self._counters, self._tally, self._gate = shared.counters, shared.tally, shared.gate
        self._frontier = frontier
        self._lander = lander
        self._judge, self._cookies = judge, cookies
        self._lines = lines
        self._allowance = allowance
        self._suspects = suspects
        self._records, self._watch, self._recent = logbook
        self.aside = Aside()
        # written by any thread
        self._fetchers: dict[int, int] = {}
        """Numbers of the threads that fetched what another one may read, by lease."""
        # written by the main thread
        self.stopping = False
        """Nobody waits for room in a storage's queue any more."""

    def unload(self, number: int, ended: Sequence[Ended], found: Sequence[Document | Lost | None] = ()) -> float:
        """What the thread of this number got; returns the processor time that it spent on reading, in seconds.

        ``found``: what was read elsewhere, as many as ``ended``; None: not read yet.
        """
        record = self._records[number]
        record.now("storing")
        self._lines.wait_for_room(lambda: self.stopping)
        record.now("scanning")
        began = time.thread_time()
        landed = [
            self._read(number, lease, outcome, each)
            for (lease, outcome), each in zip(ended, found or [None] * len(ended), strict=True)
            if not lease.robots
        ]
        sessions = self._find_sessions(landed) if self._judge is not None else {}
        known = self._lander.follow(landed)
        novelties = self._look_for_news(landed, sessions)
        spent = time.thread_time() - began
        record.spent(spent)
        for each in landed:
            if each.document is not None and each.document.unread:
                self.aside.put(Lost.UNREAD, each.lease.message.url.access)
        received = sum(outcome.timing.received for _, outcome in ended)
        self._allowance.received.add(received)  # before their links may be fetched
        with self._gate.step():
            if novelties:
                self._frontier.traps.learn(novelties)
            robots = [(lease, outcome) for lease, outcome in ended if lease.robots]
            for lease, outcome in robots:
                self._frontier.robots.land(lease, outcome)
            self._follow(landed, robots, known)
            self._counters.add(RECEIVED, received)
            self._log(number, landed)
        self._recent.add(landed)
        self._allowance.settle(len(ended), sum(each.page for each in landed))
        record.now("idle")
        return spent

    def fetched(self, number: int, ended: Sequence[Ended]) -> None:
        """Note the thread that fetched them: its log and its figures have them, whichever thread reads them."""
        self._fetchers.update((lease.number, number) for lease, _ in ended if not lease.robots)

    def refuses(self, url: str) -> bool:
        """Whether a page, of which the access URL is given, is not to be read."""
        return self._suspects.refuses(url)

    @contextmanager
    def reading(self, number: int, url: str) -> Iterator[None]:
        """The thread of this number reads a page, or has it read."""
        self._records[number].now("scanning")
        self._records[number].reads(url)
        with self._suspects.reading(number, url):
            yield

    def _log(self, number: int, landed: Sequence[Landed]) -> None:
        fetched: dict[int, list[Landed]] = {}
        for each in landed:
            fetched.setdefault(self._fetchers.pop(each.lease.number, number), []).append(each)
        for fetcher, some in fetched.items():
            self._records[fetcher].add(some)

    def _read(self, number: int, lease: Lease, outcome: Outcome, found: Document | Lost | None) -> Landed:
        url = lease.message.url.access
        if found is None:
            if not self._suspects.refuses(url):
                with self.reading(number, url):
                    return self._lander.land(lease, outcome)
            found = Lost.DEADLY
        if found is Lost.DEADLY and self._suspects.refuses(url):
            self._suspects.lose(url)
            return self._lander.set_aside(lease, outcome, found)
        if isinstance(found, Lost):
            self.aside.put(found, url)
            return self._lander.set_aside(lease, outcome, found)
        return self._lander.land(lease, outcome, found)

    def _find_sessions(self, landed: list[Landed]) -> dict[int, tuple[SessionLinks, ...]]:
        """Return what may be sessions in the links of pages, by place.

        A page whose host should know its visitor first is requested again instead.
        """
        sessions: dict[int, tuple[SessionLinks, ...]] = {}
        for n, each in enumerate(landed):
            if each.document and (found := session_links(each.lease.message.url, each.document.links.accesses)):
                sessions[n] = found
        for n, found in sessions.items():
            if any(each.names_visitor for each in found):
                landed[n] = self._with_cookies(landed[n])
        return sessions

    def _look_for_news(self, landed: list[Landed], sessions: Mapping[int, tuple[SessionLinks, ...]]) -> list[Novelty]:
        """What the pages among them say that is new; links of one that says nothing are marked."""
        pages = [n for n, each in enumerate(landed) if each.page]
        if self._judge is None or not pages:
            return []
        visits = [visit for n in pages if (visit := landed[n].visit) is not None]
        judged = self._judge.judge(visits)
        novelties = []
        for n, visit, (fingerprint, novelty) in zip(pages, visits, judged, strict=True):
            if novelty.stale:
                landed[n].messages = [msgspec.structs.replace(message, stale=True) for message in landed[n].messages]
            document = visit.document
            if document is not None and document.measured is not None:
                document = msgspec.structs.replace(document, measured=None)  # no storage needs it
            landed[n].visit = msgspec.structs.replace(visit, fingerprint=fingerprint, document=document)
            novelties.append(self._with_links(landed[n], novelty, sessions.get(n, ())))
        return novelties

    def _with_links(self, landed: Landed, novelty: Novelty, sessions: tuple[SessionLinks, ...]) -> Novelty:
        """With what the links of the page say: whether it leads to anything new, and what may be sessions."""
        document = landed.document
        useless = document is not None and (_LOGIN_FORM in landed.counts or not (document.index or document.cuts))
        if document is None or not (useless or novelty.copy or sessions):
            return novelty
        alone = document.mime in _READ and not self._leads_on(landed.messages)
        return msgspec.structs.replace(novelty, barren=useless and alone, copy=novelty.copy and alone, sessions=sessions)

    def _leads_on(self, messages: Sequence[URLMessage]) -> bool:
        targets = [message.url.fingerprint for message in self._frontier.traps.without_sessions(messages)]
        return bool(targets) and not self._frontier.seen.recall(targets).issuperset(targets)

    def _with_cookies(self, landed: Landed) -> Landed:
        """Request a page with a session in its links again, if the response sets a cookie: as a browser that keeps it."""
        outcome, message = landed.outcome, landed.lease.message
        if not isinstance(outcome, Fetched) or "set-cookie" not in outcome.headers or outcome.restricted & CREDENTIALS:
            return landed
        before = len(self._cookies)
        again = self._cookies.keep(message.url)
        self._counters.add(COOKIES, len(self._cookies) - before)
        if not again:
            return landed
        said = f"{outcome.status} again, with cookies"
        return landed_of(landed.lease, outcome, said, status=outcome.status, again=message)

    def _follow(self, landed: Sequence[Landed], robots: Sequence[Ended], known: Mapping[str, Sequence[str]]) -> None:
        """In a step of the gate: documents to the storages, links to the handler, leases back."""
        self._lines.put(*with_exchanges(landed, robots))
        for name, urls in known.items():
            self._frontier.chain.note(name, urls)
        messages = [message for each in landed for message in each.messages]
        if messages:
            self._frontier.handler.put(messages)
        if forgotten := [each.lease.message.url.fingerprint for each in landed if each.forgotten]:
            self._frontier.seen.discard(forgotten)
        self._release(landed)

    def _release(self, landed: Sequence[Landed]) -> None:
        decisions = self._frontier.queues.release([(each.lease, each.outcome) for each in landed], self._lander.decide)
        over, counts = 0, dict[str, int]()
        for each, decision in zip(landed, decisions, strict=True):
            message, counted = each.lease.message, each.counts
            if each.page:
                counted["item_scraped_count"] = counted[SPENT] = 1
                if message.known is not None and message.known.digest:
                    counted[AGAIN] = 1
                if message.depth == 0:
                    counted["start/fetched"] = 1
            self._watch.ended(each, retry=decision.retry and not decision.unreachable)
            if decision.retry:
                counted["retry/count"] = 1
            for name, number in counted.items():
                counts[name] = counts.get(name, 0) + number
            if each.again is not None and self._frontier.robots.allows(each.again):
                self._frontier.queues.add([each.again])
                continue
            if each.again is not None:
                self._frontier.chain.note(RobotsDesk.name, [each.again.url.access])
            over += not decision.retry
        self._counters.update(counts)
        self._tally.fall(over)

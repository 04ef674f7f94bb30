"""Network: all other peers of a group, as one searcher (YOUS-17 to 27). Implements `larm.seams.Searcher`. Any thread.

A registrar says who may have an answer, these are asked at the same time with a key that nobody knows, and what they answer
goes on as it comes. Where no registrar answers, all peers that were known before are asked. Who does not answer is named, and
reported.
"""

import random
import threading
from collections.abc import Callable, Collection, Iterator, Sequence

import msgspec

from larm.fetch.http_client import NoAnswer
from larm.index.search.query import parse_question
from larm.index.search.several import SeveralSearchers
from larm.index.search.snippets import safe_line
from larm.kit.deadline import Deadline
from larm.model.facets import Narrowed
from larm.model.findings import MOST_HITS, Asked, Findings, WordStatistics
from larm.peers.addresses import contact_may_be_asked
from larm.peers.channel import Channel, Contact
from larm.peers.identity import Identity
from larm.peers.passes import Passes
from larm.peers.strangers import findings_of
from larm.peers.yousearch import protocol as say
from larm.peers.yousearch.answers import Answers
from larm.peers.yousearch.canonical import Canonical, canonical
from larm.peers.yousearch.groups import Groups
from larm.peers.yousearch.needs import Needs, needs_of
from larm.peers.yousearch.recommended import seconds_for
from larm.peers.yousearch.registrars import Registrars
from larm.peers.yousearch.shares import FILES_ROOT
from larm.peers.yousearch.spot_checks import SpotChecks
from larm.seams import Clock

LARGEST = 10_000
"""Bytes of a hit."""
_OURS = frozenset(("peers", "recommended"))


class OnePeer(msgspec.Struct):
    """Asked with a key that nobody knows, unless it answers some alone."""

    name: str
    channel: Channel
    contact: Contact
    nobody: Identity
    tell: Callable[[msgspec.Struct], None]
    checks: SpotChecks
    needs: Needs

    def statistics(self, _: Asked) -> WordStatistics | None:
        """A stranger's are not taken."""
        return None

    def search(self, asked: Asked) -> Iterator[Findings]:
        """One part; who does not answer is reported."""
        seconds = asked.seconds or 5.0
        most = LARGEST * (min(asked.number, MOST_HITS) + 10)
        question = msgspec.structs.replace(asked, statistics=None)
        found = self.channel.ask(self.contact, say.SEARCH, question, Findings, seconds=seconds, most=most, as_whom=self.nobody)
        if isinstance(found, NoAnswer):
            if not found.refused:
                self.tell(say.Report(self.contact.key))
            yield Findings(searcher=self.name, exact=False, failure=found.reason)
        else:
            weight = self.checks.trust.of(self.contact.key)
            part = findings_of(self.name, found, asked.number, trusted=False, base=self.contact.url, weight=weight)
            self.checks.offer(self.contact, self.needs, part.hits)
            yield part


def names_of(contacts: Sequence[Contact]) -> dict[str, str]:
    """By keys; what two call themselves tells them apart no more, nor what a part of this machine is called."""
    given = [name_of(each) for each in contacts]
    return {
        each.key: name if given.count(name) == 1 and name not in _OURS else f"{name} ({each.key[:8]})"
        for each, name in zip(contacts, given, strict=True)
    }


def name_of(contact: Contact) -> str:
    """For people."""
    return safe_line(contact.name[:64]).strip() or contact.key[:8]


_FOR_REGISTRAR = 0.4
"""Of the time of a search, at most, for all registrars."""
_LEAST = 0.1
"""Seconds that peers have, however long the registrars took."""
_MOST_KNOWN = 10_000
_LARGEST_LIST = 4_000_000
"""Bytes: all peers of a registrar, where a query needs no word."""
_MOST_NAMED = 10
_MOST_ASKED = 200
"""Peers, in one search: each takes a thread."""
_MOST_AT_A_TIME = 2_000
"""In all searches; beyond that, a search asks `_FEWEST`, as who may search here could start very many."""
_FEWEST = 20


class Network:
    """Of one peer."""

    def __init__(
        self,
        channel: Channel,
        registrars: Registrars,
        *,
        timeout: float,
        cache: float,
        checks: SpotChecks,
        groups: Groups,
        passes: Passes,
        private: bool,
        tell: Callable[[msgspec.Struct], None],
        clock: Clock,
        chance: random.Random | None = None,
    ) -> None:
        """``private``: peers learn the key that asks, as they answer those alone whom they know; no answer is kept.

        ``tell`` takes a `Report` for the registrars, and does not wait.
        """
        # constant after construction
        self.name = "peers"
        self._channel = channel
        self._registrars = registrars
        self._answers = Answers(clock, cache)
        self._timeout = timeout
        self._checks = checks
        self._groups = groups
        self._passes = passes
        self._private = private
        self._tell = tell
        self._clock = clock
        self._chance = chance or random.Random()
        self._lock = threading.Lock()
        # guarded by self._lock
        self._known: dict[str, Contact] = {}
        self._asking = 0

    def statistics(self, _: Asked) -> WordStatistics | None:
        """Strangers' are not taken."""
        return None

    def search(self, asked: Asked) -> Iterator[Findings]:
        """A part of each peer, as they come, and one that ends them; of a later page one part."""
        seconds = seconds_for(asked, self._timeout)
        began = self._clock.monotonic()
        deadline = Deadline(self._clock, seconds)
        query = canonical(asked.query)
        needs = needs_of(parse_question(query.text).tree)
        notes: list[str] = []
        found = self._look(needs, seconds * _FOR_REGISTRAR, notes)
        if isinstance(found, NoAnswer):
            yield Findings(searcher=self.name, exact=False, failure=found.reason)
            return
        if not found.complete:
            notes.append("no peer has all of the words; those that have most of them were asked")
        keeps = not self._private and _is_plain(asked)
        if keeps and (kept := self._answers.get(query.key, found.unchanged)) is not None:
            yield msgspec.structs.replace(kept, notes=("the same was asked here lately",))
            return
        chosen = self._chosen(found.peers, query)
        believed = [each for each in chosen if self._checks.trust.believes(each.key)]
        if len(believed) < len(chosen):
            doubted = sorted(name_of(each) for each in chosen if each not in believed)
            notes.append(f"not asked, as what they found lately had none of the words: {', '.join(doubted[:_MOST_NAMED])}")
            chosen = believed
        with self._lock:
            most = min(_MOST_ASKED, max(_FEWEST, _MOST_AT_A_TIME - self._asking))
            if len(chosen) > most:
                notes.append(f"{len(chosen):,} peers may have an answer; {most} of them were asked")
                chosen = self._chance.sample(chosen, most)
            self._asking += len(chosen)
        try:
            peers = self._peers(chosen, needs)
            parts: list[Findings] = []
            for part in self._fresh(query, peers, asked, max(_LEAST, deadline.left() or 0.0), tuple(notes)):
                parts.append(part)
                yield part
            if keeps and not any(part.failure for part in parts):
                self._keep(query, parts, began)
        finally:
            with self._lock:
                self._asking -= len(chosen)

    def contacts(self) -> list[Contact]:
        """Those that were ever named to us."""
        with self._lock:
            return list(self._known.values())

    def state_of(self, contact: Contact) -> str:
        """For people."""
        checks, bad = self._checks.trust.found(contact.key)
        looked = f"; of {checks:,} results that were looked at {bad:,} had none of the words" if bad else ""
        return self._channel.state_of(contact) + looked

    def opened_at(self, url: str) -> str:
        """Where a browser opens a result of some peer's."""
        origin, files, _ = url.partition(FILES_ROOT)
        if not files or not self._passes.given:
            return url
        with self._lock:
            key = next((each.key for each in self._known.values() if each.url == origin), "")
        return f"{url}?pass={self._passes.make(key)}" if key else url

    def _peers(self, contacts: Sequence[Contact], needs: Needs) -> list[OnePeer]:
        nobody = self._channel.identity if self._private else Identity.new()
        names = names_of(contacts)
        return [OnePeer(names[each.key], self._channel, each, nobody, self._tell, self._checks, needs) for each in contacts]

    def _fresh(
        self, query: Canonical, peers: Sequence[OnePeer], asked: Asked, seconds: float, notes: tuple[str, ...]
    ) -> Iterator[Findings]:
        if not peers:
            yield Findings(searcher=self.name, notes=notes)
            return
        question = _question(query, asked, seconds)
        if asked.page > 1:
            page = msgspec.structs.replace(question, number=asked.number, page=asked.page)
            whole = SeveralSearchers(peers).findings(page)
            yield msgspec.structs.replace(whole, searcher=self.name, by_rank=True)
            return
        waited = {each.name for each in peers}
        for part in SeveralSearchers(peers).search(question):
            waited.discard(part.searcher)
            yield msgspec.structs.replace(part, notes=notes) if part.total else part  # notes of who finds nothing do not count
        for name in sorted(waited):
            yield Findings(searcher=name, exact=False, failure=f"it took longer than {seconds:.3g} s")
        yield Findings(searcher=self.name, notes=notes)

    def _look(self, needs: Needs, seconds: float, notes: list[str]) -> say.Found | NoAnswer:
        """What the first registrar that answers says; which is the first is left to chance. ``notes`` gets what is left out."""
        registrars = self._registrars.all()
        self._chance.shuffle(registrars)
        question = say.Look(needs, signed=self._private)
        for registrar in registrars:
            answer = self._channel.ask(
                registrar, say.LOOK, question, say.Found, seconds=seconds / len(registrars), most=_LARGEST_LIST
            )
            if isinstance(answer, say.Found):
                found = _only_peers(answer, self._registrars.kinds)
                if left_out := len(answer.peers) - len(found.peers):
                    notes.append(f"peers that were not asked, as only others could reach their addresses: {left_out:,}")
                with self._lock:
                    self._known.update((each.key, each) for each in found.peers[:_MOST_KNOWN])
                    while len(self._known) > _MOST_KNOWN:
                        del self._known[next(iter(self._known))]
                known = self.contacts()
                if found.young and found.everyone < len(known):  # it is told of the others within a period
                    return msgspec.structs.replace(found, peers=tuple(known), complete=True)
                return found
        known = self.contacts()
        if known:
            return say.Found(tuple(known), len(known))
        return NoAnswer("no registrar answers" if registrars else "no registrar is known")

    def meet(self) -> None:
        """All peers there are, where none is known yet: who has never searched can go on without a registrar, too."""
        if not self.contacts():
            self._look((), self._timeout, [])

    def _chosen(self, peers: Sequence[Contact], query: Canonical) -> list[Contact]:
        """Without ourselves; of the groups that were asked for (YOUS-20)."""
        wanted = self._groups.members(query.groups) if query.groups else None
        refused = self._groups.members(query.not_groups)
        others = {each.key: each for each in peers if each.key != self._channel.identity.key}
        return [each for key, each in others.items() if key not in refused and (wanted is None or key in wanted)]

    def _keep(self, query: Canonical, parts: Sequence[Findings], began: float) -> None:
        hits = sorted((hit for part in parts for hit in part.hits), key=lambda hit: -hit.score)[: say.MOST_SHOWN]
        if hits:
            total = max(len(hits), *(part.total for part in parts))
            self._answers.put(query.key, Findings(searcher=self.name, hits=tuple(hits), total=total, by_rank=True), began)


def _only_peers(found: say.Found, kinds: Collection[str]) -> say.Found:
    """What a registrar names is asked; so it can't name just anything."""
    kept = tuple(each for each in found.peers if contact_may_be_asked(each, kinds))
    return msgspec.structs.replace(found, peers=kept)


def _question(query: Canonical, asked: Asked, seconds: float) -> Asked:
    """What each peer is asked."""
    return Asked(
        query=query.text,
        number=min(max(1, asked.number) * max(1, asked.page), say.MOST_SHOWN),
        seconds=seconds,
        narrowed=asked.narrowed,
        sort=asked.sort,
        statistics=WordStatistics(),  # strangers are not asked for theirs
    )


def _is_plain(asked: Asked) -> bool:
    """Its answer is that of the canonical query."""
    return asked.page == 1 and asked.narrowed == Narrowed() and asked.sort == "relevance"

"""Network: all other peers of a registrar as one searcher (YOUS-17 to 27). Implements `larm.seams.Searcher`; any thread.

A registrar says which peers may have an answer. These are asked at the same time, with a key that is made for this search, and
their answers go on as they come. Where no registrar answers, all known peers are asked. A peer that does not answer is named
and reported.

Peers of the user's groups are searched as one index: they are asked first for the statistics of the words, and then for pages
with the sum of these (YOUS-40).
"""

import random
import threading
from collections import OrderedDict
from collections.abc import Callable, Collection, Iterator, Sequence
from typing import NamedTuple

import msgspec

from larm.fetch.http_client import NoAnswer
from larm.index.search.merging import Merging, score_of
from larm.index.search.query import parse_question
from larm.index.search.several import SeveralSearchers
from larm.kit.deadline import Deadline
from larm.model.facets import Narrowed
from larm.model.findings import Asked, Findings, WordStatistics
from larm.peers.addresses import contact_may_be_asked
from larm.peers.channel import Channel, Contact
from larm.peers.identity import Identity
from larm.peers.passes import Passes
from larm.peers.yousearch import protocol as say
from larm.peers.yousearch.answers import Answers
from larm.peers.yousearch.bounded_sum import bounded_sum
from larm.peers.yousearch.canonical import Canonical, canonical
from larm.peers.yousearch.groups import Groups
from larm.peers.yousearch.needs import Needs, needs_of
from larm.peers.yousearch.recommended import seconds_for
from larm.peers.yousearch.registrars import Registrars
from larm.peers.yousearch.remote_peer import RemotePeer, name_of, names_of
from larm.peers.yousearch.shares import FILES_ROOT
from larm.peers.yousearch.spot_checks import SpotChecks
from larm.seams import Clock

_FOR_REGISTRAR = 0.4
"""Share of the time of a search for all registrars."""
_FOR_STATISTICS = 0.25
"""Share of the time of a search for the statistics of all peers."""
_LEAST = 0.1
"""Seconds that peers have, however long the registrars took."""
_MOST_KNOWN = 10_000
_LARGEST_LIST = 4_000_000
"""Bytes: all peers of a registrar, where a query needs no word."""
_MOST_NAMED = 10
_MOST_ASKED = 200
"""Peers that one search asks; each takes a thread."""
_MOST_AT_A_TIME = 2_000
"""Peers that all searches ask. Beyond that a search asks `_FEWEST`: anybody who searches here may begin many."""
_FEWEST = 20
_MOST_PLANS = 100


class _Plan(NamedTuple):
    """The peers for one search."""

    query: Canonical
    peers: Sequence[RemotePeer]
    group: Sequence[RemotePeer]
    """Peers whose statistics count; they may have no answer."""
    notes: tuple[str, ...]
    unchanged: float
    failure: str = ""


class Network:
    """All peers, for one kind of searching people: the owner of this machine and members, or visitors."""

    def __init__(
        self,
        channel: Channel,
        registrars: Registrars,
        *,
        timeout: float,
        cache: float,
        checks: SpotChecks,
        groups: Groups,
        passes: Passes | None,
        signed: bool,
        own: str,
        tell: Callable[[msgspec.Struct], None],
        clock: Clock,
        chance: random.Random | None = None,
    ) -> None:
        """``signed``: peers and registrars learn the key of ``channel``, as they answer only some; no answer is kept.

        ``own``: the key of this machine, which is not asked. ``tell`` takes a `Report` for the registrars, and does not wait.
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
        self._signed = signed
        self._own = own
        self._tell = tell
        self._clock = clock
        self._chance = chance or random.Random()
        self._lock = threading.Lock()
        # guarded by self._lock
        self._known: dict[str, Contact] = {}
        self._plans: OrderedDict[str, _Plan] = OrderedDict()
        """By query: made for the statistics, used by the search that follows."""
        self._asking = 0

    def statistics(self, asked: Asked) -> WordStatistics | None:
        """Return the sum for the peers of the user's groups; None where none of them is asked."""
        with self._lock:
            if not any(map(self._groups.has, self._known)):
                return None
        seconds = seconds_for(asked, self._timeout)
        plan = self._plan(asked.query, seconds)
        with self._lock:
            self._plans[asked.query] = plan
            if len(self._plans) > _MOST_PLANS:
                self._plans.popitem(last=False)
        return self._statistics(plan, seconds)

    def search(self, asked: Asked) -> Iterator[Findings]:
        """Yield a part of each peer, as they come, and one that ends them; of a later page one part."""
        began = self._clock.monotonic()
        deadline = Deadline(self._clock, seconds_for(asked, self._timeout))
        with self._lock:
            plan = self._plans.pop(asked.query, None)
        plan = plan or self._plan(asked.query, deadline.share(1.0))
        if plan.failure:
            yield Findings(searcher=self.name, exact=False, failure=plan.failure)
            return
        keeps = not self._signed and _is_plain(asked)
        if keeps and (kept := self._answers.get(plan.query.key, plan.unchanged)) is not None:
            yield msgspec.structs.replace(kept, notes=("the same was asked here lately",))
            return
        known = asked.statistics or self._statistics(plan, deadline.share(1.0))
        parts: list[Findings] = []
        with self._lock:
            self._asking += len(plan.peers)
        try:
            for part in self._fresh(plan, asked, max(_LEAST, deadline.share(1.0)), known):
                parts.append(part)
                yield part
            if keeps and not any(part.failure for part in parts):
                self._keep(plan.query, asked, parts, began)
        finally:
            with self._lock:
                self._asking -= len(plan.peers)

    def contacts(self) -> list[Contact]:
        """Return the peers that registrars have named."""
        with self._lock:
            return list(self._known.values())

    def state_of(self, contact: Contact) -> str:
        """Return a phrase for people."""
        checks, bad = self._checks.trust.found(contact.key)
        samples = f"; of {checks:,} sampled results {bad:,} had none of the words" if bad else ""
        return self._channel.state_of(contact) + samples

    def opened_at(self, url: str) -> str:
        """Return the address at which a browser opens a result, with a pass where the peer needs one."""
        origin, files, _ = url.partition(FILES_ROOT)
        if not files or self._passes is None or not self._passes.given:
            return url
        with self._lock:
            key = next((each.key for each in self._known.values() if each.url == origin), "")
        return f"{url}?pass={self._passes.make(key)}" if key else url

    def meet(self) -> None:
        """Ask for all peers, so that a first search needs no registrar."""
        if not self.contacts():
            self._look((), self._channel.identity, self._timeout, [])

    def _plan(self, text: str, seconds: float) -> _Plan:
        """Ask a registrar which peers may have an answer, and choose among them."""
        query = canonical(text)
        needs, notes = needs_of(parse_question(query.text).tree), list[str]()
        signer = self._channel.identity if self._signed else Identity.new()
        found = self._look(needs, signer, seconds * _FOR_REGISTRAR, notes)
        if isinstance(found, NoAnswer):
            return _Plan(query, (), (), (), 0.0, found.reason)
        if not found.complete:
            notes.append("no peer has all of the words; those that have most of them were asked")
        chosen = self._chosen(found.peers, query, notes)
        with self._lock:
            most = min(_MOST_ASKED, max(_FEWEST, _MOST_AT_A_TIME - self._asking))
        if len(chosen) > most:
            notes.append(f"{len(chosen):,} peers may have an answer; {most} of them were asked")
            chosen = self._chance.sample(chosen, most)
        peers = self._peers(chosen, signer, needs)
        members = [each for each in self.contacts() if self._groups.has(each.key) and each.key != self._own]
        group = [each for each in self._peers(members[:_MOST_ASKED], signer, needs) if each.scored]
        return _Plan(query, peers, group, tuple(notes), found.unchanged)

    def _peers(self, contacts: Sequence[Contact], signer: Identity, needs: Needs) -> list[RemotePeer]:
        names, has = names_of(contacts), self._groups.has
        shared = (self._tell, self._checks, needs, self._passes)
        return [RemotePeer(names[each.key], self._channel, each, signer, *shared, has(each.key)) for each in contacts]

    def _chosen(self, peers: Sequence[Contact], query: Canonical, notes: list[str]) -> list[Contact]:
        """Return the peers of the groups in the query, without this machine and without those that are not believed."""
        wanted = self._groups.members(query.groups) if query.groups else None
        refused = self._groups.members(query.not_groups) | {self._own}
        if wanted is not None and not wanted:
            notes.append(f"no peer is known in group:{', group:'.join(query.groups)}")
        others = {each.key: each for each in peers if each.key not in refused and (wanted is None or each.key in wanted)}
        doubted = [each for key, each in others.items() if not self._checks.trust.believes(key)]
        if doubted:
            named = ", ".join(sorted(map(name_of, doubted))[:_MOST_NAMED])
            notes.append(f"not asked, as samples of their results had none of the words: {named}")
        return [each for each in others.values() if each not in doubted]

    def _statistics(self, plan: _Plan, seconds: float) -> WordStatistics | None:
        if not any(each.member for each in plan.peers):
            return None
        question = Asked(query=plan.query.text, seconds=seconds * _FOR_STATISTICS)
        return bounded_sum(SeveralSearchers(plan.group).all_statistics(question))

    def _fresh(self, plan: _Plan, asked: Asked, seconds: float, known: WordStatistics | None) -> Iterator[Findings]:
        peers = plan.peers
        if not peers:
            yield Findings(searcher=self.name, notes=plan.notes)
            return
        question = Asked(
            query=plan.query.text,
            number=min(max(1, asked.number) * max(1, asked.page), say.MOST_SHOWN),
            seconds=seconds,
            narrowed=asked.narrowed,
            sort=asked.sort,
            statistics=known or WordStatistics(),  # nobody is asked for them again
        )
        if asked.page > 1:
            page = msgspec.structs.replace(question, number=asked.number, page=asked.page)
            whole = SeveralSearchers(peers).findings(page)
            yield msgspec.structs.replace(whole, searcher=self.name, by_rank=True)
            return
        waited = {each.name for each in peers}
        for part in SeveralSearchers(peers).search(question):
            waited.discard(part.searcher)
            yield msgspec.structs.replace(part, notes=plan.notes) if part.total else part  # notes of empty parts do not count
        for name in sorted(waited):
            yield Findings(searcher=name, exact=False, failure=f"it took longer than {seconds:.3g} s")
        yield Findings(searcher=self.name, notes=plan.notes)

    def _look(self, needs: Needs, signer: Identity, seconds: float, notes: list[str]) -> say.Found | NoAnswer:
        """Ask the registrars in random order until one answers. ``notes`` gets what is left out."""
        registrars = self._registrars.all()
        self._chance.shuffle(registrars)
        question = say.Look(needs, signed=self._signed)
        for registrar in registrars:
            each = seconds / len(registrars)
            answer = self._channel.ask(
                registrar, say.LOOK, question, say.Found, seconds=each, most=_LARGEST_LIST, as_whom=signer
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

    def _keep(self, query: Canonical, asked: Asked, parts: Sequence[Findings], began: float) -> None:
        by_rank = any(part.by_rank for part in parts)
        merging = Merging(msgspec.structs.replace(asked, number=say.MOST_SHOWN), ())
        for part in parts:
            merging.add(part)
        found = merging.results(0.0)
        hits = found.hits
        if by_rank:
            hits = tuple(msgspec.structs.replace(hit, score=score_of(rank)) for rank, hit in enumerate(hits))
        if hits:
            self._answers.put(query.key, Findings(searcher=self.name, hits=hits, total=found.total, by_rank=by_rank), began)


def _only_peers(found: say.Found, kinds: Collection[str]) -> say.Found:
    """Leave out addresses that a registrar must not have us ask."""
    kept = tuple(each for each in found.peers if contact_may_be_asked(each, kinds))
    return msgspec.structs.replace(found, peers=kept)


def _is_plain(asked: Asked) -> bool:
    """Return True if the answer is that of the canonical query."""
    return asked.page == 1 and asked.narrowed == Narrowed() and asked.sort == "relevance"

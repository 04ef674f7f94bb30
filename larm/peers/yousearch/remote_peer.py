"""RemotePeer: one other peer as a searcher. Implements `larm.seams.Searcher`; any thread.

A new peer proves itself: before the first hits of a peer are shown, one of them is inspected. Scores count only from peers of
the user's groups that have proved themselves; of all others only the order of their hits counts.
"""

from collections.abc import Callable, Iterator, Sequence

import msgspec

from larm.fetch.http_client import NoAnswer
from larm.index.search.snippets import safe_line
from larm.kit.clock import SystemClock
from larm.kit.deadline import Deadline
from larm.model.findings import MOST_HITS, Asked, Findings, WordStatistics
from larm.peers.channel import Channel, Contact
from larm.peers.identity import Identity
from larm.peers.passes import Passes
from larm.peers.strangers import findings_of
from larm.peers.yousearch import protocol as say
from larm.peers.yousearch.needs import Needs
from larm.peers.yousearch.spot_checks import SpotChecks

LARGEST = 10_000
"""Bytes of a hit."""
_SAMPLE_SHARE = 0.5
"""Share of the remaining time for the first sample of a peer."""
_OURS = frozenset(("peers", "recommended"))


class RemotePeer(msgspec.Struct):
    """One peer, for one search."""

    name: str
    channel: Channel
    contact: Contact
    signer: Identity
    """Signs the requests: a key made for this search, or the lasting one in a private group."""
    tell: Callable[[msgspec.Struct], None]
    """Takes a `Report` for the registrars."""
    checks: SpotChecks
    needs: Needs
    passes: Passes | None
    member: bool
    """True if it is in one of the user's groups."""

    @property
    def scored(self) -> bool:
        """True if its statistics and scores count."""
        return self.member and self.checks.trust.has_proved_itself(self.contact.key)

    def statistics(self, asked: Asked) -> WordStatistics | None:
        """Return the statistics of its words; None where they do not count, or did not come."""
        if not self.scored:
            return None
        seconds = asked.seconds or 5.0
        found = self.channel.ask(self.contact, say.STATISTICS, asked, WordStatistics, seconds=seconds, as_whom=self.signer)
        return None if isinstance(found, NoAnswer) else found

    def search(self, asked: Asked) -> Iterator[Findings]:
        """Yield one part. A peer that does not answer is reported."""
        seconds = asked.seconds or 5.0
        deadline = Deadline(SystemClock(), seconds)
        question = asked if self.member else msgspec.structs.replace(asked, statistics=None)
        most = LARGEST * (min(asked.number, MOST_HITS) + 10)
        key, trust = self.contact.key, self.checks.trust
        found = self.channel.ask(self.contact, say.SEARCH, question, Findings, seconds=seconds, most=most, as_whom=self.signer)
        if isinstance(found, NoAnswer):
            if not found.refused:
                self.tell(say.Report(key))
            yield Findings(searcher=self.name, exact=False, failure=found.reason)
            return
        part = findings_of(self.name, found, asked.number, trusted=False, base=self.contact.url)
        if trust.has_proved_itself(key):
            self.checks.offer(self.contact, self.needs, part.hits, self.passes)
        elif part.hits:
            left = deadline.share(_SAMPLE_SHARE)
            if self.checks.inspect(self.contact, self.needs, part.hits, self.passes, left) is False:
                reason = "a sample of its results has none of the words, so they are left out"
                part = found = Findings(searcher=self.name, exact=False, failure=reason)
        if self.scored and asked.statistics is not None and asked.statistics.pages:
            part = findings_of(self.name, found, asked.number, trusted=False, scored=True, base=self.contact.url)
        weight = trust.of(key)
        hits = tuple(msgspec.structs.replace(hit, score=weight * hit.score) for hit in part.hits)
        yield msgspec.structs.replace(part, hits=hits)


def names_of(contacts: Sequence[Contact]) -> dict[str, str]:
    """Return a name for each key. Equal names, and names of parts of this machine, get a piece of the key."""
    given = [name_of(each) for each in contacts]
    return {
        each.key: name if given.count(name) == 1 and name not in _OURS else f"{name} ({each.key[:8]})"
        for each, name in zip(contacts, given, strict=True)
    }


def name_of(contact: Contact) -> str:
    """Return the name of a peer for people."""
    return safe_line(contact.name[:64]).strip() or contact.key[:8]

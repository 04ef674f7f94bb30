"""OnePeer: another peer of a group as a searcher, for one search (YOUS-17, 24). Implements `larm.seams.Searcher`."""

from collections.abc import Callable, Iterator, Sequence

import msgspec

from larm.index.search.snippets import safe_line
from larm.model.findings import MOST_HITS, Asked, Findings, WordStatistics
from larm.peers.channel import Channel, Contact
from larm.peers.http_client import NoAnswer
from larm.peers.identity import Identity
from larm.peers.strangers import findings_of
from larm.peers.yousearch import protocol as say
from larm.peers.yousearch.needs import Needs
from larm.peers.yousearch.spot_checks import SpotChecks

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

"""Registrar: who is there, and which words each has; in memory alone (YOUS-7, 15, 16, 31 to 33). Any thread.

It does nothing by itself: peers tell it of themselves, again and again, so after a restart it knows all within one period.
Whoever says that a peer is there, or is not, is not believed: it is asked itself, at the address that its own request came
from.
"""

import math
import threading
from collections.abc import Callable

from larm.peers.call_backs import CallBacks
from larm.peers.channel import Contact
from larm.peers.door import Call, Question, RefusedError
from larm.peers.rates import payer
from larm.peers.yousearch import protocol as say
from larm.peers.yousearch.recommendations import Board, is_good
from larm.peers.yousearch.summaries import Summaries
from larm.peers.yousearch.summary import unpacked
from larm.seams import Clock

_MOST_AT_ONE_ADDRESS = 64
"""Peers: whoever has one address can't fill the table."""
_SLACK = 5.0
"""Seconds: whoever has not said a word for two of his periods and this is forgotten."""


class _Member:
    """One peer."""

    def __init__(self, contact: Contact, address: str) -> None:
        self.contact = contact
        self.address = address
        self.payer = payer(address)
        self.heard = 0.0
        self.until = 0.0
        self.more = False


class Registrar:
    """For one group."""

    def __init__(self, clock: Clock, is_there: Callable[[Contact], bool], period: float) -> None:
        """``is_there`` sends a request to the peer. ``period``: seconds within which all peers announce themselves."""
        # constant after construction
        self._clock = clock
        self._is_there = is_there
        self._call_backs = CallBacks()
        self._began = clock.monotonic()
        self._lock = threading.Lock()
        self._period = period
        # guarded by self._lock
        self._summaries = Summaries()
        self._members: dict[str, _Member] = {}
        self._board = Board()
        self._first_silent = math.inf
        """No member is to be forgotten before."""
        self._changed = self._began
        """When a peer last had other words, came or went."""

    def questions(self) -> list[Question]:
        """For the door."""
        return [
            Question(say.ANNOUNCE, say.Announce, say.Announced, self.announce, cost=5.0),
            Question(say.LEAVE, say.Hello, say.Done, self.leave),
            Question(say.LOOK, say.Look, say.Found, self.look),
            Question(say.REPORT, say.Report, say.Done, self.report, cost=5.0),
            Question(say.RECOMMEND, say.Recommend, say.Done, self.recommend, cost=5.0),
            Question(say.RECOMMENDED, say.Recommended, say.Recommend, self.recommended),
        ]

    def announce(self, call: Call, asked: say.Announce) -> say.Announced:
        """A peer is here. Who was not known, or comes from elsewhere now, is asked first whether that is so."""
        contact, pays = _contact(call, asked), payer(call.address)
        with self._lock:
            member = self._members.get(call.key)
            strange = member is None or (member.contact.url, member.address) != (contact.url, call.address)
            neighbours = sum(each.payer == pays for key, each in self._members.items() if key != call.key) if strange else 0
        if neighbours >= _MOST_AT_ONE_ADDRESS:
            raise RefusedError("there are too many peers at this address", 429)
        if strange and not self._verified(contact, call.address):
            raise RefusedError("you can't be reached at the address and port that this came from")
        vectors = None if asked.summary is None else unpacked(asked.summary)
        with self._lock:
            self._forget_silent_locked()
            member = self._members.get(call.key) or _Member(contact, call.address)
            member.contact, member.address, member.payer = contact, call.address, pays
            member.more = asked.more
            member.heard = self._clock.monotonic()
            member.until = member.heard + 2 * asked.period + _SLACK
            known = self._summaries.take(call.key, asked, vectors)
            if known and asked.summary is not None:
                self._changed = member.heard
            if call.key in self._summaries:
                self._members[call.key] = member
                self._first_silent = min(self._first_silent, member.until)
            else:
                self._members.pop(call.key, None)
            return say.Announced(known)

    def leave(self, call: Call, _: say.Hello) -> say.Done:
        """It goes, and takes all that it said with it."""
        with self._lock:
            self._remove_locked(call.key)
        return say.Done()

    def look(self, _: Call, asked: say.Look) -> say.Found:
        """Those whose summaries have what is needed; all, where nothing is."""
        with self._lock:
            self._forget_silent_locked()
            per_clause = [self._summaries.having(clause) for clause in asked.needs]
            keys = set(self._members)
            found = set.intersection(keys, *per_clause)
            complete = bool(found) or not keys
            if not complete:
                most = max(sum(key in each for each in per_clause) for key in keys)
                found = {key for key in keys if most and sum(key in each for each in per_clause) == most}
            if asked.signed:
                found |= {key for key, each in self._members.items() if each.more}
            contacts = tuple(self._members[key].contact for key in sorted(found))
            now = self._clock.monotonic()
            young = now - self._began < self._period + _SLACK
            return say.Found(contacts, len(keys), complete, now - self._changed, young)

    def recommend(self, call: Call, asked: say.Recommend) -> say.Done:
        """A peer hands on what was said on it."""
        with self._lock:
            if call.key not in self._members:
                raise RefusedError("only peers of this registrar recommend")
        now = self._clock.wall()
        good = [each for each in asked.said if is_good(each, now)]
        with self._lock:
            refused = self._board.take(good, now, payer(call.address))
        if refused:
            raise RefusedError(f"there is no room for {refused:,} of these recommendations", 503)
        return say.Done()

    def recommended(self, _: Call, asked: say.Recommended) -> say.Recommend:
        """What there is for a query."""
        with self._lock:
            return say.Recommend(self._board.of(asked.query, self._clock.wall()))

    def report(self, _: Call, asked: say.Report) -> say.Done:
        """Somebody does not answer, it is said; he is asked, and removed if that is so."""
        with self._lock:
            member = self._members.get(asked.key)
            heard = member.heard if member is not None else 0.0
        if member is not None and not self._verified(member.contact, member.address):
            with self._lock:
                if member.heard == heard:  # else it has come back meanwhile
                    self._remove_locked(asked.key)
        return say.Done()

    def _verified(self, contact: Contact, address: str) -> bool:
        with self._call_backs.one(address):
            return self._is_there(contact)

    @property
    def members(self) -> list[Contact]:
        """All peers."""
        with self._lock:
            return [each.contact for each in self._members.values()]

    def _remove_locked(self, key: str) -> None:
        if self._members.pop(key, None) is not None:
            self._summaries.remove(key)
            self._changed = self._clock.monotonic()

    def _forget_silent_locked(self) -> None:
        now = self._clock.monotonic()
        if now > self._first_silent:
            for key in [key for key, each in self._members.items() if now > each.until]:
                self._remove_locked(key)
            self._first_silent = min((each.until for each in self._members.values()), default=math.inf)


def _contact(call: Call, asked: say.Announce) -> Contact:
    """Where it is: at the address that its announcement came from, whatever its name leads to."""
    named = asked.host if asked.https else ""
    host = named or (f"[{call.address}]" if ":" in call.address else call.address)
    return Contact(
        call.key, f"{'https' if asked.https else 'http'}://{host}:{asked.port}", asked.name, call.address if named else ""
    )

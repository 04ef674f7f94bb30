"""Greeting: beats on the wire, and who is refused. Addresses of agents travel in them. On ``larm-agents``."""

from collections.abc import Callable, Sequence

import msgspec

from larm.cluster.agent import Agent
from larm.cluster.beat import MOST, Beat, Quiet
from larm.cluster.line import Line
from larm.cluster.said import GARBAGE, Said
from larm.cluster.terms import Doors, Envelope, Refusal, Rule, differing
from larm.cluster.together import Together
from larm.version import VERSION

_REFUSED = 100
"""Reasons that are logged, each once."""
_LINE = 300
"""Characters of a reason."""
_encode = msgspec.msgpack.Encoder().encode
_said = msgspec.msgpack.Decoder(Envelope | Refusal)


class Greeting:
    """``after``: called when a beat was heard, with the time: it has to be on the disk before anything is said again.

    ``fail``: this agent can't take part, and why.
    """

    def __init__(  # noqa: PLR0917
        self,
        agent: Agent,
        rule: Rule,
        doors: Doors,
        line: Line,
        together: Together,
        after: Callable[[float], object],
        fail: Callable[[str], object],
    ) -> None:
        # constant after construction
        self._agent = agent
        self._rule = rule
        self._doors = doors
        self._line = line
        self._together = together
        self._after = after
        self._fail = fail
        # only larm-agents
        self._refused: set[str] = set()
        self._refused_since: dict[str, float] = {}
        """By the addresses of who refuses us."""
        self._heard_by: dict[str, float] = {}
        """When an address has last answered as one does who takes part."""

    def send(self, beats: Sequence[tuple[str, Beat]], now: float) -> None:
        """To the agents they are for, and, in the same rhythm, to seeds that no known agent listens at."""
        addresses, membership = self._line.addresses, self._agent.membership
        for name, beat in beats:
            if name in addresses:
                self._send(addresses[name], name, beat)
        if not beats and membership.others():
            return
        known = {*addresses.values(), self._rule.address}
        for address in self._rule.seeds:
            if address not in known:
                with self._agent.lock:
                    beat = membership.beat("", now, Quiet())
                self._send(address, "", beat)

    def asked(self, said: Said) -> bytes:
        """What to answer to a beat. Raises msgspec.MsgspecError or ValueError where it is none."""
        found = _said.decode(said.payload)
        if isinstance(found, Refusal):
            raise ValueError("a refusal is no question")
        found.beat.check()
        why = ""
        if not said.may_speak_for(found.beat.sender):
            why = f"with the certificate of {said.by} it can't be {found.beat.sender}"
        elif found.larm != VERSION:
            why = f"this cluster runs larm {VERSION}, not {found.larm}"
        elif found.settings != self._rule.settings:
            differ = ", ".join(differing(found.settings, self._rule.settings))
            why = f"its settings differ: {differ} must be the same for all agents of a cluster"
        elif self._too_many(found.beat.sender):
            why = f"it is one of more than {MOST:,} agents"
        answer = None if why else self._hear(found)
        if answer is None:
            copied = not why
            why = why or f"another process is {found.beat.sender}: this directory was copied from one that is in use"
            self.refuse(f"{found.card.address[:200]}: {why}")
            return _encode(Refusal(why, copied))
        return _encode(self._envelope(answer))

    def _too_many(self, sender: str) -> bool:
        """A process may make names up without end; each takes memory."""
        beats = self._agent.membership.contact.beats
        return sender not in beats and len(beats) >= MOST

    def refuse(self, why: str, times: int = 1) -> None:
        """Somebody was not heard: each reason is logged once, and no more than so many; all are counted."""
        why = why[:_LINE]
        self._doors.shared.counters.add("agents/refused", times)
        if why not in self._refused and len(self._refused) < _REFUSED:
            self._refused.add(why)
            self._doors.log(f"refused {why}")
            if len(self._refused) == _REFUSED:
                self._doors.log("refused for more reasons than are told here: from now on they are only counted")

    def _send(self, address: str, name: str, beat: Beat) -> None:
        payload = _encode(self._envelope(beat))
        self._line.ask_at(address, name, "beat", payload, self._rule.rules.lease, lambda said: self._answered(address, said))

    def _envelope(self, beat: Beat) -> Envelope:
        rule = self._rule
        addresses = {**self._line.addresses, self._agent.membership.me: rule.address}
        return Envelope(VERSION, rule.settings, self._together.card(), addresses, beat)

    def _answered(self, address: str, said: Said | None) -> None:
        if said is None:
            return
        try:
            found = _said.decode(said.payload)
            if isinstance(found, Envelope):
                found.beat.check()
        except GARBAGE as error:
            self.refuse(f"garbage from {address}: {error}")
            return
        if isinstance(found, Refusal):
            self._refused_by(address, found)
        elif not said.may_speak_for(found.beat.sender):
            self.refuse(f"{address}: with the certificate of {said.by} it can't be {found.beat.sender}")
        else:
            self._refused_since.pop(address, None)
            if self._hear(found) is not None:
                self._heard_by[address] = self._doors.now()

    def _refused_by(self, address: str, refusal: Refusal) -> None:
        """Who has just started anew is taken for a copy of himself, until the others have missed him.

        One alone can't end this agent, whatever it says, where others hear us: more have to refuse than hear.
        """
        now, patience = self._doors.now(), 3 * self._rule.rules.lease + 1
        if address not in self._refused_since:
            self._refused_since[address] = now
            self._doors.log(f"{address}: {refusal.why[:_LINE]}")
        self._heard_by.pop(address, None)
        membership = self._agent.membership
        over = now - self._refused_since[address] > patience if refusal.copied else not membership.inside
        count = {*self._line.addresses.values(), *self._rule.seeds}
        if membership.inside:  # names, and addresses for them, can be made up, but members are let in
            count = {self._line.addresses.get(name, "") for name in membership.others()}
        heard = sum(now - at < patience for other, at in self._heard_by.items() if other in count)
        if over and len(count & self._refused_since.keys()) > heard:
            self._fail(f"the agent at {address} refuses this one: {refusal.why[:_LINE]}")

    def _hear(self, envelope: Envelope) -> Beat | None:
        now, beat, agent = self._doors.now(), envelope.beat, self._agent
        with agent.lock:
            answer = agent.hear(beat, now)
        if answer is not None:
            self._meet(envelope)
            self._together.hear(beat.sender, envelope.card)
        self._after(now)
        if answer is None:
            return None
        with agent.lock:  # again, as what was promised is on the disk only now
            return agent.membership.beat(beat.sender, self._doors.now(), agent.quiet(beat.sender))

    def _meet(self, envelope: Envelope) -> None:
        """Of others only members' addresses are believed: whoever is asked takes a session (`larm.cluster.zenoh_bus`)."""
        me, addresses, sender = self._agent.membership.me, self._line.addresses, envelope.beat.sender
        members = self._agent.membership.view.members
        for name, address in {**envelope.addresses, sender: envelope.card.address}.items():
            known = name == sender or (name not in addresses and (name in members or not members))
            if name != me and known and len(addresses) < MOST:
                addresses[name] = address
        self._agent.acquaintances = set(addresses)

"""Post: parcels of URLs and parts of hosts on the wire, there and here. On ``larm-agents``.

What comes is in the journal before it is acknowledged; who sends has to have introduced himself (`larm.cluster.greeting`).
"""

from collections.abc import Callable, Container, Sequence

import msgspec

from larm.cluster.agent import Agent, Received
from larm.cluster.courier import WINDOW, Answer, Parcel, Row
from larm.cluster.line import Line
from larm.cluster.rows import Wire, check_addresses, check_rows, decode_rows, encode_rows
from larm.cluster.said import GARBAGE, Said
from larm.cluster.terms import Doors, Rule
from larm.engine.moves import Moves
from larm.engine.parts import Frontier
from larm.errors import UsageError
from larm.frontier.host_parts import decode_part, messages_of
from larm.kit.squash import squash, unsquash
from larm.model.message import LOST

RECIPIENT = "agents"
"""The name under which the journal keeps parcels."""
_LARGEST = 16_000_000
_encode = msgspec.msgpack.Encoder().encode
_wire = msgspec.msgpack.Decoder(Wire)
_parts = msgspec.msgpack.Decoder(tuple[str, int, tuple[bytes, ...]])
_refused = msgspec.msgpack.Decoder(frozenset[str])
_answer = msgspec.msgpack.Decoder(Answer)


class Post:
    """Of one agent. ``refuse`` is told why something was not taken."""

    def __init__(self, agent: Agent, rule: Rule, doors: Doors, line: Line, refuse: Callable[[str], object]) -> None:
        # constant after construction
        self._agent = agent
        self._rule = rule
        self._doors = doors
        self._line = line
        self._refuse = refuse
        # replaced before any other thread runs
        self._frontier: Frontier | None = None
        self._moves: Moves | None = None

    def take(self, frontier: Frontier, moves: Moves) -> None:
        """Before any other thread runs."""
        self._frontier, self._moves = frontier, moves
        moves.me = self._agent.membership.me
        self._doors.steering.recipients[RECIPIENT] = self._carry_out

    # -- parcels

    def send(self, parcel: Parcel) -> None:
        """Its courier is told what became of it.

        That a page is to be asked whether it has changed is not said: who has its host knows that page, and does so by itself.
        But one that died with an agent is asked for though it was seen: its row may come with the host after this.
        """
        membership = self._agent.membership
        rows = [row if row.item.known in (None, LOST) else _new(row) for row in parcel.rows]
        wire = Wire(membership.me, membership.contact.boot, parcel.seq, parcel.low, encode_rows(rows))
        payload = squash(_encode(wire))
        self._line.ask(parcel.to, "parcel", payload, self._rule.answer, lambda said: self._answered(parcel, said))

    def _answered(self, parcel: Parcel, said: bytes | None) -> None:
        try:
            answer = None if said is None else _answer.decode(said)
        except GARBAGE:
            answer = None
        with self._doors.shared.gate.step():
            with self._agent.lock:
                taken = self._agent.courier.answered(parcel, answer, self._doors.now())
            if taken:
                self._doors.shared.counters.add("agents/urls_out", len(parcel.rows))

    def asked_parcel(self, said: Said) -> bytes | None:
        """What to answer to one. Raises msgspec.MsgspecError or ValueError where it is none, or another agent's."""
        wire = _wire.decode(unsquash(said.payload, _LARGEST))
        _check(said, wire.sender)
        agent, steering = self._agent, self._doors.steering
        with agent.lock:
            if not self._introduced(wire.sender, wire.boot) or not agent.membership.begun:
                return None  # he will ask again
            agent.credit = WINDOW if self._frontier is None or self._frontier.handler.keeps_up() else 0
            answer = agent.knows(wire.sender, wire.boot, wire.seq)
        if answer is None:
            check_rows(decode_rows(wire.rows), self._doors.parse, self._doors.key)  # garbage must not get into the journal
            try:
                steering.deliver(RECIPIENT, said.payload)
            except UsageError:  # it ends
                return _encode(Answer(taken=False, credit=0))
            steering.carry_out()
            answer = Answer(taken=True, credit=agent.credit)
        return _encode(answer)

    def _carry_out(self, parcel: bytes) -> None:
        """A parcel that is in the journal. In a step of the gate."""
        wire = _wire.decode(unsquash(parcel, _LARGEST))
        received = Received(wire.sender, wire.boot, wire.seq, wire.low, tuple(decode_rows(wire.rows)))
        with self._agent.lock:
            rows = self._agent.carry_out(received, self._doors.now())
        self._doors.shared.counters.add("agents/urls_in", len(received.rows))
        self.deliver(rows)

    def deliver(self, rows: Sequence[Row]) -> None:
        """What is ours goes through the filters. In a step of the gate."""
        if rows and self._frontier is not None:
            self._frontier.handler.put([row.item for row in rows])

    # -- hosts

    def send_parts(self, name: str, parts: Sequence[bytes], told: Callable[[Container[str] | None], object]) -> None:
        """Parts of hosts for that agent; see `larm.cluster.handover.Hands`."""
        membership = self._agent.membership

        def answered(said: bytes | None) -> None:
            try:
                refused = None if said is None else _refused.decode(said)
            except GARBAGE:
                refused = None
            told(refused)

        payload = squash(_encode((membership.me, membership.contact.boot, tuple(parts))))
        self._line.ask(name, "parts", payload, self._rule.answer, answered)

    def asked_parts(self, said: Said) -> bytes | None:
        """What to answer to some: the hosts that are refused. Raises msgspec.MsgspecError, ValueError or UsageError."""
        sender, boot, parts = _parts.decode(unsquash(said.payload, _LARGEST))
        _check(said, sender)
        by_host: dict[str, list[bytes]] = {}
        for part in parts:
            decoded = decode_part(part)
            check_addresses(messages_of(decoded), self._doors.parse)
            by_host.setdefault(decoded.host, []).append(part)
        with self._agent.lock:
            membership = self._agent.membership
            view = membership.view.epoch
            ours = {host for host in by_host if view and membership.owner(self._doors.key(host)) == membership.me}
            introduced = self._introduced(sender, boot)
        if not introduced or self._moves is None:
            return None
        try:
            self._moves.receive(*(part for host in ours for part in by_host[host]))
        except UsageError:  # one of them: then each by itself
            ours = {host for host in ours if self._receive(sender, by_host[host])}
        return _encode(by_host.keys() - ours)

    def _receive(self, sender: str, parts: Sequence[bytes]) -> bool:
        if self._moves is None:
            return False
        try:
            self._moves.receive(*parts)
        except UsageError as error:
            self._refuse(f"a host of {sender}: {error}")
            return False
        return True

    def _introduced(self, sender: str, boot: int) -> bool:
        beat = self._agent.membership.contact.beats.get(sender)
        return beat is not None and beat.stamp.boot == boot


def _new(row: Row) -> Row:
    return msgspec.structs.replace(row, item=msgspec.structs.replace(row.item, known=None))


def _check(said: Said, sender: str) -> None:
    if not said.may_speak_for(sender):
        raise ValueError(f"{said.by} can't speak for {sender[:200]}")

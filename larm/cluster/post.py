"""Post: parcels of URLs and parts of hosts on the wire, there and here. On ``larm-agents``.

What comes is in the journal before it is acknowledged. A batch is decoded once: what was checked before it was written down is
what is carried out.
"""

from collections.abc import Callable, Container, Sequence

import msgspec

from larm.cluster.agent import Agent
from larm.cluster.courier import WINDOW, Answer, Parcel, Row
from larm.cluster.line import GARBAGE, Line
from larm.cluster.rows import Wire, check_addresses, check_rows, decode_rows, encode_rows
from larm.cluster.terms import Doors, Rule
from larm.cluster.transport import Asked
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
_parts = msgspec.msgpack.Decoder(tuple[bytes, ...])
_refused = msgspec.msgpack.Decoder(frozenset[str])
_answer = msgspec.msgpack.Decoder(Answer)


class Post:
    """Of one agent. ``refuse`` is told why something was not taken."""

    def __init__(  # noqa: PLR0917
        self, agent: Agent, boot: int, rule: Rule, doors: Doors, line: Line, refuse: Callable[[str], object]
    ) -> None:
        # constant after construction
        self._agent = agent
        self._boot = boot
        self._rule = rule
        self._doors = doors
        self._line = line
        self._refuse = refuse
        # replaced before any other thread runs
        self._frontier: Frontier | None = None
        self._moves: Moves | None = None
        # only larm-agents
        self._decoded: tuple[bytes, Wire, list[Row]] | None = None

    def take(self, frontier: Frontier, moves: Moves) -> None:
        """Before any other thread runs."""
        self._frontier, self._moves = frontier, moves
        moves.me = self._agent.state.me
        self._doors.steering.recipients[RECIPIENT] = self._carry_out

    # -- parcels

    def send(self, parcel: Parcel) -> None:
        """Its courier is told what became of it.

        That a page is to be asked whether it has changed is not said: who has its host knows that page, and does so by itself.
        But one that died with an agent is asked for though it was seen: its row may come with the host after this.
        """
        rows = [row if row.item.known in (None, LOST) else _new(row) for row in parcel.rows]
        wire = Wire(self._agent.state.me, self._boot, parcel.seq, parcel.low, encode_rows(rows))
        payload = squash(_encode(wire))
        self._line.ask(parcel.to, "parcel", payload, lambda said: self._answered(parcel, said))

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

    def asked_parcel(self, asked: Asked) -> bytes:
        """What to answer to one. Raises msgspec.MsgspecError or ValueError where it is none, or another agent's."""
        wire = _wire.decode(unsquash(asked.body, _LARGEST))
        if wire.sender != asked.origin.sender:
            raise ValueError(f"{asked.origin.sender} can't speak for {wire.sender[:200]}")
        agent, steering = self._agent, self._doors.steering
        with agent.lock:
            agent.credit = WINDOW if self._frontier is None or self._frontier.handler.keeps_up() else 0
            answer = agent.knows(wire.sender, wire.boot, wire.seq, asked.origin.epoch, self._doors.now())
        if answer is None:
            rows = decode_rows(wire.rows)
            check_rows(rows, self._doors.parse, self._doors.key)  # garbage must not get into the journal
            self._decoded = asked.body, wire, rows
            try:
                steering.deliver(RECIPIENT, asked.body)
            except UsageError:  # it ends
                return _encode(Answer(taken=False, credit=0))
            steering.carry_out()
            self._decoded = None
            answer = Answer(taken=True, credit=agent.credit)
        return _encode(answer)

    def _carry_out(self, parcel: bytes) -> None:
        """A parcel that is in the journal. In a step of the gate."""
        if self._decoded is not None and self._decoded[0] == parcel:
            _, wire, rows = self._decoded
        else:  # after a restart
            wire = _wire.decode(unsquash(parcel, _LARGEST))
            rows = decode_rows(wire.rows)
        with self._agent.lock:
            ours = self._agent.carry_out(wire, rows, self._doors.now())
        self._doors.shared.counters.add("agents/urls_in", len(rows))
        self.deliver(ours)

    def deliver(self, rows: Sequence[Row]) -> None:
        """What is ours goes through the filters. In a step of the gate."""
        if rows and self._frontier is not None:
            self._frontier.handler.put([row.item for row in rows])

    # -- hosts

    def send_parts(self, name: str, parts: Sequence[bytes], told: Callable[[Container[str] | None], object]) -> None:
        """Parts of hosts for that agent; see `larm.cluster.handover.Hands`."""

        def answered(said: bytes | None) -> None:
            try:
                refused = None if said is None else _refused.decode(said)
            except GARBAGE:
                refused = None
            told(refused)

        self._line.ask(name, "parts", squash(_encode(tuple(parts))), answered)

    def asked_parts(self, asked: Asked) -> bytes:
        """What to answer to some: the hosts that are refused. Raises msgspec.MsgspecError, ValueError or UsageError."""
        by_host: dict[str, list[bytes]] = {}
        for part in _parts.decode(unsquash(asked.body, _LARGEST)):
            decoded = decode_part(part)
            check_addresses(messages_of(decoded), self._doors.parse)
            by_host.setdefault(decoded.host, []).append(part)
        with self._agent.lock:
            state = self._agent.state
            closed = self._agent.closed_to(asked.origin.epoch, self._doors.now()) or self._moves is None
            ours = {host for host in by_host if not closed and state.owner(self._doors.key(host)) == state.me}
        if ours and self._moves is not None:
            try:
                self._moves.receive(*(part for host in ours for part in by_host[host]))
            except UsageError:  # one of them: then each by itself
                ours = {host for host in ours if self._receive(asked.origin.sender, by_host[host])}
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


def _new(row: Row) -> Row:
    return msgspec.structs.replace(row, item=msgspec.structs.replace(row.item, known=None))

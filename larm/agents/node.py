"""Node: an `Agent` in a crawl. It gives it a clock, a bus, a disk and a thread, and is its way into the river.

Implements `larm.seams.Stateful` (what is for others is in the cut, with what was taken), `larm.seams.EndPolicy` (a crawl is
over when all agents have found that it is), and is asked before each lease. The thread ``larm-agents`` does all of the talking:
what the bus has to say waits for it. The handler thread brings URLs (`sort`), all others only look.

Locks: the gate, then the agent's. Nothing is written to a disk and nobody is asked under the agent's lock.
"""

from __future__ import annotations

import queue
import secrets
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec

from larm.agents.agent import Agent, Received
from larm.agents.beat import Beat, Quiet
from larm.agents.bus import Bus, Question
from larm.agents.contact import NEVER
from larm.agents.courier import WINDOW, Answer, Courier, Parcel, Row
from larm.agents.handover import Handover, Hands
from larm.agents.identity import Identity, write_identity
from larm.agents.inbox import Inbox
from larm.agents.membership import Membership
from larm.agents.rows import Wire, decode_rows, encode_rows
from larm.agents.search_again import Search
from larm.agents.terms import Doors, Envelope, Refusal, Rule, Seen
from larm.errors import UsageError
from larm.frontier.host_parts import decode_part
from larm.kit.disk.caching_queue import CachingQueue, QueueState
from larm.kit.squash import squash, unsquash
from larm.model.message import URLMessage
from larm.river.moves import Moves
from larm.river.parts import Frontier
from larm.version import VERSION

STEP = 0.1
"""Seconds between two looks at what is due."""
_BLOCK = 500
_ADDRESSES = 1_000
_KNOWN = 100_000
"""URLs that were sent, remembered twice over: some 20 MB. What was forgotten is sent again, and dropped over there."""
_LARGEST = 16_000_000


class _State(msgspec.Struct, frozen=True):
    """In the header of a checkpoint."""

    marks: Any = None
    lanes: dict[str, tuple[bytes, bytes, bytes, int]] = {}
    """Queues by agent: front, blocks, back, next number."""
    out: dict[str, bytes] = {}


_encode = msgspec.msgpack.Encoder().encode
_said = msgspec.msgpack.Decoder(Envelope | Refusal)
_wire = msgspec.msgpack.Decoder(Wire)
_part = msgspec.msgpack.Decoder(tuple[str, int, bytes])
_TAKEN = b"taken"
_answer = msgspec.msgpack.Decoder(Answer)


class Node:
    """Of a crawl's process. ``known``: what `cut` gave for the last checkpoint."""

    name = "agents"

    def __init__(self, rule: Rule, identity: Identity, path: Path, bus: Bus, doors: Doors, *, known: object = None) -> None:
        """Raises StorageError."""
        # constant after construction
        self._rule = rule
        self._path = path
        self._bus = bus
        self._doors = doors
        self._events: queue.SimpleQueue[Callable[[], object]] = queue.SimpleQueue()
        self._frontier: Frontier | None = None
        self._moves: Moves | None = None
        self._handover: Handover | None = None
        self._wake: Callable[[], object] = lambda: None
        state = msgspec.convert(known or {}, _State)
        boot = (identity.boots + 1) << 32 | secrets.randbits(32)
        now = doors.now()
        membership = Membership(
            identity.name,
            boot,
            rule.weight,
            rule.rules,
            saved=identity.saved,
            now=now,
            founder=not rule.seeds,
            placement=rule.placement,
        )
        self._boot = boot
        self.goodbye = 4 * rule.rules.lease + 10
        self._queues: dict[str, CachingQueue[Row]] = {
            name: CachingQueue.restore(
                QueueState(decode_rows(front), blocks, decode_rows(back), number),
                *self._queue_parts(name),
            )
            for name, (front, blocks, back, number) in state.lanes.items()
        }
        courier = Courier(membership, self._queue, most=rule.batch, linger=rule.linger)
        for name in state.lanes:
            courier.restore(name, [])
        for name, block in state.out.items():
            courier.restore(name, decode_rows(block))
        self.agent = Agent(membership, courier, Inbox(state.marks), self._idle, identity.saved.gone)
        # single operations on a dictionary or a set
        self._keys: dict[str, str] = {}
        self._sent: tuple[set[int], set[int]] = (set(), set())
        # only larm-agents
        self._identity = msgspec.structs.replace(identity, boots=identity.boots + 1, listen=rule.address)
        self._addresses = {name: address for name, address in identity.addresses.items() if name != identity.name}
        self._search = Search(doors.links, self._key, rule.placement)
        self._epoch = 0
        self._refused: set[str] = set()
        self._lingers = 0.0
        # written by larm-agents, read by all
        self._until = -1.0
        """No request may begin after this."""
        self._checkpoints = 0
        self._left = False
        """It has left as planned, and nothing is its own any more."""
        # written by the main thread
        self._stopping = False
        write_identity(path, self._identity)

    @property
    def me(self) -> str:
        """The name of this agent."""
        return self.agent.membership.me

    def take(self, frontier: Frontier, wake: Callable[[], object], moves: Moves) -> None:
        """Before any other thread runs."""
        self._moves = moves
        hands = Hands(
            owner=self.owner,
            hosts=frontier.book.known,
            send=self._send_part,
            checkpoints=lambda: self._checkpoints,
            hurry=self._doors.shared.ticker.hurry,
            now=self._doors.now,
        )
        self._handover = Handover(self.me, moves, hands)
        self._frontier = frontier
        self._wake = wake
        self._doors.steering.policy = self
        self._doors.steering.recipients[self.name] = self.carry_out

    # -- the river

    def sort(self, batch: Sequence[URLMessage]) -> tuple[list[URLMessage], list[URLMessage]]:
        """Those that are ours, and those that were sent before. All others are on their way. Handler thread, in a step."""
        key, sent = self._key, self._sent
        with self.agent.lock:
            membership = self.agent.membership
            if membership.begun and membership.settled:
                ours: list[URLMessage] = []
                known: list[URLMessage] = []
                foreign: list[URLMessage] = []
                for message in batch:
                    fingerprint = message.url.fingerprint
                    if membership.owner(key(message)) == membership.me:
                        ours.append(message)
                    elif message.known is None and (fingerprint in sent[0] or fingerprint in sent[1]):
                        known.append(message)
                    else:
                        sent[0].add(fingerprint)
                        foreign.append(message)
                rows = [Row(key(message), message) for message in foreign]
            else:
                ours, known, foreign = [], [], list(batch)
                rows = [Row(key(message), message) for message in batch]
            ours += [row.item for row in self.agent.put(rows, self._doors.now())] if rows else []
        if len(sent[0]) > _KNOWN:
            self._sent = (set(), sent[0])
        if foreign:
            self._doors.shared.counters.add("agents/urls_out", len(foreign))
            starts = sum(message.depth == 0 for message in foreign)
            if starts:
                self._doors.shared.counters.add("start/elsewhere", starts)
        return ours, known

    def recall(self, fingerprints: Sequence[int]) -> set[int]:
        """Those that were sent before. Any thread."""
        new, old = self._sent
        return new.intersection(fingerprints) | old.intersection(fingerprints) if new or old else set()

    def look(self) -> Seen:
        """How it stands. Any thread."""
        now, agent = self._doors.now(), self.agent
        with agent.lock:
            membership, contact = agent.membership, agent.membership.contact
            waits = agent.courier.waits_for()
            names = sorted({*membership.view.members, *contact.beats, *waits})
            found = []
            for name in names:
                silent = 0.0 if name == membership.me else contact.silent(name, now)
                beat = contact.beats.get(name)
                inside = name in membership.view.members
                state = "working" if silent < self._rule.rules.lease else "silent"
                if not inside:
                    state = "waiting" if beat is not None and beat.wish == "join" and state == "working" else "given up"
                weight = membership.view.members.get(name, beat.weight if beat is not None else 0.0)
                address = self._rule.address if name == membership.me else self._addresses.get(name, "")
                found.append((name, address, weight, state, -1.0 if silent == NEVER else silent, waits.get(name, 0)))
            return Seen(membership.view.epoch, membership.begun, tuple(found))

    def owner(self, host: str) -> str:
        """The agent that has this host, by name; empty: nobody yet. Any thread."""
        with self.agent.lock:
            membership = self.agent.membership
            return membership.owner(self._doors.key(host)) if membership.view.epoch else ""

    def note(self) -> str:
        """What a person should know at the start."""
        rule, membership = self._rule, self.agent.membership
        begins = "" if membership.begun else f"; the crawl begins when {rule.rules.agents} agents are there"
        return f"agent {self.me} of the cluster {rule.cluster}, at {rule.address}{begins}"

    def may_lease(self) -> bool:
        """Asked before each lease: a majority has heard of us lately."""
        return self._doors.now() < self._until

    def may_end(self) -> bool:
        """See `larm.seams.EndPolicy`."""
        return self.agent.membership.over or (self._left and not self.agent.courier.waiting)

    def carry_out(self, parcel: bytes) -> None:
        """A parcel that is in the journal. In a step of the gate."""
        wire = _wire.decode(unsquash(parcel, _LARGEST))
        received = Received(wire.sender, wire.boot, wire.seq, wire.low, tuple(decode_rows(wire.rows)))
        with self.agent.lock:
            rows = self.agent.carry_out(received, self._doors.now())
        self._doors.shared.counters.add("agents/urls_in", len(received.rows))
        self._deliver(rows)

    # -- the checkpoint

    def cut(self, *, last: bool) -> object:  # noqa: ARG002  the protocol has it
        """See `larm.seams.Stateful`."""
        with self.agent.lock:
            if not self._search.pending:  # else what a dead agent had is not found again yet
                self.agent.cut()
            lanes = {}
            for name, waiting in self._queues.items():
                state = waiting.snapshot()
                lanes[name] = (encode_rows(state.front), state.blocks, encode_rows(state.back), state.next_number)
            out = {name: encode_rows(rows) for name, rows in self.agent.courier.out().items()}
            return msgspec.to_builtins(_State(self.agent.inbox.cut(), lanes, out), builtin_types=(bytes,))

    def saved(self) -> None:
        """See `larm.seams.Stateful`."""
        with self.agent.lock:
            self.agent.cut_saved()
        self._checkpoints += 1

    # -- larm-agents

    def run(self) -> None:
        """The body of the thread, until `stop`; after the end of the whole crawl until all others know of it."""
        self._bus.open(lambda question: self._events.put(lambda: self._asked(question)))
        try:
            next_step = self._doors.now()
            while not self._stopping or self._someone_waits():
                left = next_step - self._doors.now()
                if left <= 0:  # first, or many events would keep the beats from being sent
                    self._step(self._doors.now())
                    next_step = self._doors.now() + STEP
                    continue
                with suppress(queue.Empty):
                    self._events.get(timeout=left)()
        finally:
            self._bus.close()

    def stop(self) -> None:
        """Returns at once; any thread."""
        self._stopping = True
        self._lingers = self._doors.now() + 3 * self._rule.rules.lease

    def _someone_waits(self) -> bool:
        membership = self.agent.membership
        if self._doors.now() > self._lingers or not (membership.over or self._left):
            return False
        if self._left:
            return True
        beats = membership.contact.beats
        return any(name in beats and not beats[name].over for name in membership.others())

    def _step(self, now: float) -> None:
        gate, agent = self._doors.shared.gate, self.agent
        with agent.lock:
            beats = agent.tick(now)
        self._after(now)
        self._hand_over()
        for name, beat in beats:
            if name in self._addresses:
                self._send_beat(self._addresses[name], beat)
        known = {*self._addresses.values(), self._rule.address}
        for address in self._rule.seeds:
            if address not in known and beats_are_due(beats, self.agent.membership):
                with agent.lock:
                    beat = agent.membership.beat("", now, Quiet())
                self._send_beat(address, beat)
        if self._stopping:
            return
        with gate.step():
            with agent.lock:
                rows = agent.reopened(now)
                orphans = agent.orphaned(now)
                parcels = agent.courier.due(now) if agent.membership.begun else []
            self._deliver(rows)
        for gone in orphans:
            self._doors.log(f"{gone.name} is given up: its hosts go to others, who look for links to them")
            self._search.begin(gone, self._checkpoints + 2)
            self._doors.shared.ticker.hurry()
        for parcel in parcels:
            self._send_parcel(parcel)
        found = self._search.step(self._checkpoints)
        if found and self._frontier is not None:
            with gate.step():
                self._frontier.handler.put(found)

    def _hand_over(self) -> None:
        """What is not ours any more goes to its owners; who leaves has nothing then."""
        agent, membership = self.agent, self.agent.membership
        if self._stopping or not agent.must_release or not membership.view.epoch or self._handover is None:
            return
        nothing = not membership.begun or not (membership.inside or self._identity.inside)
        if nothing or self._handover.step(membership.view.epoch):
            with agent.lock:
                if not (nothing or membership.inside) and agent.courier.waiting:
                    return  # who leaves has URLs for others: if it dies with them, its hosts have to be crawled again
                agent.released()
                self._left = membership.leaving and not membership.inside
            self._after(self._doors.now())

    def leave(self) -> None:
        """Hand everything over, then end. Any thread. Raises UsageError where nobody could take it."""
        with self.agent.lock:
            if not self.agent.membership.others():
                raise UsageError("there is no other agent that could take over")
            self.agent.membership.leaving = True

    def _send_part(self, name: str, part: bytes, taken: Callable[[bool], object]) -> None:
        address = self._addresses.get(name)
        if address is None:
            taken(False)
            return

        def answered(said: bytes | None) -> None:
            self._events.put(lambda: taken(said == _TAKEN))

        payload = squash(_encode((self.me, self._boot, part)))
        self._bus.ask(address, "part", payload, self._rule.answer, answered)

    def _asked_part(self, payload: bytes) -> bytes | None:
        sender, boot, part = _part.decode(unsquash(payload, _LARGEST))
        with self.agent.lock:
            beat = self.agent.membership.contact.beats.get(sender)
        host = decode_part(part).host
        known = beat is not None and beat.stamp.boot == boot
        if not known or self._moves is None or self.owner(host) != self.me:
            return None
        try:
            self._moves.receive(part)
        except UsageError as error:
            self._doors.log(f"{sender}: {error}")
            return None
        return _TAKEN

    def _after(self, now: float) -> None:
        """What follows from a beat, or from the time."""
        agent, membership = self.agent, self.agent.membership
        with agent.lock:
            unsaved, membership.unsaved = membership.unsaved, False
            saved = agent.saved
            until = _until(membership, now)
            epoch = membership.view.epoch
        if unsaved:
            inside = self._identity.inside or membership.inside
            self._identity = msgspec.structs.replace(
                self._identity, saved=saved, addresses=dict(self._addresses), inside=inside
            )
            write_identity(self._path, self._identity)
        if epoch != self._epoch:
            self._epoch = epoch
            self._sent = (set(), set())
            names = ", ".join(sorted(membership.view.members))
            self._doors.log(f"view {epoch}: {names}")
            if len(membership.view.members) == 2:
                then = "both go on, and ask the same hosts" if self._rule.rules.minority == "continue" else "both stop"
                self._doors.log(f"two agents: neither has a majority alone; where they lose each other, {then}")
            if membership.begun and not membership.inside and self._identity.inside and not membership.leaving:
                self._fail(
                    f"this agent has left, or was given up after {self._rule.rules.adopt_after:g} s without a word; with"
                    " --fresh it joins as a new one"
                )
        rested = self._until <= now
        self._until = until
        if rested and until > now:
            self._wake()
        if membership.conflict:
            self._fail(f"{membership.conflict} and this agent went on alone, each without the other; this one gives way")
        if self.may_end() and not self._stopping:
            self._doors.steering.ask_again()

    def _fail(self, why: str) -> None:
        if not self._stopping:
            self._stopping = True
            self._doors.shared.bell.ring(UsageError(why))

    def _send_beat(self, address: str, beat: Beat) -> None:
        rule = self._rule
        envelope = Envelope(VERSION, rule.settings, rule.address, {**self._addresses, beat.sender: rule.address}, beat)
        self._bus.ask(
            address,
            "beat",
            _encode(envelope),
            rule.rules.lease,
            lambda said: self._events.put(lambda: self._heard(address, said)),
        )

    def _heard(self, address: str, said: bytes | None) -> None:
        """The answer to a beat."""
        if said is None:
            return
        try:
            found = _said.decode(said)
        except (msgspec.MsgspecError, UnicodeDecodeError):
            return
        if isinstance(found, Refusal):
            self._doors.log(f"{address}: {found.why}")
            if not self.agent.membership.inside:
                self._fail(f"the agent at {address} refuses this one: {found.why}")
            return
        self._hear(found)

    def _hear(self, envelope: Envelope) -> Beat | None:
        now, beat = self._doors.now(), envelope.beat
        with self.agent.lock:
            answer = self.agent.hear(beat, now)
        if answer is not None:
            self._meet(envelope)
        self._after(now)
        if answer is None:
            return None
        with self.agent.lock:  # again, as what was promised is on the disk only now
            return self.agent.membership.beat(beat.sender, self._doors.now(), self.agent.quiet(beat.sender))

    def _meet(self, envelope: Envelope) -> None:
        me = self.agent.membership.me
        for name, address in {**envelope.addresses, envelope.beat.sender: envelope.address}.items():
            if (
                name != me
                and (name == envelope.beat.sender or name not in self._addresses)
                and len(self._addresses) < _ADDRESSES
            ):
                self._addresses[name] = address
        self.agent.acquaintances = set(self._addresses)

    def _asked(self, question: Question) -> None:
        answer: bytes | None = None
        try:
            if question.kind == "beat":
                answer = self._asked_beat(question.payload)
            elif question.kind == "parcel":
                answer = self._asked_parcel(question.payload)
            elif question.kind == "part":
                answer = self._asked_part(question.payload)
        except (msgspec.MsgspecError, ValueError, UsageError) as error:
            self._doors.shared.counters.add("agents/garbage", 1)
            self._doors.log(f"garbage: {str(error)[:200]}")
        finally:
            question.answer(answer)

    def _asked_beat(self, payload: bytes) -> bytes:
        found = _said.decode(payload)
        if isinstance(found, Refusal):
            raise ValueError("a refusal is no question")
        why = ""
        if found.larm != VERSION:
            why = f"this cluster runs larm {VERSION}, not {found.larm}"
        elif found.settings != self._rule.settings:
            why = "its settings differ: start URLs, scope, urls.* and cluster.* must be the same for all agents of a cluster"
        answer = None if why else self._hear(found)
        if answer is None:
            why = why or f"another process is {found.beat.sender}: this directory was copied from one that is in use"
            if why not in self._refused and len(self._refused) < 100:
                self._refused.add(why)
                self._doors.log(f"refused {found.address}: {why}")
            self._doors.shared.counters.add("agents/refused", 1)
            return _encode(Refusal(why))
        envelope = Envelope(
            VERSION, self._rule.settings, self._rule.address, {**self._addresses, answer.sender: self._rule.address}, answer
        )
        return _encode(envelope)

    def _asked_parcel(self, payload: bytes) -> bytes | None:
        wire = _wire.decode(unsquash(payload, _LARGEST))
        agent, steering = self.agent, self._doors.steering
        with agent.lock:
            beat = agent.membership.contact.beats.get(wire.sender)
            if beat is None or beat.stamp.boot != wire.boot or not agent.membership.begun:
                return None  # nobody who has introduced himself; he will ask again
            agent.credit = WINDOW if self._frontier is None or self._frontier.handler.keeps_up() else 0
            answer = agent.knows(wire.sender, wire.boot, wire.seq)
        if answer is None:
            decode_rows(wire.rows)  # garbage must not get into the journal
            try:
                steering.deliver(self.name, payload)
            except UsageError:  # it ends
                return _encode(Answer(taken=False, credit=0))
            steering.carry_out()
            answer = Answer(taken=True, credit=agent.credit)
        return _encode(answer)

    def _send_parcel(self, parcel: Parcel) -> None:
        wire = Wire(self.agent.membership.me, self._boot, parcel.seq, parcel.low, encode_rows(parcel.rows))

        def answered(said: bytes | None) -> None:
            self._events.put(lambda: self._answered(parcel, said))

        address = self._addresses.get(parcel.to)
        if address is None:
            answered(None)
            return
        self._bus.ask(address, "parcel", squash(_encode(wire)), self._rule.answer, answered)

    def _answered(self, parcel: Parcel, said: bytes | None) -> None:
        try:
            answer = None if said is None else _answer.decode(said)
        except msgspec.MsgspecError:
            answer = None
        with self._doors.shared.gate.step(), self.agent.lock:
            self.agent.courier.answered(parcel, answer, self._doors.now())

    # -- small

    def _idle(self) -> bool:
        steering = self._doors.steering
        return not (self._doors.shared.tally.value or steering.pending or steering.paused or self._search.pending)

    def _deliver(self, rows: Sequence[Row]) -> None:
        """In a step of the gate."""
        if rows and self._frontier is not None:
            self._frontier.handler.put([row.item for row in rows])

    def _key(self, message: URLMessage) -> str:
        host = message.url.host
        found = self._keys.get(host)
        if found is None:
            if len(self._keys) >= _KNOWN:
                self._keys.clear()
            found = self._keys[host] = self._doors.key(host)
        return found

    def _queue(self, name: str) -> CachingQueue[Row]:
        found = self._queues.get(name)
        if found is None:
            found = self._queues[name] = CachingQueue(*self._queue_parts(name))
        return found

    def _queue_parts(self, name: str) -> Any:
        return f"agent-{name}", _BLOCK, self._doors.store, encode_rows, decode_rows


def beats_are_due(beats: Sequence[tuple[str, Beat]], membership: Membership) -> bool:
    """Seeds that nobody is known by are asked in the rhythm of beats."""
    return bool(beats) or not membership.others()


def _until(membership: Membership, now: float) -> float:
    """When we are fenced, if nothing is heard until then."""
    return membership.fenced_at(now) if membership.begun else -1.0

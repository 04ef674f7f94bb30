"""Copies: page recovery (UBI-21). Before a page is asked for, it is looked whether it is here from a time when another agent
had its host, or at the agents that would have its host next. What somebody has is noted as his, and stays where it is.

New URLs of ours wait in a queue of this class, which is in the cut of checkpoints as the outboxes are, until the agents have
answered that are heard at the moment; an agent that says nothing has no copy. What none has goes through the filters once more.

`sift` and `hold_back` in a step of the gate, the rest on ``larm-agents``.
"""

from collections.abc import Sequence
from typing import Annotated

import msgspec

from larm.cluster.agent import Agent
from larm.cluster.courier import Row
from larm.cluster.line import GARBAGE, Line
from larm.cluster.outboxes import Outboxes
from larm.cluster.terms import Doors, Rule
from larm.cluster.transport import Asked
from larm.engine.moves import Moves
from larm.engine.parts import Frontier
from larm.errors import StorageError
from larm.model.message import URLMessage
from larm.seams import Drop
from larm.store.pages.page_row import PageRow, decode_row, encode_row

_BATCH = 500
_encode = msgspec.msgpack.Encoder().encode
_question = msgspec.msgpack.Decoder(Annotated[tuple[int, ...], msgspec.Meta(max_length=_BATCH)])
_answer = msgspec.msgpack.Decoder(dict[int, bytes])


class Copies:
    """Implements `larm.seams.Filter`, behind ``visited``."""

    name = "copies"
    log_name = "CopiesFilter"

    def __init__(self, agent: Agent, rule: Rule, doors: Doors, line: Line, outboxes: Outboxes) -> None:
        # constant after construction
        self._agent = agent
        self._rule = rule
        self._doors = doors
        self._line = line
        # replaced before any other thread runs
        self._revisits = False
        self._frontier: Frontier | None = None
        self._moves: Moves | None = None
        # guarded by agent.lock
        self._outboxes = outboxes
        # single operations on a set
        self._nobodys: set[int] = set()
        """Fingerprints of what nobody has: it passes."""
        # only larm-agents
        self._found: dict[int, PageRow] = {}
        self._questions = 0
        """That are not answered yet."""

    def take(self, frontier: Frontier, moves: Moves, *, revisits: bool = False) -> None:
        """Before any other thread runs. ``revisits``: pages that are here may be of an earlier cycle, so none is looked for."""
        self._revisits = revisits
        self._frontier, self._moves = frontier, moves
        if self._rule.own.recover:
            moves.on_waiting = self.hold_back

    def sift(self, batch: Sequence[URLMessage], drop: Drop) -> list[URLMessage]:  # noqa: ARG002
        """See `larm.seams.Filter`. What is looked for is neither dropped nor passes."""
        return self.hold_back(batch)

    def explain(self, message: URLMessage) -> str | None:  # noqa: ARG002
        """See `larm.seams.Filter`."""
        return None

    def hold_back(self, batch: Sequence[URLMessage]) -> list[URLMessage]:
        """What need not be looked for; all else waits here. It was seen already."""
        session = self._agent.session
        if self._revisits or session.run.first == session.state.view.epoch:  # no host has moved since the first page
            return list(batch)
        passes: list[URLMessage] = []
        rows: list[Row] = []
        for message in batch:
            fingerprint = message.url.fingerprint
            if message.known is not None or fingerprint in self._nobodys:
                self._nobodys.discard(fingerprint)
                passes.append(message)
            else:
                rows.append(Row(self._doors.key(message.url.host), message))
        if rows:
            with self._agent.lock:
                self._outboxes.looked_for.put_many(rows)
        return passes

    @property
    def pending(self) -> bool:
        """Something is looked for. Any thread."""
        return bool(self._outboxes.asked or len(self._outboxes.looked_for))

    # -- larm-agents

    def step(self, now: float) -> None:
        """Ask about the next ones, if the last ones are decided."""
        if self._frontier is None or self._outboxes.asked or not len(self._outboxes.looked_for):
            return
        asked: dict[str, list[int]] = {}
        with self._doors.shared.gate.step(), self._agent.lock:
            state = self._agent.state
            if not self._agent.begun or not state.view.members:
                return
            heard = {name for name in state.others() if state.silent(name, now) < state.rules.lease}
            rows = self._outboxes.asked = self._outboxes.looked_for.take(_BATCH)
            nexts = {row.host: heard.intersection(state.order(row.host, self._rule.own.recover + 1)) for row in rows}
        self._found = self._doors.kept([row.item.url.fingerprint for row in rows])
        for row in rows:
            if row.item.url.fingerprint not in self._found:
                for name in nexts[row.host]:
                    asked.setdefault(name, []).append(row.item.url.fingerprint)
        self._questions = len(asked) + 1
        for name, keys in asked.items():
            self._ask(name, keys)
        self._answered()

    def asked(self, asked: Asked) -> bytes:
        """What of these pages is here; nothing is told to an agent that is no member, perhaps as it joins just now.

        Raises msgspec.MsgspecError where it is no question.
        """
        keys = _question.decode(asked.body)
        found = self._doors.kept(keys) if asked.origin.sender in self._agent.state.view.members else {}
        return _encode({key: encode_row(row) for key, row in found.items()})

    def _ask(self, name: str, keys: Sequence[int]) -> None:
        def answered(said: bytes | None) -> None:
            try:
                told = _answer.decode(said) if said is not None else {}
                rows = {key: decode_row(told[key], self._doors.directory) for key in keys if key in told}
            except (*GARBAGE, StorageError):
                rows = {}
            self._found |= {key: msgspec.structs.replace(row, by=name) for key, row in rows.items()}
            self._answered()

        self._line.ask(name, "copies", _encode(keys), answered)

    def _answered(self) -> None:
        self._questions -= 1
        if self._questions or self._frontier is None or self._moves is None:
            return
        frontier, state = self._frontier, self._agent.state
        held: list[tuple[int, PageRow]] = []
        rest: list[URLMessage] = []
        with self._doors.shared.gate.step():
            with self._agent.lock:
                for row in self._outboxes.asked:
                    url, ours = row.item.url, state.owner(row.host) == state.me
                    page = self._found.get(key := url.fingerprint)
                    if page is not None and page.message(key).url == url and ours:
                        held.append((key, msgspec.structs.replace(page, left=False)))
                    else:
                        rest.append(row.item)
            for host in {page.host for _, page in held}:
                frontier.changes.alter(host, lambda _: None)  # or nobody knows that there is something to be moved with it
            self._moves.note(held)
            keys = [message.url.fingerprint for message in rest]
            self._nobodys.update(keys if self._rule.own.recover else ())
            frontier.seen.discard(keys)
            frontier.handler.put(rest)
            with self._agent.lock:
                self._outboxes.asked = []
        self._doors.shared.counters.add("agents/recovered", len(held))
        self._found = {}

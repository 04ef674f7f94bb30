"""Handover: hosts that are not ours any more go to those who have them now, whole (`larm.engine.moves`). On ``larm-agents``.

Each host is frozen first, so nobody asks it; after the next checkpoint its parts are sent, and when all are acknowledged from
the receiver's journal it is forgotten here. Whatever breaks off is done again: all that there is to know is in the moves' own
state. Some hundred hosts stand still at a time, all others are asked until it is their turn: one order freezes them, and one
question has the parts of as many as there is room for.

Who takes none of them for long gets the URLs that wait there instead, one by one as any that are found.

An agent that was given up hands in what it has in another way: its hosts are asked by others already, who have looked for links
to them. What waits there goes through the filters, and as a URL like any other to its owner; the hosts are forgotten. Then it
may join again.

`step` says when no host of another agent is left, which only a checkpoint can say: until then a batch may be on its way through
the filters that has not seen the new view.
"""

from collections import deque
from collections.abc import Callable, Container, Iterator, Sequence
from typing import NamedTuple

from larm.engine.moves import Moves
from larm.errors import UsageError

_WAVE = 500
"""Hosts that stand still at a time: a second or two each, as long as two checkpoints and their parts take."""
_BATCH = 200_000
"""Bytes of parts in a question, or one part more."""
_PATIENCE = 2.0
"""Seconds until parts that were not taken are sent again."""


class Hands(NamedTuple):
    """What it needs of its node."""

    owner: Callable[[str], str]
    """Of a host, in our view."""
    hosts: Callable[[], list[str]]
    """All that are known here."""
    send: Callable[[str, Sequence[bytes], Callable[[Container[str] | None], object]], object]
    """Parts to an agent; the last argument is told, on ``larm-agents``, which hosts it refuses; None: it said nothing."""
    checkpoints: Callable[[], int]
    hurry: Callable[[], object]
    """A checkpoint shall be made soon."""
    now: Callable[[], float]
    log: Callable[[str], object]
    patience: float
    """Seconds in which an agent has to take a host."""


class _Stream:
    """To one agent: the parts of one host after the other."""

    def __init__(self, to: str, now: float) -> None:
        self.to = to
        self.hosts: deque[str] = deque()
        self.host = ""
        self.parts: Iterator[bytes] | None = None
        self.batch: list[bytes] = []
        self.ends: list[str] = []
        """Hosts whose last part is in the batch."""
        self.waits = False
        self.not_before = 0.0
        self.since = now
        """Nothing was taken since then."""


class Handover:
    """Of one agent's process."""

    def __init__(self, me: str, moves: Moves, hands: Hands) -> None:
        # constant after construction
        self._me = me
        self._moves = moves
        self._hands = hands
        # only larm-agents
        self._epoch = 0
        self._begun_at = -2
        """Checkpoints that were made when the view was known."""
        self._looked_at = -1
        self._foreign: list[str] = []
        """Hosts of others that are asked still."""
        self._queued: set[str] = set()
        """Those that are in one of the streams."""
        self._streams: dict[str, _Stream] = {}
        self._deaf: set[str] = set()
        """Agents that have taken nothing for too long."""

    def step(self, epoch: int, *, given_up: bool = False, begun: bool = True) -> bool:
        """Go on with it; True: nothing is left here of what others have in the view of this epoch.

        ``begun``: a batch of another view may be on its way through the filters.
        """
        hands = self._hands
        checkpoints = hands.checkpoints()
        if epoch != self._epoch:
            self._begun_at = checkpoints if begun else -2
            self._epoch, self._looked_at = epoch, -1
            self._foreign.clear()
            self._queued.clear()
            self._streams.clear()
            self._deaf.clear()
            hands.hurry()
        moving = self._moves.moving()
        if not self._foreign and self._looked_at < checkpoints:
            self._looked_at = checkpoints
            self._foreign = [host for host in hands.hosts() if host not in moving and hands.owner(host) != self._me]
            left = self._foreign or any(phase != "arriving" or hands.owner(host) != self._me for host, phase in moving.items())
            if not left and checkpoints >= self._begun_at + 2:  # the cut of the second began after the view was known
                return True
            hands.hurry()
        try:
            self._go_on(moving, given_up=given_up)
        except UsageError:
            return False  # the crawl is ending; the next run goes on with it
        for stream in list(self._streams.values()):
            self._send(stream)
        return False

    def open_arrived(self) -> None:
        """All agents have let go of what is not theirs: nothing more will come of hosts that were on their way to us."""
        for host, phase in self._moves.moving().items():
            if phase == "arriving" and self._hands.owner(host) == self._me:
                self._moves.thaw(host)

    def _go_on(self, moving: dict[str, str], *, given_up: bool) -> None:
        """What can be done now for hosts that move, and for those that have to."""
        moves, owner = self._moves, self._hands.owner
        gone = [host for host, phase in moving.items() if phase == "arriving" and owner(host) != self._me]
        still = [host for host, phase in moving.items() if phase == "still"]
        back = [host for host in still if owner(host) == self._me]
        away = [host for host in still if owner(host) != self._me]
        for host in back:
            moves.thaw(host)
        if gone:
            moves.forget(*gone)
        as_urls = [host for host in away if given_up or owner(host) in self._deaf]
        if as_urls:
            moves.forget(*as_urls, passes_on=True)
        for host in set(away).difference(as_urls, self._queued):
            self._queued.add(host)
            if owner(host) not in self._streams:
                self._streams[owner(host)] = _Stream(owner(host), self._hands.now())
            self._streams[owner(host)].hosts.append(host)
        room = max(0, _WAVE - sum(phase in ("frozen", "still") for phase in moving.values()))
        some, self._foreign = self._foreign[:room], self._foreign[room:]
        new = [host for host in some if not moves.phase(host)]
        if new:
            moves.freeze(*new)
        if new or gone or away or "frozen" in moving.values():
            self._hands.hurry()

    def _send(self, stream: _Stream) -> None:
        if stream.waits or self._hands.now() < stream.not_before:
            return
        if not stream.batch:
            self._fill(stream)
        if stream.batch:
            stream.waits = True
            self._hands.send(stream.to, tuple(stream.batch), lambda refused: self._answered(stream, refused))

    def _fill(self, stream: _Stream) -> None:
        size = 0
        while size < _BATCH and (stream.parts is not None or stream.hosts):
            if stream.parts is None:
                stream.host = stream.hosts.popleft()
                stream.parts = self._moves.parts(stream.host)
            try:
                part = next(stream.parts, b"")
            except UsageError:  # it is not still any more: the next look sees why
                self._queued.discard(stream.host)
                stream.parts = None
                continue
            if part:
                stream.batch.append(part)
                size += len(part)
            else:
                stream.ends.append(stream.host)
                stream.parts = None

    def _answered(self, stream: _Stream, refused: Container[str] | None) -> None:
        if self._streams.get(stream.to) is not stream:
            return
        stream.waits = False
        now = self._hands.now()
        if now - stream.since >= self._hands.patience and (refused is None or refused):
            self._give_up(stream, now - stream.since)
            return
        if refused is None:
            stream.not_before = now + _PATIENCE
            return
        done = [host for host in stream.ends if host not in refused]
        failed = [host for host in {*stream.ends, stream.host} if host in refused]
        if stream.host in refused:
            stream.parts = None
        stream.batch.clear()
        stream.ends.clear()
        if failed:  # a later look sends them again, from the beginning
            self._queued.difference_update(failed)
            stream.not_before = now + _PATIENCE
        else:
            stream.since = now
        done = [host for host in done if self._moves.phase(host) == "still"]
        if done:
            self._moves.forget(*done)
            self._queued.difference_update(done)
            self._hands.hurry()

    def _give_up(self, stream: _Stream, seconds: float) -> None:
        self._deaf.add(stream.to)
        del self._streams[stream.to]
        self._hands.log(
            f"{stream.to} has taken no host for {seconds:.0f} s: it gets the URLs that wait at its hosts instead, and fetches"
            " again what was fetched there"
        )
        self._hands.hurry()

"""OwnKey: keeps an agent's own key in etcd. The key says how the agent stands; each write of it is a renewal.

All is called on the thread ``larm-etcd``. It blocks in HTTP, and holds no lock then.

Its rule: every transaction that writes compares this agent's own key. After an unknown outcome a renewal comes first: it
changes that key, so nothing that was sent before can come true later.
"""

from collections.abc import Callable, Sequence
from typing import Any, Final

import msgspec

from larm.cluster.applicant import Applicant, Mine, SavedSession
from larm.cluster.etcd import Delete, Etcd, Get, NoEtcd, Operation, Put, Same
from larm.cluster.keys import AgentState, Keys, pack
from larm.cluster.poller import Poller


class OwnKey(Poller):
    """Of one agent. ``options``: see `Poller`."""

    def __init__(self, etcd: Etcd, keys: Keys, applicant: Applicant, saved: SavedSession, **options: Any) -> None:
        super().__init__(etcd, keys, applicant.name, saved, **options)
        # constant after construction
        self._own = applicant
        self._mine: Final = {each: f"{top}{applicant.name}" for each, top in vars(keys).items() if top.endswith("/")}
        # only larm-etcd
        self._sent = self.state.fenced_at
        """When the last confirmed renewal was sent."""
        self._released = 0
        self._written: AgentState | None = None
        """Our key as this process wrote it."""

    def stop(self, mine: Mine, now: Callable[[], float]) -> bool:
        """Say that this agent stops in good order: no request is in flight. Its last figures stay."""
        self._now = now
        last = [Put(self._mine["lasts"], mine.figures)] if mine.figures and self._written is not None else []
        state = self._ours(mine)
        if state is None or self.halted:
            return self._do((), last)
        state = msgspec.structs.replace(state, stopped=True)
        done = self._do(self._reading.same(self._mine["agents"]), (self._put_state(state), *last))
        self.state.fence()
        return done

    def _do(self, compares: Sequence[Same], puts: Sequence[Operation], *more: Get) -> bool:
        """See `Poller`. A renewal that etcd confirms moves the fence, from when it was sent."""
        t0 = self._now()
        done = super()._do(compares, puts, *more)
        if done and any(isinstance(each, Put) and each.key == self._mine["agents"] for each in puts):
            self._sent, self._doubt = t0, False
            self.state.confirm(t0)
        return done

    def _founded_again(self) -> SavedSession:
        self._released, self._written = 0, None
        return super()._founded_again()

    def _guarded(self, puts: Sequence[Operation], *keys: str) -> bool:
        """Carry out ``puts`` if these keys and our own are unchanged. Return True in any case: something was sent."""
        self._do(self._reading.same(self._mine["agents"], *keys), puts)
        return True

    def _poll(self, mine: Mine) -> bool:
        """Read all keys, with a renewal where it is due. Return True if etcd answered."""

        def due() -> AgentState | None:
            state = self._ours(mine) if self._written is not None else None
            old = self._doubt or state != self._written or self._now() - self._sent >= self.state.rules.lease / 4
            return state if old else None

        state = due()
        if state is None or self.halted or self._failures:  # after a failure: first read if etcd went back
            self._do((), ())
            state = due()
            if self._name not in self._reading.agents:
                self._doubt = False
        return not self._failures and (state is None or self.halted or self._renew(state))

    def _renew(self, state: AgentState) -> bool:
        if not self._keep():
            return False
        puts: list[Operation] = [self._put_state(state)]
        if self._written is None:  # the process before may have claimed to be idle
            puts.append(Delete(self._mine["idles"]))
        if self._do(self._reading.same(self._mine["agents"]), puts):
            self._written = state
        return not self._failures

    def _ours(self, mine: Mine) -> AgentState | None:
        """Return our key as it should be; None: there is none that is ours."""
        seen = self._reading.agents.get(self._name)
        if seen is None or seen.state.nonce != self._saved.nonce:
            return None
        first = self._written is None
        if seen.state.boot != self._own.boot and not (first and self._own.continues):
            return None
        if first:
            self._released = max(self._released, seen.state.released)
        return self._state(mine, self._released)

    def _state(self, mine: Mine, released: int) -> AgentState:
        own = self._own
        return AgentState(self._saved.nonce, own.boot, mine.address, own.wire, released, False, mine.leaving)

    def _put_state(self, state: AgentState) -> Put:
        return Put(self._mine["agents"], pack(state), self._lease)

    def _keep(self) -> bool:
        """Keep our lease, or get one. Return False if etcd did not answer."""
        kept = self._etcd.keep(self._lease) if self._lease else False
        if kept is False:
            granted = self._etcd.grant(round(3 * self.state.rules.lease))
            if not isinstance(granted, NoEtcd):
                self._lease = granted
                return True
            kept = granted
        if isinstance(kept, NoEtcd):
            self._fail(kept, self._now())
            return False
        return True

"""Poller: reads all keys of a cluster at each poll, and has a membership (`ViewState`) follow them. The thread ``larm-etcd``
of an agent polls, or a command.

Its rule: what etcd has is believed only if it is of the cluster that is known here, and later than at the last poll. An etcd
that went back in time, or has another cluster of this name, halts the poller: only the operator can help.
"""

import secrets
from collections.abc import Callable, Mapping, Sequence

import msgspec

from larm.cluster.applicant import SavedSession
from larm.cluster.etcd import Delete, Etcd, Found, Get, NoEtcd, Operation, Put, Same
from larm.cluster.keys import Command, Keys, Lost, Run, pack
from larm.cluster.placement import HashRing, Placement
from larm.cluster.reading import Reading, gets, reading_of
from larm.cluster.view_state import Rules, ViewState

OTHER = (
    "etcd has another cluster of this name: choose the right etcd with --etcd, another --cluster, or start over with --fresh"
)
_BACK = "etcd went back in time: run 'larm cluster found --again'"


class Poller:
    """``name``: the agent that polls; empty: a command. ``saved``: as it was on the disk."""

    def __init__(
        self,
        etcd: Etcd,
        keys: Keys,
        name: str = "",
        saved: SavedSession | None = None,
        *,
        rules: Rules,
        placement: Callable[[Mapping[str, float]], Placement] = HashRing,
        random: Callable[[], int] = lambda: secrets.randbits(62),
    ) -> None:
        saved = saved or SavedSession()
        # constant after construction
        self._etcd = etcd
        self._keys = keys
        self._name = name
        self._random = random
        self._now: Callable[[], float] = float  # replaced by each public method
        self.state = ViewState(name, rules, placement)
        # replaced as a whole by the polling thread
        self.run = Run()
        self.trouble = ""
        """What is wrong, for the operator; empty: nothing."""
        self.halted = False
        """Only the operator can help; this agent sends no requests until then."""
        self.figures: Mapping[str, bytes] = {}
        self.lasts: Mapping[str, bytes] = {}
        """Figures of the agents that run, and those at the end of each agent's last run, by name."""
        # written by the polling thread; the caller resets it when ``saved`` is on the disk
        self.unsaved = not saved.nonce
        """``saved`` must be on the disk before the next round."""
        # only the polling thread
        self._saved = saved if saved.nonce else msgspec.structs.replace(saved, nonce=random())
        self._reading = Reading()
        self._lease = 0
        self._doubt = False
        """The outcome of a transaction is unknown."""
        self._failures = 0
        self._went_back = False
        self._began: tuple[int, float] = (0, 0.0)
        """Number of the run that gathers, and since when."""

    @property
    def saved(self) -> SavedSession:
        """What has to be on the disk. Thread-safe."""
        return self._saved

    @property
    def command(self) -> Command:
        """The newest command of this run; of number 0: there is none. Thread-safe."""
        return self._reading.command

    def look(self, now: Callable[[], float]) -> bool:
        """Poll without taking part. Return False if etcd did not answer. ``now``: CLOCK_BOOTTIME."""
        self._now = now
        return self._do((), ())

    def _do(self, compares: Sequence[Same], puts: Sequence[Operation], *more: Get) -> bool:
        """Carry out ``puts`` if the compares hold; read all keys in any case. Return True if they were carried out."""
        reads = (*gets(self._keys, self._name), *more)
        found = self._etcd.txn(compares, (*puts, *reads), reads)
        if isinstance(found, NoEtcd):
            self._doubt = self._doubt or (bool(puts) and not found.known)
            self._fail(found, self._now())
            return False
        self._failures = 0
        try:
            return self._take(found, self._now()) and found.ok
        except msgspec.DecodeError as error:
            return self._halt(f"a key of the cluster in etcd can't be read, perhaps of a newer larm: {error}")

    def _fail(self, answer: NoEtcd, at: float) -> None:
        self._failures += 1
        stops = "crawling is stopped until it does" if self.state.fenced(at) else "crawling goes on for now"
        self.trouble = f"etcd does not answer: {stops} ({answer.reason})"
        if answer.lease_gone:
            self._lease = 0

    def _halt(self, why: str) -> bool:
        self.trouble, self.halted = why, True
        self.state.fence()
        return False

    def _take(self, found: Found, at: float) -> bool:
        """Return True if this is the cluster that is known here, later than at the last poll."""
        reading = reading_of(found, self._keys, self._name)
        self._reading, saved = reading, self._saved
        if reading.figures:
            self.figures, self.lasts = reading.figures, reading.lasts
        if reading.id is None:
            self.trouble = ""
            return self._halt(_BACK) if saved.cluster else True
        if saved.cluster not in ("", reading.id.cluster):
            return self._halt(OTHER)
        if reading.id.generation > saved.generation or not saved.cluster:
            saved = self._founded_again() if saved.cluster else saved
            saved = msgspec.structs.replace(saved, cluster=reading.id.cluster, generation=reading.id.generation)
        view, me = reading.view, reading.view.members.get(self._name)
        other = saved.member and view.epoch == saved.epoch and (me is None or me.nonce != saved.nonce)
        older = reading.revision < saved.revision or view.epoch < saved.epoch or reading.id.generation < saved.generation
        self._went_back = self._went_back or other or older
        if self._went_back:
            return self._halt(_BACK)
        self.state.see(view, reading.modified.get(self._keys.view, 0), reading.agents, reading.revision, at)
        member = me is not None and me.nonce == saved.nonce
        saved = msgspec.structs.replace(saved, epoch=view.epoch, member=member, revision=reading.revision)
        self.unsaved |= msgspec.structs.replace(saved, revision=0) != msgspec.structs.replace(self._saved, revision=0)
        self._saved = saved
        self.run, self.trouble, self.halted = reading.run, "", False
        if reading.run.state == "gathering" and self._began[0] != reading.run.number:
            self._began = (reading.run.number, at)
        return True

    def _founded_again(self) -> SavedSession:
        """Begin again as an agent that was in no cluster. Return what is saved then."""
        self._went_back = False
        self.state.fence()
        return SavedSession(nonce=self._random())

    def _alive(self, name: str, at: float) -> bool:
        seen = self._reading.agents.get(name)
        return seen is not None and not seen.state.stopped and self.state.silent(name, at) < self.state.rules.lease / 2

    def _lose(self, names: Sequence[str], compares: Sequence[Same] = ()) -> bool:
        """Remove these agents, if none has renewed since. Return True if that was done."""
        view, keys = self._reading.view, self._keys
        gone = {name: Lost(view.epoch + 1, self.state.no_renewal_after(name)) for name in names}
        rest = {name: member for name, member in view.members.items() if name not in gone}
        theirs = [f"{keys.agents}{name}" for name in names]
        puts: list[Operation] = [Put(keys.view, pack(view.then(rest, gone))), Delete(keys.idles, prefix=True)]
        puts += [Delete(key) for key in theirs]
        return self._do((*compares, *self._reading.same(keys.view, *theirs)), puts)

"""FakeEtcd: has the methods of `larm.cluster.etcd.Etcd`, in memory, for simulations. Deterministic; its clock is the test's.

Leases expire when their time is over, unless ``late`` holds them back; `expire` ends one early. ``down``: it answers nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from larm.cluster.etcd import Delete, Found, Get, NoEtcd, Operation, Pair, Put, Same


class _Entry(NamedTuple):
    pair: Pair
    lease: int


class _Lease(NamedTuple):
    seconds: int
    ends: float


class FakeEtcd:
    """All callers share it."""

    def __init__(self, now: Callable[[], float] = lambda: 0.0) -> None:
        self._now = now
        self._entries: dict[str, _Entry] = {}
        self._leases: dict[int, _Lease] = {}
        self._last_lease = 0
        self.revision = 1
        self.late = 0.0
        """Seconds by which leases outlive their end."""
        self.down = False
        self.transactions = 0

    def txn(self, compares: Sequence[Same], then: Sequence[Operation], otherwise: Sequence[Operation] = ()) -> Found | NoEtcd:
        """One revision for all its writes; reads see the writes before them."""
        if self._silent():
            return NoEtcd("it is down", known=True)
        for branch in (then, otherwise):
            if _twice(branch):
                return NoEtcd("etcdserver: duplicate key given in txn request", known=True)
        ok = all(self._holds(each) for each in compares)
        operations = then if ok else otherwise
        if any(isinstance(each, Put) and each.lease and each.lease not in self._leases for each in operations):
            return NoEtcd("etcdserver: requested lease not found", known=True, lease_gone=True)
        self.transactions += 1
        writes, pairs = False, []
        for each in operations:
            match each:
                case Get():
                    read = [entry.pair for entry in map(self._entries.get, self._keys(each)) if entry is not None]
                    pairs.append(tuple(read))
                case Put():
                    self._put(each)
                    writes = True
                case Delete():
                    writes = self._delete(self._keys(each)) or writes
        self.revision += writes
        return Found(ok, self.revision, tuple(pairs))

    def grant(self, seconds: int) -> int | NoEtcd:
        if self._silent():
            return NoEtcd("it is down", known=True)
        self._last_lease += 1
        self._leases[self._last_lease] = _Lease(seconds, self._now() + seconds)
        return self._last_lease

    def keep(self, lease: int) -> bool | NoEtcd:
        if self._silent():
            return NoEtcd("it is down", known=True)
        if lease not in self._leases:
            return False
        self._leases[lease] = self._leases[lease]._replace(ends=self._now() + self._leases[lease].seconds)
        return True

    def revoke(self, lease: int) -> NoEtcd | None:
        if self._silent():
            return NoEtcd("it is down", known=True)
        self.expire(lease)
        return None

    def close(self) -> None:
        """Nothing is open."""

    def expire(self, lease: int) -> None:
        """End it and delete its keys, however long ago it was renewed."""
        if self._leases.pop(lease, None) is not None:
            self.revision += self._delete([key for key, entry in self._entries.items() if entry.lease == lease])

    def restart(self) -> None:
        """Each lease begins again, as with a new leader."""
        for lease in list(self._leases):
            self.keep(lease)

    def snapshot(self) -> tuple[int, dict[str, _Entry], dict[int, _Lease]]:
        return self.revision, dict(self._entries), dict(self._leases)

    def restore(self, snapshot: tuple[int, dict[str, _Entry], dict[int, _Lease]]) -> None:
        """Go back in time."""
        self.revision, entries, leases = snapshot
        self._entries, self._leases = dict(entries), dict(leases)
        self.restart()

    def _silent(self) -> bool:
        for lease in [number for number, each in self._leases.items() if each.ends + self.late <= self._now()]:
            self.expire(lease)
        return self.down

    def _holds(self, compare: Same) -> bool:
        entry = self._entries.get(compare.key)
        return (entry.pair.modified if entry else 0) == compare.modified

    def _keys(self, operation: Get | Delete) -> list[str]:
        if not operation.prefix:
            return [operation.key]
        return sorted(key for key in self._entries if key.startswith(operation.key))

    def _put(self, put: Put) -> None:
        at = self.revision + 1
        was = self._entries.get(put.key)
        self._entries[put.key] = _Entry(Pair(put.key, put.value, was.pair.created if was else at, at), put.lease)

    def _delete(self, keys: Sequence[str]) -> bool:
        return sum(self._entries.pop(key, None) is not None for key in keys) > 0


def _twice(operations: Sequence[Operation]) -> bool:
    """Whether a key is put twice, or put and deleted."""
    puts = [each.key for each in operations if isinstance(each, Put)]
    return len(set(puts)) < len(puts) or any(key in puts for key in _deleted(operations, puts))


def _deleted(operations: Sequence[Operation], keys: Sequence[str]) -> Iterator[str]:
    for each in operations:
        if isinstance(each, Delete):
            yield from (key for key in keys if (key.startswith(each.key) if each.prefix else key == each.key))

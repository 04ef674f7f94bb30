"""ClusterRepair: what an operator decides for a cluster, as a command that polls etcd. Used on the main thread.

It is none of the agents. It watches for half a lease before it decides: an agent that is silent then does not renew.
"""

import threading

import msgspec

from larm.cluster.applicant import SavedSession
from larm.cluster.etcd import Delete, Put
from larm.cluster.keys import ClusterId, Run, View, pack
from larm.cluster.poller import OTHER, Poller
from larm.errors import UsageError
from larm.kit.clock import boot_time

_JUMP = 1_000
"""Epochs that are left out when a cluster is founded again: more than a lost history can have had since a backup."""


class ClusterRepair(Poller):
    """Methods raise UsageError if nothing was done."""

    def watch(self) -> None:
        """Poll for half a lease. To be called first."""
        lease = self.state.rules.lease
        end, never = boot_time() + lease / 2, threading.Event()
        while self.look(boot_time):
            if boot_time() > end:
                return
            never.wait(min(1.0, lease / 8))
        raise UsageError(self.trouble)

    def remove(self, name: str) -> None:
        """Remove an agent that will not come back."""
        members = self._reading.view.members
        if name not in members:
            raise UsageError(f"{name} is not a member of this cluster: 'larm cluster status' names its members")
        if self._alive(name, self._now()):
            raise UsageError(f"{name} is running: stop it there, or have it leave with 'larm cluster leave'")
        if len(members) == 1:
            raise UsageError(f"{name} is the only member: start its agent, or another one, first")
        if not self._lose([name]):
            raise UsageError(self.trouble or "others changed the membership just now: try again")

    def found_again(self, saved: SavedSession) -> None:
        """Found a cluster again in an etcd that was restored or is new. ``saved``: of one of its agents."""
        reading, keys, identity = self._reading, self._keys, self._reading.id
        if identity is not None and identity.cluster != saved.cluster:
            raise UsageError(OTHER)
        running = ", ".join(sorted(name for name in reading.agents if self._alive(name, self._now())))
        if running:
            raise UsageError(f"{running} is running with this etcd: nothing has to be founded again")
        identity = identity or ClusterId(saved.cluster, 0, {}, 1)
        generation = max(saved.generation, identity.generation) + 1
        view = View(max(saved.epoch, reading.view.epoch) + _JUMP, closed=True)
        writes = (
            Put(keys.id, pack(msgspec.structs.replace(identity, generation=generation, settings={}))),
            Put(keys.view, pack(view)),
            Put(keys.run, pack(Run(reading.run.number + 1, first=1))),
            Delete(keys.agents, prefix=True),
            Delete(keys.idles, prefix=True),
        )
        if not self._do(reading.same(keys.id, keys.view, keys.run), writes):
            raise UsageError(self.trouble or "the cluster changed just now: try again")

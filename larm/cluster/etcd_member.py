"""EtcdMember: a member of the cluster's etcd on this machine (``--etcd run``). Called on the thread ``larm-etcd``.

The first machine founds the etcd. Later ones ask a member: they take the lock `_LOCK`, are added as a learner, start, and are
promoted. There are one, three or five members, as two or four bear no more losses than one or three. So the second machine
waits as a client until a third is there; from the sixth on, machines stay clients.

Its rule: nothing that can lose data happens by itself. A member whose machines are partitioned from it looks the same as one
whose machines are gone; only an operator's command (``larm cluster etcd --alone``) goes on without a majority.
"""

import secrets
import socket
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import msgspec

from larm.cluster.etcd import Etcd, Found, Get, NoEtcd, Put, Same
from larm.cluster.etcd_process import EtcdProcess, Site
from larm.kit.disk.atomic import write_atomically
from larm.kit.disk.disk_failure import disk_failures
from larm.kit.disk.json_file import read_json

_FILE = "endpoints.json"
_LOCK = "etcd/growth"
_WAITING = "etcd/waiting/"
_LEASE = 60
"""Seconds that an owner of the lock has for the growth; then the next one removes its learner."""
_MOST = 5
_EVERY = 2.0
"""Seconds between two steps that ask etcd."""
_KNOCKS = 3.0
"""Seconds in which a founder listens for members that look for this machine. They try ten times a second."""
_LEADERLESS = 10.0
"""Seconds without a leader until an operator is told; an election takes some 3."""
_LONGEST_PAUSE = 60.0


class Member(msgspec.Struct, frozen=True):
    """A member as etcd lists it."""

    id: int = msgspec.field(name="ID")
    name: str = ""
    peers: tuple[str, ...] = msgspec.field(name="peerURLs", default=())
    clients: tuple[str, ...] = msgspec.field(name="clientURLs", default=())
    learner: bool = msgspec.field(name="isLearner", default=False)


class _Members(msgspec.Struct, frozen=True):
    members: tuple[Member, ...] = ()


class _Status(msgspec.Struct, frozen=True):
    leader: int = 0


class _Endpoints(msgspec.Struct, frozen=True):
    """The file: where members were at last."""

    endpoints: tuple[str, ...] = ()


def members(etcd: Etcd) -> tuple[Member, ...] | NoEtcd:
    """Return the members as one of them knows them, without a majority too."""
    listed = etcd.call("cluster/member/list", {}, _Members)
    return listed if isinstance(listed, NoEtcd) else listed.members


def known_endpoints(folder: Path) -> tuple[str, ...]:
    """Return where members were at last; ``folder``: of this machine's member. Raises StorageError."""
    return (read_json(folder / _FILE, _Endpoints, "delete it; it is written again") or _Endpoints()).endpoints


class EtcdMember:
    """``etcd``: the agent's client, whose endpoints are those of other machines; it learns all members.

    `step` is to be called at least once a second. ``log``: gets sentences about what changes.
    """

    def __init__(self, folder: Path, site: Site, etcd: Etcd, *, now: Callable[[], float], log: Callable[[str], object]) -> None:
        """Start the member if it was one before. Raises UsageError if etcd can't run here, StorageError."""
        # constant after construction
        self._site = site
        self._folder = folder
        self._peer = site.peer
        self._etcd = etcd
        self._process = EtcdProcess(folder, site)
        self._now = now
        self._log = log
        # only larm-etcd
        self.trouble = ""
        """What keeps the member from its work, in a sentence; empty: nothing."""
        self._configured = tuple(etcd.endpoints)
        self._knocks: socket.socket | None = None
        self._next = 0.0
        self._pause = 1.0
        self._restart_at: float | None = None
        self._founder = False
        self._shut_out = False
        self._listed: tuple[str, ...] = ()
        self._led = now()
        """When there was a leader at last."""
        self._lease = 0
        """Of our keys in etcd, while the machine waits and grows the cluster; 0: none."""
        self._process.check()
        self._set_endpoints(known_endpoints(folder))
        if self._process.has_data:
            self._process.start()
        elif not etcd.endpoints:
            self._knocks = self._process.listening()
            self._next = now() + _KNOCKS
        if not self._etcd.endpoints:
            self._set_endpoints((site.client,))

    def step(self) -> None:
        """Do what is due. Blocks while etcd is asked."""
        now = self._now()
        if self._shut_out:
            return
        if self._process.status is not None:
            self._restart(now, self._process.status)
        elif self._knocks is not None:
            self._listen(self._knocks, found=now >= self._next)
        elif now >= self._next:
            self._next = now + _EVERY
            if self._process.has_data:
                self._tend(now)
            elif not self._process.started:
                self._grow()

    def close(self) -> None:
        """End the member in good order: after the agent's last write."""
        self._stop_listening()
        self._give_up_lease()
        self._process.end()

    # -- a member

    def _restart(self, now: float, status: int) -> None:
        if status == 0:  # it ends so only if the others have removed it
            self._log("etcd's other members have removed this machine")
            self._shut_out = not self._process.set_aside()
            if self._shut_out:
                where = self._folder
                self._say(f"etcd's other members have removed this machine twice: see {where}/log, then delete {where}/removed")
        elif self._restart_at is None:
            self._say(f"etcd ended with status {status}: {self._process.last_words()}")
            self._restart_at = now + self._pause
            self._pause = min(_LONGEST_PAUSE, 2 * self._pause)
        elif now >= self._restart_at:
            self._restart_at = None
            if self._process.has_data:
                self._process.start()
            elif self._founder:
                self._found()
            else:
                self._process.end()  # it is added again

    def _tend(self, now: float) -> None:
        status = self._etcd.call("maintenance/status", {}, _Status)
        listed = members(self._etcd)
        if not isinstance(status, NoEtcd) and status.leader:
            self._led, self._pause = now, 1.0
            self._say("")
        elif now - self._led >= _LEADERLESS and not isinstance(listed, NoEtcd):
            others = ", ".join(sorted(member.name for member in listed if self._peer not in member.peers))
            remedy = "if they are gone for good: 'larm cluster etcd --alone'"
            self._say(f"etcd has no majority; the other members are {others}: start these machines, or, {remedy}")
        if isinstance(listed, NoEtcd):
            return
        self._learn(listed)
        own = next((member for member in listed if self._peer in member.peers), None)
        if own is None:
            return
        if own.learner:
            promoted = self._etcd.call("cluster/member/promote", {"ID": str(own.id)}, _Members)
            if isinstance(promoted, NoEtcd):  # it has not read everything yet
                return
            self._log(f"etcd has {sum(not member.learner for member in promoted.members)} members, one on this machine")
        self._give_up_lease()

    def _learn(self, listed: tuple[Member, ...]) -> None:
        found = tuple(client for member in listed if not member.learner for client in member.clients)
        if found and set(found) != set(self._listed):
            self._listed = found
            self._set_endpoints(found)
            with disk_failures(self._folder):
                self._folder.mkdir(parents=True, exist_ok=True)
                write_atomically(self._folder / _FILE, msgspec.json.encode(_Endpoints(found)))

    def _set_endpoints(self, found: tuple[str, ...]) -> None:
        wanted = dict.fromkeys((*self._configured, *found))
        kept = [endpoint for endpoint in self._etcd.endpoints if endpoint in wanted]
        self._etcd.endpoints[:] = dict.fromkeys((*kept, *wanted))

    def _say(self, trouble: str) -> None:
        if trouble and trouble != self.trouble:
            self._log(trouble)
        self.trouble = trouble

    # -- the first one

    def _listen(self, knocks: socket.socket, *, found: bool) -> None:
        """A founder that lost its directory must not found a second etcd: the members of the first one look for it."""
        with suppress(BlockingIOError):
            connection, (address, *_) = knocks.accept()
            connection.close()
            url = self._site.url(address, self._site.port)
            caller = Etcd([url], self._site.tls)
            listed = members(caller)
            caller.close()
            if not isinstance(listed, NoEtcd) and any(self._peer in member.peers for member in listed):
                self._learn(listed)
                self._log(f"this machine was a member of the etcd at {url}, whose data are not here: it joins again")
                self._stop_listening()
                return
        if found:
            self._stop_listening()
            self._found()

    def _stop_listening(self) -> None:
        if self._knocks is not None:
            self._knocks.close()
        self._knocks = None

    def _found(self) -> None:
        self._founder = True
        self._process.start(
            "--initial-cluster", f"{self._site.label}={self._peer}", "--initial-cluster-token", secrets.token_hex(8)
        )
        self._log(f"etcd begins at {self._site.client}: start the other machines with --etcd run,{self._site.client}")

    # -- the next ones

    def _grow(self) -> None:
        if self._due() is None:
            return
        lock = self._etcd.txn([Same(_LOCK, 0)], [Put(_LOCK, self._peer.encode(), self._lease), Get(_LOCK)], [Get(_LOCK)])
        if not isinstance(lock, Found) or lock.pairs[0][0].value != self._peer.encode():
            return
        listed = self._due()  # again, under the lock
        if listed is None:
            self._give_up_lease()
            return
        old = next((member for member in listed if member.learner or self._peer in member.peers), None)
        if old is not None:  # its machine never came back, or lost its directory
            self._etcd.call("cluster/member/remove", {"ID": str(old.id)}, _Members)
            return
        added = self._etcd.call("cluster/member/add", {"peerURLs": [self._peer], "isLearner": True}, _Members, again=False)
        if isinstance(added, NoEtcd):  # a fresh member must be up for 5 s before the next one is added
            return
        cluster = ",".join(f"{member.name or self._site.label}={peer}" for member in added.members for peer in member.peers)
        self._process.start("--initial-cluster", cluster, "--initial-cluster-state", "existing")

    def _due(self) -> tuple[Member, ...] | None:
        """Return the members if it is our turn to become one, or to leave because our data are gone."""
        listed = members(self._etcd)
        waiting = self._wait()
        if isinstance(listed, NoEtcd) or isinstance(waiting, NoEtcd):
            self._say(next(each.reason for each in (listed, waiting) if isinstance(each, NoEtcd)))
            return None
        self._say("")
        self._learn(listed)
        if any(self._peer in member.peers for member in listed):
            return listed
        count = sum(not member.learner for member in listed)
        return listed if count < _MOST and waiting >= 1 + count % 2 else None

    def _wait(self) -> int | NoEtcd:
        """Return the number of machines that wait to become members, with this one."""
        if self._lease and self._etcd.keep(self._lease) is False:
            self._lease = 0
        if not self._lease:
            lease = self._etcd.grant(_LEASE)
            if isinstance(lease, NoEtcd):
                return lease
            written = self._etcd.txn((), [Put(_WAITING + self._peer, b"", lease)])
            if isinstance(written, NoEtcd):
                return written
            self._lease = lease
        found = self._etcd.txn((), [Get(_WAITING, prefix=True)])
        return found if isinstance(found, NoEtcd) else len(found.pairs[0])

    def _give_up_lease(self) -> None:
        if self._lease:
            self._etcd.revoke(self._lease)
        self._lease = 0

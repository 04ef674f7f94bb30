"""ClusterOperator: a cluster as ``larm cluster`` finds it in etcd, without its own agent. Used on the main thread.

It can be used on any machine that reaches etcd, also after the end of the crawl. It writes only what an agent may write too,
and each transaction compares what it rests on. Failures are UsageErrors with a remedy.
"""

import secrets
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal, NamedTuple

import msgspec

from larm.building.etcd import RUN, credentials_of, etcd_of, listen_of, site_of
from larm.cluster.card import Card, read_cards
from larm.cluster.etcd import Etcd, Found, Get, NoEtcd, Put
from larm.cluster.etcd_member import known_endpoints, members
from larm.cluster.etcd_process import EtcdProcess
from larm.cluster.files import ETCD, IDENTITY
from larm.cluster.identity import Identity, read_identity
from larm.cluster.keys import NO_CHANGES, ClusterId, Keys, Member, View, What, pack
from larm.cluster.overview import agent_lines, totals
from larm.cluster.placement import PLACEMENTS, key_of
from larm.cluster.reading import Reading, gets, reading_of
from larm.cluster.roster import Roster, read_roster
from larm.cluster.terms import same_for_all
from larm.cluster.view_state import Rules
from larm.config import Config
from larm.crawldir.state import QUEUES
from larm.engine.limits import Limits
from larm.errors import UsageError, refusing
from larm.kit.clock import SystemClock, boot_time
from larm.kit.disk.lock import DirectoryLock
from larm.model.url import BadUrl, URLNormalizer
from larm.ops.cluster_repair import ClusterRepair
from larm.ops.control.requests import AgentTable

_SENDER = "larm cluster"
_VERBS = {"pause": ("pauses", "pause"), "resume": ("goes on", "go on"), "stop": ("ends", "end"), "set": ("takes it", "take it")}
_START = 30.0
"""Seconds that a member of etcd has to answer after its start."""
_TRY = 0.1
"""Seconds between two attempts."""


class _LeasedKey(msgspec.Struct, frozen=True):
    key: bytes
    lease: int = 0


class _LeasedKeys(msgspec.Struct, frozen=True):
    kvs: tuple[_LeasedKey, ...] = ()


class _Alarm(msgspec.Struct, frozen=True):
    alarm: str = ""


class _Alarms(msgspec.Struct, frozen=True):
    alarms: tuple[_Alarm, ...] = ()


class _Lease(msgspec.Struct, frozen=True):
    granted: int = msgspec.field(name="grantedTTL", default=0)
    left: int = msgspec.field(name="TTL", default=0)


class _Known(NamedTuple):
    """A cluster as etcd has it now."""

    reading: Reading
    id: ClusterId
    cards: Mapping[str, Card]
    silent: Mapping[str, float]
    """Seconds since the last renewal of each agent, as the TTL of its lease tells them."""
    lease: float

    @property
    def heard(self) -> list[str]:
        """Agents that renew."""
        return [name for name in self._running if self.silent.get(name, self.lease) < self.lease]

    @property
    def unheard(self) -> list[str]:
        """Members that did not stop in good order, and do not renew."""
        return [name for name in self._running if name not in self.heard]

    @property
    def _running(self) -> list[str]:
        agents = self.reading.agents
        names = sorted({*self.reading.view.members, *agents})
        return [name for name in names if name not in agents or not agents[name].state.stopped]


class _Silence(UsageError):  # noqa: N818
    """Etcd does not answer."""


class ClusterOperator:
    """``name`` and ``etcd`` (endpoints): as the options have them; else config.yaml and the agent of the directory say them."""

    def __init__(self, config: Config, directory: Path, name: str = "", etcd: Sequence[str] = ()) -> None:
        """Raises UsageError, StorageError."""
        path = directory / QUEUES / IDENTITY
        # constant after construction
        self._config = config
        self._directory = directory
        self._named = bool(etcd)
        self._identity = read_identity(path) if path.exists() else Identity("", "")
        self.name = name or config.cluster.name or self._identity.cluster
        """The cluster's."""
        if not self.name:
            raise UsageError(
                f"{directory} is not the directory of an agent: name one with --dir, or use --cluster NAME --etcd URL"
            )
        ours = name in ("", self._identity.cluster)
        configured = [url for url in config.cluster.etcd if url != RUN]
        scheme = "https" if config.cluster.ca else "http"
        noted = [url if "://" in url else f"{scheme}://{url}" for url in self._identity.etcd if ours]
        found = etcd or (*configured, *noted, *known_endpoints(directory / ETCD))
        if not found:
            raise UsageError(f"the cluster {self.name} needs the address of its etcd: --etcd http://HOST:2379")
        self._settings = msgspec.structs.replace(config.cluster, name=self.name, etcd=tuple(dict.fromkeys(found)))
        self._keys = Keys(self.name)
        self._etcd = etcd_of(self._settings, directory)
        self._request = float(config.fetch.timeout)

    def table(self, host: str = "") -> AgentTable:
        """Return the agents, and the owner of the host if one is given. Etcd may have ended with the agents: then the directory
        has the figures that its agent knew last."""
        try:
            known = self._read()
        except _Silence as silence:
            roster = None if self._named else read_roster(self._directory / QUEUES)
            if roster is None:
                raise
            return _remembered(roster, host, str(silence))
        reading = known.reading
        lines = agent_lines(
            reading.view,
            reading.agents,
            known.cards,
            lambda name: known.silent.get(name, -1.0),
            lease=known.lease,
            wall=SystemClock().wall(),
            over=reading.run.state == "over",
        )
        return AgentTable(
            cluster=self.name,
            me="",
            epoch=reading.view.epoch,
            begun=reading.run.state == "running",
            agents=tuple(lines),
            owner=_owner(known, host) if host else "",
            totals=totals(lines, known.cards),
            run=reading.run.state + self._alarm(),
            changes=reading.command.changes,
        )

    def _alarm(self) -> str:
        """Return that etcd takes no writes; empty: it does, or does not say. Leases of agents are kept all the same."""
        found = self._etcd.call("maintenance/alarm", {}, _Alarms)
        full = not isinstance(found, NoEtcd) and any(alarm.alarm == "NOSPACE" for alarm in found.alarms)
        return "; etcd's quota of disk space is used up, so no agent sends requests" if full else ""

    def details(self) -> list[str]:
        """Return sentences about etcd and the certificate of the directory."""
        found = self._etcd.txn((), [Get(self._keys.id)])
        if isinstance(found, NoEtcd):
            lines = [found.reason]
        else:
            lines = [f"etcd at {self._etcd.endpoints[0]} answers, at revision {found.revision:,}"]
        credentials = credentials_of(self._settings, self._directory)
        if credentials is not None:
            lines.append(f"the certificate of {credentials.name} ends on {credentials.ends:%Y-%m-%d}")
        return lines

    def change(self, key: str, value: str) -> str:
        """Change a setting for all agents of this run; return which ones it reaches."""
        Limits(self._config).check_in_cluster(key, value)
        return f"{key} is {value} now: {self.order('set', {key: value})}"

    def order(self, what: What, changes: Mapping[str, str] = NO_CHANGES) -> str:
        """Give a command to all agents; return which ones it reaches."""
        known, key = self._read(), self._keys.command
        if not known.heard:
            raise UsageError(f"no agent of the cluster {self.name} is running")
        command = known.reading.command.then(_SENDER, what, number=secrets.randbits(62), changes=changes)
        done = self._etcd.txn(known.reading.same(self._keys.run, key), [Put(key, pack(command))])
        if isinstance(done, NoEtcd):
            raise UsageError(done.reason)
        if not done.ok:
            raise UsageError("another command came just now: try again")
        later = f"; {', '.join(known.unheard)} can't be heard now, and will hear of it later" if known.unheard else ""
        return f"{', '.join(known.heard)} {_VERBS[what][len(known.heard) > 1]}{later}"

    def remove(self, name: str) -> str:
        """Remove an agent that will not come back, with its member of etcd; return what follows."""
        repair = self._repair(self._read().lease)
        if name in repair.state.view.lost:
            return f"{name} was removed by the other agents already"
        repair.remove(name)
        also = ", and so is its member of etcd" if remove_member(self._etcd, name) else ""
        return f"{name} is removed{also}: its hosts go to other agents as soon as no request of it can be under way"

    def found_again(self) -> str:
        """Found the cluster again from the directory of its agent; return what follows."""
        if not self._identity.session.cluster:
            raise UsageError(f"{self._directory} was in no cluster: --dir names the directory of an agent")
        self._repair(float(self._settings.lease)).found_again(self._identity.session)
        return f"the cluster {self.name} is founded again: its agents join by themselves, or start them as before"

    def alone(self) -> str:
        """Make the directory's member of etcd the only one; return what follows."""
        with DirectoryLock(self._directory):
            name, listen = self._identity.name, listen_of(self._settings, self._identity.listen)
            site = site_of(name, self._settings, listen, self._directory)
            process = EtcdProcess(self._directory / ETCD, site)
            if not process.has_data:
                raise UsageError(f"{self._directory} has no member of etcd: run this in the directory of an agent that has one")
            if isinstance(self._etcd.txn((), [Get(self._keys.id)]), Found):
                raise UsageError(
                    f"etcd at {self._etcd.endpoints[0]} answers: its members have a majority, so none must go alone"
                )
            process.check()
            process.start("--force-new-cluster")
            try:
                _wait_for(Etcd([site.client], site.tls), process)
            finally:
                process.end()
        return "the member of etcd of this directory is the only one now: start the agent with the same command as before"

    def _repair(self, lease: float) -> ClusterRepair:
        repair = ClusterRepair(self._etcd, self._keys, rules=Rules(lease, self._request))
        repair.watch()
        return repair

    def _read(self) -> _Known:
        found = self._etcd.txn((), gets(self._keys, figures=True))
        if isinstance(found, NoEtcd):
            raise _Silence(found.reason)
        with refusing(f"a key of the cluster {self.name} can't be read, perhaps of a newer larm", msgspec.DecodeError):
            reading = reading_of(found, self._keys)
        if reading.id is None:
            raise UsageError(f"etcd at {self._etcd.endpoints[0]} has no cluster {self.name}: correct --cluster or --etcd")
        leases = self._leases()
        granted = max((lease.granted for lease in leases.values()), default=0)
        return _Known(
            reading,
            reading.id,
            read_cards({**reading.lasts, **reading.figures}),
            {name: float(max(0, lease.granted - lease.left - 1)) for name, lease in leases.items()},  # rounded up
            granted / 3 or float(self._settings.lease),
        )

    def _leases(self) -> dict[str, _Lease]:
        """Return the leases of the agents' keys. An agent keeps its lease with each renewal, and it is granted three times
        ``cluster.lease``."""
        top = self._keys.agents.encode()
        body = {"key": top, "range_end": top[:-1] + bytes([top[-1] + 1]), "keys_only": True}
        found = self._etcd.call("kv/range", body, _LeasedKeys)
        if isinstance(found, NoEtcd):
            raise UsageError(found.reason)
        leases = {}
        for each in found.kvs:
            lease = self._etcd.call("lease/timetolive", {"ID": str(each.lease)}, _Lease)
            if isinstance(lease, NoEtcd):
                raise UsageError(lease.reason)
            leases[each.key[len(top) :].decode()] = lease
        return leases


def remove_member(etcd: Etcd, name: str) -> bool:
    """Remove the member of etcd of an agent whose machine will not come back. Return False if there is none."""
    listed = members(etcd)
    found = [] if isinstance(listed, NoEtcd) else [each for each in listed if each.name.partition("@")[0] == name]
    removed = [etcd.call("cluster/member/remove", {"ID": str(each.id)}, dict) for each in found]
    return any(not isinstance(each, NoEtcd) for each in removed)


def _remembered(known: Roster, host: str, why: str) -> AgentTable:
    """Return the agents as the file of one of them has them."""
    view = View(members={name: Member(weight, 0) for name, weight in known.members.items()})
    lines = agent_lines(view, {}, known.cards, lambda _: -1.0, lease=0.0, over=True)
    run = f"as the agent of this directory knew it last ({why})"
    owner = known.owner(_host(host)) if host else ""
    return AgentTable(
        known.cluster, "", 0, begun=False, agents=tuple(lines), owner=owner, totals=totals(lines, known.cards), run=run
    )


def _host(text: str) -> str:
    with refusing(text[:200], BadUrl):
        return URLNormalizer().parse(text if "://" in text else f"http://{text}/").host


def _wait_for(etcd: Etcd, process: EtcdProcess) -> None:
    """Return once this member answers a read that needs a majority."""
    end, never = boot_time() + _START, threading.Event()
    try:
        while isinstance(answer := etcd.txn((), [Get(ETCD)]), NoEtcd):
            if process.status is not None:
                raise UsageError(f"etcd ended with status {process.status}: {process.last_words()}")
            if boot_time() > end:
                raise UsageError(answer.reason)
            never.wait(_TRY)
    finally:
        etcd.close()


def _owner(known: _Known, host: str) -> str:
    """Return the owner of a host. The digests of the settings tell which of their two values two settings have."""
    members = {name: member.weight for name, member in known.reading.view.members.items()}
    by: Literal["site", "host"] = "host" if _is(known.id, "cluster.by", "host") else "site"
    placement = PLACEMENTS["intervals" if _is(known.id, "cluster.placement", "intervals") else "ring"]
    return placement(members).owner(key_of(_host(host), by)) if members else ""


def _is(identity: ClusterId, setting: str, value: str) -> bool:
    return identity.settings.get(setting) == same_for_all({setting: msgspec.json.encode(value)})[setting]

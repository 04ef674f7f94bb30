"""EtcdMember: machines, each with an address of loopback, whose etcd begins, grows, loses members and goes on."""

from __future__ import annotations

import datetime
import os
import signal
import socket
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from larm.cluster.certificates import issue, make_authority, revoke
from larm.cluster.etcd import Etcd, Found, Get, NoEtcd, Put, Tls
from larm.cluster.etcd_member import EtcdMember, members
from larm.cluster.etcd_process import EtcdProcess, Site
from larm.errors import UsageError
from larm.kit.clock import SystemClock
from larm.ops.cluster_operator import remove_member
from tests.support.etcd import needs_etcd, until

NOW = datetime.datetime.now(datetime.UTC)
FAST = 8
"""A second of the members' clocks is as much shorter."""


class Machine:
    """``number``: of its address."""

    def __init__(self, folder: Path, number: int, port: int, *others: Machine, tls: Tls | None = None) -> None:
        self.folder = folder / str(number)
        self.site = Site(f"m{number}", f"127.0.0.{number}", f"127.0.0.{number}", port, tls)
        self._others = others
        self.said: list[str] = []
        self.start()

    def start(self) -> None:
        clock = SystemClock()
        self.etcd = Etcd([other.site.client for other in self._others], self.site.tls)
        self.member = EtcdMember(self.folder, self.site, self.etcd, now=lambda: FAST * clock.monotonic(), log=self.said.append)

    @property
    def pid(self) -> int:
        return int((self.folder / "pid").read_text())

    @property
    def names(self) -> set[str]:
        """Of the members, learners in brackets."""
        listed = members(self.etcd)
        if isinstance(listed, NoEtcd):
            return set()
        names = [(each.name.partition("@")[0], each.learner) for each in listed]
        return {f"[{name}]" if learner else name for name, learner in names}

    def go_alone(self) -> None:
        """As `larm cluster etcd --alone` does, while the agent is stopped."""
        self.member.close()
        process = EtcdProcess(self.folder, self.site)
        process.start("--force-new-cluster")
        until(self.works)
        process.end()
        self.start()

    def works(self) -> bool:
        return isinstance(self.etcd.txn((), [Put("a", b"1")]), Found)


class Machines:
    def __init__(self, folder: Path, tls: Tls | None = None) -> None:
        self._folder, self._tls = folder, tls
        self._port = two_ports()
        self.up: list[Machine] = []

    def add(self, number: int, *others: Machine) -> Machine:
        made = Machine(self._folder, number, self._port, *others, tls=self._tls)
        self.up.append(made)
        return made

    def until(self, holds: Callable[[], bool]) -> None:
        def stepped() -> bool:
            for machine in self.up:
                machine.member.step()
            return holds()

        until(stepped)

    def close(self) -> None:
        while self.up:
            machine = self.up.pop()
            machine.member.close()
            machine.etcd.close()


@pytest.fixture
def machines(tmp_path: Path) -> Iterator[Machines]:
    made = Machines(tmp_path)
    yield made
    made.close()


def two_ports() -> int:
    """The first of two free ones."""
    while True:
        with socket.create_server(("127.0.0.1", 0)) as first:
            port: int = first.getsockname()[1]
            try:
                with socket.create_server(("127.0.0.1", port + 1)):
                    return port
            except OSError:
                continue


@needs_etcd
def test_second_machine_waits_for_a_third_and_founder_without_its_directory_joins_again(machines: Machines) -> None:
    first = machines.add(2)
    machines.until(first.works)
    second = machines.add(1, first)
    machines.until(lambda: second.member._lease > 0)
    for _ in range(3):
        machines.until(second.works)
    assert first.names == {"m2"}

    third = machines.add(3, first)
    machines.until(lambda: first.names == {"m1", "m2", "m3"})
    every = {machine.site.client for machine in machines.up}
    machines.until(lambda: all(set(machine.etcd.endpoints) == every for machine in machines.up))
    assert [machine.member.trouble for machine in machines.up] == ["", "", ""]

    lost(machines, first)
    back = machines.add(2)  # by the same command
    machines.until(lambda: back.names == {"m1", "m2", "m3"} and back.works())
    assert "it joins again" in back.said[0]
    found = back.etcd.txn((), [Get("a"), Get("etcd/", prefix=True)])
    assert isinstance(found, Found)
    assert found.pairs[0][0].created < found.pairs[0][0].modified
    machines.until(lambda: set(back.etcd.endpoints) == every)
    assert third.works()


def three(machines: Machines) -> tuple[Machine, Machine, Machine]:
    first = machines.add(2)
    machines.until(first.works)
    second, third = machines.add(1, first), machines.add(3, first)
    machines.until(lambda: first.names == {"m1", "m2", "m3"})
    return first, second, third


def lost(machines: Machines, machine: Machine) -> None:
    """Its process and its disk."""
    machines.up.remove(machine)
    os.kill(machine.pid, signal.SIGKILL)
    machine.member.close()
    machine.etcd.close()
    machine.folder.rename(machine.folder.with_name(f"{machine.folder.name}.lost"))


@needs_etcd
def test_killed_etcd_is_started_again_with_its_data(machines: Machines) -> None:
    first = machines.add(1)
    machines.until(first.works)
    killed = first.pid
    os.kill(killed, signal.SIGKILL)
    machines.until(lambda: first.pid != killed and first.works())
    assert "etcd ended with status -9" in " ".join(first.said)
    found = first.etcd.txn((), [Get("a")])
    assert isinstance(found, Found)
    assert found.pairs[0][0].created < found.pairs[0][0].modified
    machines.until(lambda: not first.member.trouble)


@needs_etcd
def test_etcd_of_a_killed_agent_is_ended_by_the_next_start(machines: Machines) -> None:
    first = machines.add(1)
    machines.until(first.works)
    orphan = first.member._process._child
    assert orphan is not None
    first.start()  # the first member was not closed: its agent was killed
    assert first.pid != orphan.pid
    assert orphan.wait() == -signal.SIGTERM
    machines.until(first.works)


@pytest.mark.slow
@needs_etcd
def test_learner_whose_machine_never_came_back_is_removed(machines: Machines) -> None:
    first = machines.add(1)
    machines.until(first.works)
    added = first.etcd.call("cluster/member/add", {"peerURLs": ["http://127.0.0.9:1"], "isLearner": True}, dict)
    assert isinstance(added, dict)
    machines.add(2, first)
    machines.add(3, first)
    machines.until(lambda: first.names == {"m1", "m2", "m3"})


@pytest.mark.slow
@needs_etcd
def test_survivor_goes_on_by_command_and_others_join_it_again(machines: Machines) -> None:
    first, second, third = three(machines)
    assert first.works()
    for machine in (second, third):
        lost(machines, machine)
    machines.until(lambda: "larm cluster etcd --alone" in first.member.trouble)
    assert f"m1@{second.site.host}:{second.site.port}, m3@" in first.member.trouble
    first.go_alone()
    machines.until(first.works)
    machines.until(lambda: first.names == {"m2"} and not first.member.trouble)
    found = first.etcd.txn((), [Get("a")])
    assert isinstance(found, Found)
    assert found.pairs[0][0].created < found.pairs[0][0].modified
    machines.add(4, first)
    machines.add(5, first)
    machines.until(lambda: first.names == {"m2", "m4", "m5"})


@pytest.mark.slow
@needs_etcd
def test_removed_machine_sets_its_data_aside_and_joins_again(machines: Machines) -> None:
    first, _, third = three(machines)
    until(lambda: remove_member(first.etcd, "m3") is True)
    machines.until((third.folder / "removed").exists)
    machines.until(lambda: first.names == {"m1", "m2", "m3"})
    assert remove_member(first.etcd, "m9") is False
    until(lambda: remove_member(first.etcd, "m3") is True)
    machines.until(lambda: "twice" in third.member.trouble)
    assert third.works()  # as a client


@needs_etcd
def test_taken_port_is_said(tmp_path: Path) -> None:
    port = two_ports()
    with socket.create_server(("127.0.0.1", port + 1)), pytest.raises(UsageError, match=f"port {port + 1}: Address already"):
        EtcdMember(tmp_path, Site("a", "127.0.0.1", port=port), Etcd([]), now=lambda: 0.0, log=print)


def test_missing_etcd_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(UsageError, match="etcd is not installed: apt-get install etcd-server"):
        EtcdMember(tmp_path, Site("a", "127.0.0.1"), Etcd([]), now=lambda: 0.0, log=print)


@pytest.mark.slow
@needs_etcd
def test_members_with_certificates_trust_their_authority_only(tmp_path: Path) -> None:
    make_authority(tmp_path, NOW)
    files = issue(tmp_path, "m", ("127.0.0.1", "127.0.0.2", "127.0.0.3"), NOW)
    tls = Tls(str(tmp_path / "ca.pem"), str(files), str(files.with_suffix(".key")))
    machines = Machines(tmp_path, tls)
    try:
        first, *_ = three(machines)
        machines.until(first.works)
        stranger = Etcd([first.site.client], Tls(tls.ca))
        assert "it refuses cluster.certificate" in str(stranger.grant(3))
        stranger.close()
    finally:
        machines.close()


@needs_etcd
def test_member_refuses_certificates_that_were_revoked_before_its_start(tmp_path: Path) -> None:
    make_authority(tmp_path, NOW)
    for name in ("m2", "friend", "former"):
        issue(tmp_path, name, ("127.0.0.2",), NOW)
    crl = revoke(tmp_path, "former", NOW)

    def tls(name: str) -> Tls:
        return Tls(str(tmp_path / "ca.pem"), str(tmp_path / f"{name}.pem"), str(tmp_path / f"{name}.key"), str(crl))

    machines = Machines(tmp_path, tls("m2"))
    try:
        first = machines.add(2)
        machines.until(first.works)
        friend, former = (Etcd([first.site.client], tls(name)) for name in ("friend", "former"))
        assert isinstance(friend.txn((), [Get("a")]), Found)
        assert isinstance(former.txn((), [Get("a")]), NoEtcd)
    finally:
        machines.close()

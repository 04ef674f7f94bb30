"""larm cluster without an agent: it reads, commands and repairs clusters in a real etcd."""

from __future__ import annotations

import re
import socket
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

import msgspec
import pytest

from larm.cli import run
from larm.cluster.applicant import Applicant, Mine, SavedSession
from larm.cluster.card import Card, Figures
from larm.cluster.etcd import Delete, Etcd, Found, Get, NoEtcd, Put
from larm.cluster.etcd_process import EtcdProcess, Site
from larm.cluster.files import ETCD, IDENTITY
from larm.cluster.identity import Identity, write_identity
from larm.cluster.keys import Keys
from larm.cluster.roster import Roster, write_roster
from larm.cluster.session import Session
from larm.cluster.terms import same_for_all
from larm.cluster.view_state import Rules
from larm.crawldir.state import QUEUES
from larm.kit.clock import boot_time
from larm.kit.disk.lock import DirectoryLock
from larm.kit.threads.workers import Workers
from tests.cluster.web_of_hosts import free_ports
from tests.support.etcd import RealEtcd, answering, needs_etcd, until

pytestmark = needs_etcd
LEASE = 1.0
KEYS = Keys("demo")


class Agent:
    """The session of an agent whose crawl has this number of pages; `renewing` runs it as its own thread does."""

    def __init__(self, etcd: RealEtcd, name: str, pages: int, agents: int = 1) -> None:
        settings = same_for_all({"cluster.by": b'"host"'})
        applicant = Applicant(name, 1, settings=settings, agents=agents)
        self.session = Session(etcd.client(), KEYS, applicant, SavedSession(), rules=Rules(LEASE, 1.0))
        card = Card(f"{name}:7441", figures=Figures(pages=pages, known=2 * pages, waiting=pages // 2, work={"larm-fetch-1": 7}))
        self.mine = Mine(address=card.address, figures=msgspec.msgpack.encode(card), released=1 << 60)

    def round(self) -> None:
        self.session.unsaved = False
        self.session.round(self.mine, boot_time)

    def joins(self) -> bool:
        self.round()
        return self.session.state.inside

    def works(self) -> bool:
        self.round()
        return self.session.run.state == "running" and self.session.state.settled


@contextmanager
def renewing(*agents: Agent) -> Iterator[None]:
    stop = threading.Event()

    def go_on() -> None:
        while not stop.wait(0.05):
            for agent in agents:
                agent.round()

    threads = Workers(lambda name, error: pytest.fail(f"{name}: {error}"))
    threads.start("agents", go_on)
    try:
        yield
    finally:
        stop.set()
        threads.join(10)


@pytest.fixture
def etcd(tmp_path: Path) -> Iterator[RealEtcd]:
    with RealEtcd(tmp_path) as real:
        yield real


def together(*agents: Agent) -> None:
    until(lambda: sum(agent.works() for agent in agents) == len(agents))


class Office:
    """A machine without an agent."""

    def __init__(self, folder: Path, etcd: Sequence[str], capsys: pytest.CaptureFixture[str]) -> None:
        folder.mkdir()
        (folder / "config.yaml").write_text(f"cluster:\n  lease: {LEASE:g}s\n")
        self.folder, self._etcd, self._capsys = folder, etcd, capsys

    def larm(self, *words: str, status: int = 0) -> str:
        there = [word for url in self._etcd for word in ("--etcd", url)]
        assert run(["cluster", *words, "--dir", str(self.folder), "--cluster", "demo", *there]) == status
        said = self._capsys.readouterr()
        assert "Traceback" not in said.err
        return said.out + said.err


@pytest.fixture
def office(tmp_path: Path, etcd: RealEtcd, capsys: pytest.CaptureFixture[str]) -> Office:
    return Office(tmp_path / "office", etcd.endpoints, capsys)


def adds_up(said: str) -> str:
    """Check that the last line is the sum of the rows; return the states of the agents."""
    rows = [line for line in said.splitlines() if "  weight " in line]
    last = next(line for line in said.splitlines() if re.search(r"\d agents?\b", line))

    def numbers(words: str, lines: list[str]) -> int:
        return sum(int(found.replace(",", "")) for line in lines for found in re.findall(rf"([0-9,]+) {words}", line))

    assert numbers("pages", rows) == numbers("pages,", [last])
    assert numbers("URLs to go", rows) == numbers("URLs to go", [last])
    return " ".join(re.findall(r"weight \S+, (\w+)", said))


def test_status_from_etcd_adds_up_in_each_state(etcd: RealEtcd, office: Office) -> None:
    one, two = Agent(etcd, "one", 1_200, 2), Agent(etcd, "two", 34, 2)
    assert "has no cluster demo" in office.larm("status", status=2)
    until(one.joins)
    said = office.larm("status")
    assert adds_up(said) == "working"
    assert "cluster demo, view 1, gathering\n" in said
    together(one, two)
    one.round()
    said = office.larm("status", "-v", "--host", "a.example")
    assert adds_up(said) == "working working"
    assert "2 agents: 1,234 pages, 617 URLs to go" in said
    assert "fetches: larm-fetch-1 7\n" in said
    assert f"a.example belongs to {one.session.state.owner('a.example')}\n" in said
    assert f"etcd at {etcd.endpoints[0]} answers, at revision " in said
    two.session.stop(two.mine, boot_time)
    assert adds_up(office.larm("status")) == "working stopped"
    until(lambda: adds_up(office.larm("status")) == "silent stopped")
    one.round()
    one.session.stop(one.mine, boot_time)
    assert adds_up(office.larm("status")) == "stopped stopped"


def test_status_after_the_end_has_the_last_figures(etcd: RealEtcd, office: Office) -> None:
    one = Agent(etcd, "one", 50)
    together(one)
    one.mine = one.mine._replace(idle=True)

    def over() -> bool:
        one.round()
        return one.session.run.state == "over"

    until(over)
    one.session.stop(one.mine, boot_time)
    client = etcd.client()
    until(lambda: isinstance(found := client.txn((), [Get(KEYS.agents, prefix=True)]), Found) and not found.pairs[0])
    said = office.larm("status")
    assert ", over\n" in said
    assert adds_up(said) == "stopped"
    assert "1 agent: 50 pages" in said.replace(" (0 of them heard)", "")


def test_status_after_the_end_of_etcd_has_what_the_agent_knew(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    queues = tmp_path / QUEUES
    queues.mkdir()
    gone = f"http://127.0.0.1:{free_ports(1)[0]}"
    write_identity(queues / IDENTITY, Identity("demo", "one", etcd=(gone,)))
    cards = {name: Card(f"{name}:7441", figures=Figures(pages=pages)) for name, pages in (("one", 1_000), ("two", 2))}
    write_roster(queues, Roster("demo", "one", members={"one": 1.0, "two": 1.0}, cards=cards))
    assert run(["cluster", "status", "--dir", str(tmp_path)]) == 0
    said = capsys.readouterr().out
    assert "knew it last (etcd at" in said
    assert adds_up(said) == "stopped stopped"
    assert ": 1,002 pages" in said
    assert run(["cluster", "status", "--dir", str(tmp_path), "--etcd", gone]) == 2


def test_commands_from_elsewhere_reach_the_agents_that_run(etcd: RealEtcd, office: Office) -> None:
    one, two = Agent(etcd, "one", 1, 2), Agent(etcd, "two", 1, 2)
    together(one, two)
    assert "one, two pause\n" in office.larm("pause")
    one.round()
    assert one.session.command.what == "pause"
    assert "frontier.delay is 2s now: one, two take it\n" in office.larm("set", "frontier.delay=2s")
    assert "expected a duration" in office.larm("set", "frontier.delay=x", status=2)
    assert "can't be changed while the crawl runs" in office.larm("set", "fetch.timeout=2s", status=2)
    assert "frontier.delay is 2s for all agents\n" in office.larm("status")
    one.round()
    assert (one.session.command.what, one.session.command.changes) == ("pause", {"frontier.delay": "2s"})
    two.session.stop(two.mine, boot_time)
    one.round()
    assert "one goes on\n" in office.larm("resume")
    one.session.stop(one.mine, boot_time)
    assert "no agent of the cluster demo is running" in office.larm("stop", status=2)


def test_status_says_that_etcd_takes_no_writes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Leases are kept all the same, so each agent looks as if it worked."""
    with RealEtcd(tmp_path, options=["--quota-backend-bytes", "4000000"]) as etcd:
        one, office, client = Agent(etcd, "one", 1), Office(tmp_path / "office", etcd.endpoints, capsys), etcd.client()
        together(one)
        until(lambda: isinstance(client.txn((), [Put("junk", bytes(500_000))]), NoEtcd))
        assert "running; etcd's quota of disk space is used up" in office.larm("status")
        assert "then run 'etcdctl alarm disarm'" in office.larm("pause", status=2)


def test_remove_takes_the_silent_agent_alone(etcd: RealEtcd, office: Office) -> None:
    one, two = Agent(etcd, "one", 1, 2), Agent(etcd, "two", 1, 2)
    together(one, two)
    with renewing(one, two):
        assert "two is running" in office.larm("remove", "two", status=2)
    assert "three is not a member" in office.larm("remove", "three", status=2)
    assert "two is removed: its hosts go to other agents" in office.larm("remove", "two")
    assert "two was removed by the other agents already" in office.larm("remove", "two")
    assert "one is the only member" in office.larm("remove", "one", status=2)


def test_found_again_lets_agents_go_on_when_etcd_has_lost_its_data(etcd: RealEtcd, office: Office) -> None:
    one = Agent(etcd, "one", 1)
    together(one)
    assert "was in no cluster" in office.larm("found", "--again", status=2)
    (office.folder / QUEUES).mkdir()
    write_identity(office.folder / QUEUES / IDENTITY, Identity("demo", "one", session=one.session.saved))
    with renewing(one):
        assert "one is running with this etcd" in office.larm("found", "--again", status=2)
    assert "an agent founds its cluster by itself" in office.larm("found", status=2)
    client = etcd.client()
    assert isinstance(client.txn((), [Delete(KEYS.top, prefix=True)]), Found)
    one.round()
    assert one.session.halted
    assert "is founded again" in office.larm("found", "--again")
    together(one)


@pytest.mark.parametrize("words", [("status",), ("remove", "x"), ("pause",), ("stop",)])
def test_without_etcd_each_command_says_what_to_do(
    words: tuple[str, ...], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    office = Office(tmp_path / "office", [f"http://127.0.0.1:{free_ports(1)[0]}"], capsys)
    assert "nothing listens there; start etcd, or correct" in office.larm(*words, status=2)


def test_a_member_goes_alone_when_two_of_three_are_lost(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    port = two_ports()
    sites = [Site(f"m{number}", f"127.0.0.{number}", f"127.0.0.{number}", port) for number in (1, 2, 3)]
    folders = [tmp_path / site.name for site in sites]
    processes = [EtcdProcess(folder / ETCD, site) for folder, site in zip(folders, sites, strict=True)]
    (folders[0] / QUEUES).mkdir(parents=True)
    identity = Identity("demo", "m1", listen=f"127.0.0.1:{port - 1}", etcd=tuple(site.client for site in sites))
    write_identity(folders[0] / QUEUES / IDENTITY, identity)

    def alone(status: int) -> str:
        assert run(["cluster", "etcd", "--alone", "--dir", str(folders[0])]) == status
        return capsys.readouterr().err

    assert "has no member of etcd" in alone(2)
    try:
        for process in processes:
            process.start("--initial-cluster", ",".join(f"{site.options[1]}={site.peer}" for site in sites))
        answering(Etcd([sites[0].client]))
        written = Etcd([sites[0].client])
        assert isinstance(written.txn((), [Put("a", b"1")]), Found)
        processes[0].end()
        assert "its members have a majority, so none must go alone" in alone(2)
        processes[1].end()
        processes[2].end()
        with DirectoryLock(folders[0]):
            assert "is in use by process" in alone(2)
        assert "is the only one now" in alone(0)
        processes[0].start()
        answering(Etcd([sites[0].client]))
        found = written.txn((), [Get("a")])
        assert isinstance(found, Found)
        assert found.pairs[0][0].value == b"1"
    finally:
        for process in processes:
            process.end()


def two_ports() -> int:
    """Return a port that is free on all addresses of loopback, as is the next one."""
    for port in free_ports(20):
        with suppress(OSError), socket.create_server(("", port + 1)), socket.create_server(("", port)):
            return port
    raise AssertionError("no two neighbouring ports are free")

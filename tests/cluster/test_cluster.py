"""Three agents, each a process, do one crawl: what the servers saw of it."""

from __future__ import annotations

import contextlib
import datetime
import json
import shutil
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from larm.cli.signals import INTERRUPTED
from larm.config.loading import load
from larm.engine.orders import Add, Block, Set
from larm.errors import LarmError, UsageError
from larm.ops.control.client import Control
from larm.ops.control.requests import Agents, AgentTable, All, Checkpoint, Do, Leave, Stop
from larm.ops.why_cluster import explain_in_cluster
from larm.testing.web import SyntheticWeb
from tests.cluster.web_of_hosts import Cluster, build
from tests.support.etcd import RealEtcd, needs_etcd

pytestmark = needs_etcd
DELAY = 0.1


@contextlib.contextmanager
def cluster(folder: Path, hosts: int, pages: int, *settings: str) -> Iterator[tuple[SyntheticWeb, Cluster, set[str]]]:
    with SyntheticWeb() as web, RealEtcd(folder) as etcd:
        expected = build(web, hosts, pages)
        some = Cluster(web, folder, 3, DELAY, *settings, etcd=etcd.endpoints)
        try:
            yield web, some, expected
        finally:
            some.end()
        for host in range(hosts):
            assert web.closest(f"h{host}.localhost") > DELAY * 0.9


def until(web: SyntheticWeb, requests: int) -> None:
    """So many have come in."""
    tick = threading.Event()
    for _ in range(6_000):
        if len(web.log) >= requests:
            return
        tick.wait(0.01)
    raise AssertionError(f"only {len(web.log)} requests")


def test_each_page_once(tmp_path: Path) -> None:
    """Coverage 1, overlap 0, every agent has a part, and the end is found."""
    with cluster(tmp_path, 60, 4) as (web, some, expected):
        for number in range(3):
            some.start(number)
        until(web, 20)
        with Control(some.directory(1)) as agent:
            seen = agent.ask(Agents("h0.localhost"))
        some.wait()
        fetched = web.fetched()
    assert seen.begun
    assert [each.state for each in seen.agents] == ["working"] * 3
    assert seen.owner in {each.name for each in seen.agents}
    assert set(fetched) == expected
    assert set(fetched.values()) == {1}
    shares = [(some.directory(number) / "logs" / "store.log").read_bytes().count(b"\n") for number in range(3)]
    assert sum(shares) == len(expected)
    figures = [json.loads((some.directory(number) / "stats.json").read_bytes())["figures"]["cluster"] for number in range(3)]
    last = max(figures, key=lambda each: each["pages"])  # who ended first knows less of the others
    assert (last["agents"], last["pages"], last["waiting"]) == (3, len(expected), 0)
    assert (last["coverage"], last["overlap"]) == (1.0, 0.0)
    assert 0 < last["sent_per_page"] < 7
    assert min(shares) > len(expected) / 10


def until_fetched(web: SyntheticWeb, pages: int) -> None:
    """So many pages were fetched, each of them at least once."""
    tick = threading.Event()
    for _ in range(6_000):
        if len(web.fetched()) >= pages:
            return
        tick.wait(0.01)
    raise AssertionError(f"only {len(web.fetched())} pages")


@pytest.mark.slow
def test_killed_and_back(tmp_path: Path) -> None:
    """Nothing is missing; what is fetched twice is what one agent had fetched since its last checkpoint."""
    with cluster(tmp_path, 60, 6) as (web, some, expected):
        for number in range(3):
            some.start(number)
        until(web, 150)
        some.kill(1)
        some.start(1)
        some.wait()
        fetched = web.fetched()
    assert set(fetched) == expected
    logs = [set(urls(some.directory(number))) for number in range(3)]
    assert all(len(urls(some.directory(number))) == len(logs[number]) for number in range(3))
    assert sum(map(len, logs)) == len(set().union(*logs)), "each page is at one agent"


@pytest.mark.slow
def test_gone_for_good(tmp_path: Path) -> None:
    """With its disk. The others have all pages in the end."""
    with cluster(tmp_path, 60, 6) as (web, some, expected):
        for number in range(3):
            some.start(number)
        until(web, 150)
        some.kill(1)
        some.wait()
        left = [*urls(some.directory(0)), *urls(some.directory(2))]
    assert {url.partition("//")[2].replace(f":{web.port}", "") for url in left} == expected
    assert len(left) == len(expected), "the others have nothing twice"


HANGING = """
import threading
from larm.filters.chain import MessageFilter


class Hanging(MessageFilter):
    def __init__(self) -> None:
        self.left = 10

    def judge(self, message):
        self.left -= 1
        if self.left < 0:
            threading.Event().wait()
        return None
"""


@pytest.mark.slow
def test_one_that_hangs_gives_its_place_up(tmp_path: Path) -> None:
    """Its handler does, in a step of the gate, which holds up the checkpoint as well. The others do its part of the crawl."""
    with cluster(tmp_path, 30, 4) as (web, some, expected):
        some.directory(1).mkdir()
        (some.directory(1) / "hanging.py").write_text(HANGING)
        (some.directory(1) / "config.yaml").write_text(
            "filters: {order: [known_paths, files, scope, length, visited, robots, traps, 'hanging:Hanging']}\n"
        )
        for number in range(3):
            some.start(number, *(("-s", "monitor.stalled=2s") if number == 1 else ()))
        until_said(some.directory(1), "it gives its place up: larm-handler makes no progress")
        hangs = some.processes.pop(1)
        try:
            some.wait()
        finally:
            hangs.kill()
            hangs.communicate()
        assert set(web.fetched()) == expected


def until_said(directory: Path, text: str) -> None:
    """In the log of this agent."""
    log, tick = directory / "logs" / "agents.log", threading.Event()
    for _ in range(6_000):
        if log.exists() and text in log.read_text():
            return
        tick.wait(0.01)
    raise AssertionError(f"nobody said: {text}; but {log.read_text()}")


@pytest.mark.slow
def test_gone_for_good_when_another_has_its_hosts(tmp_path: Path) -> None:
    """What it had fetched of hosts that it had handed over is nowhere then, so it is fetched again."""
    with cluster(tmp_path, 30, 60) as (web, some, expected):
        some.agents = 2
        some.start(0)
        some.start(1)
        until(web, 200)
        some.start(2)
        until_agents(some.directory(0), lambda table: table.epoch == 3)
        until_has(some.directory(2), 20)
        some.kill(1)
        some.wait()
        left = [*urls(some.directory(0)), *urls(some.directory(2))]
    found = {url.partition("//")[2].replace(f":{web.port}", "") for url in left}
    assert found == expected


@pytest.mark.slow
def test_who_differs_is_refused(tmp_path: Path) -> None:
    """It ends at once, and says what differs."""
    with cluster(tmp_path, 4, 2) as (_, some, _expected):
        some.start(0)
        until_agents(some.directory(0), lambda table: table.epoch == 1)
        other = some.start(1, "--max-depth", "3")
        _, said = other.communicate(timeout=60)
        del some.processes[1]
        assert other.returncode == 2
        assert "other agents have other settings: crawl.max_depth" in said
        with Control(some.directory(0)) as agent:
            assert agent.ask(Agents()).epoch == 1


@pytest.mark.slow
def test_max_pages_of_all_is_exact(tmp_path: Path) -> None:
    """Not one too many is fetched, however many agents there are; and no agent is left waiting."""
    with cluster(tmp_path, 60, 4) as (web, some, expected):
        for number in range(3):
            some.start(number, "--max-pages", "100")
        some.wait()
        assert sum(web.fetched().values()) == 100 < len(expected)
        assert sum(len(urls(some.directory(number))) for number in range(3)) == 100


@pytest.mark.slow
def test_time_is_up_for_all(tmp_path: Path) -> None:
    """Where it is up for one."""
    with cluster(tmp_path, 60, 40) as (web, some, expected):
        for number in range(3):
            some.start(number, *(("--max-time", "15") if number == 1 else ()))
        some.wait()
        assert 0 < len(web.fetched()) < len(expected)
    reasons = [json.loads((some.directory(number) / "stats.json").read_bytes())["finish_reason"] for number in range(3)]
    assert reasons == ["closespider_timeout"] * 3


@pytest.mark.slow
def test_pause_resume_and_stop_of_all(tmp_path: Path) -> None:
    """Told to one of them; the same commands go on."""
    with cluster(tmp_path, 60, 20) as (web, some, expected):
        for number in range(3):
            some.start(number)
        until(web, 30)
        with Control(some.directory(1)) as agent:
            said = agent.ask(All("pause")).says
            assert said.startswith("this agent pauses, and so do ")
        until_agents(some.directory(2), lambda table: {each.state for each in table.agents} == {"paused"})
        until_agents(some.directory(0), lambda table: table.totals is not None and table.totals.paused == 3)
        paused = len(web.fetched())
        assert paused < len(expected)
        with Control(some.directory(2)) as agent:
            agent.ask(All("resume"))
        until_fetched(web, paused + 20)
        with Control(some.directory(0)) as agent:
            agent.ask(All("stop"))
        some.wait(INTERRUPTED)
        assert len(web.fetched()) < len(expected)
        for number in range(3):
            some.start(number)
        some.wait()
        fetched = web.fetched()
    assert set(fetched) == expected
    assert set(fetched.values()) == {1}


@pytest.mark.slow
def test_what_is_asked_of_the_wrong_agent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A URL that is added goes to whoever has its host; a host is blocked by its own agent, which is named."""
    with cluster(tmp_path, 10, 2, "crawl.on_idle=wait") as (web, some, expected):
        for number in range(3):
            some.start(number)
        until_fetched(web, len(expected))
        web.host("new.localhost").page("/", title="new", text="new")
        with Control(some.directory(0)) as agent:
            table = agent.ask(Agents("new.localhost"))
            assert agent.ask(Do(Add((web.url("new.localhost", "/"),)))).says == "1 URL added"
            until_fetched(web, len(expected) + 1)
        owner = Path(next(each.directory for each in table.agents if each.name == table.owner))
        other = next(some.directory(number) for number in range(3) if some.directory(number) != owner)
        with Control(owner) as agent:
            agent.ask(Checkpoint())
        for directory in (owner, other):
            said = subprocess.run(
                [sys.executable, "-m", "larm", "why", "--cluster", "--dir", str(directory), web.url("new.localhost", "/")],
                check=True,
                capture_output=True,
                text=True,
            ).stdout
            assert said.startswith("Fetched"), said
            assert (f"agent {table.owner}" in " ".join(said.split())) == (directory == other)
        monkeypatch.setattr("larm.ops.why_cluster.agent_of", lambda _: "none of this machine")
        verdict, rows = explain_in_cluster(load(None, directory=other), other, web.url("new.localhost", "/"))
        assert verdict.startswith("Fetched")
        assert rows[0] == ("agent", f"{table.owner} at {some.address(int(owner.name[-1]))}, which has this host")
        with Control(other) as agent, pytest.raises(UsageError, match=f"belongs to the agent {table.owner} at"):
            agent.ask(Do(Block("new.localhost")))
        with Control(owner) as agent:
            agent.ask(Do(Block("new.localhost")))
            agent.ask(All("stop"))
        some.wait(INTERRUPTED)
    assert web.url("new.localhost", "/") in urls(owner)


def until_agents(directory: Path, holds: Callable[[AgentTable], bool]) -> None:
    """This agent sees them so."""
    tick = threading.Event()
    table: AgentTable | None = None
    for _ in range(600):
        with contextlib.suppress(LarmError), Control(directory) as agent:
            table = agent.ask(Agents())
        if table is not None and holds(table):
            return
        tick.wait(0.1)
    raise AssertionError(table)


def until_has(directory: Path, pages: int) -> None:
    """It has as many, by its log."""
    log, tick = directory / "logs" / "store.log", threading.Event()
    for _ in range(6_000):
        if log.exists() and len(urls(directory)) >= pages:
            return
        tick.wait(0.01)
    raise AssertionError("it has got no hosts")


def urls(directory: Path) -> list[str]:
    lines = (directory / "logs" / "store.log").read_text(encoding="utf-8").splitlines()
    return [line.split("\t")[1] for line in lines]


@pytest.mark.slow
def test_one_joins_and_one_leaves(tmp_path: Path) -> None:
    """While they crawl: each page is fetched once all the same, and hosts are asked as politely as before."""
    with cluster(tmp_path, 60, 8, "cluster.agents=2") as (web, some, expected):
        some.agents = 2
        some.start(0)
        some.start(1)
        until(web, 100)
        some.start(2)
        until_agents(some.directory(0), lambda table: table.epoch >= 3)
        with Control(some.directory(1)) as agent:
            agent.ask(Leave())
        some.wait()
        fetched = web.fetched()
    assert set(fetched) == expected
    assert {url: times for url, times in fetched.items() if times > 1} == {}
    assert urls(some.directory(2)), "who has joined has hosts"
    assert "view 4" in (some.directory(0) / "logs" / "agents.log").read_text()


@pytest.mark.slow
def test_revisits(tmp_path: Path) -> None:
    """The same commands again: each page is asked for once more, by the agent that has it, and the end is found again.

    So it is where hosts have gone to another agent after the first crawl: their pages are known there.
    """
    with cluster(tmp_path, 30, 4) as (web, some, expected):
        for number in range(3):
            some.start(number)
        some.wait()
        assert asked(web) == dict.fromkeys(expected, 1)
        for number in range(3):
            some.start(number)
        some.wait()
        assert asked(web) == dict.fromkeys(expected, 2)
        some.add()
        for number in range(4):
            some.start(number)
        some.wait()
        assert asked(web) == dict.fromkeys(expected, 3)


def asked(web: SyntheticWeb) -> dict[str, int]:
    """How often each page was asked for, whatever the answer."""
    return Counter(each.key for each in web.log.requests() if each.path != "/robots.txt")


@pytest.mark.slow
def test_with_certificates(tmp_path: Path) -> None:
    """Agents are called as their certificates say. A copied directory, and another agent's directory, are refused."""
    pytest.importorskip("cryptography")
    from larm.cluster.certificates import issue, make_authority

    now, folder = datetime.datetime.now(datetime.UTC), tmp_path / "certificates"
    make_authority(folder, now)
    for name in ("one", "two", "three"):
        issue(folder, name, ("127.0.0.1",), now)

    def files(name: str) -> list[str]:
        certificate = f"cluster.certificate=[{folder / name}.pem, {folder / name}.key]"
        return ["-s", f"cluster.ca={folder / 'ca.pem'}", "-s", certificate]

    with cluster(tmp_path, 20, 4) as (web, some, expected):
        some.agents = 2
        some.start(0, *files("one"), "-s", "crawl.on_idle=wait")
        some.start(1, *files("two"))
        until(web, 20)
        shutil.copytree(some.directory(1), some.directory(2), ignore=shutil.ignore_patterns("lock", "control*"))
        for name, says in (("three", "is for three"), ("two", "another process is the agent two")):
            other = some.start(2, *files(name))
            _, said = other.communicate(timeout=60)
            del some.processes[2]
            assert (other.returncode, says in said) == (2, True), said
        with Control(some.directory(0)) as agent:
            assert [each.name.rpartition("-")[0] for each in agent.ask(Agents()).agents] == ["one", "two"]
            agent.ask(Do(Set("crawl.on_idle", "end")))
        some.wait()
        assert web.fetched() == dict.fromkeys(expected, 1)


@pytest.mark.slow
def test_agent_whose_certificate_is_revoked_ends_and_is_replaced(tmp_path: Path) -> None:
    pytest.importorskip("cryptography")
    from larm.cluster.certificates import issue, make_authority, revoke

    now, folder = datetime.datetime.now(datetime.UTC), tmp_path / "certificates"
    make_authority(folder, now)
    with cluster(tmp_path, 12, 60, f"cluster.ca={folder / 'ca.pem'}") as (web, some, expected):
        some.agents = 2
        for number, name in enumerate(("one", "two")):
            issue(folder, name, ("127.0.0.1",), now)
            some.start(number, "-s", f"cluster.certificate=[{folder / name}.pem, {folder / name}.key]")
        until(web, 60)
        revoke(folder, "two", now)
        _, said = some.processes[1].communicate(timeout=60)
        assert (some.processes.pop(1).returncode, "the certificate of two is revoked: issue it again" in said) == (2, True)
        some.wait()
        assert web.fetched().keys() == expected


@pytest.mark.slow
def test_fresh_forgets_the_cluster(tmp_path: Path) -> None:
    """Else the run would wait for agents that are no more."""
    with cluster(tmp_path, 4, 2) as (web, some, expected):
        for run in (1, 2):
            for number in range(3):
                some.start(number, "--fresh")
                if not number:
                    until_agents(some.directory(0), lambda table: table.epoch == 1)
            some.wait(seconds=30)
            assert web.fetched() == dict.fromkeys(expected, run)


def speaks(lowest: int, highest: int) -> str:
    """The code of a larm with these wire versions."""
    return f"import larm.building.cluster\nlarm.building.cluster.WIRE = ({lowest}, {highest})\n"


@pytest.mark.slow
def test_upgrade_of_one_agent_after_the_other(tmp_path: Path) -> None:
    """In a running crawl: the lower version is spoken until all have the higher one; no page is fetched twice."""
    with cluster(tmp_path, 60, 12) as (web, some, expected):
        for number in range(3):
            some.start(number)
        for number in range(3):
            until(web, 60 * (number + 1))
            with Control(some.directory(number)) as agent:
                agent.ask(Stop())
            stopped = some.processes.pop(number)
            stopped.communicate(timeout=60)
            assert stopped.returncode == INTERRUPTED
            some.start(number, before=speaks(1, 2))
        until_said(some.directory(0), "the agents speak wire version 2")
        other = Cluster(web, tmp_path, 4, DELAY, etcd=some.etcd)
        other.agents = 3
        alone = other.start(3, before=speaks(3, 4))
        _, said = alone.communicate(timeout=60)
        assert (alone.returncode, "the agents speak version 2, and this larm speaks 3 to 4" in said) == (2, True), said
        some.wait()
        assert web.fetched() == dict.fromkeys(expected, 1)

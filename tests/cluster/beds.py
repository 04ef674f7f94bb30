"""Bed: agents and members of etcd on machines of their own (`namespaces.py`), and a web whose log shows what they did.

A test breaks something, waits until all agents have ended, and reads from the log that no page was lost and no host was asked
by two agents. Each process of an agent has its own User-Agent. All methods are called on the test's thread.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

import msgspec

from larm.cluster.etcd import Etcd, Found, Get
from larm.cluster.files import IDENTITY
from larm.cluster.identity import Identity
from larm.cluster.keys import AgentState, Keys, View, unpack
from larm.crawldir.state import QUEUES
from larm.kit.clock import SystemClock
from larm.ops.control.client import Control
from larm.ops.control.requests import Leave
from larm.testing.request_log import Request
from larm.testing.web import SyntheticWeb
from tests.cluster.namespaces import Namespaces
from tests.cluster.web_of_hosts import build
from tests.support.etcd import Member, answering, until

PORT = 7441
_CLIENT, _PEER = 2379, 2380


class Size(NamedTuple):
    """The size of a web, and the times of its agents in seconds."""

    hosts: int
    pages: int
    delay: float
    lease: float
    timeout: float

    @property
    def adoption(self) -> float:
        """Seconds from the loss of an agent until its hosts are asked by others."""
        return self.lease + self.timeout + 2


SMALL = Size(24, 30, 0.4, 3, 3)
FULL = Size(40, 58, 1.0, 20, 30)
"""2,320 pages, with the default lease."""

_LARM = """
from larm.__main__ import main
from larm.cluster.courier import Courier
Courier.__init__.__kwdefaults__["linger"] = 0.1
main()
"""
"""larm, but small batches for other agents wait for less than two seconds."""


class _Status(msgspec.Struct):
    """etcd's answer about one member."""

    header: dict[str, str]
    leader: str = "0"


class Findings(NamedTuple):
    """What the log of the web and the directories say at the end."""

    lost: set[str]
    """Pages that no directory has."""
    shared: list[str]
    """Requests that began while another process had one at the same host."""
    close: list[str]
    """Requests that came sooner than the delay after the one before."""
    again: Counter[str]
    """Pages that were fetched more often than once, and how much more often."""
    requests: int


class Bed:
    """``etcds``: members of etcd; with none, agents run their own."""

    def __init__(self, web: SyntheticWeb, net: Namespaces, folder: Path, size: Size, agents: int, etcds: int) -> None:
        # constant after construction
        self.web, self.net, self.folder, self.size, self.agents = web, net, folder, size, agents
        self.hosts = [f"h{host}.localhost" for host in range(size.hosts)]
        self.etcds = [self._member(agents + number, agents, etcds) for number in range(etcds)]
        self.endpoints = [member.client for member in self.etcds] or [f"http://{net.address(0)}:{PORT + 1}"]
        # changed by the test
        self.processes: dict[int, subprocess.Popen[bytes]] = {}
        self.settings: list[str] = []
        self._starts: Counter[int] = Counter()
        self._clock, self._never = SystemClock(), threading.Event()

    def _member(self, machine: int, first: int, count: int) -> Member:
        url = f"http://{self.net.address(machine)}"
        cluster = ",".join(f"m{each}=http://{self.net.address(each)}:{_PEER}" for each in range(first, first + count))
        client = f"{url}:{_CLIENT}"
        command = [*self.net.inside(machine), "etcd", "--name", f"m{machine}", "--log-level", "error"]
        command += ["--data-dir", str(self.folder / f"m{machine}"), "--initial-cluster", cluster]
        command += ["--listen-client-urls", client, "--advertise-client-urls", client]
        command += ["--listen-peer-urls", f"{url}:{_PEER}", "--initial-advertise-peer-urls", f"{url}:{_PEER}"]
        return Member(f"m{machine}", command, client, self.folder)

    # -- agents

    def directory(self, number: int) -> Path:
        """Return the directory of an agent."""
        return self.folder / f"agent-{number}"

    def name(self, number: int) -> str:
        """Return the name that the agent has in etcd."""
        path = self.directory(number) / QUEUES / IDENTITY
        until(path.exists)
        return msgspec.json.decode(path.read_bytes(), type=Identity).name

    def start(self, number: int, *more: str, etcd: Sequence[str] | None = None, agents: int | None = None) -> None:
        """Start an agent."""
        size, label = self.size, f"{number}.{self._starts[number]}"
        self._starts[number] += 1
        settings = [
            f"agent.contact=mailto:{label}@bed",
            "cluster.insecure=true",
            "processing.processes=0",
            "frontier.per_address=0",  # all servers of the web have the address of loopback
            f"cluster.lease={size.lease:g}s",
            f"fetch.timeout={size.timeout:g}s",
            *(["monitor.tick=1s"] if size.lease < 10 else []),
            *self.settings,
        ]
        command = [
            *(*self.net.inside(number), sys.executable, "-c", _LARM, "crawl", self.web.url(self.hosts[0], "/p0")),
            *("--unrestricted", "--allow-private", "--delay", f"{size.delay:g}", "--dir", str(self.directory(number))),
            *("--no-index", "--cluster", "demo", "--listen", f"{self.net.address(number)}:{PORT}", "-q"),
            *("--agents", str(self.agents if agents is None else agents)),
            *(word for endpoint in (self.endpoints if etcd is None else etcd) for word in ("--etcd", endpoint)),
            *(word for setting in settings for word in ("-s", setting)),
            *more,
        ]
        with open(self.folder / f"agent-{number}.err", "ab") as said:
            self.processes[number] = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=said, stderr=said)

    def start_all(self) -> None:
        """Start all agents."""
        for number in range(self.agents):
            self.start(number)

    def kill(self, number: int, *, disk: bool = False) -> None:
        """Kill an agent at once. ``disk``: its directory is gone, too."""
        process = self.processes.pop(number)
        process.kill()
        process.wait()
        if disk:
            shutil.rmtree(self.directory(number))

    def lose(self, number: int) -> None:
        """Kill all processes of a machine, its etcd included, and delete its disk."""
        for pid in self.net.pids(number):
            os.kill(pid, signal.SIGKILL)
        self.processes.pop(number).wait()
        shutil.rmtree(self.directory(number))

    def hang(self, number: int) -> None:
        """Stop an agent as a machine that sleeps does."""
        self.processes[number].send_signal(signal.SIGSTOP)

    def wake(self, number: int) -> None:
        """Let it go on."""
        self.processes[number].send_signal(signal.SIGCONT)

    def leave(self, number: int) -> None:
        """Have an agent hand its hosts over and end."""
        with Control(self.directory(number)) as agent:
            agent.ask(Leave())

    def cut_from_etcd(self, number: int) -> None:
        """Lose all packets between an agent and etcd."""
        for machine in range(self.agents, self.agents + len(self.etcds)):
            self.net.part(number, machine)

    def heal_etcd(self, number: int) -> None:
        """Undo `cut_from_etcd`."""
        for machine in range(self.agents, self.agents + len(self.etcds)):
            self.net.join(number, machine)

    @contextlib.contextmanager
    def small_disk(self, number: int, size: int) -> Iterator[Callable[[], None]]:
        """Give an agent a disk of this size in bytes. Yield a function that fills it."""
        directory = self.directory(number)
        directory.mkdir()
        subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(directory)], check=True)

        def fill() -> None:
            with contextlib.suppress(OSError), open(directory / "filler", "wb", buffering=0) as filler:
                for block in (1 << 20, 4096):
                    with contextlib.suppress(OSError):
                        while filler.write(bytes(block)):
                            pass

        try:
            yield fill
        except BaseException:
            print(self.story())
            raise
        finally:
            self.close()
            subprocess.run(["umount", "-l", str(directory)], check=True)

    # -- waiting

    def wait(self, seconds: float) -> None:
        """Let time pass: a fault lasts that long."""
        self._never.wait(seconds)

    def until(self, holds: Callable[[], bool], seconds: float = 60) -> None:
        """Wait until that is so."""
        until(holds, seconds)

    def until_requests(self, count: int) -> None:
        """Wait until the web has had this number of requests."""
        self.until(lambda: len(self.web.log) >= count, 200)

    def until_share(self, share: float) -> None:
        """Wait until this share of the pages was requested."""
        self.until_requests(int(share * self.size.hosts * self.size.pages))

    def view(self) -> View:
        """Return the view that etcd has."""
        client, keys = Etcd(self.endpoints), Keys("demo")
        try:
            found = client.txn((), [Get(keys.view)])
        finally:
            client.close()
        return unpack(found.pairs[0][0].value, View) if isinstance(found, Found) and found.pairs[0] else View()

    def change(self, seconds: float, part: str = "") -> str:
        """Wait until etcd's keys change, apart from renewals. Return the names of the changed keys, or nothing in time."""
        client, keys = Etcd(self.endpoints), Keys("demo")
        end, before = self._clock.monotonic() + seconds, None
        try:
            while self._clock.monotonic() < end:
                found = client.txn((), [Get(keys.top, prefix=True)])
                if not isinstance(found, Found):
                    continue
                now = {p.key: _essence(p.key, p.value) for p in found.pairs[0] if "figures/" not in p.key and part in p.key}
                if before is not None and now != before:
                    return " ".join(key for key in {*now, *before} if now.get(key) != before.get(key))
                before = now
                self._never.wait(0.01)
            return ""
        finally:
            client.close()

    def all_vote(self) -> bool:
        """Return True if each endpoint is a full member of etcd."""
        return all(isinstance(self._status(endpoint), _Status) for endpoint in self.endpoints)

    def _status(self, endpoint: str) -> _Status | None:
        client, keys = Etcd([endpoint]), Keys("demo")
        try:
            if not isinstance(client.txn((), [Get(keys.id)]), Found):
                return None
            status = client.call("maintenance/status", {}, _Status)
            return status if isinstance(status, _Status) else None
        finally:
            client.close()

    def until_members(self, *numbers: int) -> None:
        """Wait until etcd's view has these agents and no others."""
        names = {self.name(number) for number in numbers}
        self.until(lambda: set(self.view().members) == names, 4 * self.size.adoption + 20)

    def leader(self) -> Member:
        """Return the member of etcd that leads."""
        for member in self.etcds:
            status = self._status(member.client)
            if status is not None and status.header["member_id"] == status.leader:
                return member
        raise AssertionError("no member leads")

    def end(self, seconds: float = 120) -> Findings:
        """Wait until all agents have ended by themselves, with status 0. Return the findings."""
        end = self._clock.monotonic() + seconds
        for number, process in list(self.processes.items()):
            try:
                process.wait(max(0.1, end - self._clock.monotonic()))
            except subprocess.TimeoutExpired as error:
                raise AssertionError(f"agent {number} does not end\n{self.story()}") from error
            del self.processes[number]
            said = (self.folder / f"agent-{number}.err").read_text()
            assert process.returncode == 0, f"agent {number}: {process.returncode}\n{said}\n{self.story()}"
        return self.findings()

    # -- the log

    def findings(self) -> Findings:
        """Return what the log and the directories say."""
        expected = {f"{host}/p{page}" for host in self.hosts for page in range(self.size.pages)}
        has = set().union(*(self.has(number) for number in range(self.agents + 2)))
        shared, close = [], []
        for host in self.hosts:
            requests = sorted(self.web.log.requests(host), key=lambda request: request.started)
            last: Request | None = None
            for request in requests:
                if last is not None and request.started < last.ended and _label(request) != _label(last):
                    shared.append(_pair(last, request))
                if last is not None and request.started - last.started < 0.9 * self.size.delay:
                    close.append(_pair(last, request))
                last = request if last is None or request.ended >= last.ended else last
        again = Counter({page: times - 1 for page, times in self.web.fetched().items() if times > 1})
        starts = [each.started for each in self.web.log.requests()]
        print(
            f"{len(starts)} requests in {max(starts) - min(starts):.1f} s, end {self.now() - max(starts):.1f} s later:"
            f" {len(expected - has)} lost, {len(shared)} shared, {len(close)} close, {again.total()} again"
        )
        return Findings(expected - has, shared, close, again, len(starts))

    def has(self, number: int) -> set[str]:
        """Return the pages that an agent has on its disk."""
        path = self.directory(number) / "logs" / "store.log"
        if not path.exists():
            return set()
        urls = [urlsplit(line.split(b"\t", 2)[1].decode()) for line in path.read_bytes().splitlines()]
        return {f"{url.hostname}{url.path}" for url in urls}

    def fetched_by(self, *numbers: int, since: float = 0.0) -> Counter[str]:
        """Return the pages whose requests these agents sent, from an instant of the web's clock on."""
        labels = {str(number) for number in numbers}
        requests = [each for each in self.web.log.requests() if _label(each).split(".")[0] in labels]
        return Counter(each.key for each in requests if each.started >= since and each.path != "/robots.txt")

    def busy(self, number: int, path: str) -> list[Request]:
        """Return the requests of an agent for this path that the web has not answered yet."""
        requests = self.web.log.requests()
        return [each for each in requests if each.path == path and not each.status and _label(each).startswith(f"{number}.")]

    def now(self) -> float:
        """Return the time on the web's clock."""
        return self._clock.monotonic()

    def story(self) -> str:
        """Return the ends of all logs, for a person who reads why a test failed."""
        parts = []
        for path in [*sorted(self.folder.glob("agent-*/logs/agents.log")), *sorted(self.folder.glob("agent-*.err"))]:
            parts += [f"--- {path.relative_to(self.folder)}", *path.read_text(errors="replace").splitlines()[-25:]]
        return "\n".join(parts)

    def close(self) -> None:
        """End all processes."""
        for process in self.processes.values():
            process.kill()
            process.wait()
        for machine in range(self.agents):
            for pid in self.net.pids(machine):  # members of etcd beside agents
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
        for member in self.etcds:
            member.kill()


def check(found: Findings, allowed: Iterable[str] | Counter[str] | None = ()) -> None:
    """Fail if a page was lost, a host was asked by two agents, or more pages than these were fetched again; None: any."""
    assert not found.lost, f"{len(found.lost)} pages were lost, such as {sorted(found.lost)[:5]}"
    assert not found.shared, f"{len(found.shared)} times a host was asked by two agents: {found.shared[:3]}"
    assert not found.close, f"{len(found.close)} requests came too soon: {found.close[:5]}"
    if allowed is not None:
        more = found.again - Counter(allowed)
        assert not more, f"{more.total()} pages were fetched again, such as {sorted(more)[:5]}"


@contextlib.contextmanager
def bed(folder: Path, size: Size = SMALL, *, agents: int = 4, etcds: int = 3, spare: int = 0) -> Iterator[Bed]:
    """Make machines and a web; etcd runs. ``spare``: machines without an agent, for later."""
    with Namespaces(agents + etcds + spare) as net, SyntheticWeb() as web:
        build(web, size.hosts, size.pages)
        for host in range(size.hosts):
            web.host(f"h{host}.localhost").delay = 0.05
        made = Bed(web, net, folder, size, agents, etcds)
        for number in [*range(agents), *range(agents + etcds, agents + etcds + spare)]:
            web.listen_too(net.listen(number, web.port))
        try:
            for member in made.etcds:
                member.start()
            for member in made.etcds:
                answering(Etcd([member.client]))
            yield made
        except BaseException:
            print(made.story())
            raise
        finally:
            made.close()


def _label(request: Request) -> str:
    agent = request.headers.get("user-agent", "")
    return agent.partition("mailto:")[2].partition("@")[0]


def _essence(key: str, value: bytes) -> object:
    if "/agents/" not in key:
        return value
    state = unpack(value, AgentState)
    return state.boot, state.released, state.stopped, state.leaving


def _pair(before: Request, after: Request) -> str:
    first, second = (f"{_label(each)} {each.path} {each.started:.3f} to {each.ended:.3f}" for each in (before, after))
    return f"{before.host}: {first}, then {second}"

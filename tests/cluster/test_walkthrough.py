"""The walk-throughs of the manual's chapter on several machines, word by word: each command as it stands there.

Only ports are others, as many tests run at a time, and addresses of machines are those of this one. The sites are local, so
each directory has a config.yaml that allows that.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import textwrap
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

import msgspec
import pytest

from larm.cluster.etcd import Etcd
from larm.cluster.files import ETCD, IDENTITY, ROSTER
from larm.cluster.identity import read_identity
from larm.cluster.roster import Roster, write_roster
from larm.crawldir.state import QUEUES
from larm.testing.web import SyntheticWeb
from tests.cluster.web_of_hosts import build, free_ports
from tests.support.etcd import answering, needs_etcd
from tests.test_docs import MANUAL, section

pytestmark = [needs_etcd, pytest.mark.slow]
HOSTS, PAGES = 12, 3
LOCAL = """
crawl: {private_networks: all}
frontier: {delay: 500ms}
fetch: {timeout: 5s}
agent: {contact: 'mailto:me@example.org'}
serve: {private: true}
"""
SHORT = "cluster: {lease: 3s}\n"
PORT = "7441"


class Terminal:
    """A folder in which commands are typed, and ports and addresses that stand for those of the manual."""

    def __init__(self, folder: Path, instead: dict[str, str]) -> None:
        self.folder = folder
        self._instead = instead
        self.running: list[subprocess.Popen[str]] = []

    def begin(self, command: str) -> subprocess.Popen[str]:
        words = shlex.split(self.local(command))
        words = [sys.executable, "-m", *words] if words[0] == "larm" else words
        process = subprocess.Popen(
            words,
            cwd=self.folder,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=os.environ | {"COLUMNS": "200"},
        )
        self.running.append(process)
        return process

    def run(self, command: str) -> str:
        """Run a command to its end, and return its text."""
        process = self.begin(command)
        out, said = process.communicate(timeout=120)
        assert process.returncode == 0, f"{command}: {said}"
        return out + said

    def refused(self, command: str) -> str:
        """Run a command that ends with the status of a mistake, and return its message."""
        process = self.begin(command)
        out, said = process.communicate(timeout=120)
        assert process.returncode == 2, f"{command}: {out}{said}"
        assert "Traceback" not in said
        return said

    def local(self, text: str) -> str:
        for shown, ours in self._instead.items():
            text = text.replace(shown, ours)
        return text


@contextmanager
def terminals(*folders: Path, instead: dict[str, str]) -> Iterator[list[Terminal]]:
    some = [Terminal(folder, instead) for folder in folders]
    try:
        yield some
    finally:
        for process in [process for each in some for process in each.running]:
            if process.poll() is None:
                process.kill()
            process.communicate()


def commands(title: str) -> list[list[str]]:
    """Return the literal blocks of a section that have commands, by lines."""
    found = re.findall(r"::\n\n((?: {3}.*\n|\n)+)", section(title) + "\n")
    blocks = [re.sub(r"\\\n *", "", textwrap.dedent(block).strip()).splitlines() for block in found]
    return [block for block in blocks if block[0].startswith(("larm ", "etcd "))]


def until(terminal: Terminal, command: str, holds: str) -> str:
    """Ask until the answer has this text."""
    tick = threading.Event()
    said = ""
    for _ in range(300):
        process = terminal.begin(command)
        out, said = process.communicate(timeout=120)
        if holds in out + said:
            return out + said
        tick.wait(0.1)
    raise AssertionError(said)


def test_three_terminals(tmp_path: Path) -> None:
    agents, asking = commands("Three terminals")
    instead, first = ports_of_three()
    with SyntheticWeb() as web, terminals(tmp_path, instead=instead) as (terminal,):
        expected = build(web, HOSTS, PAGES)
        prepared(web, tmp_path, [tmp_path / name for name in ("one", "two", "three")])
        running = [terminal.begin(agents[0] + first), *map(terminal.begin, agents[1:])]
        assert len(running) == 3
        for name in ("one", "two"):
            until(terminal, asking[0].replace("one", name), "3 agents: ")
        assert "this agent pauses, and so do " in terminal.run(asking[1])
        assert "frontier.delay is 2s now: this agent takes it, and so do " in terminal.run(asking[2])
        until(terminal, "larm ctl status --dir three", "frontier.delay = 2s")
        assert "this agent goes on, and so do " in terminal.run(asking[3])
        ended(running, len(expected))
        assert web.fetched() == dict.fromkeys(expected, 1)
        found = terminal.run(asking[4].replace("WORDS", "page -n 100"))
        assert len(re.findall(r"^[0-9]+\. ", found, re.MULTILINE)) == len(expected)
        assert "not answer" not in found
        assert "knew it last (etcd at " in terminal.run(asking[0])


def test_three_machines(tmp_path: Path) -> None:
    """Each has a certificate and a member of etcd. Pages of others are searched by their larm serve."""
    pytest.importorskip("cryptography")
    names = ("one", "two", "three")
    machines = [tmp_path / f"192.0.2.{number}" for number in (1, 2, 3)]
    folders = [machine / "crawl" for machine in machines]
    issuing, running = commands("Three machines")
    (shown,) = re.findall(r"( {3}cluster:\n(?: {5}.*\n)+)", section("Three machines"))
    port = neighbouring_ports()
    servers = free_ports(3)
    instead = {"192.0.2.": "127.0.0.", PORT: str(port), "7442": str(port + 1)}
    with SyntheticWeb() as web, terminals(tmp_path, *folders, instead=instead) as (office, *there):
        expected = build(web, HOSTS, PAGES)
        prepared(web, tmp_path, folders)
        office.run(issuing[0])
        for command in issuing[1:]:  # here all machines connect from the same address, which etcd compares
            office.run(f"{command} --host 127.0.0.1" if "192.0.2.1" not in command else command)
        for number, (name, folder, terminal) in enumerate(zip(names, folders, there, strict=True)):
            for file in ("ca.pem", f"{name}.pem", f"{name}.key"):
                (folder / file).write_bytes((tmp_path / "certificates" / file).read_bytes())
            (folder / "starts.txt").write_bytes((tmp_path / "starts.txt").read_bytes())
            text = textwrap.dedent(shown)
            for there_it_says, it_is in (
                ("[run, 'https://192.0.2.1:7442']", "[run, 'https://192.0.2.1:7442']" if number else "[run]"),
                ("two", name),
                ("192.0.2.2:7070", f"192.0.2.{number + 1}:{servers[number]}"),
                ("192.0.2.2", f"192.0.2.{number + 1}"),
            ):
                assert there_it_says in text
                text = text.replace(there_it_says, it_is)
            (folder / "config.yaml").write_text(LOCAL + terminal.local(text))
            terminal.begin(running[0])
            terminal.begin(running[1].replace("192.0.2.2", f"192.0.2.{number + 1}") + f" --port {servers[number]}")
        for terminal in there:
            until(terminal, "larm cluster status", "3 agents: ")
        assert "this agent pauses, and so do " in there[1].run("larm cluster pause")
        log_says(folders, "etcd has 3 members")
        said = there[1].run("larm cluster status -v --host h0.localhost")
        assert re.search(r"^h0.localhost belongs to (one|two|three)-", said, re.MULTILINE)
        assert re.search(r"^etcd at https://127.0.0.[123]:[0-9]+ answers", said, re.MULTILINE)
        assert "the certificate of two ends on 20" in said
        there[0].run("larm cluster resume")
        ended([terminal.running[0] for terminal in there], len(expected))
        assert web.fetched() == dict.fromkeys(expected, 1)
        queues = folders[0] / QUEUES
        roster = msgspec.json.decode((queues / ROSTER).read_bytes(), type=Roster)
        far = {card: msgspec.structs.replace(roster.cards[card], directory="") for card in roster.cards}
        write_roster(queues, msgspec.structs.replace(roster, cards=far))  # as on another machine: no such folders
        found = there[0].run("larm search page -n 100 --cluster")
        assert len(re.findall(r"^[0-9]+\. ", found, re.MULTILINE)) == len(expected)
        assert all(f"in 127.0.0.{number}:{servers[number - 1]}" in found for number in (2, 3)), found
        assert "crl.pem: copy it" in office.run("larm cluster revoke certificates two")
        office.run(issuing[2])


def test_lost_agent_is_removed(tmp_path: Path) -> None:
    agents, asking = commands("Three terminals")
    ((remove,),) = commands("When a machine is lost")
    instead, first = ports_of_three()
    with SyntheticWeb() as web, terminals(tmp_path, instead=instead) as (terminal,):
        expected = build(web, HOSTS, PAGES)
        prepared(web, tmp_path, [tmp_path / name for name in ("one", "two", "three")], SHORT)
        running = [terminal.begin(agents[0] + first), *map(terminal.begin, agents[1:])]
        until(terminal, asking[0], "3 agents: ")
        terminal.run(asking[1])
        until(terminal, asking[0], "3 paused")
        running[2].kill()
        terminal.run(remove.replace("NAME", name_of(tmp_path / "three")))
        until(terminal, asking[0], "2 agents")
        terminal.run("larm cluster resume --dir one")
        assert "it hands its hosts over" in terminal.run("larm cluster leave --dir two")
        ended(running[:2], len(expected), exactly=False)
        assert web.fetched().keys() == set(expected)


def test_own_etcd_that_loses_its_data(tmp_path: Path) -> None:
    """Status is asked on a machine without an agent; the cluster is founded again where etcd has lost all."""
    ((server, crawl),) = commands("Your own etcd")
    ((status,),) = commands("Monitoring")
    alone, again = (command for (command,) in commands("When etcd is lost"))
    assert "--alone" in alone
    client, peer, agent = free_ports(3)
    server += f" --listen-peer-urls http://127.0.0.1:{peer} --initial-advertise-peer-urls http://127.0.0.1:{peer}"
    server += f" --initial-cluster default=http://127.0.0.1:{peer}"
    instead = {f"127.0.0.1:{shown}": f"127.0.0.1:{client}" for shown in (2379, 7442)}
    crawl += f" --dir one --listen 127.0.0.1:{agent}"
    (tmp_path / "elsewhere").mkdir()
    with SyntheticWeb() as web, terminals(tmp_path, tmp_path / "elsewhere", instead=instead) as (here, elsewhere):
        expected = build(web, HOSTS, PAGES)
        prepared(web, tmp_path, [tmp_path / "one"], SHORT)
        etcd = here.begin(server)
        answering(Etcd([f"http://127.0.0.1:{client}"]))
        ended([here.begin(crawl)], len(expected))
        assert web.fetched() == dict.fromkeys(expected, 1)
        said = elsewhere.run(status)
        assert f": {len(expected)} pages, 0 URLs to go" in said
        assert ", over\n" in said
        etcd.kill()
        etcd.wait()
        assert "nothing listens there; start etcd" in elsewhere.refused(status)
        shutil.rmtree(tmp_path / "etcd-data")
        here.begin(server)
        answering(Etcd([f"http://127.0.0.1:{client}"]))
        assert "etcd went back in time: run" in here.refused(crawl)
        assert "is founded again" in here.run(again)
        ended([here.begin(crawl)], len(expected))


def test_etcd_goes_on_with_one_of_three_members(tmp_path: Path) -> None:
    alone, _ = (command for (command,) in commands("When etcd is lost"))
    port = neighbouring_ports()
    common = "larm crawl @starts.txt --domain --cluster demo --etcd run"
    wanted = [f"{common} --dir one --listen 127.0.0.1:{port}"]
    for number, name in ((2, "two"), (3, "three")):
        wanted.append(f"{common} --etcd http://127.0.0.1:{port + 1} --dir {name} --listen 127.0.0.{number}:{port}")
    folders = [tmp_path / name for name in ("one", "two", "three")]
    with SyntheticWeb() as web, terminals(tmp_path, instead={}) as (terminal,):
        expected = build(web, HOSTS, PAGES)
        prepared(web, tmp_path, folders, SHORT)
        running = [terminal.begin(f"{command} --agents 3") for command in wanted]
        until(terminal, "larm cluster status --dir one", "3 agents: ")
        terminal.run("larm cluster pause --dir one")
        log_says(folders, "etcd has 3 members")
        for process, folder in zip(running[1:], folders[1:], strict=True):
            process.kill()
            os.kill(int((folder / ETCD / "pid").read_text()), signal.SIGKILL)
        log_says(folders[:1], "etcd has no majority")
        assert "is in use by process" in terminal.refused(alone)
        running[0].send_signal(signal.SIGINT)
        running[0].communicate(timeout=60)
        assert "is the only one now" in terminal.run(alone)
        survivor = terminal.begin(f"{wanted[0]} --agents 3")
        until(terminal, "larm cluster resume --dir one", "this agent goes on")
        ended([survivor], len(expected), exactly=False)
        assert web.fetched().keys() == set(expected)


def name_of(directory: Path) -> str:
    """Return the name of the agent of a directory."""
    return read_identity(directory / QUEUES / IDENTITY).name


def ports_of_three() -> tuple[dict[str, str], str]:
    """Return what stands for the addresses of three terminals, and the option that gives the first one its port."""
    port = neighbouring_ports()
    two, three = free_ports(2)
    shown = {PORT: port, "7442": port + 1, "7451": two, "7461": three}
    return {f"127.0.0.1:{old}": f"127.0.0.1:{new}" for old, new in shown.items()}, f" --listen 127.0.0.1:{port}"


def neighbouring_ports() -> int:
    """Return the first of three ports that are free on all addresses of this machine."""
    for port in free_ports(50):
        with suppress(OSError), ExitStack() as opened:
            for number in range(3):
                opened.enter_context(socket.create_server(("", port + number)))
            return port
    raise AssertionError("no three neighbouring ports are free")


def ended(running: list[subprocess.Popen[str]], pages: int, *, exactly: bool = True) -> None:
    """Wait until all end in good order. ``exactly``: the last line of each has this number of pages."""
    for process in running:
        out, said = process.communicate(timeout=120)
        assert process.returncode == 0, out + said
        if exactly:
            assert re.search(f"all agents: {len(running)} agents?.*: {pages} pages", said), said


def log_says(folders: list[Path], text: str) -> None:
    tick = threading.Event()
    for _ in range(600):
        if any(text in (folder / "logs" / "agents.log").read_text() for folder in folders):
            return
        tick.wait(0.1)
    raise AssertionError(text)


def test_commands_of_the_chapter_are_found() -> None:
    """Else the stories above test nothing."""
    assert "Three terminals\n---" in MANUAL
    assert [len(block) for block in commands("Three terminals")] == [3, 5]
    assert [len(block) for block in commands("Three machines")] == [4, 2]
    assert [len(block) for block in commands("Your own etcd")] == [2]
    assert [len(block) for block in commands("When a machine is lost")] == [1]
    assert [len(block) for block in commands("When etcd is lost")] == [1, 1]
    assert [len(block) for block in commands("Monitoring")] == [1]


def prepared(web: SyntheticWeb, folder: Path, directories: list[Path], more: str = "") -> None:
    """Start URLs, and settings for a local web. ``more``: further ones."""
    starts = [web.url(f"h{host}.localhost", "/p0") for host in range(HOSTS)]
    (folder / "starts.txt").write_text("".join(f"{url}\n" for url in starts))
    for directory in directories:
        directory.mkdir(parents=True)
        (directory / "config.yaml").write_text(LOCAL + more)

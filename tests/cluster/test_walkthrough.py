"""The walk-throughs of the manual's chapter on several machines, word by word: each command as it stands there.

Only ports are others, as many tests run at a time, and addresses of machines are those of this one. The sites are local, so
each directory has a config.yaml that allows that.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
import textwrap
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec
import pytest

from larm.cluster.files import ROSTER
from larm.cluster.roster import Roster, write_roster
from larm.crawldir.state import QUEUES
from larm.testing.web import SyntheticWeb
from tests.cluster.web_of_hosts import build, free_ports
from tests.test_docs import MANUAL, section

pytest.importorskip("zenoh")
HOSTS, PAGES = 12, 3
LOCAL = "crawl:\n  private_networks: all\nfrontier:\n  delay: 100ms\nagent:\n  contact: mailto:me@example.org\n"


class Terminal:
    """Where commands are typed: a folder, and ports and addresses that stand for those of the manual."""

    def __init__(self, folder: Path, instead: dict[str, str]) -> None:
        self.folder = folder
        self._instead = instead
        self.running: list[subprocess.Popen[str]] = []

    def begin(self, command: str) -> subprocess.Popen[str]:
        words = shlex.split(self.local(command))
        assert words[0] == "larm"
        words = [sys.executable, "-m", "larm", *words[1:]]
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
        """To its end; what it says."""
        process = self.begin(command)
        out, said = process.communicate(timeout=120)
        assert process.returncode == 0, f"{command}: {said}"
        return out + said

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
    """The literal blocks of a section that have commands, by lines."""
    found = re.findall(r"::\n\n((?: {3}.*\n|\n)+)", section(title) + "\n")
    blocks = [textwrap.dedent(block).strip().splitlines() for block in found]
    return [block for block in blocks if block[0].startswith("larm ")]


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


@pytest.mark.slow
def test_three_terminals(tmp_path: Path) -> None:
    agents, asking = commands("Three terminals")
    ports = free_ports(2)
    listening = {"tcp/127.0.0.1:7441": f"tcp/127.0.0.1:{free_ports(1)[0]}"}
    listening |= {f"tcp/127.0.0.1:{7442 + number}": f"tcp/127.0.0.1:{port}" for number, port in enumerate(ports)}
    first = f" --listen {listening['tcp/127.0.0.1:7441']}"  # the manual's first agent has the port of the settings
    with SyntheticWeb() as web, terminals(tmp_path, instead=listening) as (terminal,):
        expected = build(web, HOSTS, PAGES)
        prepared(web, tmp_path, [tmp_path / name for name in ("one", "two", "three")])
        running = [terminal.begin(agents[0] + first), *map(terminal.begin, agents[1:])]
        assert len(running) == 3
        until(terminal, asking[0], "3 agents: ")
        assert "this agent pauses, and so do " in terminal.run(asking[1])
        assert "this agent goes on, and so do " in terminal.run(asking[2])
        for process in running:
            out, said = process.communicate(timeout=120)
            assert process.returncode == 0, out + said
            assert f"all agents: 3 agents: {len(expected)} pages" in said
        assert web.fetched() == dict.fromkeys(expected, 1)
        found = terminal.run(asking[3].replace("WORDS", "page -n 100"))
        assert sum(f"h{host}.localhost" in found for host in range(HOSTS)) == HOSTS
        assert "not answer" not in found


@pytest.mark.slow
def test_three_machines(tmp_path: Path) -> None:
    """With certificates, each agent in a folder of its own; the others' pages are searched by their larm serve."""
    pytest.importorskip("cryptography")
    names = ("one", "two", "three")
    machines = [tmp_path / f"192.0.2.{number}" for number in (1, 2, 3)]
    folders = [machine / "crawl" for machine in machines]
    issuing, running = commands("Three machines")
    (shown,) = re.findall(r"( {3}cluster:\n(?: {5}.*\n)+)", section("Three machines"))
    agents, servers = free_ports(3), free_ports(3)
    with SyntheticWeb() as web, terminals(tmp_path, *folders, instead={"192.0.2.": "127.0.0."}) as (office, *there):
        expected = build(web, HOSTS, PAGES)
        prepared(web, tmp_path, folders)
        for command in issuing:
            office.run(command)
        for number, (name, folder, terminal) in enumerate(zip(names, folders, there, strict=True)):
            for file in ("ca.pem", f"{name}.pem", f"{name}.key"):
                (folder / file).write_bytes((tmp_path / "certificates" / file).read_bytes())
            (folder / "starts.txt").write_bytes((tmp_path / "starts.txt").read_bytes())
            here = f"127.0.0.{number + 1}"
            text = textwrap.dedent(shown if number else re.sub(r".*seeds: .*\n", "", shown))
            for there_it_says, it_is in (
                ("two", name),
                ("192.0.2.2:7441", f"{here}:{agents[number]}"),
                ("192.0.2.1:7441", f"127.0.0.1:{agents[0]}"),
                ("192.0.2.2:7070", f"{here}:{servers[number]}"),
            ):
                assert there_it_says in shown
                text = text.replace(there_it_says, it_is)
            (folder / "config.yaml").write_text(LOCAL + text)
            terminal.begin(running[0])
            terminal.begin(running[1].replace("192.0.2.2", f"127.0.0.{number + 1}") + f" --port {servers[number]}")
        for terminal in there:
            out, said = terminal.running[0].communicate(timeout=120)
            assert terminal.running[0].returncode == 0, out + said
        assert web.fetched() == dict.fromkeys(expected, 1)
        queues = folders[0] / QUEUES
        roster = msgspec.json.decode((queues / ROSTER).read_bytes(), type=Roster)
        far = {card: msgspec.structs.replace(roster.cards[card], directory="") for card in roster.cards}
        write_roster(queues, msgspec.structs.replace(roster, cards=far))  # as on another machine: no such folders
        found = there[0].run("larm search page -n 100 --cluster")
        assert sum(f"h{host}.localhost" in found for host in range(HOSTS)) == HOSTS
        assert all(f"in 127.0.0.{number}:{servers[number - 1]}" in found for number in (2, 3))


def test_commands_of_the_chapter_are_found() -> None:
    """Else the stories above test nothing."""
    assert "Three terminals\n---" in MANUAL
    assert [len(block) for block in commands("Three terminals")] == [3, 4]
    assert [len(block) for block in commands("Three machines")] == [4, 2]


def prepared(web: SyntheticWeb, folder: Path, directories: list[Path]) -> None:
    """Start URLs, and settings for a local web."""
    starts = [web.url(f"h{host}.localhost", "/p0") for host in range(HOSTS)]
    (folder / "starts.txt").write_text("".join(f"{url}\n" for url in starts))
    for directory in directories:
        directory.mkdir(parents=True)
        (directory / "config.yaml").write_text(LOCAL)

"""Both ends of a transfer are killed again and again, and nothing is lost or doubled."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from random import Random

import pytest

from larm.peers.yacy.hashes import word_hash
from larm.peers.yacy.ring import PARTITIONS
from tests.peers.yacy.killed import PAGES, network


def run_and_kill(folder: Path, lines: int) -> set[tuple[str, str]]:
    """What was acknowledged before it was killed, after so many lines; with 0 it comes to its end."""
    command = [sys.executable, "-m", "tests.peers.yacy.killed", str(folder)]
    acknowledged = set()
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=Path(__file__).parents[3]) as process:
        assert process.stdout is not None
        for number, line in enumerate(process.stdout, 1):
            if number == lines:
                process.kill()
            first, _, digest = line.strip().partition(" ")
            if digest:
                acknowledged.add((first, digest))
    assert process.returncode == (0 if not lines else -9) or lines > number
    return acknowledged


def kept(folder: Path) -> set[tuple[str, str]]:
    """By the peers' addresses."""
    net = network(folder)
    found = set()
    for peer in net.peers:
        rows = peer.node.shelf.headers(0, 100_000)
        names = [(header.author, header.digest) for _, header in rows]
        assert len(names) == len(set(names)), "each is there once"
        found |= {(peer.ip, header.digest.hex()) for header, body in peer.node.shelf.bodies(names) if body}
        peer.node.shelf.close()
    return found


def story(folder: Path, kills: int) -> None:
    random, acknowledged = Random(4), set[tuple[str, str]]()
    for _ in range(kills):
        acknowledged |= run_and_kill(folder, random.randint(2, 12))
        assert acknowledged <= kept(folder), "what was acknowledged is on the disk"
    run_and_kill(folder, 0)
    net = network(folder)
    for peer in net.peers:
        name = word_hash("common")
        references = peer.node.shelf.reader.references([name], range(PARTITIONS), peer.node.now())[name]
        assert sorted(each.url for _, each in references) == sorted(page.hash for page in PAGES)
        assert all(len(peer.node.shelf.reader.pages(page.hash, peer.node.now())) == 1 for page in PAGES)


def test_two_kills(tmp_path: Path) -> None:
    story(tmp_path, 2)


@pytest.mark.slow
@pytest.mark.timeout(1_800)
def test_fifty_kills(tmp_path: Path) -> None:
    story(tmp_path, 50)

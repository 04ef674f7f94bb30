"""A network in one process: real nodes, desks and shelves on a clock of its own; only keys and wires are made up."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from pathlib import Path
from random import Random
from typing import TypeVar

import msgspec

from larm.fetch.http_client import NoAnswer
from larm.peers.channel import Contact
from larm.peers.door import Call, Question, RefusedError
from larm.peers.yacy.desk import Desk
from larm.peers.yacy.greeting import Greeting
from larm.peers.yacy.hashes import own_hash
from larm.peers.yacy.node import Node
from larm.peers.yacy.page import Page
from larm.peers.yacy.profile import Mode, Profile
from larm.peers.yacy.publishing import Publishing, Source
from larm.peers.yacy.seed import Seed
from larm.peers.yacy.shelf import Shelf
from larm.peers.yacy.spreading import Spreading
from larm.peers.yacy.together import Do
from larm.testing.clock import FakeClock
from tests.peers.yacy.keys import FakeKey, fake_verify

A = TypeVar("A", bound=msgspec.Struct)


class Peer:
    """One of them."""

    def __init__(self, net: Net, number: int, path: Path, mode: Mode, network: str, **fields: object) -> None:
        self.net = net
        self.key = FakeKey(number)
        place, port = divmod(number, net.at_an_address)
        self.ip, self.port = f"10.{place >> 16}.{place >> 8 & 255}.{place & 255}", 8090 + port
        self.up = True
        self.reachable = True
        self.lose = 0
        """So many of its answers are lost after it has done what was asked."""
        known = [each.node.hash for each in net.peers]
        profile = Profile(
            hash=own_hash(known, self.key.key, net.random), born=int(net.clock.wall()), network=network, name=f"peer{number}",
            ip=self.ip, port=self.port, mode=mode, young=0.0, kinds=frozenset({"private"}), **fields,  # type: ignore[arg-type]
        )  # fmt: skip
        shelf = Shelf(path, 100_000_000, fake_verify)
        self.node = Node(
            profile, self.key, fake_verify, shelf, asker=Wire(net, self), private_asker=Wire(net, self, "a key for one search"),
            clock=net.clock, random=net.random, together=one_by_one,
        )  # fmt: skip
        self.greeting = Greeting(self.node, self.lists)
        self.spreading = Spreading(self.node, self.greeting)
        self.desk = Desk(self.node, self.greeting)
        self.questions: dict[str, Question] = {each.path: each for each in self.desk.questions}

    def lists(self) -> Collection[Seed]:
        """Of the first peer that is there, as a principal."""
        first = next((each for each in self.net.peers if each.up and each is not self), None)
        return () if first is None else [first.node.seed(), *first.node.membership.seed_list(self.net.clock.wall())]

    def publish(self, *pages: Page, peers: int = 0) -> None:
        publishing = Publishing(
            self.node.shelf, self.node.lock, self.key, words=split,
            stems=lambda page: lambda word: (), is_common=lambda word: word == "the",
        )  # fmt: skip
        self.published = publishing.publish(
            [Source(page.hash, lambda page=page: page) for page in pages], peers or len(self.net.peers), self.net.clock.wall()
        )
        self.spreading.hurry()


class Wire:
    """Implements `larm.peers.channel.Asker`."""

    def __init__(self, net: Net, peer: Peer, key: str = "") -> None:
        self.net, self.peer, self.key = net, peer, key or peer.key.key

    def ask(
        self, contact: Contact, path: str, question: msgspec.Struct, answers: type[A], *, seconds: float, most: int = 1_000_000
    ) -> A | NoAnswer:
        self.net.asked[path] += 1
        other = self.net.at.get(contact.url)
        if other is None or not (other.up and other.reachable) or other.key.key != contact.key:
            return NoAnswer("nobody is there")
        asked = other.questions[path]
        body = msgspec.json.encode(question)
        self.net.longest = max(self.net.longest, len(body))
        try:
            answer = asked.handler(Call(self.key, self.peer.ip), msgspec.json.decode(body, type=asked.asks))
        except RefusedError as error:
            return NoAnswer(f"it refused: {error}", refused=True)
        if other.lose:
            other.lose -= 1
            return NoAnswer("the answer was lost")
        return msgspec.json.decode(msgspec.json.encode(answer), type=answers)


class Net:
    """All of them."""

    def __init__(self, folder: Path | None = None, seed: int = 1, at_an_address: int = 1) -> None:
        self.folder = folder
        self.at_an_address = at_an_address
        self.clock = FakeClock(1_700_000_000.0)
        self.random = Random(seed)
        self.peers: list[Peer] = []
        self.at: dict[str, Peer] = {}
        self.asked: Counter[str] = Counter()
        self.longest = 0

    def add(self, number: int = 1, mode: Mode = Mode.DHT, network: str = "test", **fields: object) -> list[Peer]:
        new = []
        for _ in range(number):
            count = len(self.peers) + 1
            path = Path(":memory:") if self.folder is None else self.folder / f"{count}.db"
            new.append(Peer(self, count, path, mode, network, **fields))
            self.peers.append(new[-1])
            self.at[f"http://{new[-1].ip}:{new[-1].port}"] = new[-1]
        return new

    def run(self, seconds: float, step: float = 30.0) -> None:
        """Let it go on."""
        for _ in range(int(seconds / step)):
            for peer in self.peers:
                if peer.up:
                    peer.greeting.tick()
                    peer.spreading.tick()
            self.clock.advance(step)

    def settle(self, most: float = 3_600.0, step: float = 30.0) -> None:
        """Until everything is where it belongs."""
        for _ in range(int(most / step / 2)):
            self.run(2 * step, step)
            if not any(peer.spreading.waiting for peer in self.peers if peer.up):
                return
        raise AssertionError("it does not come to rest")


def split(text: str) -> list[str]:
    """Words, as far as these tests have any."""
    return text.lower().replace(":", " ").replace("/", " ").split()


def one_by_one(tasks: Collection[Do]) -> None:
    for each in tasks:
        each()

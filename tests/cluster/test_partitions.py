"""Agents as processes on machines of their own (`tests.cluster.namespaces`), whose cables are pulled, that hang and die.

Each story says what the servers saw: no page is lost, no host is asked by two agents at a time or closer than its delay, none
during its back-off; and how often a page may have been fetched twice.
"""

from __future__ import annotations

import contextlib
import itertools
import random
import signal
import threading
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from larm.errors import LarmError
from larm.kit.clock import SystemClock
from larm.ops.control.client import Control
from larm.ops.control.requests import Agents, AgentTable
from larm.testing.replies import Reply
from larm.testing.web import SyntheticWeb
from tests.cluster.namespaces import Namespaces, possible
from tests.cluster.web_of_hosts import Cluster, build

pytest.importorskip("zenoh")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(600),
    pytest.mark.skipif(not possible(), reason="network namespaces need root"),
]

DELAY = 0.5
HOSTS, PAGES = 30, 60
BACK_OFF = 4
CHECKPOINT = 5
"""Seconds between two, by default."""
DEFAULTS = "cluster.lease=3s", "cluster.adopt_after=60s", "monitor.tick=5s"
FENCE = "cluster.minority=fence"
"""Two that are left have no majority; by default each goes on alone, and then both ask the same hosts."""


class Story:
    """Three agents and their web."""

    def __init__(self, web: SyntheticWeb, net: Namespaces, some: Cluster) -> None:
        self.web, self.net, self.some = web, net, some
        self._tick = threading.Event()

    def wait(self, seconds: float) -> None:
        self._tick.wait(seconds)

    def until(self, requests: int) -> None:
        """So many have come in."""
        for _ in range(20_000):
            if len(self.web.log) >= requests:
                return
            self._tick.wait(0.01)
        raise AssertionError(f"only {len(self.web.log)} requests")

    def table(self, number: int) -> AgentTable:
        for _ in range(600):
            with contextlib.suppress(LarmError), Control(self.some.directory(number)) as agent:
                return agent.ask(Agents())
            self._tick.wait(0.1)
        raise AssertionError(f"agent {number} says nothing")

    def until_members(self, members: int, *numbers: int) -> None:
        """Those agents have a view of so many."""
        for number in numbers:
            for _ in range(600):
                inside = [each for each in self.table(number).agents if each.state in ("working", "silent")]
                if len(inside) == members:
                    break
                self._tick.wait(0.1)
            else:
                raise AssertionError(f"never {members}: {self.table(number)}")

    def twice(self, hosts: Sequence[int] = range(HOSTS)) -> int:
        """Pages of these hosts that were fetched once too often, by the servers' logs."""
        return sum(times - 1 for host in hosts for times in self.web.fetched(f"h{host}.localhost").values())

    def had(self, number: int) -> set[str]:
        """Pages that this agent has on its disk: those alone may be fetched again by others when it is given up."""
        log = (self.some.directory(number) / "logs" / "store.log").read_bytes()
        urls = [urlsplit(line.split(b"\t", 2)[1].decode()) for line in log.splitlines()]
        return {f"{url.hostname}{url.path}" for url in urls}

    def lately(self, seconds: float) -> set[str]:
        """Pages that were asked for in the last seconds: those that a kill may lose, as they are in no checkpoint yet."""
        requests = self.web.log.requests()
        now = SystemClock().monotonic()
        return {each.key for each in requests if each.status == 200 and each.ended > now - seconds}

    def beyond(self, again: Counter[str]) -> dict[str, int]:
        """Pages that were fetched more often than once and as often as these may be fetched again."""
        return {page: times for page, times in self.web.fetched().items() if times > 1 + again[page]}

    def not_of(self, number: int) -> list[int]:
        """Hosts of the other agents."""
        with Control(self.some.directory(number)) as agent:
            return [host for host in range(HOSTS) if (told := agent.ask(Agents(f"h{host}.localhost"))).owner != told.me]


@contextlib.contextmanager
def story(
    folder: Path, *settings: str, agents: int = 3, polite: bool = True, delay: float = DELAY, pages: int = PAGES
) -> Iterator[Story]:
    with Namespaces(agents) as net, SyntheticWeb() as web:
        expected = build(web, HOSTS, pages)
        for host in range(0, HOSTS, 3):
            web.host(f"h{host}.localhost").first("/p9", Reply(503, {"Retry-After": str(BACK_OFF)}))
        for number in range(agents):
            web.listen_too(net.listen(number, web.port))
        some = Cluster(web, folder, agents, delay, "cluster.insecure=true", *settings, net=net)
        try:
            for number in range(agents):
                some.start(number)
            yield Story(web, net, some)
        finally:
            some.end()
        assert set(web.fetched()) == expected
        if polite:
            check_politeness(web, delay)


def check_politeness(web: SyntheticWeb, delay: float) -> None:
    for host in range(HOSTS):
        name = f"h{host}.localhost"
        assert web.closest(name) > delay * 0.9, f"{name} was asked after {web.closest(name)} s"
        requests = sorted(web.log.requests(name), key=lambda request: request.started)
        for before, after in itertools.pairwise(requests):
            if before.status == 503:
                assert after.started - before.started > BACK_OFF * 0.9, f"{name} was asked during its back-off"


def test_three_short_partitions(tmp_path: Path) -> None:
    """Of 6 s, shorter than `adopt_after`: nobody adopts anything, and each page is fetched once."""
    with story(tmp_path, "cluster.adopt_after=30s") as told:
        for number in range(3):
            told.until(150 + 400 * number)
            told.net.pull(number)
            told.wait(6)
            told.net.plug(number)
        told.some.wait(seconds=300)
        assert told.twice() == 0


def test_three_long_partitions(tmp_path: Path) -> None:
    """Longer than `adopt_after`: who is cut off stops, and is given up; it hands in what it has, and joins again."""
    with story(tmp_path, "cluster.adopt_after=8s", FENCE) as told:
        again: Counter[str] = Counter()
        for number in range(3):
            told.until(150 + 300 * number)
            told.net.pull(number)
            told.until_members(2, *{0, 1, 2} - {number})
            again.update(told.had(number))
            told.wait(6)
            told.net.plug(number)
            told.until_members(3, 0, 1, 2)
        told.some.wait(seconds=300)
        assert told.beyond(again) == {}


@pytest.mark.timeout(2_400)
def test_partitions_of_90_seconds(tmp_path: Path) -> None:
    """With the times of the default settings: a lease of 3 s, and 60 s until hosts go to others.

    What is fetched again is what the lost agent had, and nothing of hosts that no lost agent had until then.
    """
    with story(tmp_path, *DEFAULTS, FENCE, delay=6, pages=40) as told:
        again: Counter[str] = Counter()
        unconcerned = set(range(HOSTS))
        for number in range(3):
            told.until(100 + 300 * number)
            assert told.twice(sorted(unconcerned)) == 0
            unconcerned &= set(told.not_of(number))
            told.net.pull(number)
            told.wait(60)
            again.update(told.had(number))
            told.wait(30)
            told.net.plug(number)
            told.until_members(3, 0, 1, 2)
        told.some.wait(seconds=1_500)
        assert 0 < told.twice() <= again.total()
        assert told.beyond(again) == {}


def test_two_do_not_reach_each_other(tmp_path: Path) -> None:
    """Both reach the third: nobody is given up, as somebody hears each, and all pages are fetched once."""
    with story(tmp_path, "cluster.adopt_after=8s", FENCE) as told:
        told.until(150)
        told.net.part(0, 2)
        told.wait(20)
        told.net.join(0, 2)
        told.some.wait(seconds=300)
        assert told.twice() == 0


def test_two_that_never_reach_each_other_again(tmp_path: Path) -> None:
    """They talk by way of the third: each sees the other working, what one finds comes to the other, and the end is found."""
    with story(tmp_path, "cluster.adopt_after=8s") as told:
        told.until(150)
        told.net.part(0, 2)
        told.until(600)
        told.wait(8)
        for number in (0, 2):
            assert [each.state for each in told.table(number).agents] == ["working"] * 3
        told.some.wait(seconds=300)
        assert told.twice() == 0


def test_one_is_suspended(tmp_path: Path) -> None:
    """For longer than `adopt_after`: when it goes on it asks nobody, hands in what it has, and joins again."""
    with story(tmp_path, "cluster.adopt_after=8s", FENCE) as told:
        told.until(150)
        process, others = told.some.processes[1], told.not_of(1)
        process.send_signal(signal.SIGSTOP)
        told.until_members(2, 0, 2)
        again = Counter(told.had(1)) + Counter(told.lately(CHECKPOINT + 10))
        told.wait(6)
        process.send_signal(signal.SIGCONT)
        told.until_members(3, 0, 1, 2)
        told.some.wait(seconds=300)
        assert told.twice(others) == 0, "hosts of those that were not concerned"
        assert told.beyond(again) == {}


def test_killed_again_and_again(tmp_path: Path) -> None:
    """20 times, and back after .3 to 15 s, which is less or more than `adopt_after`."""
    chance = random.Random(19)
    with story(tmp_path, "cluster.adopt_after=8s", FENCE) as told:
        for _ in range(20):
            told.wait(chance.uniform(1, 3))
            number = chance.randrange(3)
            told.some.kill(number)
            told.wait(chance.choice([0.3, 1, 3, 15]))
            told.some.start(number)
        told.some.wait(seconds=300)


@pytest.mark.timeout(2_400)
def test_killed_for_up_to_90_seconds(tmp_path: Path) -> None:
    """20 times, with the times of the default settings. A kill costs the pages that no checkpoint has, and where it lasts for
    longer than `adopt_after`, those that the agent had.
    """
    chance = random.Random(90)
    away = [0.3] * 4 + [1.0] * 4 + [3.0] * 4 + [10.0] * 3 + [30.0] * 3 + [90.0] * 2
    chance.shuffle(away)
    with story(tmp_path, *DEFAULTS, FENCE, delay=8, pages=50) as told:
        again: Counter[str] = Counter()
        for seconds in away:
            told.wait(chance.uniform(1, 5))
            number = chance.randrange(3)
            assert told.some.processes[number].poll() is None, "the crawl ended before the last kill"
            told.some.kill(number)
            again.update(told.lately(CHECKPOINT + 3))
            told.wait(seconds)
            if seconds > 60:
                again.update(told.had(number))
            told.some.start(number)
        told.some.wait(seconds=1_500)
        assert told.beyond(again) == {}


def test_two_that_lose_each_other_both_go_on_and_meet_again(tmp_path: Path) -> None:
    """By default. Each crawls everything then; when the cable is in again, one gives way, and they end together."""
    with story(tmp_path, "cluster.adopt_after=8s", agents=2, polite=False) as told:
        told.until(150)
        told.net.pull(1)
        told.until_members(1, 0, 1)
        told.net.plug(1)
        told.until_members(2, 0, 1)
        told.some.wait(seconds=300)

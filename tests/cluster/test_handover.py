"""Hosts go to their new owners whole; the URLs that wait there, where an owner takes no host."""

from __future__ import annotations

from collections.abc import Callable, Container, Sequence

from larm.cluster.handover import Handover, Hands
from larm.errors import UsageError


class FakeMoves:
    """Hosts in memory: frozen ones are still at once."""

    def __init__(self) -> None:
        self.phases: dict[str, str] = {}
        self.forgotten: dict[str, bool] = {}

    def moving(self) -> dict[str, str]:
        return dict(self.phases)

    def phase(self, host: str) -> str:
        return self.phases.get(host, "")

    def freeze(self, *hosts: str) -> None:
        self.phases |= dict.fromkeys(hosts, "still")

    def thaw(self, host: str) -> None:
        del self.phases[host]

    def parts(self, host: str) -> Sequence[bytes]:
        if self.phases.get(host) != "still":
            raise UsageError(host)
        return iter([host.encode()])  # type: ignore[return-value]

    def forget(self, *hosts: str, passes_on: bool = False) -> None:
        for host in hosts:
            del self.phases[host]
            self.forgotten[host] = passes_on


class Giver:
    """The agent a, whose hosts are b's now."""

    def __init__(self, answer: Callable[[Sequence[bytes]], Container[str] | None]) -> None:
        self.now = 0.0
        self.moves = FakeMoves()
        self.said: list[str] = []
        self.sent = 0
        self._answer = answer
        hosts = [f"h{number}" for number in range(3)]
        hands = Hands(
            owner=lambda _: "b",
            hosts=lambda: [host for host in hosts if host not in self.moves.forgotten],
            send=self._send,
            checkpoints=lambda: int(self.now),
            hurry=lambda: None,
            now=lambda: self.now,
            log=self.said.append,
            patience=60.0,
        )
        self.handover = Handover("a", self.moves, hands)  # type: ignore[arg-type]

    def _send(self, to: str, parts: Sequence[bytes], told: Callable[[Container[str] | None], object]) -> None:
        assert to == "b"
        self.sent += 1
        told(self._answer(parts))

    def run(self, seconds: int) -> bool:
        """Until nothing is left, or so long."""
        for _ in range(seconds):
            if self.handover.step(2):
                return True
            self.now += 1.0
        return False


def test_agent_that_takes_hosts_gets_them_whole() -> None:
    giver = Giver(lambda _: set())
    assert giver.run(20)
    assert giver.moves.forgotten == dict.fromkeys(["h0", "h1", "h2"], False)
    assert giver.said == []


def test_agent_that_refuses_hosts_for_long_gets_their_urls() -> None:
    """Asked some times a minute; then it is over, and said."""
    giver = Giver(lambda parts: {part.decode() for part in parts})
    assert not giver.run(50)
    assert giver.moves.forgotten == {}
    assert giver.run(30)
    assert giver.moves.forgotten == dict.fromkeys(["h0", "h1", "h2"], True)
    assert giver.sent < 45
    assert len(giver.said) == 1
    assert "b has taken no host for 6" in giver.said[0]


def test_agent_that_answers_nothing_gets_urls_as_well() -> None:
    giver = Giver(lambda _: None)
    assert giver.run(80)
    assert giver.moves.forgotten == dict.fromkeys(["h0", "h1", "h2"], True)
    assert len(giver.said) == 1

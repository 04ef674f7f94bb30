"""What a bus does, the real one and that of the tests: a question reaches who listens, and the answer comes back."""

from __future__ import annotations

import datetime
import queue
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from larm.cluster.bus import Bus, Question
from larm.errors import ConfigError
from tests.cluster.web_of_hosts import free_ports
from tests.support.local_bus import Hub, LocalBus

Maker = Callable[[int], tuple[str, Bus]]


@pytest.fixture(params=["local", "zenoh"])
def make(request: pytest.FixtureRequest) -> Iterator[Maker]:
    """Makes the bus of an agent, by its number."""
    buses: list[Bus] = []
    hub, ports = Hub(), free_ports(2)

    def one(number: int) -> tuple[str, Bus]:
        if request.param == "local":
            address, bus = str(number), LocalBus(hub, str(number))
        else:
            pytest.importorskip("zenoh")
            from larm.cluster.zenoh_bus import ZenohBus

            address = f"tcp/127.0.0.1:{ports[number]}"
            bus = ZenohBus("test", address, 1.0)
        buses.append(bus)
        return address, bus

    yield one
    for bus in buses:
        bus.close()


def ask(bus: Bus, address: str, text: bytes) -> bytes | None:
    answers: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
    bus.ask(address, "beat", text, 5.0, answers.put)
    return answers.get(timeout=30)


def ask_until(bus: Bus, address: str, text: bytes) -> bytes | None:
    """The link may still be on its way."""
    for _ in range(2_000):
        found = ask(bus, address, text)
        if found is not None:
            return found
    return None


def test_an_address_that_is_none_gives_no_answer(make: Maker) -> None:
    """Other agents tell us addresses, and nobody has looked at them."""
    _, asks = make(0)
    for address in ("", "garbage", "tcp/127.0.0.1:99999", "udp/127.0.0.1:9"):
        assert ask(asks, address, b"hello") is None


def test_questions_are_answered(make: Maker) -> None:
    _, asks = make(0)
    address, answers = make(1)
    assert ask(asks, address, b"before") is None, "nobody listens yet"
    answers.open(lambda question: question.answer(question.kind.encode() + b" " + question.payload))
    assert ask_until(asks, address, b"hello") == b"beat hello"
    large = bytes(500_000)
    assert ask(asks, address, large) == b"beat " + large


def test_who_says_nothing_ends_the_question(make: Maker) -> None:
    def nothing(question: Question) -> None:
        question.answer(b"" if question.payload == b"there?" else None)

    _, asks = make(0)
    address, answers = make(1)
    answers.open(nothing)
    assert ask_until(asks, address, b"there?") == b""
    assert ask(asks, address, b"x") is None


def test_the_world_is_not_listened_to_without_tls() -> None:
    pytest.importorskip("zenoh")
    from larm.cluster.zenoh_bus import ZenohBus, is_loopback

    with pytest.raises(ConfigError, match="without TLS"):
        ZenohBus("test", "tcp/0.0.0.0:7441", 1.0)
    assert is_loopback("tcp/[::1]:7441")
    assert is_loopback("tcp/localhost:1")
    assert not is_loopback("tcp/10.0.0.1:7441")


def test_only_who_has_a_certificate_of_the_cluster_is_heard(tmp_path: Path) -> None:
    """Plain TCP, and a certificate of another authority, get no answer; an agent of the cluster does."""
    pytest.importorskip("zenoh")
    from larm.cluster.certificates import issue, make_authority
    from larm.cluster.zenoh_bus import Tls, ZenohBus

    now = datetime.datetime.now(datetime.UTC)

    def tls(folder: str, name: str) -> Tls:
        place = tmp_path / folder
        if not place.exists():
            make_authority(place, now)
        certificate = issue(place, name, ("127.0.0.1",), now)
        assert certificate.with_suffix(".key").stat().st_mode & 0o077 == 0
        return Tls(place / "ca.pem", certificate, certificate.with_suffix(".key"))

    ports = free_ports(4)
    address = f"tls/127.0.0.1:{ports[0]}"
    answers = ZenohBus("test", address, 1.0, tls("ours", "one"))
    asks = ZenohBus("test", f"tls/127.0.0.1:{ports[1]}", 1.0, tls("ours", "two"))
    foreign = ZenohBus("test", f"tls/127.0.0.1:{ports[2]}", 1.0, tls("theirs", "two"))
    plain = ZenohBus("test", f"tcp/127.0.0.1:{ports[3]}", 1.0)
    heard: list[bytes] = []

    def note(question: Question) -> None:
        heard.append(question.payload)
        question.answer(b"yes")

    try:
        answers.open(note)
        assert ask(foreign, address, b"foreign") is None
        assert ask(plain, address.replace("tls", "tcp"), b"plain") is None
        assert ask_until(asks, address, b"ours") == b"yes"
        assert ask(foreign, address, b"foreign") is None
        assert ask(plain, address.replace("tls", "tcp"), b"plain") is None
        assert set(heard) == {b"ours"}
    finally:
        for bus in (answers, asks, foreign, plain):
            bus.close()


def test_sessions_to_addresses_without_end_are_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Agents say where they are, and may say so anew each second: each address takes a session of 9 MB."""
    pytest.importorskip("zenoh")
    from larm.cluster import zenoh_bus

    monkeypatch.setattr(zenoh_bus, "_SESSIONS", 3)
    ports = free_ports(8)
    bus = zenoh_bus.ZenohBus("test", f"tcp/127.0.0.1:{ports[0]}", 1.0)
    try:
        for port in ports[1:]:
            assert ask(bus, f"tcp/127.0.0.1:{port}", b"hello") is None
        assert [address.rpartition(":")[2] for address in bus._dialled] == [str(port) for port in ports[-3:]]
        monkeypatch.setattr(zenoh_bus, "_IDLE", -1.0)
        assert ask(bus, f"tcp/127.0.0.1:{ports[1]}", b"hello") is None
        assert len(bus._dialled) == 1
    finally:
        bus.close()

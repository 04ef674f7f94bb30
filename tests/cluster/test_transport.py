"""AgentServer and AgentClient over real sockets: answers, refusals, and the sentences that both sides log."""

from __future__ import annotations

import datetime
import queue
import shutil
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

import msgspec
import pytest
from cryptography import x509

from larm.cluster.address import Address, parse_address
from larm.cluster.agent_client import AgentClient
from larm.cluster.agent_server import AgentServer
from larm.cluster.certificates import REVOKED, issue, make_authority, revoke
from larm.cluster.credentials import Credentials
from larm.cluster.transport import LARGEST, Asked, Complaints, NoAnswer, Origin, Refusal
from larm.errors import ConfigError, UsageError
from larm.kit import http_listener
from larm.kit.threads.workers import Workers

NOW = datetime.datetime.now(datetime.UTC)
LONG_AGO = NOW - datetime.timedelta(days=365 * 11)
AHEAD = NOW + datetime.timedelta(days=30)
HERE = Address("127.0.0.1", 0)
ONE, TWO = Origin("c0ffee", 1, 7, "one-a1", 11), Origin("c0ffee", 1, 7, "two-b2", 22)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("certificates")
    make_authority(made, NOW)
    for name in ("one", "two"):
        issue(made, name, ("127.0.0.1",), NOW)
    make_authority(made / "other", NOW)
    issue(made / "other", "two", (), NOW)
    return made


def credentials(folder: Path, name: str, crl: Path | None = None, **more: object) -> Credentials:
    return Credentials(folder / "ca.pem", folder / f"{name}.pem", folder / f"{name}.key", crl, **more)  # type: ignore[arg-type]


def stranger(folder: Path, authority: Path) -> Credentials:
    """Return credentials of another authority, which trust that of the cluster."""
    made = object.__new__(Credentials)
    shutil.copy(authority / "ca.pem", folder / "trusted.pem")
    made.__dict__.update(credentials(folder, "two").__dict__)
    made._files = (folder / "trusted.pem", folder / "two.pem", folder / "two.key")
    made._stamp = []
    return made


@pytest.fixture
def revoking(folder: Path, tmp_path: Path) -> Path:
    """Return a copy of the folder, with a list of revoked certificates that has another one."""
    made = tmp_path / "revoking"
    shutil.copytree(folder, made)
    issue(made, "former", (), NOW)
    revoke(made, "former", NOW)
    return made


def has_ipv6() -> bool:
    try:
        socket.create_server(("::1", 0), family=socket.AF_INET6).close()
    except OSError:
        return False
    return True


class Pair(NamedTuple):
    """An agent that asks and one that answers."""

    ask: Callable[..., bytes | NoAnswer]
    client: AgentClient
    server: AgentServer
    heard: queue.SimpleQueue[str]
    """Lines of the server's log."""
    said: queue.SimpleQueue[str]
    """Lines of the client's log."""
    asked: list[Asked]


@contextmanager
def pair(
    of_one: Credentials | None = None,
    of_two: Credentials | None = None,
    answer: Callable[[Asked], bytes | Refusal] = lambda asked: asked.body[::-1],
    sender: Origin = TWO,
    listen: Address = HERE,
) -> Iterator[Pair]:
    """``one`` answers, ``two`` asks."""
    deaths: list[str] = []
    workers = Workers(lambda name, error: deaths.append(f"{name}: {error!r}"))
    heard: queue.SimpleQueue[str] = queue.SimpleQueue()
    said: queue.SimpleQueue[str] = queue.SimpleQueue()
    asked: list[Asked] = []

    def answered(question: Asked) -> bytes | Refusal:
        asked.append(question)
        return answer(question)

    server = AgentServer(listen, lambda: ONE, answered, heard.put, of_one)
    client = AgentClient(lambda: sender, said.put, of_two)
    server.start(workers)
    client.start(workers)

    def ask(body: bytes = b"abc", name: str = "one-a1", address: str = str(server.address)) -> bytes | NoAnswer:
        answers: queue.SimpleQueue[bytes | NoAnswer] = queue.SimpleQueue()
        client.ask(name, address, "urls", body, 10.0, answers.put)
        return answers.get(timeout=15)

    try:
        yield Pair(ask, client, server, heard, said, asked)
    finally:
        client.close()
        server.close(0.0)
        assert not workers.join(5.0)
        assert not deaths


def refused(outcome: bytes | NoAnswer) -> NoAnswer:
    assert isinstance(outcome, NoAnswer), outcome
    return outcome


def test_addresses_have_a_port_and_brackets() -> None:
    assert parse_address("192.0.2.7") == Address("192.0.2.7", 7441)
    assert parse_address("[2001:db8::7]:99") == Address("2001:db8::7", 99)
    for text in ("a:7", "[2001:db8::7]:99", "192.0.2.7:7441"):
        assert str(parse_address(text)) == text
    assert parse_address("[::1]").is_loopback
    assert not parse_address("192.0.2.7").is_loopback
    for wrong in ("", ":7", "a:", "a:x", "a:70000", "tcp/a:7", "a b:7", "u@a:7", "a:7/b", "0.0.0.0:7", "2001:db8::7"):
        with pytest.raises(ValueError, match="expected"):
            parse_address(wrong)


def test_plain_request_is_answered_with_its_origin() -> None:
    with pair() as both:
        assert both.ask(b"\x00abc") == b"cba\x00"
        assert both.asked == [Asked("urls", TWO, b"\x00abc")]


def test_certified_request_is_answered(folder: Path) -> None:
    with pair(credentials(folder, "one"), credentials(folder, "two")) as both:
        large = bytes(range(256)) * 40_000
        assert both.ask(large) == large[::-1]
        assert both.ask(b"x") == b"x"
        assert both.heard.empty()
        assert both.said.empty()


def test_plain_listener_is_for_this_machine_only(folder: Path) -> None:
    with pytest.raises(ConfigError, match="insecure"):
        AgentServer(Address("192.0.2.7", 0), lambda: ONE, lambda _: b"", print)


def test_server_that_was_never_started_frees_its_port() -> None:
    server = AgentServer(HERE, lambda: ONE, lambda _: b"", print)
    server.close()
    again = AgentServer(server.address, lambda: ONE, lambda _: b"", print)
    again.close()


@pytest.mark.skipif(not has_ipv6(), reason="no IPv6 on this machine")
def test_ipv6_request_is_answered(folder: Path) -> None:
    for of_one, of_two in ((None, None), (credentials(folder, "one"), credentials(folder, "two"))):
        with pair(of_one, of_two, listen=Address("::1", 0)) as both:
            assert both.ask() == b"cba"
            assert str(both.server.address).startswith("[::1]:")


def test_taken_port_is_a_config_error() -> None:
    with pair() as both, pytest.raises(ConfigError, match="another process"):
        AgentServer(both.server.address, lambda: ONE, lambda _: b"", print)


@pytest.mark.parametrize(
    ("code", "change"),
    [
        ("cluster", {"cluster": "other"}),
        ("generation", {"generation": 2}),
        ("wire", {"wire": 2}),
        ("name", {"sender": "one-a1"}),
    ],
)
def test_other_origin_is_refused_and_logged_once_on_both_sides(folder: Path, code: str, change: dict[str, object]) -> None:
    sender = msgspec.structs.replace(TWO, **change)
    with pair(credentials(folder, "one"), credentials(folder, "two"), sender=sender) as both:
        assert refused(both.ask()).code == code
        assert refused(both.ask()).unsent
        assert not both.asked
        assert both.heard.get(timeout=5).startswith(f"refused {sender.sender} at 127.0.0.1: ")
        assert both.said.get(timeout=5).startswith("no answer from one-a1: it refuses this agent: ")
        assert both.heard.empty()
        assert both.said.empty()


def test_request_for_another_directory_at_the_same_address_is_refused(folder: Path) -> None:
    with pair(credentials(folder, "one"), credentials(folder, "two")) as both:
        assert refused(both.ask(name="one-b2")).code == "agent"
        assert not both.asked
        assert both.ask() == b"cba"


def test_refusal_of_the_agent_itself_keeps_its_code() -> None:
    with pair(answer=lambda _: Refusal("view", "read etcd first")) as both:
        assert refused(both.ask()).code == "view"


def test_malformed_body_is_refused() -> None:
    with pair(answer=lambda asked: msgspec.msgpack.decode(asked.body, type=list[str])) as both:  # type: ignore[arg-type,return-value]
        assert refused(both.ask(b"\xc1")).code == "garbage"
        assert "malformed" in both.heard.get(timeout=5)


def test_foreign_authority_is_named_on_both_sides(folder: Path) -> None:
    with pair(credentials(folder, "one"), stranger(folder / "other", folder)) as both:
        outcome = refused(both.ask())
        assert outcome.code == "authority"
        assert "not of the authority" in outcome.reason
        assert "not of the authority" in both.heard.get(timeout=5)


def test_foreign_server_is_named_on_both_sides(folder: Path) -> None:
    with pair(credentials(folder, "one"), credentials(folder / "other", "two")) as both:
        assert "not of the authority" in refused(both.ask()).reason
        assert "not of the authority" in both.heard.get(timeout=5)


def test_plain_client_and_certified_server_are_told(folder: Path) -> None:
    with pair(credentials(folder, "one"), None) as both:
        assert "uses TLS" in refused(both.ask()).reason
        assert "plain HTTP" in both.heard.get(timeout=5)


def test_certified_client_and_plain_server_are_told(folder: Path) -> None:
    with pair(None, credentials(folder, "two")) as both:
        assert "plain HTTP" in refused(both.ask()).reason
        assert "uses TLS" in both.heard.get(timeout=5)


@pytest.mark.parametrize(("when", "code", "word"), [(LONG_AGO, "expired", "expired"), (AHEAD, "clock", "clocks")])
def test_certificate_out_of_its_time_is_named_on_both_sides(
    folder: Path, tmp_path: Path, when: datetime.datetime, code: str, word: str
) -> None:
    for name in ("ca.pem", "ca.key"):
        shutil.copy(folder / name, tmp_path)
    issue(tmp_path, "two", (), NOW)
    theirs = credentials(tmp_path, "two")
    for name in ("two.pem", "two.key"):
        (tmp_path / name).unlink()
    issue(tmp_path, "two", (), when)
    with pair(credentials(folder, "one"), theirs) as both:
        outcome = refused(both.ask())
        assert (outcome.code, outcome.unsent) == (code, True)
        assert word in outcome.reason
        assert word in both.heard.get(timeout=5)


def test_revoked_client_is_named_on_both_sides_once_the_list_changes(revoking: Path) -> None:
    with pair(credentials(revoking, "one", revoking / REVOKED), credentials(revoking, "two")) as both:
        assert both.ask() == b"cba"
    with pair(credentials(revoking, "one", revoking / REVOKED), credentials(revoking, "two")) as both:
        revoke(revoking, "two", NOW)
        outcome = refused(both.ask())
        assert outcome.code == "revoked"
        assert "revoked" in both.heard.get(timeout=5)


def test_first_revocation_counts_without_a_restart(revoking: Path) -> None:
    (revoking / REVOKED).unlink()
    with pair(credentials(revoking, "one", revoking / REVOKED), credentials(revoking, "two", revoking / REVOKED)) as both:
        revoke(revoking, "two", NOW)
        assert refused(both.ask()).code == "revoked"


def test_revocations_add_up(revoking: Path) -> None:
    revoke(revoking, "two", NOW)
    assert len(list(x509.load_pem_x509_crl((revoking / REVOKED).read_bytes()))) == 2
    with pytest.raises(UsageError, match="no such certificate"):
        revoke(revoking, "three", NOW)


def test_revocation_counts_once_a_kept_connection_is_replaced(revoking: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http_listener, "_LIFETIME", -1.0)
    with pair(credentials(revoking, "one", revoking / REVOKED), credentials(revoking, "two")) as both:
        assert both.ask() == b"cba"
        revoke(revoking, "two", NOW)
        assert refused(both.ask()).code == "revoked"


def test_connection_is_kept_between_requests(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    of_one, begun = credentials(folder, "one"), []
    context = of_one.server_context()
    monkeypatch.setattr(of_one, "server_context", lambda: begun.append(1) or context)
    with pair(of_one, credentials(folder, "two")) as both:
        for _ in range(3):
            assert both.ask() == b"cba"
        assert len(begun) == 1


def test_revoked_server_is_refused_although_it_was_known(revoking: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http_listener, "_LIFETIME", -1.0)
    with pair(credentials(revoking, "one"), credentials(revoking, "two", revoking / REVOKED)) as both:
        assert both.ask() == b"cba"
        revoke(revoking, "one", NOW)
        assert refused(both.ask()).code == "revoked"


def test_missing_certificate_is_named_on_both_sides(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    of_two = credentials(folder, "two")
    without = of_two.client_tls()._replace(certificate=b"", key=b"")
    monkeypatch.setattr(of_two, "client_tls", lambda: without)
    with pair(credentials(folder, "one"), of_two) as both:
        assert "wants a certificate" in refused(both.ask()).reason
        assert "has no certificate" in both.heard.get(timeout=5)


def test_silent_strangers_delay_no_agent(folder: Path) -> None:
    with pair(credentials(folder, "one"), credentials(folder, "two")) as both:
        strangers = [socket.create_connection(both.server.address) for _ in range(20)]
        for each in strangers:
            each.sendall(b"\x16\x03")
        assert both.ask() == b"cba"
        for each in strangers:
            each.close()


def test_certificate_is_invalid_once_the_list_has_it(revoking: Path) -> None:
    of_two = credentials(revoking, "two", revoking / REVOKED)
    assert of_two.invalid() == ""
    revoke(revoking, "two", NOW)
    assert of_two.invalid().startswith("the certificate of two is revoked: issue it again with larm cluster issue")
    of_two.ends = NOW - datetime.timedelta(days=1)
    of_two._revoked = False
    assert of_two.invalid().startswith("the certificate of two has expired: issue it again")


def test_revoked_server_is_named_on_both_sides(revoking: Path) -> None:
    revoke(revoking, "one", NOW)
    with pair(credentials(revoking, "one"), credentials(revoking, "two", revoking / REVOKED)) as both:
        assert refused(both.ask()).code == "revoked"
        assert "refused the connection" in both.heard.get(timeout=5)


def test_agents_outside_members_are_refused_both_ways(folder: Path) -> None:
    with pair(credentials(folder, "one", members=("three",)), credentials(folder, "two")) as both:
        assert refused(both.ask()).code == "members"
        assert "cluster.members" in both.heard.get(timeout=5)
    with pair(credentials(folder, "one"), credentials(folder, "two", members=("three",))) as both:
        assert refused(both.ask()).code == "members"
        assert not both.asked


def test_another_agent_at_the_address_is_refused(folder: Path) -> None:
    with pair(credentials(folder, "one"), credentials(folder, "two")) as both:
        outcome = refused(both.ask(name="two-c3"))
        assert (outcome.code, outcome.unsent) == ("name", True)


def test_foreign_or_expired_certificate_is_a_config_error(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="not of the authority"):
        Credentials(folder / "ca.pem", folder / "other" / "two.pem", folder / "other" / "two.key")
    with pytest.raises(ConfigError, match="can't be used"):
        Credentials(folder / "ca.pem", folder / "one.pem", folder / "two.key")
    for name in ("ca.pem", "ca.key"):
        shutil.copy(folder / name, tmp_path)
    issue(tmp_path, "two", (), LONG_AGO)
    with pytest.raises(ConfigError, match="expired"):
        credentials(tmp_path, "two")


def test_unreadable_change_keeps_the_former_files(folder: Path, tmp_path: Path) -> None:
    for name in ("ca.pem", "one.pem", "one.key"):
        shutil.copy(folder / name, tmp_path)
    log: list[str] = []
    made = credentials(tmp_path, "one", log=log.append)
    former = made.server_context()
    (tmp_path / "one.pem").write_text("half")
    assert made.server_context() is former
    assert len(log) == 1
    shutil.copy(folder / "one.pem", tmp_path)
    assert made.server_context() is not former


def test_nothing_listens_is_silence_without_a_request() -> None:
    with pair() as both, socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        outcome = refused(both.ask(address=f"127.0.0.1:{bound.getsockname()[1]}"))
        assert (outcome.code, outcome.unsent) == ("silent", True)


def test_too_large_request_is_not_sent() -> None:
    with pair() as both:
        assert refused(both.ask(bytes(LARGEST))).code == "large"
        assert both.ask() == b"cba"


def test_dead_agents_delay_no_request_to_others() -> None:
    with pair() as both, socket.create_server(("127.0.0.1", 0)) as dead:
        told = threading.Event()
        for _ in range(50):
            both.client.ask("dead-d4", f"127.0.0.1:{dead.getsockname()[1]}", "urls", b"", 60.0, lambda _: told.set())
        assert both.ask() == b"cba"
        assert not told.is_set()
        dead.settimeout(0.05)
        waiting = []
        with suppress(TimeoutError):
            while True:
                waiting.append(dead.accept()[0])
        for each in waiting:
            each.close()
        assert len(waiting) == 4


def test_requests_that_wait_for_a_dead_agent_end_in_time() -> None:
    with pair() as both, socket.create_server(("127.0.0.1", 0)) as dead:
        answers: queue.SimpleQueue[bytes | NoAnswer] = queue.SimpleQueue()
        for _ in range(12):
            both.client.ask("dead-d4", f"127.0.0.1:{dead.getsockname()[1]}", "urls", b"", 0.1, answers.put)
        reasons = {refused(answers.get(timeout=5)).reason.partition(": ")[2] for _ in range(12)}
        assert reasons == {"it did not answer within 0.1 s"}


def test_close_ends_requests_in_flight() -> None:
    with pair() as both, socket.create_server(("127.0.0.1", 0)) as dead:
        answers: queue.SimpleQueue[bytes | NoAnswer] = queue.SimpleQueue()
        both.client.ask("dead-d4", f"127.0.0.1:{dead.getsockname()[1]}", "urls", b"", 60.0, answers.put)
        accepted, _ = dead.accept()
        with accepted:
            both.client.close()
            assert refused(answers.get(timeout=5)).code == "silent"
        both.client.ask("dead-d4", "127.0.0.1:7441", "urls", b"", 60.0, answers.put)
        assert refused(answers.get(timeout=5)).code == "silent"


def test_reason_is_logged_again_after_an_answer() -> None:
    log: list[str] = []
    complaints = Complaints(log.append)
    for _ in range(2):
        complaints.report("two", "wire", "a")
    complaints.forget("two")
    complaints.report("two", "wire", "b")
    for number in range(200):
        complaints.report(str(number), "wire", "c")
    assert log[:2] == ["a", "b"]
    assert len(log) == 101

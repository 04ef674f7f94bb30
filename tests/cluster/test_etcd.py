"""Etcd: transactions and leases by its gateway, the fake that simulations use, and what an operator is told."""

from __future__ import annotations

import datetime
import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from larm.cluster.certificates import issue, make_authority
from larm.cluster.etcd import Delete, Etcd, Found, Get, Login, NoEtcd, Operation, Put, Same, Tls
from tests.cluster.web_of_hosts import free_ports
from tests.fetch import raw_server
from tests.fetch.raw_server import CERTIFICATE, RawServer, page
from tests.support.etcd import RealEtcd, needs_etcd, until, users, with_common_name
from tests.support.fake_etcd import FakeEtcd


@pytest.fixture(scope="module")
def real(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RealEtcd]:
    with RealEtcd(tmp_path_factory.mktemp("etcd")) as etcd:
        yield etcd


@pytest.fixture
def client(real: RealEtcd) -> Iterator[Etcd]:
    made = real.client()
    yield made
    made.close()


def done(answer: Found | NoEtcd) -> Found:
    assert isinstance(answer, Found), answer
    return answer


class Random:
    """The same transactions for two etcds; it knows what the last answers were, as a caller does."""

    def __init__(self, seed: int, leases: tuple[int, ...]) -> None:
        self._random = random.Random(seed)
        self._leases = leases
        self._seen = [0]

    def next(self) -> tuple[list[Same], list[Operation], list[Operation]]:
        count = self._random.randrange
        compares = [self._compare() for _ in range(count(3))]
        return compares, [self._operation() for _ in range(count(5))], [self._operation() for _ in range(count(3))]

    def see(self, found: Found) -> None:
        numbers = {number for pairs in found.pairs for pair in pairs for number in (pair.created, pair.modified)}
        self._seen = [0, *sorted(numbers)] if numbers else self._seen

    def _key(self) -> str:
        return self._random.choice(("a", "a/b", "a/c", "b", "é"))

    def _compare(self) -> Same:
        return Same(self._key(), self._random.choice(self._seen))

    def _operation(self) -> Operation:
        key, prefix = self._key(), self._random.random() < 0.4
        match self._random.randrange(4):
            case 0:
                return Put(key, self._random.randbytes(self._random.randrange(4)), self._random.choice((0, 0, *self._leases)))
            case 1:
                return Delete(key, prefix)
            case _:
                return Get(key, prefix)


@needs_etcd
def test_fake_answers_300_random_transactions_as_etcd_does(tmp_path: Path) -> None:
    fake = FakeEtcd()
    with RealEtcd(tmp_path) as real:
        client = real.client()
        leases = [(client.grant(100), fake.grant(100)) for _ in range(3)]
        assert all(isinstance(number, int) for pair in leases for number in pair)
        transactions = Random(1, (1, 2, 3))
        names = [{number: pair[side] for number, pair in enumerate(leases, 1)} for side in (0, 1)]
        answers: list[Found | NoEtcd] = []
        for number in range(300):
            if number == 150:  # from here on some puts name a lease that is gone
                assert client.revoke(leases[1][0]) is None
                assert fake.revoke(leases[1][1]) is None
            compares, *branches = transactions.next()
            there, here = (
                etcd.txn(compares, *([_leased(each, names[side]) for each in branch] for branch in branches))
                for side, etcd in enumerate((client, fake))
            )
            if isinstance(there, Found):
                assert here == there
                transactions.see(there)
            else:
                assert isinstance(here, NoEtcd), (there, here)
                assert (here.known, here.lease_gone) == (there.known, there.lease_gone)
                assert here.reason in there.reason
            answers.append(there)
        client.close()
    assert sum(isinstance(answer, Found) and answer.ok for answer in answers) > 50
    assert sum(isinstance(answer, Found) and not answer.ok for answer in answers) > 50
    assert any(isinstance(answer, NoEtcd) and answer.lease_gone for answer in answers)


def _leased(operation: Operation, names: dict[int, int]) -> Operation:
    return operation._replace(lease=names[operation.lease]) if isinstance(operation, Put) and operation.lease else operation


def refused(answer: object) -> NoEtcd:
    assert isinstance(answer, NoEtcd), answer
    return answer


@needs_etcd
def test_keys_vanish_with_their_lease(client: Etcd) -> None:
    lease = client.grant(100)
    assert isinstance(lease, int)
    assert client.keep(lease) is True
    done(client.txn((), [Put("lease/a", b"1", lease)]))
    assert client.revoke(lease) is None
    assert done(client.txn((), [Get("lease/a")])).pairs == ((),)
    assert client.keep(lease) is False
    assert client.revoke(lease) is None
    gone = refused(client.txn((), [Put("lease/b", b""), Put("lease/a", b"1", lease)]))
    assert gone.lease_gone
    assert gone.known
    assert done(client.txn((), [Get("lease/b")])).pairs == ((),)


@needs_etcd
def test_next_endpoint_is_asked_if_nothing_listens_at_the_first_and_stays_first(real: RealEtcd) -> None:
    nowhere = f"http://127.0.0.1:{free_ports(1)[0]}"
    client = Etcd([nowhere, *real.endpoints])
    assert done(client.txn((), [Put("next", b"1")])).ok
    assert client.endpoints == [*real.endpoints, nowhere]
    client.close()
    alone = Etcd([nowhere])
    answer = refused(alone.txn((), [Put("next", b"1")]))
    assert answer.known
    assert answer.reason == f"etcd at {nowhere}: nothing listens there; start etcd, or correct cluster.etcd"
    alone.close()
    several = Etcd([nowhere, "http://127.0.0.1:1"])
    reason = refused(several.grant(3)).reason
    assert refused(several.txn((), [Put("next", b"1")])).reason == reason
    assert nowhere in reason
    assert "http://127.0.0.1:1" in reason
    several.endpoints.reverse()
    assert refused(several.grant(3)).reason == reason
    several.close()


@needs_etcd
def test_write_is_not_repeated_elsewhere_if_it_may_have_happened(real: RealEtcd) -> None:
    with RawServer(b"") as dying:  # it takes the request, and closes the connection
        client = Etcd([dying.url(""), *real.endpoints])
        answer = refused(client.txn((), [Put("once", b"1")]))
        assert not answer.known
        assert done(client.txn((), [Get("once")])).pairs == ((),)
        assert len(dying.requests) == 1
        client.endpoints.reverse()
        assert done(client.txn((), [Get("once")])).pairs == ((),)
        assert len(dying.requests) == 2
        client.close()


def test_server_that_is_not_etcd_is_quoted() -> None:
    with RawServer(page(b"<h1>It works!</h1>\x1b[2J", status=b"403 Forbidden")) as other:
        client = Etcd([other.url("")])
        assert "It works!" in refused(client.grant(3)).reason
        assert "\x1b" not in refused(client.grant(3)).reason
        client.close()


def test_answer_that_is_not_etcds_is_said() -> None:
    with RawServer(page(b"<h1>It works!</h1>")) as other:
        client = Etcd([other.url("")])
        assert refused(client.grant(3)).reason.endswith("its answer is not one of etcd's; correct cluster.etcd")
        client.close()


@needs_etcd
def test_write_goes_on_if_leader_is_killed_and_fails_without_quorum(tmp_path: Path) -> None:
    with RealEtcd(tmp_path, 3) as etcd:
        client = etcd.client()
        leader = next(member for member in etcd.members if leads(member.client))
        client.endpoints.sort(key=lambda endpoint: endpoint != leader.client)
        done(client.txn((), [Put("a", b"1")]))
        leader.kill()
        until(lambda: isinstance(client.txn((), [Put("a", b"2")]), Found))
        next(member for member in etcd.members if member.process).kill()
        client.endpoints.sort(key=lambda endpoint: endpoint != next(each.client for each in etcd.members if each.process))
        answer = refused(client.txn((), [Put("a", b"3")]))
        assert not answer.known
        assert answer.reason.endswith("it did not answer within 2 s")
        client.close()


def leads(endpoint: str) -> bool:
    client = Etcd([endpoint])
    status = client.call("maintenance/status", {}, dict)
    client.close()
    return isinstance(status, dict) and status["leader"] == status["header"]["member_id"]


NOW = datetime.datetime.now(datetime.UTC)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """``ours``, ``theirs`` and ``old``: authorities, each with a certificate of the agent a; an etcd's is in ours."""
    made = tmp_path_factory.mktemp("certificates")
    for authority, when in (("ours", NOW), ("theirs", NOW), ("old", NOW - datetime.timedelta(days=4000))):
        make_authority(made / authority, when)
        issue(made / authority, "a", ("127.0.0.1",), when)
    issue(made / "ours", "etcd", ("127.0.0.1", "localhost"), NOW)
    return made


def tls(folder: Path, ca: str, certificate: str) -> Tls:
    """``certificate``: AUTHORITY/NAME, or empty."""
    files = (f"{folder}/{certificate}.pem", f"{folder}/{certificate}.key") if certificate else ("", "")
    return Tls(str(folder / ca / "ca.pem"), *files)


@pytest.fixture(scope="module")
def mutual(folder: Path) -> Iterator[RealEtcd]:
    (folder / "data").mkdir()
    with RealEtcd(folder / "data", tls=tls(folder, "ours", "ours/etcd"), mutual=True) as etcd:
        yield etcd


@needs_etcd
def test_certificate_of_the_same_authority_is_let_in(mutual: RealEtcd, folder: Path) -> None:
    client = mutual.client(tls(folder, "ours", "ours/a"))
    assert done(client.txn((), [Put("a", b"1")])).ok
    client.close()


@needs_etcd
@pytest.mark.parametrize(
    ("ca", "certificate", "said"),
    [
        ("theirs", "ours/a", "its certificate was not signed by the authority in cluster.ca"),
        ("ours", "", "it refuses cluster.certificate, which must be of etcd's authority and not expired"),
        ("ours", "theirs/a", "it refuses cluster.certificate, which must be of etcd's authority and not expired"),
        ("ours", "old/a", "it refuses cluster.certificate, which must be of etcd's authority and not expired"),
    ],
)
def test_certificate_that_is_refused_is_said(mutual: RealEtcd, folder: Path, ca: str, certificate: str, said: str) -> None:
    client = mutual.client(tls(folder, ca, certificate))
    assert refused(client.txn((), [Get("a")])).reason == f"etcd at {mutual.endpoints[0]}: {said}"
    client.close()


@needs_etcd
def test_other_scheme_is_said(mutual: RealEtcd, real: RealEtcd, folder: Path) -> None:
    plain = Etcd([mutual.endpoints[0].replace("https", "http")])
    assert "write https://" in refused(plain.grant(3)).reason
    plain.close()
    encrypted = Etcd([real.endpoints[0].replace("http", "https")], tls(folder, "ours", "ours/a"))
    assert "write http://" in refused(encrypted.grant(3)).reason
    encrypted.close()


def test_expired_certificate_of_etcd_is_said(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    both = folder / "both.pem"
    both.write_bytes((folder / "old/a.pem").read_bytes() + (folder / "old/a.key").read_bytes())
    monkeypatch.setattr(raw_server, "CERTIFICATE", both)
    with RawServer(page(b"{}"), tls=True) as server:
        client = Etcd([server.url("")], tls(folder, "old", ""))
        assert refused(client.grant(3)).reason.endswith("its certificate has expired; issue a new one for etcd")
        client.close()


def test_certificate_for_another_name_is_said() -> None:
    with RawServer(page(b"{}"), tls=True, address="127.0.0.2") as server:
        client = Etcd([f"https://127.0.0.2:{server.port}"], Tls(str(CERTIFICATE)))
        assert "its certificate is not for this name" in refused(client.grant(3)).reason
        client.close()


@needs_etcd
@pytest.mark.parametrize("mutually", [True, False])
def test_user_reads_and_writes_the_keys_of_its_cluster_only(folder: Path, tmp_path: Path, mutually: bool) -> None:
    server = tls(folder, "ours", "ours/etcd")
    own = tls(folder, "ours", "ours/a" if mutually else "")
    with RealEtcd(tmp_path, tls=server, mutual=mutually) as etcd:
        users(etcd, "NAME", server)
        client = etcd.client(own, Login("agent", "secret"))
        assert done(client.txn([Same("larm/NAME/a", 0)], [Put("larm/NAME/a", b"1")])).ok
        lease = client.grant(100)
        assert isinstance(lease, int)
        assert client.keep(lease) is True
        assert "grant-permission" in refused(client.txn((), [Put("larm/OTHER/a", b"1")])).reason
        assert "grant-permission" in refused(client.txn([Same("larm/OTHER/a", 0)], ())).reason

        etcd.members[0].kill()  # it forgets the tokens
        etcd.members[0].start()
        until(lambda: isinstance(client.txn((), [Get("larm/NAME/a")]), Found))
        assert done(client.txn((), [Get("larm/NAME/a")])).pairs[0][0].value == b"1"
        client.close()

        for login, said in (
            (Login("agent", "wrong"), "the name or the password is wrong"),
            (None, "it has users; write https://NAME:PASSWORD@"),
        ):
            other = etcd.client(own, login)
            assert said in refused(other.txn((), [Get("larm/NAME/a")])).reason
            other.close()
        if mutually:
            named = etcd.client(with_common_name(folder / "ours", "common"), Login("agent", "secret"))
            assert "refuses certificates with a common name" in refused(named.txn((), [Get("larm/NAME/a")])).reason
            named.close()


@needs_etcd
def test_login_is_taken_where_etcd_has_no_users_yet(tmp_path: Path) -> None:
    with RealEtcd(tmp_path) as etcd:
        client = etcd.client(login=Login("agent", "secret"))
        assert done(client.txn((), [Put("larm/NAME/a", b"1")])).ok
        users(etcd, "NAME")
        assert done(client.txn((), [Get("larm/NAME/a")])).pairs[0][0].value == b"1"
        client.close()

"""Etcd: transactions and leases by its gateway, the fake that simulations use, and what an operator is told."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from larm.cluster.etcd import Compare, Delete, Etcd, Found, Get, NoEtcd, Operation, Put, Same, SameSession
from tests.support.etcd import RealEtcd, needs_etcd
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

    def next(self) -> tuple[list[Compare], list[Operation], list[Operation]]:
        count = self._random.randrange
        compares = [self._compare() for _ in range(count(3))]
        return compares, [self._operation() for _ in range(count(5))], [self._operation() for _ in range(count(3))]

    def see(self, found: Found) -> None:
        numbers = {number for pairs in found.pairs for pair in pairs for number in (pair.created, pair.modified)}
        self._seen = [0, *sorted(numbers)] if numbers else self._seen

    def _key(self) -> str:
        return self._random.choice(("a", "a/b", "a/c", "b", "é"))

    def _compare(self) -> Compare:
        kind = self._random.choice((Same, SameSession))
        return kind(self._key(), self._random.choice(self._seen))

    def _operation(self) -> Operation:
        key, prefix = self._key(), self._random.random() < 0.4
        match self._random.randrange(4):
            case 0:
                return Put(key, self._random.randbytes(self._random.randrange(4)), self._random.choice((0, 0, *self._leases)))
            case 1:
                return Delete(key, prefix)
            case _:
                return Get(key, prefix, self._random.choice((0, 0, self._seen[-1])))


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

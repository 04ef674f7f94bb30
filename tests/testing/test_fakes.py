"""The fakes keep the contracts of the seams that they stand in for."""

from __future__ import annotations

import pytest

from larm.errors import StorageError
from larm.kit.threads.workers import Workers
from larm.model.document import Document, Visit
from larm.model.outcome import Fetched, Refused, Timing
from larm.seams import Fetcher, Filter, Storage
from larm.testing.fakes import Drops, FailingFilter, FakeFetcher, ListStorage, lease, message, page, url

A, B = "http://a.localhost/", "http://b.localhost:8000/x?y"


def visit(address: str) -> Visit:
    return Visit(page=address, url=url(address), document=Document("text/html"))


def test_values_look_like_real_ones() -> None:
    assert message(B).url.host == "b.localhost:8000"
    assert 0 <= message(B).url.fingerprint < 2**63
    assert lease(A).number != lease(A).number
    fetched = page("<p>", X_Robots_Tag="noindex")
    assert fetched.body == b"<p>"
    assert fetched.headers == {"content-type": "text/html; charset=utf-8", "x-robots-tag": "noindex"}


def test_outcomes_come_from_the_script_in_order_of_start() -> None:
    fake = FakeFetcher({A: page("a"), B: [Refused(503, {}, Timing()), page("b")]})
    fetcher: Fetcher = fake
    leases = [lease(B), lease(A), lease("http://c.localhost/"), lease(B), lease(B)]
    for each in leases:
        fetcher.start(each)
    assert fetcher.in_flight == 5
    ended = fetcher.wait(60)
    assert [each for each, _ in ended] == leases
    assert [getattr(outcome, "status") for _, outcome in ended] == [503, 200, 404, 200, 200]  # noqa: B009
    assert fetcher.in_flight == 0
    fetcher.close()
    assert fake.closed
    assert fake.started == leases


def test_a_function_may_decide() -> None:
    fetcher = FakeFetcher(otherwise=lambda lease: page(lease.message.url.access))
    fetcher.start(lease(A))
    [(_, outcome)] = fetcher.wait(60)
    assert isinstance(outcome, Fetched)
    assert outcome.body == A.encode()


def test_a_held_transfer_ends_after_its_release_and_wait_waits_for_it() -> None:
    fetcher = FakeFetcher(held=[A])
    fetcher.start(lease(A))
    fetcher.start(lease(B))
    assert [each.message.url.access for each, _ in fetcher.wait(60)] == [B]
    assert fetcher.wait(0) == []
    deaths: list[BaseException] = []
    workers = Workers(lambda _, error: deaths.append(error))
    workers.start("larm-release", lambda: fetcher.release(A))
    assert [each.message.url.access for each, _ in fetcher.wait(60)] == [A]
    workers.join(10)
    assert deaths == []


def test_wake_ends_the_next_wait_and_only_that() -> None:
    fetcher = FakeFetcher(held=[A])
    fetcher.start(lease(A))
    fetcher.wake()
    assert fetcher.wait(60) == []
    assert fetcher.wait(0.001) == []
    assert len(fetcher.abandon()) == 1
    assert fetcher.in_flight == 0


def test_storage_forgets_what_was_not_committed() -> None:
    fake = ListStorage()
    storage: Storage = fake
    storage.open(None)
    storage.store([visit(A)])
    position = storage.commit()
    storage.store([visit(B)])
    storage.close()
    assert fake.urls == [A, B]
    storage.open(position)
    assert fake.urls == [A]
    storage.open(None)
    assert fake.urls == []
    assert fake.calls == ["open", "store", "commit", "store", "close", "open", "open"]


def test_storage_refuses_a_position_that_it_never_had() -> None:
    with pytest.raises(StorageError, match="checkpoint says 3"):
        ListStorage().open({"visits": 3})


def test_storage_fails_when_told() -> None:
    storage = ListStorage(fail_after=1, fail_commit=True)
    storage.open(None)
    storage.store([visit(A)])
    with pytest.raises(StorageError, match="no space"):
        storage.store([visit(B)])
    with pytest.raises(StorageError, match="commit"):
        storage.commit()


def test_filter_fails_when_its_time_has_come() -> None:
    fake = FailingFilter(ValueError("no"), after=1)
    failing: Filter = fake
    drops = Drops()
    assert failing.sift([message(A)], drops) == [message(A)]
    with pytest.raises(ValueError, match="no"):
        failing.sift([message(B)], drops)
    assert failing.explain(message(A)) is None
    assert len(fake.batches) == 2


def test_drops_collects() -> None:
    drops = Drops()
    drops([message(A), message(B)], "scope")
    drops([message(A)], "length")
    assert (drops.reasons(), drops.urls()) == (["scope", "scope", "length"], [A, B, A])

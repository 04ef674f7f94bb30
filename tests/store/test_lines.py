"""What is done to all storages alike."""

from __future__ import annotations

from larm.model.document import Visit
from larm.store.lines import StorageLines
from larm.store.pipeline import StorageLine
from larm.testing.fakes import ListStorage


class Exchanges(ListStorage):
    """Wants all answers."""

    exchanges = True


def test_answers_go_to_those_that_want_them_and_visits_to_all() -> None:
    lines = StorageLines([StorageLine(ListStorage(), 1_000, None), StorageLine(Exchanges("exchanges"), 1_000, None)])
    page, answer = Visit(page="http://a/", body=b"x" * 100), Visit(page="http://a/robots.txt")
    lines.put([page], [answer])
    assert lines.exchanges
    assert [line.queued_bytes for line in lines] == [page.cost, page.cost + answer.cost]
    lines.put([])
    assert lines.named("list").queued_bytes == page.cost


def test_none_of_them_wants_answers() -> None:
    lines = StorageLines([StorageLine(ListStorage(), 1_000, None)])
    lines.put([], [Visit(page="http://a/robots.txt")])
    assert not lines.exchanges
    assert [(line.thread, line.queued_bytes) for line in lines] == [("larm-store-list", 0)]


def test_a_commit_of_each_by_its_name() -> None:
    lines = StorageLines([StorageLine(ListStorage(), 1_000, None), StorageLine(Exchanges("exchanges"), 1_000, None)])
    assert [(name, ticket.done) for name, ticket in lines.request_commits(last=True).items()] == [
        ("list", False),
        ("exchanges", False),
    ]
    lines.close()
    assert all(ticket.done for ticket in lines.request_commits(last=True).values()), "who is closed commits nothing"

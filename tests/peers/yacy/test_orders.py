"""Crawl orders: who may take them, how many, and whose receipt counts (YACY-36, 39)."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from larm.config import Config, NetworkSettings, load
from larm.peers.door import Call, RefusedError
from larm.peers.yacy.crawl_jobs import CrawlJobs
from larm.peers.yacy.job_table import OWN
from larm.peers.yacy.order_book import OrderBook, OrderDesk
from larm.peers.yacy.profile import Mode
from larm.peers.yacy.questions import MOST_ORDERS, ORDERS, Order, Orders, OrdersOf
from larm.peers.yacy.trust import Vote
from tests.peers.yacy.net import Net, Peer

NOW = 1_700_000_000.0
DAY = 86_400.0


@pytest.fixture
def book(tmp_path: Path) -> OrderBook:
    return OrderBook(tmp_path / "orders.db")


def test_what_is_no_order(book: OrderBook) -> None:
    for url in (
        "",
        "ftp://a.example/",
        "file:///etc/passwd",
        "@list",
        "http://me:secret@a.example/",
        "http://a/" + "x" * 3_000,
    ):
        assert not book.add(url, 1, NOW)
    assert book.add("http://a.example/@me", 99, NOW)
    assert book.shown()[0].depth == 3


def test_one_peer_has_ten_at_a_time_and_what_it_does_not_do_is_given_to_others(book: OrderBook) -> None:
    for number in range(25):
        book.add(f"http://a.example/{number}", 1, NOW)
    assert len(book.take("one", 1_000, NOW)) == MOST_ORDERS
    assert book.take("one", 1_000, NOW) == []
    assert [len(book.take(each, 1_000, NOW)) for each in ("two", "three")] == [10, 5]
    assert book.take("four", 1_000, NOW + DAY / 2) == []
    assert len(book.take("four", 1_000, NOW + 2 * DAY)) == 10


def test_only_the_receipt_of_who_has_it_counts(book: OrderBook, tmp_path: Path) -> None:
    book.add("http://a.example/", 1, NOW)
    (order,) = book.take("one", 5, NOW)
    assert not book.done("two", order.number, 7, "forged")
    assert book.open == 1
    assert book.done("one", order.number, 7, "Fetched" * 1_000)
    assert not book.done("one", order.number, 8, "again")
    book.close()
    (shown,) = OrderBook(tmp_path / "orders.db").shown()
    assert (shown.done, shown.pages, shown.key, len(shown.said)) == (True, 7, "one", 300)


def test_who_takes_orders_and_does_nothing_has_each_three_times_at_most(book: OrderBook) -> None:
    book.add("http://a.example/", 1, NOW)
    assert [len(book.take("idle", 5, NOW + 2 * day * DAY)) for day in range(5)] == [1, 1, 1, 0, 0]
    assert book.open == 0
    assert "none has done it" in book.shown()[0].said


# -- with peers


class Crawl:
    """In place of a crawl: what it was told to do."""

    def __init__(self) -> None:
        self.configs: list[dict[str, dict[str, object]]] = []

    def __call__(self, directory: Path) -> None:
        load(directory / "config.yaml")  # it can be read
        self.configs.append(yaml.safe_load((directory / "config.yaml").read_text()))

    @property
    def urls(self) -> list[str]:
        return [each["url"] for each in self.configs[-1]["crawl"]["seeds"]]  # type: ignore[attr-defined]


def giver(net: Net, folder: Path, number: int = 1) -> tuple[Peer, OrderBook]:
    """A peer with a book of orders."""
    (peer,) = net.add()
    book = OrderBook(folder / f"orders{number}.db")
    peer.node._orders = lambda: book.open
    for each in OrderDesk(peer.node, peer.desk, book).questions:
        peer.questions[each.path] = each
    return peer, book


def taker(net: Net, folder: Path, most: int = 1_000) -> tuple[CrawlJobs, Crawl]:
    """One that crawls for others."""
    (peer,) = net.add(crawls=True)
    folder.mkdir(exist_ok=True)
    crawl = Crawl()
    settings = Config(network=NetworkSettings(crawl_for_others=most))
    return CrawlJobs(folder, peer.node, settings, crawl, print), crawl


def test_an_order_is_fetched_crawled_and_answered_with_a_receipt(tmp_path: Path) -> None:
    net = Net(tmp_path)
    one, book = giver(net, tmp_path)
    jobs, crawl = taker(net, tmp_path / "taker")
    assert one.node.seed().crawls is False
    assert net.peers[1].node.seed().crawls
    book.add("http://a.example/", 2, net.clock.wall())
    book.add("http://127.0.0.1/secret", 2, net.clock.wall())
    net.run(300)
    jobs.tick()
    assert crawl.urls == ["http://a.example/"]
    settings = crawl.configs[-1]["crawl"]
    assert settings["seeds"] == [{"url": "http://a.example/", "scope": "host", "depth": 2}]
    assert settings["private_networks"] == ["no-starts"]
    assert settings["max_pages"] == 250, "a quarter of a day's"
    jobs.tick()
    refused = next(each for each in book.shown() if "127" in each.url)
    assert refused.done
    assert "nobody" in refused.said or "anybody" in refused.said
    assert all(each.done for each in book.shown()), "the crawl has ended, whatever it brought"
    assert book.open == 0
    assert net.peers[1].node.counts["receipts sent"] == 2


def test_malformed_order_does_not_end_the_jobs(tmp_path: Path) -> None:
    net = Net(tmp_path)
    one, book = giver(net, tmp_path)
    jobs, crawl = taker(net, tmp_path / "taker")
    book.add("http://b.example/", 0, net.clock.wall())
    one.questions[ORDERS] = one.questions[ORDERS]._replace(handler=lambda *_: Orders((Order(1, "http://[::1/a", 0),)))
    net.run(300)
    jobs.tick()
    assert not crawl.configs


def test_jobs_survive_a_kill_and_are_taken_once(tmp_path: Path) -> None:
    net = Net(tmp_path)
    _, book = giver(net, tmp_path)
    jobs, crawl = taker(net, tmp_path / "taker")
    book.add("http://a.example/", 0, net.clock.wall())
    net.run(300)
    jobs.tick()
    assert len(crawl.configs) == 1
    jobs.close()  # killed while the crawl was under way
    again = CrawlJobs(tmp_path / "taker", jobs._node, jobs._settings, crawl, print)
    again.tick()
    assert len(crawl.configs) == 2
    assert crawl.urls == ["http://a.example/"]
    assert again.add("key", [(1, "http://b.example/", 1)]) == 1
    assert again.add("key", [(1, "http://b.example/", 1)]) == 0


def test_a_share_that_is_used_up_and_a_giver_that_is_denied(tmp_path: Path) -> None:
    net = Net(tmp_path)
    one, book = giver(net, tmp_path)
    two, other = giver(net, tmp_path, 2)
    jobs, crawl = taker(net, tmp_path / "taker", 100)
    for each in (book, other):
        each.add("http://a.example/", 1, net.clock.wall())
    net.run(300)
    jobs.table.add(one.key.key, [(99, "http://x.example/", 0)], net.clock.wall())
    (done,) = jobs.table.waiting(one.key.key)
    jobs.table.done(done, 25, "it was fetched", net.clock.wall())
    net.peers[2].node.trust.deny_site("bad.example", denied=True)
    jobs.tick()
    assert len(crawl.configs) == 1
    assert "*://*.bad.example/*" in crawl.configs[0]["crawl"]["exclude"]  # type: ignore[operator]
    assert other.shown()[0].key, "the other has its share"
    assert not book.shown()[0].key
    net.peers[2].node.trust.vote(two.key.key, Vote.DENIED)
    other.add("http://b.example/", 1, net.clock.wall())
    net.clock.advance(100)
    jobs.tick()
    assert len(crawl.configs) == 1


def test_no_orders_for_another_network_or_a_hermit(tmp_path: Path) -> None:
    net = Net(tmp_path)
    peer, book = giver(net, tmp_path)
    (hermit,) = net.add(mode=Mode.PRIVATE)
    desk = OrderDesk(peer.node, peer.desk, book)
    with pytest.raises(RefusedError, match="network"):
        desk.orders(Call("key", "10.0.0.9"), OrdersOf("other", 5))
    with pytest.raises(RefusedError):
        OrderDesk(hermit.node, hermit.desk, book).orders(Call("key", "10.0.0.9"), OrdersOf("test", 5))


def test_pages_of_the_browser_wait_for_more_and_are_crawled_alone(tmp_path: Path) -> None:
    net = Net(tmp_path)
    jobs, crawl = taker(net, tmp_path / "taker")
    for number in range(3):
        jobs.seen(f"http://a.example/{number}")
        jobs.seen(f"http://a.example/{number}")
    jobs.tick()
    assert not crawl.configs
    net.clock.advance(61)
    jobs.tick()
    assert crawl.urls == [f"http://a.example/{number}" for number in range(3)]
    assert {each["depth"] for each in crawl.configs[0]["crawl"]["seeds"]} == {0}  # type: ignore[attr-defined]
    jobs.tick()
    assert not jobs.table.has_open(OWN)
    assert net.peers[0].node.counts["pages seen by the browser"] == 3

"""A crawl that runs is told what to do: paused, resumed, given more, kept from a host, slowed down, limited."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from larm.engine.crawl import Crawl
from larm.engine.ending import Ending
from larm.engine.figures.reporter import summary
from larm.engine.orders import Add, AnyOrder, Block, Done, Pause, Refused, Reopen, Resume, Set, Unblock
from larm.errors import UsageError
from larm.kit.threads.workers import Workers
from larm.ops.observers import build_crawl
from larm.testing.web import SyntheticWeb
from tests.stories.crawls import asked, config_of, once, stored, watch
from tests.stories.parts import HERE, LongStore


def site(web: SyntheticWeb, name: str = "a.localhost", pages: int = 6) -> str:
    """A chain of pages, each with a link to the next; of the last, none."""
    host = web.host(name)
    for number in range(pages):
        host.page("/" if number == 0 else f"/{number}", links=[f"/{number + 1}"] if number + 1 < pages else [])
    return web.url(name)


class Steered:
    """A crawl whose orders are given when the web is asked, on the web's thread."""

    def __init__(self, directory: Path, start: str, settings: dict[str, object] | None = None) -> None:
        self.crawl: Crawl = build_crawl(config_of(start, settings), directory)
        self.done: list[Done] = []

    def order(self, order: AnyOrder) -> None:
        self.done.append(self.crawl.steering.order(order))
        self.crawl.steering.carry_out()

    def run(self) -> Ending:
        return self.crawl.run()

    @property
    def counters(self) -> dict[str, int]:
        return self.crawl.snapshot().counters


def test_urls_that_are_added_are_crawled(tmp_path: Path) -> None:
    """Through all filters: what is out of the scope is not asked for."""
    with SyntheticWeb() as web:
        start = site(web)
        web.host("a.localhost").page("/lonely")
        web.host("b.localhost").page("/")
        log = watch(web)
        steered = Steered(tmp_path, start)
        urls = web.url("a.localhost", "/lonely"), web.url("b.localhost"), "gopher://a.localhost/"
        log.at(3, lambda: steered.order(Add(urls)))
        assert steered.run().reason == "finished"
        assert asked(web) == once("a.localhost/", "a.localhost/lonely", *(f"a.localhost/{n}" for n in range(1, 6)))
        (done,) = steered.done
        assert done.says == "2 URLs added, 1 refused"
        assert [each.url for each in done.refused] == ["gopher://a.localhost/"]
        assert steered.counters["orders/urls_added"] == 2
        assert f"<start>\t{urls[0]}" in (tmp_path / "logs" / "links.log").read_text()


def test_a_pause_lets_land_what_is_in_the_air_and_asks_for_nothing_more(tmp_path: Path) -> None:
    with SyntheticWeb() as web:
        log = watch(web)
        steered = Steered(tmp_path, site(web), {"monitor.tick": "1h"})
        log.at(3, lambda: steered.order(Pause()))
        asked_for: list[int] = []

        def look() -> None:  # the main thread, once a second
            now = steered.crawl.snapshot()
            if now.paused and not now.in_flight and not asked_for:
                assert steered.crawl.steering.may_lease() is False
                assert now.checkpoint_bytes, "it was saved"
                asked_for.append(len(log))
                steered.order(Resume())

        steered.crawl.on_second = look
        assert steered.run().reason == "finished"
        assert asked_for == [3]
        assert len(asked(web)) == 6


def test_a_paused_crawl_that_has_nothing_left_is_not_over(tmp_path: Path) -> None:
    with SyntheticWeb() as web:
        log = watch(web)
        steered = Steered(tmp_path, site(web, pages=2))
        log.at(3, lambda: steered.order(Pause()))
        seen: list[int] = []

        def look() -> None:
            seen.append(steered.crawl.snapshot().queued)
            steered.order(Resume())

        steered.crawl.on_second = look
        assert steered.run().reason == "finished"
        assert seen == [0]


def test_waiting_for_more_where_nothing_is_left(tmp_path: Path) -> None:
    with SyntheticWeb() as web:
        start = site(web, pages=1)
        web.host("a.localhost").page("/lonely")
        log = watch(web)
        steered = Steered(tmp_path, start, {"crawl.on_idle": "wait"})
        steered.crawl.on_second = lambda: steered.order(Add((web.url("a.localhost", "/lonely"),)))
        log.when(lambda request: request.path == "/lonely", lambda: steered.order(Set("crawl.on_idle", "end")))
        assert steered.run().reason == "finished"
        assert asked(web) == once("a.localhost/", "a.localhost/lonely")


class Others:
    """Such as a cluster: it is over when all have nothing left."""

    def __init__(self) -> None:
        self.done = False

    def may_end(self) -> bool:
        return self.done


def test_others_decide_whether_it_is_over(tmp_path: Path) -> None:
    with SyntheticWeb() as web:
        steered = Steered(tmp_path, site(web, pages=2))
        others = steered.crawl.steering.policy = Others()
        waited: list[bool] = []

        def look() -> None:
            if not waited:
                waited.append(steered.crawl.snapshot().idle)
                others.done = True
                steered.crawl.steering.ask_again()

        steered.crawl.on_second = look
        assert steered.run().reason == "finished"
        assert waited == [True]


def test_it_is_not_over_while_anything_is_under_way_or_was_ordered(tmp_path: Path) -> None:
    """Whoever was told "done" a moment before the end has not been told a lie."""
    with SyntheticWeb() as web:
        start = site(web, pages=1)
        web.host("a.localhost").page("/lonely")
        log = watch(web)
        steered = Steered(tmp_path, start)
        steering = steered.crawl.steering
        said: list[bool] = []

        def ask() -> None:
            said.append(steering.may_end())  # its page is in the air
            steering.order(Add((web.url("a.localhost", "/lonely"),)))  # and takes effect when the page has landed

        log.at(2, ask)
        steered.crawl.on_second = steering.carry_out
        ending = steered.run()
        assert said == [False]
        assert ending.reason == "finished"
        assert asked(web)["a.localhost/lonely"] == 1


def test_a_blocked_host_is_left_alone_and_asked_by_a_later_run(tmp_path: Path) -> None:
    with SyntheticWeb() as web:
        start = site(web, pages=2)
        web.host("a.localhost").page("/1", links=["http://b.localhost:{port}/"])
        site(web, "b.localhost", 3)
        settings = {"crawl.restrict_to": ".*"}
        log = watch(web)
        steered = Steered(tmp_path, start, settings)
        log.at(1, lambda: steered.order(Block(f"B.localhost:{web.port}")))
        assert steered.run().reason == "finished"
        assert not any(request.host == "b.localhost" for request in web.requests)
        again = Steered(tmp_path, start, settings)
        log.when(lambda request: request.host == "a.localhost", lambda: again.order(Unblock(f"b.localhost:{web.port}")))
        assert again.run().reason == "finished"
        assert {request.path for request in web.requests if request.host == "b.localhost"} == {"/robots.txt", "/", "/1", "/2"}


def test_limits_of_a_running_crawl(tmp_path: Path) -> None:
    with SyntheticWeb() as web:
        log = watch(web)
        steered = Steered(tmp_path, site(web, pages=9))
        log.at(3, lambda: steered.order(Set("crawl.max_pages", "4")))
        assert steered.run().reason == "closespider_pagecount"
        assert len(asked(web)) == 4


def test_bytes_of_a_running_crawl(tmp_path: Path) -> None:
    with SyntheticWeb() as web:
        log = watch(web)
        steered = Steered(tmp_path, site(web, pages=9))
        log.at(3, lambda: steered.order(Set("limits.bytes", "1")))
        assert steered.run().reason == "bytes_spent"
        assert len(asked(web)) < 5
    with SyntheticWeb(port=web.port) as web:
        assert Steered(tmp_path, site(web, pages=9)).run().reason == "finished", "what was set does not outlast the run"
    assert sorted(stored(tmp_path).values()) == [1] * 9


def test_another_depth(tmp_path: Path) -> None:
    with SyntheticWeb() as web:
        log = watch(web)
        steered = Steered(tmp_path, site(web, pages=9))
        log.at(3, lambda: steered.order(Set("crawl.max_depth", "3")))
        assert steered.run().reason == "finished"
        assert len(asked(web)) == 4


def test_another_time(tmp_path: Path) -> None:
    with SyntheticWeb() as web:
        log = watch(web)
        steered = Steered(tmp_path, site(web), {"crawl.on_idle": "wait"})
        log.at(3, lambda: steered.order(Set("crawl.max_time", "0s")))
        assert steered.run().reason == "closespider_timeout"


@pytest.mark.parametrize(
    ("order", "why"),
    [
        (Set("fetch.threads", "4"), "fetch.threads can't be changed while the crawl runs; these can: crawl.max_pages"),
        (Set("frontier.delay", "soon"), "set: frontier.delay: expected a duration"),
        (Set("nonsense", "1"), "nonsense can't be changed"),
        (Block("a b"), "a b: "),
        (Reopen("/calendar/0"), "/calendar/0: nothing is held back"),
    ],
)
def test_what_can_not_be_is_refused(tmp_path: Path, order: AnyOrder, why: str) -> None:
    with SyntheticWeb() as web:
        log = watch(web)
        steered = Steered(tmp_path, site(web, pages=2))
        said: list[str] = []

        def give() -> None:
            with pytest.raises(UsageError) as error:
                steered.order(order)
            said.append(str(error.value))

        log.at(1, give)
        assert steered.run().reason == "finished"
        assert said[0].startswith(why)
        assert not (tmp_path / "cachingqueue" / "journal").exists(), "nothing was ordered, nothing is written"


def test_the_journal_is_carried_out_by_the_next_run(tmp_path: Path) -> None:
    """What was written down and not carried out: as if the process had been killed between the two."""
    with SyntheticWeb() as web:
        start = site(web, pages=3)
        web.host("a.localhost").page("/lonely")
        log = watch(web)
        steered = Steered(tmp_path, start)

        def order_and_stop() -> None:
            steered.crawl.steering.order(Add((web.url("a.localhost", "/lonely"),)))
            steered.crawl.stop()

        log.at(2, order_and_stop)
        assert steered.run().reason == "shutdown"
        assert "a.localhost/lonely" not in asked(web)
        with pytest.raises(UsageError, match="ending"):
            steered.order(Pause())
        assert Steered(tmp_path, start).run().reason == "finished"
        assert asked(web)["a.localhost/lonely"] == 1
        log.clear()
        assert Steered(tmp_path, start).run().reason == "finished"
        assert asked(web)["a.localhost/lonely"] == 1, "the revisit's, not the journal's"


def test_what_was_delivered_reaches_who_it_is_for_also_after_a_kill(tmp_path: Path) -> None:
    """In its order, once; a run that has nobody for it does not lose it without a word."""
    with SyntheticWeb() as web:
        start = site(web, pages=2)
        steered, got = Steered(tmp_path, start), list[bytes]()
        steered.crawl.steering.recipients["box"] = got.append
        log = watch(web)

        def deliver() -> None:
            steered.crawl.steering.deliver("box", b"one")
            steered.crawl.steering.carry_out()
            steered.crawl.steering.deliver("box", b"two")
            steered.crawl.stop()

        log.at(2, deliver)
        assert steered.run().reason == "shutdown"
        assert got == [b"one"]
        ending = Steered(tmp_path, start).run()
        assert "something for 'box', which is not in this run" in str(ending.error)
        again = Steered(tmp_path, start)
        again.crawl.steering.recipients["box"] = got.append
        assert again.run().reason == "finished"
        assert got == [b"one", b"two"]


def test_a_pause_and_settings_end_with_a_run_that_ends_in_good_order(tmp_path: Path) -> None:
    with SyntheticWeb() as web:
        start = site(web)
        log = watch(web)
        steered = Steered(tmp_path, start)

        def orders() -> None:
            for order in (Pause(), Set("crawl.max_pages", "2")):
                steered.order(order)
            steered.crawl.stop()

        log.at(2, orders)
        assert steered.run().reason == "shutdown"
        assert Steered(tmp_path, start).run().reason == "finished"
        assert len(asked(web)) == 6


def test_orders_of_many_threads(tmp_path: Path) -> None:
    """None is lost, and each page is asked for once."""
    with SyntheticWeb() as web:
        start = site(web, pages=1)
        for number in range(40):
            web.host("a.localhost").page(f"/page{number}")
        steered = Steered(tmp_path, start, {"crawl.on_idle": "wait", "monitor.tick": "5ms"})
        died: list[Any] = []
        workers = Workers(lambda name, error: died.append(error))

        def give(first: int) -> Callable[[], None]:
            def run() -> None:
                for number in range(first, first + 10):
                    steered.order(Add((web.url("a.localhost", f"/page{number}"),)))

            return run

        def begin() -> None:
            for first in range(0, 40, 10):
                workers.start(f"orders{first}", give(first))

        log = watch(web)
        log.at(1, begin)

        def look() -> None:
            if not workers.alive():
                steered.order(Set("crawl.on_idle", "end"))

        steered.crawl.on_second = look
        assert steered.run().reason == "finished"
        assert died == []
        assert asked(web) == once("a.localhost/", *(f"a.localhost/page{number}" for number in range(40)))
        assert all(done == Done(done.says, tuple[Refused]()) for done in steered.done)


def test_a_thread_that_makes_no_progress_is_named(tmp_path: Path) -> None:
    """In the figures, in the summary, and in a log with its stack; the crawl goes on as soon as it can."""
    LongStore.release.clear()
    settings = {"storage.chain": ["log", f"{HERE}:LongStore"], "monitor.stalled": "50ms"}
    with SyntheticWeb() as web:
        steered = Steered(tmp_path, site(web), settings)
        named: list[str] = []

        def look() -> None:
            named.extend(each.thread for each in steered.crawl.snapshot().stalled)
            if named:
                LongStore.release.set()

        steered.crawl.on_second = steered.crawl.on_end = lambda *_: look()
        try:
            assert steered.run().reason == "finished"
        finally:
            LongStore.release.set()
    assert "larm-store-LongStore" in named
    stats = summary(steered.crawl.snapshot(), "finished", 0.0)
    assert stats["stalled/larm-store-LongStore"] == 1
    log = (tmp_path / "logs" / "stalled.log").read_text()
    assert "larm-store-LongStore makes no progress for 0:0" in log
    assert "self.release.wait()" in log


def test_while_no_checkpoint_may_be_made_no_more_is_asked_for_than_fits_into_the_memory(tmp_path: Path) -> None:
    """As long as ``larm backup`` copies what has changed."""
    hosts = 40
    with SyntheticWeb() as web:
        for number in range(hosts):
            web.host(f"h{number}.localhost").page("/")
        web.host("a.localhost").page("/", links=[web.url(f"h{number}.localhost") for number in range(hosts)])
        watch(web)
        settings: dict[str, object] = {"frontier.hosts_in_memory": 8, "monitor.tick": "1h", "crawl.restrict_to": ".*"}
        steered = Steered(tmp_path, web.url("a.localhost"), settings)
        checkpoints = steered.crawl._checkpointer
        checkpoints.hold_at = 1
        asked_for: list[int] = []

        def look() -> None:  # the main thread, once a second
            if checkpoints.held and not steered.crawl.snapshot().in_flight and not asked_for:
                asked_for.append(len(asked(web)))
                checkpoints.hold_at = 0
                steered.crawl._ticker.hurry()

        steered.crawl.on_second = look
        assert steered.run().reason == "finished"
        assert 0 < asked_for[0] < hosts
        assert len(asked(web)) == hosts + 1

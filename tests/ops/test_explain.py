"""What ``larm why`` says of a URL."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec
import pytest

from larm.config import Config
from larm.engine.verdicts import refusals_of
from larm.filters.chain import MessageFilter
from larm.filters.length import LengthFilter
from larm.kit.disk.block_store import BlockStore
from larm.model.message import URLMessage
from larm.ops.explain import explain
from larm.seams import Filter
from larm.testing.fakes import url
from tests.frontier.rig import CONNECT, Rig, ok, status


class Mistaken(MessageFilter):
    """A filter of a user's own."""

    def judge(self, message: URLMessage) -> str | None:
        raise KeyError("colour")


@pytest.fixture
def rig(tmp_path: Path) -> Iterator[Rig]:
    store = BlockStore(tmp_path / "cachingqueue")
    yield Rig(store)
    store.close()


def rows(rig: Rig, address: str, filters: Sequence[Filter] = ()) -> dict[str, str]:
    directory = Path(str(rig.store)).parent
    return dict(explain(url(address), refusals_of(url(address), filters), rig.book, Config(), directory))


def checked(rig: Rig, body: bytes) -> None:
    rig.screen("a/first")
    rig.robots_lander.land(rig.one(), ok(body=body))
    rig.settle()


def test_forms_of_the_address(rig: Rig) -> None:
    found = rows(rig, "HTTP://A.org:80/~x/index.html")
    assert found["address"] == "http://a.org/~x/index.html"
    assert found["normalised"] == "http://a.org/%7Ex/"
    assert found["one page"] == "with http://a.org/%7Ex/; -s urls.folder_pages=false with --fresh takes them for two"
    assert "one page" not in rows(rig, "http://a.org/~x/") | rows(rig, "http://a.org/x.html")
    assert found["host"] == "a.org"
    assert found["host state"] == "never seen by this crawl"


def test_every_filter_in_its_order(rig: Rig) -> None:
    checked(rig, b"User-agent: *\nDisallow: /private")
    found = rows(rig, "http://a/private/", [LengthFilter(9), Mistaken(), rig.desk])
    assert list(found)[3:6] == ["filter length", "filter Mistaken", "filter robots"]
    assert found["filter length"] == "17 characters, filters.length.max is 9"
    assert found["filter Mistaken"] == "fails: KeyError: 'colour' (test_explain.py, line 27)"
    assert found["filter robots"] == "line 2 of http://a/robots.txt: Disallow: /private"
    assert rows(rig, "http://a/x", [LengthFilter(99)])["filter length"] == "passes"


def test_it_changes_nothing(rig: Rig) -> None:
    rows(rig, "http://a/x", [rig.desk])
    assert len(rig.book) == 0
    assert rig.queues.lease(9) == []


def test_robots_txt_from_unknown_to_known(rig: Rig) -> None:
    rig.put("a/x")
    assert rows(rig, "http://a/x")["robots.txt"] == "not asked for yet"
    rig.screen("a/first")
    assert rows(rig, "http://a/x")["robots.txt"] == "not known yet, 1 URL waiting for it"
    rig.robots_lander.land(rig.one(), ok(body=b"User-agent: *\nDisallow: /private\nAllow: /private/x\nCrawl-delay: 2.5"))
    rig.settle()
    found = rows(rig, "http://a/private/x")
    assert found["robots.txt"].startswith("line 3: Allow: /private/x (known until 1970-01-1")
    assert found["crawl delay"] == "2.5 s, of robots.txt"
    assert rows(rig, "http://a/private/")["robots.txt"].startswith("line 2: Disallow: /private (")
    assert rows(rig, "http://a/")["robots.txt"].startswith("no rule matches (")
    rig.fake.advance(rig.robots.ttl)
    rig.screen("a/second")
    assert rows(rig, "http://a/")["robots.txt"] == "no rule matches (being asked for again)"


def test_state_of_the_host(rig: Rig) -> None:
    rig.put("a/1", "a/2", "a/3")
    found = rows(rig, "http://a/2")
    assert found["its health"] == "5 time-outs until it is given up, of 5"
    assert (found["waiting"], found["queue"]) == ("3 URLs of its host", "number 2 of its host's queue")
    rig.end(rig.one(), status(500))
    found = rows(rig, "http://a/1")
    assert found["retry"] == "failed 1 time, will be tried again"
    assert "queue" not in found
    rig.end(rig.one(), CONNECT)
    assert rows(rig, "http://a/1")["its health"] == "given up"


def write_logs(rig: Rig, **logs: str) -> None:
    folder = Path(str(rig.store)).parent / "logs"
    folder.mkdir(exist_ok=True)
    for name, text in logs.items():
        (folder / f"{name}.log").write_text(text)


def test_page_that_is_stored(rig: Rig) -> None:
    line = "http://a/\thttp://a/dir/index.html\thttp://a/dir/\t0\t200\ttext/html\t1234\tHome\t1\t0\n"
    write_logs(rig, store=line)
    for address in ("http://a/dir/index.html", "http://a/dir/"):
        found = rows(rig, address)
        assert found["page"] == "200 text/html, 1234 bytes, 'Home'"
        assert found["first link"] == "on http://a/"
    assert rows(rig, "http://a/other")["page"] == "not stored"


def test_without_a_store_log_the_rest_is_still_said(rig: Rig) -> None:
    """storage.chain may be without it."""
    found = rows(rig, "http://a/")
    assert found["page"] == "no store.log to look it up in"
    assert found["host"] == "a"


@pytest.mark.parametrize("block", [1, 60, 1_000])
def test_last_fetch_is_the_last_line_that_is_about_it(rig: Rig, monkeypatch: pytest.MonkeyPatch, block: int) -> None:
    """After midnight, too; be they read together or one by one."""
    monkeypatch.setattr("larm.kit.logs.log_file._BLOCK", block)
    write_logs(
        rig,
        store="",
        thread0="23:59:58:000: 12 ms: 500: http://a/x\n00:00:04:000: 9 ms: 200 5 text/html: http://a/x\n"
        "00:00:05:000: 9 ms: 200 5 text/html: http://a/xy\n",
        thread0_errors="00:00:07:000: 12 ms: 500: http://a/x\n",
        ThreadMonitor="00:00:08:000;http://a/x\n",
    )
    assert rows(rig, "http://a/x")["last fetch"] == "00:00:04:000: 9 ms: 200 5 text/html: http://a/x"
    assert "last fetch" not in rows(rig, "http://a/")


def test_settings_are_those_of_the_crawl(rig: Rig) -> None:
    rig.put("a/1")
    strict = msgspec.structs.replace(Config(), frontier=msgspec.structs.replace(Config().frontier, health=3))
    found = dict(explain(url("http://a/1"), (), rig.book, strict, Path("nowhere")))
    assert found["its health"] == "5 time-outs until it is given up, of 3"


def test_place_in_a_long_queue(rig: Rig) -> None:
    rig.put(*(f"a/{number}" for number in range(250)))
    assert rows(rig, "http://a/0")["queue"] == "number 1 of its host's queue"
    assert rows(rig, "http://a/249")["queue"] == "number 250 of its host's queue"
    assert "queue" not in rows(rig, "http://a/150"), "that block is on the disk"

"""Story 8: filters, storages and processors of a user's own that raise, and threads that die. No hang, no loss."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

import larm.building.fetchers
from larm.errors import ConfigError, LarmError, StageError, StorageError
from larm.fetch.curl_fetcher import CurlFetcher
from larm.filters.chain import MessageFilter
from larm.frontier.queues import HostQueues
from larm.model.document import Document, Visit
from larm.model.message import URLMessage
from larm.model.outcome import Fetched
from larm.ops.afterwards import explain_url
from larm.ops.left_out import left_out
from larm.store.base import DocumentStorage
from larm.testing.replies import Reply
from larm.testing.web import SyntheticWeb
from tests.stories import parts
from tests.stories.crawls import Run, asked, check_stored, config_of, indexed, lines, once, rows, run_crawl
from tests.stories.parts import HERE
from tests.stories.processes import crawl_arguments, larm_says

CHAIN = ["length", "known_paths", "scope", "visited", "robots"]
PATHS = ["/", *(f"/{number}" for number in range(20))]
KEYS = [f"a.localhost{path}" for path in PATHS]


@pytest.fixture
def start(web: SyntheticWeb) -> str:
    """A host with 21 pages, each linking to two more."""
    site = web.host("a.localhost")
    for number in range(-1, 20):
        site.page(
            f"/{number}" if number >= 0 else "/", links=[f"/{each}" for each in (2 * number + 2, 2 * number + 3) if each < 20]
        )
    return web.url("a.localhost")


def own(name: str, kind: str, arguments: Mapping[str, Any] | None = None) -> dict[str, object]:
    """Settings that put a part of ours at the end of its chain."""
    name = f"{HERE}:{name}"
    chain = {"filters": ("filters.order", CHAIN), "storage": ("storage.chain", ["log", "index"])}[kind]
    return {chain[0]: [*chain[1], name], "own": {name: dict(arguments or {})}}


def failed(run: Run, kind: type[LarmError], *words: str) -> None:
    assert run.reason == "failed"
    assert type(run.ending.error) is kind
    for word in words:
        assert word in str(run.ending.error)
    assert "\n" not in str(run.ending.error)


# -- filters


def test_a_filter_that_raises_drops_that_url(tmp_path: Path, web: SyntheticWeb, start: str) -> None:
    web.host("a.localhost").page("/19", links=["/riddle", "/wild", "/last"])
    web.host("a.localhost").page("/last")
    run = run_crawl(tmp_path, start, own("NoWilderness", "filters"))
    assert run.reason == "finished"
    assert asked(web) == once(*KEYS, "a.localhost/last")
    check_stored(tmp_path, web)
    assert (run.counters["NoWilderness/error"], run.counters["NoWilderness/filtered"]) == (1, 1)
    assert lines(tmp_path, "NoWilderness") == [web.url("a.localhost", "/wild")]
    riddle = web.url("a.localhost", "/riddle")
    [said] = lines(tmp_path, "filter_errors")
    assert re.fullmatch(rf"NoWilderness\tLookupError: what is it\? \(parts\.py, line \d+\)\t{riddle}", said)


def test_what_a_filter_raised_for_is_told_and_fetched_when_it_is_mended(tmp_path: Path, web: SyntheticWeb, start: str) -> None:
    web.host("a.localhost").page("/19", links=["/riddle"])
    web.host("a.localhost").page("/riddle")
    settings = own("NoWilderness", "filters")
    run = run_crawl(tmp_path, start, settings)
    notes = {each.key: each.numbers for each in left_out(tmp_path, config_of(start, settings), run.last)}
    assert notes["raised"] == {"links": 1, "log": "logs/filter_errors.log"}
    url = lines(tmp_path, "filter_errors")[0].split("\t")[2]
    run_crawl(tmp_path, [start, url])
    assert asked(web)["a.localhost/riddle"] == 1


@pytest.mark.parametrize("place", [2, 4, 5], ids=["before visited", "behind it", "last"])
def test_what_a_filter_drops_is_told_and_fetched_by_a_run_without_it(
    tmp_path: Path, web: SyntheticWeb, start: str, place: int
) -> None:
    """No page has changed, so no link that is new leads there. With it, each run asks it again."""
    web.host("a.localhost").page("/19", links=["/wild"])
    web.host("a.localhost").page("/wild")
    order: dict[str, object] = {"filters.order": [*CHAIN[:place], f"{HERE}:NoWilderness", *CHAIN[place:]]}
    config = config_of(start, order)
    told = {"links": 1, "filter": "NoWilderness", "log": "logs/NoWilderness.log"}
    for again in (False, True):  # a page that is unchanged has no links, so that only what counts as seen is asked about again
        run = run_crawl(tmp_path, start, order)
        said = [each.numbers for each in left_out(tmp_path, config, run.last, run.own) if each.key == "own_filter"]
        assert said == ([] if again and place < 4 else [told])
    url = web.url("a.localhost", "/wild")
    assert set(lines(tmp_path, "NoWilderness")) == {url}
    note = explain_url(config, tmp_path, url).note
    assert (note.key, note.numbers) == ("why_filter", {"filter": "NoWilderness", "reason": "wilderness"})
    assert larm_says("links", "--dir", str(tmp_path), "--broken").status == 0
    assert asked(web)["a.localhost/wild"] == 0
    if place > 3:
        assert explain_url(config_of(start), tmp_path, url).verdict.startswith(
            "Not fetched: it was dropped by the filter NoWild"
        )
    run = run_crawl(tmp_path, start)
    assert asked(web)["a.localhost/wild"] == 1
    assert not any(each.key == "own_filter" for each in left_out(tmp_path, config_of(start), run.last, run.own))
    assert indexed(tmp_path) == once(*(f"http://{key.replace('/', f':{web.port}/', 1)}" for key in [*KEYS, "a.localhost/wild"]))


def test_a_filter_that_fails_on_the_start_url_is_told_also_with_q(tmp_path: Path, start: str) -> None:
    url = f"{start}riddle"
    order = f"[scope, visited, '{HERE}:NoWilderness']"
    said = larm_says(*crawl_arguments(tmp_path, [url], {"filters.order": order}), "-q")
    assert said.status == 4
    assert said.err.splitlines()[0].startswith(
        f"larm: {url}: dropped by the filter NoWilderness: fails: LookupError: what is it? (parts.py, line"
    )


def test_a_filter_that_raises_at_every_batch_drops_them_all(tmp_path: Path, web: SyntheticWeb, start: str) -> None:
    run = run_crawl(tmp_path, start, own("BatchBreaker", "filters"))
    assert run.reason == "finished"
    assert asked(web) == once("a.localhost/")
    assert run.counters["breaker/error"] == 2


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"filters.order": ["lenght"]}, "filters.order: 'lenght': expected one of length, known_paths"),
        ({"filters.order": [f"{HERE}:NoSuchFilter"]}, "can't make tests.stories.parts:NoSuchFilter: AttributeError"),
        (
            {"filters.order": [f"{HERE}:NoJudge"]},
            "filters.order: tests.stories.parts:NoJudge has no judge; see larm",
        ),
        (
            {"storage.chain": [f"{HERE}:NoStore"]},
            "storage.chain: tests.stories.parts:NoStore has no store_visit; see larm.seams.",
        ),
        ({"filters.order": [f"{HERE}:Leaves"]}, "can't make tests.stories.parts:Leaves: SystemExit: I leave"),
        ({"filters.order": ["tests.stories.leaving:Filter"]}, "can't make tests.stories.leaving:Filter: SystemExit: 3"),
        ({"storage.chain": ["no.such.module:Thing"]}, "can't make no.such.module:Thing: ModuleNotFoundError"),
        ({"storage.chain": [f"{HERE}:BadStorage"]}, "can't make tests.stories.parts:BadStorage: TypeError"),
        ({"processing.by_mime": {"text/x": "nothing"}}, "processing.by_mime.text/x: 'nothing': expected package.module:Class"),
    ],
)
def test_a_part_that_is_none_is_an_error_at_the_start(
    tmp_path: Path, start: str, settings: dict[str, object], words: str
) -> None:
    with pytest.raises(ConfigError, match=words.replace("(", r"\(")):
        run_crawl(tmp_path / "new", start, settings)
    assert not (tmp_path / "new").exists(), "nothing was started"


# -- storages


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"at": "open"}, ["storage BadStorage failed: ValueError: I can't open"]),
        ({"at": "store", "after": 5}, ["storage BadStorage failed: ValueError: I can't store"]),
        ({"at": "store", "fatal": True}, ["storage BadStorage failed: KeyboardInterrupt"]),
        ({"at": "commit"}, ["storage BadStorage failed: ValueError: I can't commit"]),
    ],
    ids=["open", "store", "store-fatal", "commit"],
)
def test_a_storage_that_raises_ends_the_crawl(
    tmp_path: Path, web: SyntheticWeb, start: str, arguments: dict[str, Any], words: list[str]
) -> None:
    """And without it the same command does the rest, or begins anew; no page is twice anywhere."""
    settings = own("BadStorage", "storage", arguments) | {"monitor.tick": "30ms"}
    failed(run_crawl(tmp_path, start, settings), StorageError, *words)
    assert run_crawl(tmp_path, start).reason == "finished"
    check_stored(tmp_path, web, pages=KEYS)


def test_a_storage_that_raises_is_exit_status_3_and_one_line(tmp_path: Path, web: SyntheticWeb, start: str) -> None:
    chain = {"storage.chain": f"[log, '{HERE}:BadStorage']", "own": f"{{'{HERE}:BadStorage': {{at: store, after: 3}}}}"}
    said = larm_says(*crawl_arguments(tmp_path, [start], chain))
    assert said.status == 3
    assert re.fullmatch(r"larm: storage BadStorage failed: ValueError: I can't store \(parts\.py, line \d+\)", said.last)
    assert "Traceback" not in said.err


# -- processors


def test_a_processor_that_raises_leaves_a_page_that_is_stored_but_not_indexed(tmp_path: Path, web: SyntheticWeb) -> None:
    site = web.host("a.localhost")
    site.page("/", links=["/good", "/bad", "/19"])
    site.page("/19")
    for path in ("/good", "/bad"):
        site.add(path, Reply(200, {"Content-Type": "text/x-own"}, b"something"))
    run = run_crawl(tmp_path, web.url("a.localhost"), {"processing.by_mime": {"text/x-own": f"{HERE}:BadProcessor"}})
    assert run.reason == "finished"
    found = {row.url: (row.mime, row.size, row.title) for row in rows(tmp_path)}
    assert found[web.url("a.localhost", "/good")] == ("text/x-own", 9, "read")
    assert found[web.url("a.localhost", "/bad")] == ("text/x-own", 9, "")
    assert indexed(tmp_path) == once(*(web.url("a.localhost", path) for path in ("/", "/19", "/good")))
    errors = lines(tmp_path, "thread0_errors") + lines(tmp_path, "thread1_errors")
    assert sum("BadProcessor: ValueError: can't read /bad" in line for line in errors) == 1
    assert run.counters["processing/error"] == 1


def test_a_page_that_a_processor_failed_on_is_told_and_comes_back_when_it_is_mended(tmp_path: Path, web: SyntheticWeb) -> None:
    """Though it has not changed, and the server would say so."""
    site, start = web.host("a.localhost"), web.url("a.localhost")
    site.page("/", "A", "some words", links=["/bad"])
    site.add("/bad", Reply(200, {"Content-Type": "text/x-own", "ETag": '"1"'}, b"something"))
    broken: dict[str, object] = {"processing.by_mime": {"text/x-own": f"{HERE}:BadProcessor"}}
    run = run_crawl(tmp_path, start, broken)
    config = config_of(start, broken)
    notes = {each.key: each.numbers for each in left_out(tmp_path, config, run.last, run.own)}
    assert notes["cut"]["cuts"] == ["1 that a processor failed on (logs/thread*_errors.log says how)"]
    note = explain_url(config, tmp_path, web.url("a.localhost", "/bad")).note
    assert note.numbers["searchable"] == "no, a processor failed on it"
    mended: dict[str, object] = {"processing.by_mime": {"text/x-own": f"{HERE}:GoodProcessor"}}
    run_crawl(tmp_path, start, mended)
    assert web.url("a.localhost", "/bad") in indexed(tmp_path)


# -- what they return


class Talks(MessageFilter):
    def judge(self, message: URLMessage) -> str | None:
        return message.url.path_query == "/19"  # type: ignore[return-value]


class Forgetful(DocumentStorage):
    def store(self, visits: Sequence[Visit]) -> None:
        pass

    def commit(self) -> Mapping[str, Any]:
        return None  # type: ignore[return-value]


class Opaque(DocumentStorage):
    """Its position can't be written down."""

    def store(self, visits: Sequence[Visit]) -> None:
        pass

    def commit(self) -> Mapping[str, Any]:
        return {"file": object}


class Empty:
    def process(self, message: URLMessage, fetched: Fetched, mime: str) -> Document:
        return None  # type: ignore[return-value]


def test_what_a_part_returns_wrongly_is_told_with_its_name(tmp_path: Path, web: SyntheticWeb, start: str) -> None:
    run = run_crawl(tmp_path / "filter", start, {"filters.order": [*CHAIN, f"{__name__}:Talks"]})
    assert run.counters["Talks/error"] == len(lines(tmp_path / "filter", "filter_errors")) > 0
    assert "Talks\tTypeError: judge returned False, expected a reason or None" in lines(tmp_path / "filter", "filter_errors")[0]
    run = run_crawl(tmp_path / "storage", start, {"storage.chain": ["log", f"{__name__}:Forgetful"]})
    failed(run, StorageError, "storage Forgetful failed: TypeError: commit returned None, expected a mapping")
    run = run_crawl(tmp_path / "opaque", start, {"storage.chain": ["log", f"{__name__}:Opaque"]})
    failed(run, StorageError, "storage Opaque failed: TypeError: commit returned {'file':", "expected texts, bytes, numbers")
    run_crawl(tmp_path / "processor", start, {"processing.by_mime": {"text/html": f"{__name__}:Empty"}})
    errors = lines(tmp_path / "processor", "thread0_errors") + lines(tmp_path / "processor", "thread1_errors")
    assert any(f"{start}: Empty: TypeError: process returned None, expected a Document" in line for line in errors)


# -- threads


def continues(directory: Path, web: SyntheticWeb, start: str, run: Run, name: str) -> None:
    """It has ended with exit status 1 and a word on the thread, and the next run does the rest."""
    failed(run, StageError, name)
    assert run.ending.error is not None
    assert run.ending.error.exit_status == 1
    assert run_crawl(directory, start).reason == "finished"
    check_stored(directory, web, pages=KEYS)


@pytest.mark.parametrize("tick", ["10ms", "1h"])
def test_the_handler_dies(tmp_path: Path, web: SyntheticWeb, start: str, monkeypatch: pytest.MonkeyPatch, tick: str) -> None:
    monkeypatch.setattr(parts.Deadly, "left", 1)
    settings = own("Deadly", "filters", {"at": "/13"}) | {"monitor.tick": tick}
    run = run_crawl(tmp_path, start, settings)
    assert re.search(r"to leave \(parts\.py, line \d+\), in the filter Deadly; the same command", str(run.ending.error))
    continues(tmp_path, web, start, run, "larm-handler died of SystemExit: the filter wants")


def test_a_fetcher_thread_dies_of_its_fetcher(
    tmp_path: Path, web: SyntheticWeb, start: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Broken(CurlFetcher):
        waits = 0

        def wait(self, seconds: float) -> Any:
            Broken.waits += 1
            if Broken.waits == 12:
                raise OSError("the network is down")
            return super().wait(seconds)

    with monkeypatch.context() as patch:
        patch.setattr(larm.building.fetchers, "CurlFetcher", Broken)
        run = run_crawl(tmp_path, start)
    continues(tmp_path, web, start, run, "died of OSError: the network is down")


@pytest.mark.parametrize("tick", ["10ms", "1h"])
def test_a_fetcher_thread_dies_in_the_middle_of_its_step(
    tmp_path: Path, web: SyntheticWeb, start: str, monkeypatch: pytest.MonkeyPatch, tick: str
) -> None:
    """The page is with the storages, but was not released: the checkpoint at the end would have it in both places."""
    release, calls = HostQueues.release, [0]

    def broken(*arguments: Any) -> Any:
        calls[0] += 1
        if calls[0] == 9:
            raise ZeroDivisionError
        return release(*arguments)

    with monkeypatch.context() as patch:
        patch.setattr(HostQueues, "release", broken)
        run = run_crawl(tmp_path, start, {"monitor.tick": tick})
    continues(tmp_path, web, start, run, "died of ZeroDivisionError")


def test_a_fetcher_thread_dies_while_it_reads_a_page(tmp_path: Path, web: SyntheticWeb, start: str) -> None:
    web.host("a.localhost").page("/18", links=["/deadly"])
    web.host("a.localhost").add("/deadly", Reply(200, {"Content-Type": "text/x-own"}, b"x"))
    run = run_crawl(tmp_path, start, {"processing.by_mime": {"text/x-own": f"{HERE}:BadProcessor"}})
    failed(run, StageError, "died of MemoryErrorLike: /deadly", ", in the processor BadProcessor; the same command")
    assert run_crawl(tmp_path, start).reason == "finished"
    check_stored(tmp_path, web, pages=[*KEYS, "a.localhost/deadly"])


def test_the_tick_thread_dies(tmp_path: Path, web: SyntheticWeb, start: str, monkeypatch: pytest.MonkeyPatch) -> None:
    site = web.host("a.localhost")
    site.delay = 0.02

    def broken(_: object) -> None:
        raise RuntimeError("no ink")

    with monkeypatch.context() as patch:
        patch.setattr("larm.engine.figures.reporter.Reporter.tick", broken)
        run = run_crawl(tmp_path, start, {"monitor.tick": "20ms"})
    continues(tmp_path, web, start, run, "larm-tick died of RuntimeError: no ink")

"""``larm forget``: out of all that a crawl has, for good; also where it is killed meanwhile."""

from __future__ import annotations

import json
import os
import re
import shutil
import sqlite3
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import msgspec
import pytest

if sys.version_info < (3, 14):
    from backports import zstd
else:
    from compression import zstd

from larm import cli
from larm.crawldir.state import known_header
from larm.errors import UsageError
from larm.frontier.checkpoint import CheckpointFile
from larm.kit.disk.block_store import BlockStore
from larm.kit.disk.table import Table, TableRow
from larm.ops import erasing, forgetting
from larm.ops.afterwards import explain_url
from larm.ops.forgetting import meant, take_out
from larm.ops.observers import build_crawl
from larm.ops.state_check import find_damage
from larm.store.index import IndexStorage
from larm.store.pages.page_book import PageBook
from larm.store.pages.page_row import encode_row, part_of
from larm.store.pages.page_rows import kept_pages, page_rows
from larm.testing.replies import Reply, html
from larm.testing.web import SyntheticWeb
from tests.every_byte import holding
from tests.stories.crawls import asked, config_of, indexed, lines, rows, run_crawl, stored

SECRET = "zebrafinch"


@pytest.fixture
def start(web: SyntheticWeb) -> str:
    """Two hosts: five pages here, of which two are secret, and one there."""
    site, other = web.host("a.localhost"), web.host("b.localhost")
    there = web.url("b.localhost")
    site.page("/", links=["/private/1", "/private/2", "/public", "/Private/1", there])
    for number in (1, 2):
        site.add(
            f"/private/{number}", html(f"<title>{SECRET} {number}</title><p>{SECRET} number {number}, secret<a href=/public>")
        )
    site.page("/public", text="for everybody")
    site.page("/Private/1", text="another page, by its upper case")
    other.add("/", html(f"<title>other</title><p>{SECRET}, says the other host"))
    return web.url("a.localhost")


SETTINGS = {"crawl.restrict_to": ".*", "storage.chain": ["log", "index", "graph", "warc"]}


def crawl(directory: Path, start: str, **more: object) -> str:
    return run_crawl(directory, start, SETTINGS | more).reason


def texts(directory: Path) -> bytes:
    """All that the crawl has of the texts of pages: page files and unpacked archive."""
    from fastwarc.warc import ArchiveIterator

    bodies = b""
    for path in sorted((directory / "logs").glob("pagefile_*")):
        bodies += path.read_bytes()
        if path.suffix == ".zst":
            with zstd.open(path) as file:
                bodies += file.read()
    for path in sorted((directory / "warc").glob("*.warc.gz")):
        with path.open("rb") as file:
            bodies += b"".join(
                repr(dict(record.headers)).encode() + record.reader.read() for record in ArchiveIterator(file, parse_http=False)
            )
    return bodies


def key_of(url: str) -> str:
    """As `asked` has it."""
    host, _, path = url.partition("//")[2].partition("/")
    return f"{host.partition(':')[0]}/{path}"


def forget(directory: Path, start: str, *what: str) -> forgetting.Forgot:
    config = config_of(start, SETTINGS)
    return take_out(config, directory, meant(config, directory, what))


@pytest.mark.parametrize(
    ("what", "left"),
    [
        ("{a}private/1", {"", "private/2", "public", "Private/1", "b"}),
        ("{a}private/*", {"", "public", "b"}),
        ("b.localhost", {"", "private/1", "private/2", "public", "Private/1"}),
        ("a.localhost", {"b"}),
        ("*/public", {"", "private/1", "private/2", "Private/1", "b"}),
    ],
)
def test_what_is_forgotten_is_nowhere_and_not_fetched_again(
    web: SyntheticWeb, tmp_path: Path, start: str, what: str, left: set[str]
) -> None:
    assert crawl(tmp_path, start) == "finished"
    kept = {web.url("b.localhost") if path == "b" else f"{start}{path}" for path in left}
    gone = set(stored(tmp_path)) - kept
    assert gone
    assert forget(tmp_path, start, what.format(a=start)).pages == len(gone)
    assert set(stored(tmp_path)) == set(indexed(tmp_path)) == kept
    assert {line.partition("\t")[0] for line in lines(tmp_path, "links")} <= {*kept, "<start>"}
    assert [url for url in gone if f"'{url}'".encode() in texts(tmp_path)] == []
    web.log.clear()
    assert crawl(tmp_path, start) == "finished"
    assert [url for url in gone if key_of(url) in asked(web)] == []
    assert set(stored(tmp_path)) == kept


def test_the_bytes_are_gone(tmp_path: Path, start: str) -> None:
    crawl(tmp_path, start)
    assert texts(tmp_path).count(SECRET.encode()) > 6
    tables = [tmp_path / "cachingqueue" / name for name in ("pages.db", "aliases.db", "payloads.db")]
    for path in tables:
        with closing(sqlite3.connect(path)) as database:
            database.executescript(f"CREATE TABLE dropped (text); INSERT INTO dropped VALUES ('{SECRET}'); DROP TABLE dropped;")
    found = forget(tmp_path, start, f"{start}private/*")
    assert found.records >= 4
    assert found.size > 100
    left = texts(tmp_path)
    assert left.count(SECRET.encode()) == 2, "of the other host, in page file and archive"
    for path in tables:
        with closing(sqlite3.connect(path)) as database:
            assert database.execute("PRAGMA freelist_count").fetchone() == (0,)
    segments = json.loads((tmp_path / "anchors" / "meta.json").read_text())["segments"]
    assert [each["deletes"] for each in segments] == [None], "no word of a text of links that was deleted"
    assert cli.run(["warc", "verify", *map(str, (tmp_path / "warc").glob("*.warc.gz"))]) == 0


WORDS = rb"qzvkw(title|head|text|anchor|twin)"
"""Of pages that are forgotten, and of no other."""


def secret_web(web: SyntheticWeb) -> str:
    """Pages below /private/: text, the same text twice, a redirect, one that is not there; only a redirect leads to them."""
    site = web.host("a.localhost")
    start = web.url("a.localhost")
    site.page("/", links=["/go", "/public"], text="all may read this")
    site.add("/go", Reply(301, {"location": f"{start}private/one"}))
    links = "".join(f"<a href={name}>qzvkwanchor {name}</a>" for name in ("twin", "twin2", "moved", "missing", "/below"))
    site.add("/private/one", html(f"<title>qzvkwtitle</title><h1>qzvkwhead</h1><p>qzvkwtext, as nobody else has it.{links}"))
    for name in ("twin", "twin2"):
        site.add(f"/private/{name}", html("<title>same</title><p>" + "qzvkwtwin says the same as the other one. " * 9))
    site.add("/private/moved", Reply(301, {"location": "/public"}))
    site.page("/public", text="for everybody")
    site.page("/below", text="found on a page that is forgotten")
    return start


@pytest.mark.parametrize("what", ["{a}private/*", "a.localhost:*/private/*", "*/private/*"])
def test_no_file_has_a_word_or_an_address_of_what_is_forgotten(web: SyntheticWeb, tmp_path: Path, what: str) -> None:
    start, chain = secret_web(web), {"storage.chain": ["log", "index", "graph"], "filters.visited.log": True}
    crawl(tmp_path, start, **chain)
    assert len(holding(tmp_path, WORDS)) > 4
    assert len(holding(tmp_path, rb"private/[a-z]")) > 6
    assert forget(tmp_path, start, what.format(a=start)).pages == 3
    assert holding(tmp_path, WORDS) == set()
    assert holding(tmp_path, rb"private/[a-z]") == set(), "but for the rule, which ends with a star"
    for folder in ("index", "anchors"):
        meta = json.loads((tmp_path / folder / "meta.json").read_text())
        assert [each["deletes"] for each in meta["segments"]] == [None] * len(meta["segments"])
        found = {path.name.partition(".")[0] for path in (tmp_path / folder).glob("*.store")}
        assert found == {each["segment_id"].replace("-", "") for each in meta["segments"]}
    assert {row.access for _, row in page_rows(tmp_path / "cachingqueue" / "pages.db")} == {
        start,
        *(f"{start}{name}" for name in ("go", "public", "below")),
    }
    web.log.clear()
    for _ in range(2):
        assert crawl(tmp_path, start, **chain) == "finished"
    assert not [key for key in asked(web) if "/private/" in key]
    assert holding(tmp_path, WORDS) == set()
    assert set(stored(tmp_path)) == set(indexed(tmp_path)) == {start, f"{start}public", f"{start}below"}


@pytest.mark.parametrize("step", ["_purge", "_measured", "_amended"])
def test_days_of_the_logs_are_known_after_it(tmp_path: Path, start: str, step: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """For ``storage.log.keep``; also where it was ended after it had taken lines out of the logs."""
    settings = SETTINGS | {"storage.log.keep.age": "9d"}
    assert run_crawl(tmp_path, start, settings).reason == "finished"
    places = [line.end() for line in re.finditer(rb".*\n", (tmp_path / "logs" / "store.log").read_bytes())]
    [[today, *_]] = known_header(tmp_path).storages["log"]["days"]
    names = [row.url for row in rows(tmp_path)]
    days = [(today - 1, 0, 0), (today, places[3], 0)]  # as though the last two had been stored today
    with closing(BlockStore(tmp_path / "cachingqueue")) as store:
        file = CheckpointFile(store)
        header, fresh = file.read() or pytest.fail("there is no checkpoint")
        header.storages["log"]["days"] = days
        file.amend(header, fresh, {})
    with monkeypatch.context() as patched:
        real, calls = getattr(forgetting, step), iter(range(9))

        def ended(*given: object) -> object:
            found = real(*given)
            if next(calls) == (1 if step == "_amended" else 0):
                raise KeyboardInterrupt
            return found

        patched.setattr(forgetting, step, ended)
        with pytest.raises(KeyboardInterrupt):
            forget(tmp_path, start, f"{start}private/*")
    forget(tmp_path, start)
    left = [row.url for row in rows(tmp_path)]
    ends = [line.start() for line in re.finditer(rb".*\n", (tmp_path / "logs" / "store.log").read_bytes())]
    today_has = [url for url, at in zip(left, ends, strict=True) if at >= known_header(tmp_path).storages["log"]["days"][1][1]]
    assert today_has == [url for url in names[4:] if url in left]


def test_what_waits_for_the_index_has_no_word_of_it_either(
    web: SyntheticWeb, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After a kill, which comes between two commits."""
    start, chain = secret_web(web), {"storage.chain": ["log", "index", "graph"]}
    crawl(tmp_path, start, **chain | {"crawl.max_pages": 1})
    monkeypatch.setattr(IndexStorage, "commit", IndexStorage.checkpoint)
    crawl(tmp_path, start, **chain)
    monkeypatch.undo()
    assert holding(tmp_path / "cachingqueue", WORDS) >= {"pending-1"}
    assert forget(tmp_path, start, f"{start}private/*").pages == 3
    assert holding(tmp_path, WORDS) == set()
    assert crawl(tmp_path, start, **chain) == "finished"
    assert holding(tmp_path, WORDS) == set()
    assert set(stored(tmp_path)) == set(indexed(tmp_path)) == {start, f"{start}public", f"{start}below"}


def test_archives_have_no_word_of_it_either(web: SyntheticWeb, tmp_path: Path) -> None:
    start = secret_web(web)
    crawl(tmp_path, start)
    forget(tmp_path, start, f"{start}private/*")
    assert holding(tmp_path, WORDS) == set()


def test_a_page_whose_host_is_another_agents_by_now_is_taken_out(tmp_path: Path, start: str) -> None:
    crawl(tmp_path, start)
    path = tmp_path / "cachingqueue" / "pages.db"
    rows = dict(page_rows(path))
    with closing(Table(path)) as table:
        left = {key: msgspec.structs.replace(row, left=True) for key, row in rows.items()}
        table.write(table.generation, [TableRow(key, part_of(row.host), encode_row(row)) for key, row in left.items()])
    assert list(page_rows(path)) == []
    assert len(kept_pages(path, list(rows))) == len(rows)
    assert forget(tmp_path, start, f"{start}private/*").pages == 3
    assert f"{start}private/1" not in indexed(tmp_path)
    assert f"{start}public" in indexed(tmp_path)
    assert len(kept_pages(path, list(rows))) == len(rows) - 3


def killed(directory: Path, start: str, at: int) -> bool:
    """Forget, by a process that ends without a word after its step of this number; False: it has fewer."""

    def dying(real: Callable[..., object]) -> Callable[..., object]:
        def step(*args: object, **more: object) -> object:
            nonlocal steps
            steps += 1
            mine = steps
            found = real(*args, **more)
            if mine == at:
                os._exit(9)
            return found

        return step

    steps = 0
    child = os.fork()
    if not child:
        try:
            for name in (
                *("_settled", "_amended", "purge_logs", "purge_graph", "_purge", "_measured", "_told_gone"),
                *("unseen", "without_rows", "erase"),
            ):
                setattr(forgetting, name, dying(getattr(forgetting, name)))
            PageBook.commit = dying(PageBook.commit)  # type: ignore[method-assign]
            erasing.purge = dying(erasing.purge)
            forget(directory, start, f"{start}private/*")
        finally:
            os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 9


def test_it_can_be_killed_at_any_moment(web: SyntheticWeb, tmp_path: Path, start: str) -> None:
    """Then no run begins until it is completed, and what comes of it is the same."""
    whole = tmp_path / "whole"
    crawl(whole, start)
    pending = 0
    for at in range(1, 20):
        directory = tmp_path / str(at)
        shutil.copytree(whole, directory)
        died = killed(directory, start, at)
        assert not list(find_damage(directory))
        if forgetting.forgotten_items(directory).pending:
            pending += 1
            with pytest.raises(UsageError, match=r"'larm forget' completes it"):
                build_crawl(config_of(start, SETTINGS), directory)
            forget(directory, start)
        elif died and at == 1:
            forget(directory, start, f"{start}private/*")
        assert set(stored(directory)) == set(indexed(directory)) == {start, f"{start}public", web.url("b.localhost")}
        assert texts(directory).count(SECRET.encode()) == 2
        assert holding(directory, rb"private/[12]") == {"logs/pagefile_1.pfl.zst", "graph/links.journal", "graph/snapshot"} | {
            path.relative_to(directory).as_posix() for path in directory.glob("warc/*.gz")
        } | {path.relative_to(directory).as_posix() for path in directory.glob("index/*.store")}, "the page that leads there"
        if not died:
            break
        assert not list(find_damage(directory))
    assert (at, pending) == (17, 14)
    web.log.clear()
    assert crawl(directory, start) == "finished"
    assert "a.localhost/private/1" not in asked(web)


def test_pages_found_on_forgotten_ones_stay_known_when_it_is_ended_after_the_last_erasure(
    web: SyntheticWeb, tmp_path: Path, start: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    site = web.host("a.localhost")
    site.page("/private/1", text=SECRET, links=["/found"])
    site.page("/found", text="linked from there alone")
    crawl(tmp_path, start)

    def ended(directory: Path) -> list[Path]:
        erasing.erase(directory)
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(forgetting, "erase", ended)
        with pytest.raises(KeyboardInterrupt):
            forget(tmp_path, start, f"{start}private/*")
    forget(tmp_path, start)
    known = {row.access for _, row in page_rows(tmp_path / "cachingqueue" / "pages.db")}
    assert known == {start, f"{start}public", f"{start}found", web.url("b.localhost")}


def test_it_is_said_asked_and_undone(web: SyntheticWeb, tmp_path: Path, start: str, capsys: pytest.CaptureFixture[str]) -> None:
    crawl(tmp_path, start)
    pattern, directory = f"{start}private/*", ["--dir", str(tmp_path)]
    assert cli.run(["forget", pattern, *directory]) == 2
    assert "3 pages of" in (said := capsys.readouterr().err)
    assert "would be removed for good: --yes does it" in said
    assert cli.run(["forget", pattern, "--yes", *directory]) == 0
    said = capsys.readouterr().err
    assert "forgotten: 3 pages, " in said
    undo = f"larm forget --undo '{pattern}'"
    assert said.endswith(f"unless you say: 'larm forget --dir {tmp_path} --undo '{pattern}''\n")
    assert cli.run(["forget", *directory]) == 0
    assert capsys.readouterr().out.startswith(f"{pattern}  since ")
    note = explain_url(config_of(start, SETTINGS), tmp_path, f"{start}private/1").note
    assert (note.key, note.numbers["undo"]) == ("why_forgotten", f"'{undo}'")
    assert note.numbers["when"].startswith("on 20")
    assert cli.run(["forget", "--undo", "nothing", *directory]) == 2
    assert "nothing is not forgotten" in capsys.readouterr().err
    assert cli.run(["forget", "--undo", pattern, *directory]) == 0
    web.log.clear()
    assert crawl(tmp_path, start) == "finished"
    assert asked(web)["a.localhost/private/1"] == 1
    assert len(stored(tmp_path)) == 6


def test_what_is_forgotten_is_no_broken_link(tmp_path: Path, start: str, capsys: pytest.CaptureFixture[str]) -> None:
    crawl(tmp_path, start)
    forget(tmp_path, start, f"{start}private/*")
    assert cli.run(["links", "--broken", "--dir", str(tmp_path)]) == 0
    assert capsys.readouterr().out == ""


def test_what_waits_is_passed_over(web: SyntheticWeb, tmp_path: Path) -> None:
    site = web.host("a.localhost")
    site.page("/", links=[f"/{kind}/{number}" for number in range(30) for kind in ("bad", "good")])
    for number in range(30):
        for kind in ("bad", "good"):
            site.page(f"/{kind}/{number}")
    start = web.url("a.localhost")
    assert run_crawl(tmp_path, start, {"crawl.max_pages": 5}).reason == "closespider_pagecount"
    config = config_of(start)
    assert take_out(config, tmp_path, meant(config, tmp_path, [f"{start}bad/*"])).waits
    web.log.clear()
    run = run_crawl(tmp_path, start)
    assert run.reason == "finished"
    assert not [key for key in asked(web) if "/bad/" in key]
    assert len([url for url in stored(tmp_path) if "/good/" in url]) == 30
    assert run.counters["forgotten/passed_over"] > 20
    assert run.last.pages == len(stored(tmp_path)) == 31


def test_a_start_url_that_is_forgotten_says_so(tmp_path: Path, start: str) -> None:
    crawl(tmp_path, start)
    forget(tmp_path, start, "b.localhost")
    run = run_crawl(tmp_path, [start, start.replace("a.localhost", "b.localhost")], SETTINGS)
    assert "(larm forget b.localhost)" in run.ending.failed_starts[0]

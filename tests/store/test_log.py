from __future__ import annotations

import os
import random
import re
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

if sys.version_info < (3, 14):
    from backports import zstd
else:
    from compression import zstd

from larm import config
from larm.errors import StorageError
from larm.kit.units import ByteSize
from larm.model.document import Visit
from larm.model.links import Links
from larm.model.message import REDIRECT, START
from larm.seams import Storage
from larm.store.log import LogStorage
from larm.store.purge import purge_logs
from larm.store.reader import StoreLog
from larm.testing.clock import FakeClock
from tests.store.stored_pages import link, page
from tests.stories.crawls import check_page_files

SETTINGS = config.LogSettings(page_file_size=ByteSize(100), compress=False)


def opened(directory: Path, position: dict[str, Any] | None = None) -> LogStorage:
    storage = LogStorage(directory, SETTINGS, FakeClock())
    storage.open(position)
    return storage


def stored(directory: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in sorted((directory / "logs").iterdir())}


def test_a_crawl_in_its_logs(tmp_path: Path) -> None:
    """Start URLs, a redirect, a page with a frame, an empty page: all of LARM-89 to LARM-94 in one look."""
    storage: Storage = opened(tmp_path)
    storage.store([Visit(START, Links.of([link("http://a.org/")]))])
    storage.store(
        [
            Visit("http://a.org/", Links.of([link("http://a.org/home", link_type=REDIRECT)]), status=301),
            page(
                "http://a.org/home",
                "My\thome\r\n",
                body=b"<p>",
                links=(link("http://b.org/", "B\nb"), link("http://a.org/f", "", 1)),
            ),
            page("http://a.org/f", body=b"", mime="text/plain"),
            page("http://a.org/g", body=b"12345"),
        ]
    )
    assert storage.commit() == {"store": 213, "links": 195, "page_file": 1, "offset": 8, "full": ()}
    storage.close()
    assert stored(tmp_path) == {
        "links.log": b"<start>\thttp://a.org/\thttp://a.org/\t0\t\n"
        b"http://a.org/\thttp://a.org/home\thttp://a.org/home\t2\t\n"
        b"http://a.org/home\thttp://b.org/\thttp://b.org/\t0\tB b\n"
        b"http://a.org/home\thttp://a.org/f\thttp://a.org/f\t1\t\n",
        "store.log": b"http://a.org/\thttp://a.org/home\thttp://a.org/home\t0\t200\ttext/html\t3\tMy home  \t1\t0\n"
        b"http://a.org/\thttp://a.org/f\thttp://a.org/f\t0\t200\ttext/plain\t0\t\n"
        b"http://a.org/\thttp://a.org/g\thttp://a.org/g\t0\t200\ttext/html\t5\t\t1\t3\n",
        "pagefile_1.pfl": b"<p>12345",
    }


def test_of_a_page_that_asks_for_it_no_copy_is_kept(tmp_path: Path) -> None:
    visit = page("http://a.org/f", body=b"abc")
    assert visit.document is not None
    storage = opened(tmp_path)
    storage.store([replace(visit, document=replace(visit.document, archive=False))])
    storage.commit()
    storage.close()
    files = stored(tmp_path)
    assert files["store.log"].endswith(b"\ttext/html\t3\t\n")
    assert files["pagefile_1.pfl"] == b""


def test_a_document_never_spans_two_page_files(tmp_path: Path) -> None:
    """LARM-94: up to the size and no byte more; a larger body has a file of its own."""
    storage = opened(tmp_path)
    sizes = [160, 60, 40, 1, 250, 100, 100]
    storage.store([page(f"http://a.org/{n}", body=bytes([65 + n]) * size) for n, size in enumerate(sizes)])
    storage.commit()
    storage.close()
    files = {name[9]: len(data) for name, data in stored(tmp_path).items() if name.startswith("pagefile")}
    assert files == {"1": 160, "2": 100, "3": 1, "4": 250, "5": 100, "6": 100}
    places = [line.split(b"\t")[8:] for line in stored(tmp_path)["store.log"].splitlines()]
    assert [(int(x), int(offset)) for x, offset in places] == [(1, 0), (2, 0), (2, 60), (3, 0), (4, 0), (5, 0), (6, 0)]


def test_a_commit_shows_everything_at_once(tmp_path: Path) -> None:
    """Before the first commit little is on the disk, after it everything (``tail -f``)."""
    storage = opened(tmp_path)
    storage.store([page("http://a.org/", body=b"x" * 50)])
    assert stored(tmp_path)["store.log"] == b""
    storage.commit()
    assert stored(tmp_path)["store.log"].endswith(b"\t1\t0\n")
    storage.close()


def test_large_amounts_are_written_without_a_commit_and_in_whole_lines(tmp_path: Path) -> None:
    """Memory stays bounded; and a line of store.log never speaks of a body that is not in its page file yet."""
    storage = LogStorage(tmp_path, config.LogSettings(compress=False), FakeClock())
    storage.open(None)
    visit = page("http://a.org/" + "x" * 400, "t" * 100, body=b"b" * 100, links=(link("http://b.org/" + "y" * 400),) * 3)
    for _ in range(30):
        storage.store([visit] * 50)
    files = stored(tmp_path)
    assert len(files["store.log"]) >= 1_000_000
    assert len(files["links.log"]) >= 1_000_000
    assert files["store.log"].endswith(b"\n")
    assert files["links.log"].endswith(b"\n")
    last = files["store.log"].splitlines()[-1].split(b"\t")
    assert int(last[9]) + int(last[6]) <= len(files["pagefile_1.pfl"])
    storage.close()


def test_a_new_crawl_removes_the_old_one(tmp_path: Path) -> None:
    storage = opened(tmp_path)
    storage.store([page(f"http://a.org/{n}", body=b"x" * 90, links=(link("http://b.org/"),)) for n in range(3)])
    storage.close()
    assert len(stored(tmp_path)) == 5
    opened(tmp_path).close()
    assert stored(tmp_path) == {"links.log": b"", "store.log": b"", "pagefile_1.pfl": b""}


steps = st.lists(st.tuples(st.integers(0, 130), st.integers(0, 3)), max_size=8)


@settings(max_examples=40)
@given(before=steps, after=steps)
def test_going_on_undoes_what_came_after_the_checkpoint(
    tmp_path_factory: pytest.TempPathFactory, before: Any, after: Any
) -> None:
    """Store, commit, store more, crash; opened at the commit's position all files are as they were then, and go on."""
    directory = tmp_path_factory.mktemp("crawl")

    def pages(steps: list[tuple[int, int]], name: str) -> list[Visit]:
        links = (link("http://b.org/", "b"),)
        return [page(f"http://a.org/{name}{n}", body=b"x" * size, links=links * many) for n, (size, many) in enumerate(steps)]

    storage = opened(directory)
    storage.store(pages(before, "before"))
    position = dict(storage.commit())
    noted = stored(directory)
    storage.store(pages(after, "after"))
    storage.close()  # writes what a crash might have written
    again = opened(directory, position)
    assert stored(directory) == noted
    again.store(pages(after, "after"))
    again.commit()
    again.close()
    assert len(stored(directory)["store.log"].splitlines()) == len(before) + len(after)


@pytest.mark.parametrize("name", ["store.log", "links.log", "pagefile_2.pfl"])
@pytest.mark.parametrize("gone", [False, True])
def test_a_file_shorter_than_noted_is_refused(tmp_path: Path, name: str, gone: bool) -> None:
    storage = opened(tmp_path)
    storage.store([page(f"http://a.org/{n}", body=b"x" * 90, links=(link("http://b.org/"),)) for n in range(2)])
    position = dict(storage.commit())
    storage.close()
    path = tmp_path / "logs" / name
    os.truncate(path, path.stat().st_size - 1)
    if gone:
        path.unlink()
    with pytest.raises(StorageError, match=rf"{name}: \d+ bytes, but the last checkpoint noted \d+.*larm repair"):
        opened(tmp_path, position)


def test_a_lost_earlier_page_file_is_noticed(tmp_path: Path) -> None:
    storage = opened(tmp_path)
    storage.store([page(f"http://a.org/{n}", body=b"x" * 90) for n in range(3)])
    position = dict(storage.commit())
    storage.close()
    (tmp_path / "logs" / "pagefile_2.pfl").unlink()
    with pytest.raises(StorageError, match=r"pagefile_2\.pfl: gone"):
        opened(tmp_path, position)


@pytest.mark.parametrize("position", [{}, {"store": 0, "links": 0, "page_file": 0, "offset": 0}, {"store": -1}, {"store": "x"}])
def test_a_damaged_position_is_refused(tmp_path: Path, position: dict[str, Any]) -> None:
    with pytest.raises(StorageError, match="damaged"):
        opened(tmp_path, position)


def test_logs_that_are_a_file_are_a_clear_error(tmp_path: Path) -> None:
    (tmp_path / "logs").write_text("")
    with pytest.raises(StorageError, match="logs: "):
        opened(tmp_path)


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs a device that is always full")
def test_a_full_disk_is_told_once(tmp_path: Path) -> None:
    """The commit fails, naming the file; close() afterwards does not fail again."""
    storage = opened(tmp_path)
    storage.commit()
    storage.close()
    for file in (tmp_path / "logs").iterdir():
        file.unlink()
    (tmp_path / "logs" / "links.log").symlink_to("/dev/full")
    storage = opened(tmp_path)
    storage.store([page("http://a.org/", links=(link("http://b.org/"),))])
    with pytest.raises(StorageError, match=r"links\.log.*disk is full"):
        storage.commit()
    storage.close()


def test_odd_texts_do_no_harm(tmp_path: Path) -> None:
    """Lone surrogates and terminal escapes in titles and anchors."""
    storage = opened(tmp_path)
    storage.store([page("http://a.org/", "\ud800 \x1b[2J", links=(link("http://b.org/", "\udfff\x9b"),))])
    storage.commit()
    storage.close()
    for data in stored(tmp_path).values():
        assert b"\x1b" not in data
        data.decode()


def test_calls_without_open_are_refused(tmp_path: Path) -> None:
    storage = LogStorage(tmp_path, SETTINGS, FakeClock())
    storage.close()
    with pytest.raises(StorageError, match="not opened"):
        storage.commit()


# -- bodies in frames


PACKED = config.LogSettings(page_file_size=ByteSize(300_000))


def packed(directory: Path, position: dict[str, Any] | None = None, settings: config.LogSettings = PACKED) -> LogStorage:
    storage = LogStorage(directory, settings, FakeClock())
    storage.open(position)
    return storage


def bodies(directory: Path) -> list[bytes]:
    log = StoreLog(directory)
    entries = list(log)
    check_page_files(directory, entries)
    return [log.body(entry) for entry in entries]


def some_bodies(number: int, seed: int = 1) -> list[bytes]:
    """Pages of a site, and now and then something that can't be compressed, or is as large as many."""
    choose = random.Random(seed)
    menu = choose.randbytes(3_000)
    plain = [menu + b"<p>%d</p>" % choose.getrandbits(99) * choose.randrange(1, 400) for _ in range(number)]
    for at in range(0, number, 7):
        plain[at] = choose.randbytes(choose.choice([1, 700, 130_000, 400_000]))
    return plain


def as_pages(some: list[bytes], first: int = 0) -> list[Visit]:
    return [page(f"http://a.org/{number}", body=body) for number, body in enumerate(some, first)]


def test_bodies_in_frames_are_what_they_were_and_take_less_room(tmp_path: Path) -> None:
    some = some_bodies(60)
    storage = packed(tmp_path)
    for at in range(0, 60, 5):
        storage.store(as_pages(some[at : at + 5], at))
    storage.commit()
    storage.close()
    assert bodies(tmp_path) == some
    plain = sum(map(len, some))
    assert sum(path.stat().st_size for path in (tmp_path / "logs").glob("pagefile_*.pfl.zst")) < plain * 0.7
    assert len(list((tmp_path / "logs").glob("pagefile_*.pfl.zst"))) > 3


def test_zstd_shows_all_bodies_of_a_file(tmp_path: Path) -> None:
    """Whoever has no larm any more reads them all the same."""
    some = [b"a" * 3_000, b"b" * 200_000, b"c"]
    storage = packed(tmp_path)
    storage.store(as_pages(some))
    storage.commit()
    storage.store(as_pages([b"d"], 3))
    storage.close()
    with zstd.open(tmp_path / "logs" / "pagefile_1.pfl.zst") as file:
        assert file.read() == b"".join([*some, b"d"])


@pytest.mark.parametrize("first", [False, True])
def test_the_setting_may_change(tmp_path: Path, first: bool) -> None:
    """What is there stays as it is; new files are of the new kind."""
    some, position = some_bodies(30), None
    for turn in range(3):
        settings = replace(PACKED, compress=first ^ bool(turn % 2))
        storage = packed(tmp_path, position, settings)
        storage.store(as_pages(some[turn * 10 : turn * 10 + 10], turn * 10))
        position = dict(storage.commit())
        storage.close()
        assert bodies(tmp_path) == some[: turn * 10 + 10]
    kinds = {path.suffix for path in (tmp_path / "logs").glob("pagefile_*")}
    assert kinds == {".pfl", ".zst"}


@given(before=st.integers(0, 12), lost=st.integers(0, 12), after=st.integers(0, 12), seed=st.integers(0, 9))
@settings(max_examples=25)
def test_frames_go_on_after_a_kill(
    tmp_path_factory: pytest.TempPathFactory, before: int, lost: int, after: int, seed: int
) -> None:
    """What came after the last commit is cut off, in the middle of a frame or between two."""
    directory = tmp_path_factory.mktemp("frames")
    some = some_bodies(before + lost + after, seed)
    storage = packed(directory)
    storage.store(as_pages(some[:before]))
    position = dict(storage.commit())
    storage.store(as_pages(some[before : before + lost], before))
    storage.close()
    last = max((directory / "logs").glob("pagefile_*"), key=lambda path: int(path.name.split("_")[1].split(".")[0]))
    noted = position["offset"] if last.name.startswith(f"pagefile_{position['page_file']}.") else 0
    os.truncate(last, max(last.stat().st_size - seed * 10, noted))
    storage = packed(directory, position)
    storage.store(as_pages(some[before + lost :], before + lost))
    storage.commit()
    storage.close()
    assert bodies(directory) == some[:before] + some[before + lost :]


@given(seed=st.integers(0, 30), choice=st.sets(st.integers(0, 29), min_size=1))
@settings(max_examples=30)
def test_what_is_taken_out_of_frames_is_gone_and_all_else_is_there(
    tmp_path_factory: pytest.TempPathFactory, seed: int, choice: set[int]
) -> None:
    directory = tmp_path_factory.mktemp("purged")
    some = some_bodies(30, seed)
    storage = packed(directory)
    for at in range(0, 30, 6):
        storage.store(as_pages(some[at : at + 6], at))
        position = dict(storage.commit())
    storage.close()
    lengths = {path: path.stat().st_size for path in (directory / "logs").glob("pagefile_*")}
    unwanted = {f"http://a.org/{number}" for number in choice}
    found = purge_logs(directory / "logs", [], unwanted.__contains__, re.compile("a.org"))
    assert (found.lines, found.size) == (len(choice), sum(len(some[number]) for number in choice))
    log = StoreLog(directory)
    assert [log.body(entry) for entry in log] == [body for number, body in enumerate(some) if number not in choice]
    assert {path: path.stat().st_size for path in (directory / "logs").glob("pagefile_*")} == lengths, "all else stays in place"
    there = b""
    for path in lengths:
        with zstd.open(path) as file:
            there += file.read()
    for number in choice:
        assert len(some[number]) < 100 or some[number] not in there
    position["store"] = (directory / "logs" / "store.log").stat().st_size
    storage = packed(directory, position)  # and the crawl goes on
    storage.store(as_pages([b"new"], 30))
    storage.close()
    assert [StoreLog(directory).body(entry) for entry in StoreLog(directory)][-1] == b"new"

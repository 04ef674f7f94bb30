from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from larm import config
from larm.errors import StorageError, UsageError
from larm.kit.units import ByteSize
from larm.store import reader
from larm.store.log import LogStorage
from larm.store.page_file import PLAIN, found_file
from larm.store.reader import StoreLog
from larm.store.store_log import StoreEntry
from larm.testing.clock import FakeClock
from tests.store.stored_pages import page


@pytest.fixture(params=[False, True], ids=["plain", "packed"])
def crawl(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """Fifty pages in several page files; page 7 was stored twice; one has no bytes, one a title that looks like a URL."""
    storage = LogStorage(tmp_path, config.LogSettings(page_file_size=ByteSize(100), compress=request.param), FakeClock())
    storage.open(None)
    for n in range(50):
        storage.store([page(f"http://a.org/{n}", body=f"body {n}".encode() * 3)])
        if n % 3 == 0:
            storage.commit()  # which ends a frame
    storage.store(
        [page("http://a.org/empty"), page("http://a.org/7", body=b"newer"), page("http://a.org/last", "http://a.org/8")]
    )
    storage.commit()
    storage.close()
    return tmp_path


def test_every_entry_gives_its_bytes(crawl: Path) -> None:
    """LARM-95."""
    log = StoreLog(crawl)
    entries = list(log)
    assert len(entries) == 53
    for number, entry in enumerate(entries[:50]):
        assert log.body(entry) == f"body {number}".encode() * 3
    assert log.body(entries[50]) == b""
    assert entries[49].file > 5


def test_the_latest_entry_of_each_page(crawl: Path) -> None:
    entries = list(StoreLog(crawl))
    assert entries[7].normalised == entries[51].normalised
    assert list(StoreLog(crawl).latest()) == [entry for n, entry in enumerate(entries) if n != 7]


@pytest.mark.parametrize("block", [1, 10, 97, 8_000_000])
def test_find_gives_the_latest(crawl: Path, block: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """However the file is cut into blocks: the latest entry, only whole URLs, and not a title that looks like one."""
    monkeypatch.setattr(reader, "_BLOCK", block)
    log = StoreLog(crawl)
    found = log.find("http://a.org/7")
    assert found is not None
    assert log.body(found) == b"newer"
    for number in (0, 8, 49):
        found = log.find(f"http://a.org/{number}")
        assert found is not None
        assert found.url == f"http://a.org/{number}"
    for absent in ("http://a.org/", "http://a.org/77", "", "200", "text/html", "a\tb"):
        assert log.find(absent) is None


def test_a_line_that_is_being_written_is_not_there_yet(crawl: Path) -> None:
    path = crawl / "logs" / "store.log"
    path.write_bytes(path.read_bytes() + b"http://a.org/\thttp://a.org/new\thttp://a.org/new\t0")
    log = StoreLog(crawl)
    assert len(list(log)) == 53
    assert log.find("http://a.org/new") is None
    assert log.find("http://a.org/last") is not None


def test_an_empty_log_has_no_entries(tmp_path: Path) -> None:
    (tmp_path / "logs").mkdir()
    (tmp_path / "logs" / "store.log").touch()
    assert list(StoreLog(tmp_path)) == []
    assert StoreLog(tmp_path).find("http://a.org/") is None


def test_no_log_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"no store\.log in .*: 'larm crawl URL' makes one; --dir names another"):
        StoreLog(tmp_path)


def test_a_bad_line_is_named(crawl: Path) -> None:
    path = crawl / "logs" / "store.log"
    path.write_bytes(b"good for nothing\n\thttp://a.org/x\t\n" + path.read_bytes())
    with pytest.raises(StorageError, match=r"store\.log: line 1 can't be read"):
        list(StoreLog(crawl))
    with pytest.raises(StorageError, match=r"store\.log: byte 17 can't be read"):
        StoreLog(crawl).find("http://a.org/x")


def test_a_cut_page_file_is_named(crawl: Path) -> None:
    log = StoreLog(crawl)
    entry = next(iter(log))
    path = found_file(crawl / "logs", 1)
    os.truncate(path, 5)
    ends = "it ends within the pages at byte 0" if entry.place != PLAIN else "ends before the page http://a.org/0 does"
    with pytest.raises(StorageError, match=re.escape(f"{path}: {ends}")):
        log.body(entry)
    path.unlink()
    with pytest.raises(StorageError, match=re.escape(str(path))):
        log.body(entry)


def test_a_damaged_frame_is_named(crawl: Path) -> None:
    """Also where something could be read: there is a checksum."""
    entry = next(iter(StoreLog(crawl)))
    if entry.place == PLAIN:
        return
    path = found_file(crawl / "logs", 1)
    data = path.read_bytes()
    for at in range(20):  # of 38; what stands behind it is room
        path.write_bytes(data[:at] + bytes([data[at] ^ 0x40]) + data[at + 1 :])
        with pytest.raises(StorageError, match=re.escape(str(path))):
            StoreLog(crawl).body(entry)


def test_a_log_of_larm_can_be_read(tmp_path: Path) -> None:
    """LARM-92: the last Java format, in Latin-1."""
    (tmp_path / "logs").mkdir()
    line = 'http://a/\thttp://b/\thttp://b/\t0\t\t200\ttext/html\t4\t"Z\xfcrich"\t\t1\t2\n'
    (tmp_path / "logs" / "store.log").write_bytes(line.encode("latin-1"))
    (tmp_path / "logs" / "pagefile_1.pfl").write_bytes(b"..body..")
    log = StoreLog(tmp_path)
    (entry,) = log
    assert entry == StoreEntry("http://a/", "http://b/", "http://b/", 0, 200, "text/html", 4, "Z\ufffdrich", 1, 2)
    assert log.body(entry) == b"body"

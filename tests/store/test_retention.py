"""What stays of old versions of pages, and that nothing is lost where the process or the disk fails meanwhile."""

from __future__ import annotations

import errno
import os
import re
import shutil
from collections import Counter
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from larm.config import Keep, LogSettings
from larm.errors import StorageError
from larm.kit.units import ByteSize, Seconds
from larm.store.log import LogStorage, check_lengths
from larm.store.purge import moved_days, purge_logs
from larm.store.reader import StoreLog
from larm.store.retention import DAY, Version, retain, superfluous
from larm.testing.clock import FakeClock
from tests.store.stored_pages import link, page
from tests.support.faults import FaultyDisk

TODAY = 20_000
BODY = b"%d of %s: " + b"." * 30
LEFT = {99: "a0 b0 c0 a1 b1 a2 a3 a4", 2: "b0 b1 c0 a3 a4", 1: "b1 c0 a4"}
"""Of `days_of` five days, with so many versions."""
SIZE = len(BODY % (0, b"a"))


def body(name: str, version: int) -> bytes:
    return BODY % (version, name.encode())


def settings(**keep: Any) -> LogSettings:
    return LogSettings(page_file_size=ByteSize(100), keep=Keep(**keep), compress=False)


def days_of(directory: Path, days: int, *, keep: Keep | None = None) -> Mapping[str, Any]:
    """A crawl of as many days; page a changes on each, b on the first two, c never. The position in its last checkpoint."""
    clock, position = FakeClock(), None
    for day in range(days):
        clock.set_wall((TODAY - days + 1 + day) * DAY + 60)
        storage = LogStorage(
            directory, LogSettings(page_file_size=ByteSize(100), keep=keep or Keep(versions=99), compress=False), clock
        )
        storage.open(position)
        for name in "abc"[: 3 if day == 0 else 2 if day == 1 else 1]:
            url = f"http://a.org/{name}"
            storage.store([page(url, f"{name}{day}", body=body(name, day), links=(link(f"{url}/{day}"),))])
        position = storage.commit()
        storage.close()
    assert position is not None
    return position


def told(directory: Path) -> dict[str, bytes]:
    """The title of each version that there is, and its body."""
    log = StoreLog(directory)
    return {entry.title: log.body(entry) for entry in log}


def links(directory: Path) -> list[str]:
    return [line.split("\t")[1].rpartition("org/")[2] for line in (directory / "logs" / "links.log").read_text().splitlines()]


def opened(directory: Path, position: Mapping[str, Any] | None) -> LogStorage:
    storage = LogStorage(directory, settings(versions=1), FakeClock(TODAY * DAY))
    storage.open(position)
    return storage


def retained(directory: Path, position: Mapping[str, Any], gone: set[int] | None = None, **keep: Any) -> Mapping[str, Any]:
    """As at the start of a run, up to its first checkpoint."""
    saved = [position]
    retain(directory / "logs", position, settings(**keep), gone or set(), TODAY, save=saved.append)
    storage = opened(directory, saved[-1])
    try:
        return storage.commit()
    finally:
        storage.close()


@pytest.mark.parametrize(
    ("keep", "left"),
    [
        ({"versions": 1}, "b1 c0 a4"),
        ({"versions": 2}, "b0 b1 c0 a3 a4"),
        ({"age": Seconds(2 * DAY)}, "b1 c0 a2 a3 a4"),
        ({"size": ByteSize(5 * SIZE)}, "b1 c0 a2 a3 a4"),
        ({"size": ByteSize(1)}, "b1 c0 a4"),
        ({"versions": 3, "size": ByteSize(4 * SIZE)}, "b1 c0 a3 a4"),
        ({"versions": 99}, "a0 b0 c0 a1 b1 a2 a3 a4"),
    ],
)
def test_what_is_not_current_goes(tmp_path: Path, keep: dict[str, Any], left: str) -> None:
    position = days_of(tmp_path, 5)
    before = told(tmp_path)
    retained(tmp_path, position, **keep)
    assert Counter(told(tmp_path)) == Counter({name: before[name] for name in left.split()})
    wanted = sorted(f"{name[0]}/{name[1]}" for name in left.split())
    assert sorted(links(tmp_path)) == wanted, "the links of a version go with it"
    size = sum(file.stat().st_size for file in (tmp_path / "logs").glob("*.pfl"))
    assert size <= (len(left.split()) * SIZE) / 0.75


def test_of_a_page_that_is_gone_nothing_is_current(tmp_path: Path) -> None:
    position = days_of(tmp_path, 3)
    gone = {hash("http://a.org/b")}
    assert set(told(tmp_path)) > {"b0", "b1"}
    position = retained(tmp_path, position, gone, versions=2)
    assert set(told(tmp_path)) == {"b1", "c0", "a1", "a2"}
    retained(tmp_path, position, gone, versions=1)
    assert set(told(tmp_path)) == {"c0", "a2"}


def test_what_can_not_be_less_is_said(tmp_path: Path) -> None:
    found = retain(
        tmp_path / "logs", days_of(tmp_path, 2), settings(size=ByteSize(100)), set(), TODAY, save=lambda _position: None
    )
    assert found is not None
    assert (found.versions, found.over) == (2, 3 * SIZE - 100)


def test_days_stay_what_they_are(tmp_path: Path) -> None:
    position = retained(tmp_path, days_of(tmp_path, 5), versions=2)
    retained(tmp_path, position, age=Seconds(DAY))
    assert set(told(tmp_path)) == {"b1", "c0", "a3", "a4"}, "those of yesterday stay"


def test_days_stay_what_they_are_when_pages_are_forgotten(tmp_path: Path) -> None:
    """Lines leave the logs then, so all later days begin earlier in them."""
    position = days_of(tmp_path, 5)
    what = tmp_path / "logs", {"http://a.org/b", "http://a.org/c"}.__contains__, re.compile("a.org")
    days = moved_days(what[0], position["days"], *what[1:])
    purge_logs(what[0], (), *what[1:])
    lengths = {name: (what[0] / f"{name}.log").stat().st_size for name in ("store", "links")}
    assert days[-1][1] < lengths["store"] < position["store"]
    retained(tmp_path, {**position, **lengths, "days": days}, age=Seconds(2 * DAY))
    assert list(told(tmp_path)) == ["a2", "a3", "a4"]
    assert links(tmp_path) == ["a/2", "a/3", "a/4"]


def test_without_anything_to_take_out_nothing_is_written(tmp_path: Path) -> None:
    position = retained(tmp_path, days_of(tmp_path, 5), versions=1)
    before = {file.name: file.stat().st_mtime_ns for file in (tmp_path / "logs").iterdir()}
    assert retain(tmp_path / "logs", position, settings(versions=1), set(), TODAY, save=pytest.fail) is None
    assert {file.name: file.stat().st_mtime_ns for file in (tmp_path / "logs").iterdir()} == before


def test_versions_are_removed_where_no_days_are_known(tmp_path: Path) -> None:
    position = days_of(tmp_path, 3, keep=Keep())
    assert "days" not in position
    retained(tmp_path, position, versions=1)
    assert set(told(tmp_path)) == {"b1", "c0", "a2"}


@dataclass(frozen=True)
class Crawl:
    """What a process that was killed has left."""

    files: Mapping[str, bytes]
    position: Mapping[str, Any]
    """In the checkpoint."""
    versions: int
    """Of each page there are at most so many, as the checkpoint has it."""

    def put(self, logs: Path) -> None:
        shutil.rmtree(logs, ignore_errors=True)
        logs.mkdir(parents=True)
        for name, data in self.files.items():
            (logs / name).write_bytes(data)


def run(crawl: Crawl, directory: Path, versions: int, at: int | None, error: int) -> tuple[Crawl, bool]:
    """A run that begins, and saves nothing but what retention does. It ends at attempt ``at`` to write, or to save, or when
    that was done; whether it did. What it has left."""
    logs = directory / "logs"
    crawl.put(logs)
    position, most = crawl.position, crawl.versions
    with FaultyDisk(directory, at=at, error=error) as disk, suppress(StorageError, OSError):

        def save(noted: Mapping[str, Any]) -> None:
            nonlocal position, most
            disk.attempt("save", str(directory))
            position, most = noted, versions if noted.get("renewed") else most
            disk.attempt("saved", str(directory))

        retain(logs, position, settings(versions=versions), set(), TODAY, save=save)
        opened(directory, position).close()
    return Crawl({file.name: file.read_bytes() for file in logs.iterdir()}, position, most), disk.failed is not None


def every_end(crawl: Crawl, directory: Path, versions: int, error: int, found: list[Crawl]) -> None:
    """All that a run leaves, wherever it is killed, or the disk fails; each once."""
    for at in count(1):
        left, failed = run(crawl, directory, versions, at, error)
        if left not in found:
            found.append(left)
        if not failed:
            assert at > 8
            return


def test_two_in_a_row_may_end_anywhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Before the checkpoint knows of one the old files count, and after it the new ones, whatever the next run began."""
    monkeypatch.setattr(os, "fsync", lambda _file: None)  # it is asked for, and may fail; a real one takes long
    position = days_of(tmp_path, 5)
    before = told(tmp_path)
    wanted = {most: {name: before[name] for name in left.split()} for most, left in LEFT.items()}
    start = Crawl({file.name: file.read_bytes() for file in (tmp_path / "logs").iterdir()}, position, 99)
    firsts, ends = list[Crawl](), list[Crawl]()
    for error in (errno.EIO, errno.ENOSPC):
        every_end(start, tmp_path, 2, error, firsts)
    assert {end.versions for end in firsts} == {99, 2}
    assert any(end.position.get("renewed") and "store.log.new" in end.files for end in firsts)
    for first in firsts:
        every_end(first, tmp_path, 1, errno.ENOSPC, ends)
    for end in ends:
        if end.position.get("renewed"):
            for name in ("store", "links"):
                new = end.files.get(f"{name}.log.new")
                assert new is None or len(new) == end.position[name], "what the checkpoint means, and nothing later"
        end.put(tmp_path / "logs")
        opened(tmp_path, end.position).close()
        assert told(tmp_path) == wanted[end.versions]
        assert sorted(links(tmp_path)) == sorted(f"{name[0]}/{name[1]}" for name in wanted[end.versions])
        end.put(tmp_path / "logs")
        retained(tmp_path, end.position, versions=1)
        assert told(tmp_path) == wanted[1]
        assert not list((tmp_path / "logs").glob("*.new"))


@pytest.mark.parametrize("name", ["store.log", "links.log"])
def test_only_what_the_checkpoint_means_is_put_in_place(tmp_path: Path, name: str) -> None:
    """A larm that began the next retention without a word to the checkpoint left such a file."""
    saved = [days_of(tmp_path, 5)]
    retain(tmp_path / "logs", saved[0], settings(versions=2), set(), TODAY, save=saved.append)
    opened(tmp_path, saved[-1]).close()
    (tmp_path / "logs" / f"{name}.new").write_bytes((tmp_path / "logs" / name).read_bytes()[:50])
    opened(tmp_path, saved[-1]).close()
    assert set(told(tmp_path)) == set(LEFT[2].split())
    assert len(links(tmp_path)) == len(LEFT[2].split())


def test_lengths_are_those_of_the_new_logs_also_before_they_are_in_place(tmp_path: Path) -> None:
    """They may be longer than the old ones: the numbers of page files rise."""
    saved = [days_of(tmp_path, 5)]
    retain(tmp_path / "logs", saved[0], settings(versions=2), set(), TODAY, save=saved.append)
    for name in ("store", "links"):
        (tmp_path / "logs" / f"{name}.log").write_bytes(b"")
    check_lengths(tmp_path, saved[-1])
    (tmp_path / "logs" / "links.log.new").write_bytes(b"")
    with pytest.raises(StorageError, match=r"links\.log: 0 bytes"):
        check_lengths(tmp_path, saved[-1])


def test_versions_in_frames_go_by_what_they_take_of_them(tmp_path: Path) -> None:
    """What is left of a file in the first place is remembered, and goes when it has become much."""
    clock, wanted = FakeClock(TODAY * DAY), LogSettings(keep=Keep(versions=1))
    storage = LogStorage(tmp_path, wanted, clock)
    storage.open(None)
    storage.store([page(f"http://a.org/{n}", f"{n} of day 0", body=body(str(n), 0)) for n in range(20)])
    position = storage.commit()
    storage.close()
    sizes = []
    for day in range(1, 8):  # on each day two of the twenty pages change
        clock.set_wall((TODAY + day) * DAY)
        saved = [position]
        retain(tmp_path / "logs", position, wanted, set(), TODAY + day, save=saved.append)
        storage = LogStorage(tmp_path, wanted, clock)
        storage.open(saved[-1])
        changed = (2 * day, 2 * day + 1)
        storage.store([page(f"http://a.org/{n}", f"{n} of day {day}", body=body(str(n), day)) for n in changed])
        position = storage.commit()
        storage.close()
        versions = {n: max((d for d in range(1, day + 1) if n in (2 * d, 2 * d + 1)), default=0) for n in range(20)}
        assert told(tmp_path).items() >= {f"{n} of day {d}": body(str(n), d) for n, d in versions.items()}.items()
        assert len(told(tmp_path)) <= 22, "those of yesterday go when the next run begins"
        sizes.append((tmp_path / "logs" / "pagefile_1.pfl.zst").exists())
    assert sizes[:2] == [True, True], "a tenth, and a fifth, is not worth the work"
    assert not sizes[-1], "a third is"


@given(
    st.lists(st.tuples(st.integers(0, 3), st.integers(0, 9), st.integers(0, 5)), max_size=30),
    st.builds(
        Keep,
        versions=st.none() | st.integers(1, 4),
        age=st.none() | st.integers(0, 5).map(lambda days: Seconds(days * DAY)),
        size=st.none() | st.integers(0, 40).map(ByteSize),
    ),
    st.sets(st.integers(0, 3)),
)
def test_all_that_may_stay_stays(rows: list[tuple[int, int, int]], keep: Keep, gone: set[int]) -> None:
    versions = [Version(key, day, size, 1) for key, day, size in sorted(rows, key=lambda row: row[1])]
    out = superfluous(versions, keep, gone, 9)
    last = {each.page: n for n, each in enumerate(versions) if each.page not in gone}
    for n, each in enumerate(versions):
        later = sum(other.page == each.page for other in versions[n + 1 :]) + (each.page in gone)
        old = keep.age is not None and (9 - each.day) * DAY > keep.age
        if n in last.values():
            assert not out[n]
        elif old or (keep.versions is not None and later >= keep.versions):
            assert out[n]
        elif keep.size is None:
            assert not out[n]
    kept = [each for n, each in enumerate(versions) if not out[n]]
    if keep.size is not None and sum(each.size for each in kept) > keep.size:
        assert len(kept) == len(last)

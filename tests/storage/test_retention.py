"""What stays of old versions of pages, and that nothing is lost where the process or the disk fails meanwhile."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from larm.config import Keep
from larm.config import LogStorage as Settings
from larm.errors import StorageError
from larm.kit.units import ByteSize, Seconds
from larm.storage.log import LogStorage
from larm.storage.reader import StoreLog
from larm.storage.retention import DAY, Version, retain, superfluous
from larm.testing.clock import FakeClock
from larm.testing.faults import FaultyDisk
from tests.storage.pages import link, page

TODAY = 20_000
BODY = b"%d of %s: " + b"." * 30
SIZE = len(BODY % (0, b"a"))


def body(name: str, version: int) -> bytes:
    return BODY % (version, name.encode())


def settings(**keep: Any) -> Settings:
    return Settings(page_file_size=ByteSize(100), keep=Keep(**keep), compress=False)


def days_of(directory: Path, days: int, *, keep: Keep | None = None) -> Mapping[str, Any]:
    """A crawl of as many days; page a changes on each, b on the first two, c never. The position in its last checkpoint."""
    clock, position = FakeClock(), None
    for day in range(days):
        clock.set_wall((TODAY - days + 1 + day) * DAY + 60)
        storage = LogStorage(
            directory, Settings(page_file_size=ByteSize(100), keep=keep or Keep(versions=99), compress=False), clock
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
    found = retain(directory / "logs", position, settings(**keep), gone or set(), TODAY)
    storage = opened(directory, position if found is None else found.position)
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
    found = retain(tmp_path / "logs", days_of(tmp_path, 2), settings(size=ByteSize(100)), set(), TODAY)
    assert found is not None
    assert (found.versions, found.over) == (2, 3 * SIZE - 100)


def test_days_stay_what_they_are(tmp_path: Path) -> None:
    position = retained(tmp_path, days_of(tmp_path, 5), versions=2)
    retained(tmp_path, position, age=Seconds(DAY))
    assert set(told(tmp_path)) == {"b1", "c0", "a3", "a4"}, "those of yesterday stay"


def test_without_anything_to_take_out_nothing_is_written(tmp_path: Path) -> None:
    position = retained(tmp_path, days_of(tmp_path, 5), versions=1)
    before = {file.name: file.stat().st_mtime_ns for file in (tmp_path / "logs").iterdir()}
    assert retain(tmp_path / "logs", position, settings(versions=1), set(), TODAY) is None
    assert {file.name: file.stat().st_mtime_ns for file in (tmp_path / "logs").iterdir()} == before


def test_a_crawl_of_an_earlier_larm_has_no_days_yet(tmp_path: Path) -> None:
    position = days_of(tmp_path, 3, keep=Keep())
    assert "days" not in position
    retained(tmp_path, position, versions=1)
    assert set(told(tmp_path)) == {"b1", "c0", "a2"}


def test_it_may_fail_at_any_write(tmp_path: Path) -> None:
    """Before the checkpoint knows of it the old files count, and after it the new ones."""
    position = days_of(tmp_path / "base", 5)
    whole = told(tmp_path / "base")
    left = {"b1", "c0", "a4"}
    with FaultyDisk(tmp_path) as disk:
        found = retain(tmp_path / "base" / "logs", position, settings(versions=1), set(), TODAY)
        assert found is not None
        writes = len(disk.sites)
        opened(tmp_path / "base", found.position).close()
        more = len(disk.sites) - writes
    assert min(writes, more) >= 4
    for at in range(1, writes + more + 1):
        directory = tmp_path / str(at)
        days_of(directory, 5)
        known = position
        with FaultyDisk(directory, at=at), suppress(StorageError):
            found = retain(directory / "logs", position, settings(versions=1), set(), TODAY)
            assert found is not None
            known = found.position
            opened(directory, known).close()
        assert (known == position) == (at <= writes)
        opened(directory, known).close()
        assert told(directory) == {name: whole[name] for name in (whole if known == position else left)}
        retained(directory, known, versions=1)
        assert told(directory) == {name: whole[name] for name in left}
        assert [file for file in (directory / "logs").iterdir() if file.name.endswith(".new")] == []


def test_versions_in_frames_go_by_what_they_take_of_them(tmp_path: Path) -> None:
    """What is left of a file in the first place is remembered, and goes when it has become much."""
    clock, wanted = FakeClock(TODAY * DAY), Settings(keep=Keep(versions=1))
    storage = LogStorage(tmp_path, wanted, clock)
    storage.open(None)
    storage.store([page(f"http://a.org/{n}", f"{n} of day 0", body=body(str(n), 0)) for n in range(20)])
    position = storage.commit()
    storage.close()
    sizes = []
    for day in range(1, 8):  # on each day two of the twenty pages change
        clock.set_wall((TODAY + day) * DAY)
        found = retain(tmp_path / "logs", position, wanted, set(), TODAY + day)
        storage = LogStorage(tmp_path, wanted, clock)
        storage.open(position if found is None else found.position)
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

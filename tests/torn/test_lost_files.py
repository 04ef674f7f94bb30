"""``larm repair`` after files were lost: the same crawl command then comes to the right end."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from larm.errors import StorageError, UsageError
from larm.kit.disk.block_store import BlockStore
from larm.ops.repair import Repaired, repair
from larm.store.graph import GraphStorage
from tests.stories.crawls import ALL_HOSTS, config_of
from tests.support.random_web import random_web
from tests.torn.bases import SETTINGS, Bases


@pytest.fixture(scope="module")
def bases(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bases]:
    with random_web(7, hosts=4, pages=60, delay=0.001) as web:
        yield Bases(tmp_path_factory.mktemp("repair"), web)


def mended(bases: Bases, directory: Path) -> Repaired:
    return repair(config_of(bases.web.start_urls, ALL_HOSTS | SETTINGS), directory)


def damage(path: Path, how: str) -> None:
    if how == "removed":
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    elif how == "half":
        path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    else:
        path.write_bytes(bytes(path.stat().st_size))


LOST = [
    ("stopped", "cachingqueue/cache.db", "removed"),
    ("stopped", "cachingqueue/visited.db", "zeros"),
    ("stopped", "cachingqueue/pages.db", "removed"),
    ("stopped", "logs", "removed"),
    ("stopped", "logs/links.log", "removed"),
    ("stopped", "logs/pagefile_1.pfl.zst", "half"),
    ("killed", "cachingqueue/cache.db", "zeros"),
    ("killed", "cachingqueue/cache.db-wal", "half"),  # as SQLite takes a byte that was flipped there
    ("killed", "logs/store.log", "half"),
    ("killed", "logs/links.log", "half"),
    ("killed", "index", "removed"),
    ("killed", "graph/links.journal", "half"),
    ("finished", "cachingqueue/cache.db", "removed"),
    ("finished", "cachingqueue/aliases.db", "zeros"),
    ("finished", "logs", "removed"),  # so many pages that blocks of the queue go to the disk
]


SOME = {"logs", "cachingqueue/cache.db-wal", "cachingqueue/cache.db", "logs/links.log", "cachingqueue/aliases.db"}


@pytest.mark.parametrize(
    ("base", "file", "how"), [pytest.param(*each, marks=[] if each[1] in SOME else pytest.mark.slow) for each in LOST]
)
def test_the_crawl_comes_to_the_right_end(bases: Bases, base: str, file: str, how: str) -> None:
    copy = bases.copy(base)
    damage(copy / file, how)
    assert mended(bases, copy).found
    assert not mended(bases, copy).found  # all of it is whole
    assert bases.resume(copy, again=True) is None


def test_pages_are_read_from_salvaged_logs_when_tables_are_rebuilt(bases: Bases) -> None:
    copy = bases.copy("finished")
    for name, how in (("logs/pagefile_1.pfl.zst", "half"), ("cachingqueue/pages.db", "half"), ("graph/links.journal", "half")):
        damage(copy / name, how)
    assert mended(bases, copy).lost
    assert not mended(bases, copy).found
    assert bases.resume(copy, again=True) is None


@pytest.mark.parametrize("base", ["stopped", "finished"])
def test_what_is_whole_stays_as_it_is(bases: Bases, base: str) -> None:
    copy = bases.copy(base)
    before = {path: path.read_bytes() for path in copy.rglob("*") if path.is_file() and path.name != "lock"}
    assert not mended(bases, copy).found
    assert {path: path.read_bytes() for path in before} == before


def test_one_that_was_ended_is_completed(bases: Bases, monkeypatch: pytest.MonkeyPatch) -> None:
    """No run begins in between: the logs are mended already, and the link graph is still to be made."""

    def end(*_: object) -> None:
        raise StorageError("ended")

    copy = bases.copy("finished")
    damage(copy / "logs/store.log", "half")
    damage(copy / "anchors" / "meta.json", "zeros")
    with monkeypatch.context() as patch:
        patch.setattr(GraphStorage, "open", end)
        with pytest.raises(StorageError, match="ended"):
            mended(bases, copy)
    with pytest.raises(UsageError, match="larm repair"):
        bases.resume(copy)
    assert mended(bases, copy).unfinished
    assert bases.resume(copy, again=True) is None


def test_without_its_memory_there_is_no_crawl(bases: Bases) -> None:
    copy = bases.copy("stopped")
    for name in ("cache.db", "visited.db"):
        damage(copy / "cachingqueue" / name, "zeros")
    with pytest.raises(StorageError, match="lost in both"):
        mended(bases, copy)


def test_urls_of_lost_blocks_are_found_again(bases: Bases) -> None:
    copy = bases.copy("stopped")
    with closing(BlockStore(copy / "cachingqueue")) as store:
        blocks = store.keys(having=".cqb")
        assert blocks
        store.transaction({}, blocks)
    assert mended(bases, copy).found
    assert bases.resume(copy, again=True) is None

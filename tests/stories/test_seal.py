"""A run on a directory that was left in good order reads nothing again that nobody has touched; after a crash, everything."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from larm import cli
from larm.crawldir.sealing import read_at_start
from larm.errors import LarmError, StorageError
from larm.ops.observers import build_crawl
from tests.stories import parts
from tests.stories.crawls import ALL_HOSTS, check_stored, config_of, run_crawl
from tests.support.random_web import RandomWeb, random_web

SEAL = "cachingqueue/sealed.json"
FILES = ["cachingqueue/visited.db", "cachingqueue/pages.db", "cachingqueue/aliases.db", "index/*.pos", "graph/links.journal"]
"""Of each kind one that a start reads as a whole. Damage in the middle of them lies where a run may never come."""


@pytest.fixture(scope="module")
def web() -> Iterator[RandomWeb]:
    with random_web(4, hosts=3, pages=40) as made:
        yield made


@pytest.fixture(scope="module")
def made(web: RandomWeb, tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("sealed") / "made"
    assert run_crawl(directory, web.start_urls, ALL_HOSTS).reason == "finished"
    return directory


@pytest.fixture
def directory(made: Path, tmp_path: Path) -> Path:
    """A copy with the times of the files."""
    return Path(shutil.copytree(made, tmp_path / "copy", ignore=shutil.ignore_patterns("control.sock")))


def run_again(directory: Path, web: RandomWeb) -> LarmError | None:
    """What stopped it, if anything did."""
    try:
        return build_crawl(config_of(web.start_urls, ALL_HOSTS), directory).run().error
    except StorageError as error:
        return error


def flip(path: Path, *, tell: bool) -> None:
    """Some bytes of rows, or in the middle of another file; its time of change tells, or does not."""
    data, found = bytearray(path.read_bytes()), path.stat()
    ends = (
        range(2 * 4096, len(data) + 1, 4096) if path.suffix == ".db" else [len(data) // 2]
    )  # SQLite fills its pages from the end
    for at in [at for end in ends for at in range(end - 64, end)]:
        data[at] ^= 0x55
    path.write_bytes(data)
    if not tell:
        os.utime(path, ns=(found.st_atime_ns, found.st_mtime_ns))


def test_a_run_that_ends_well_seals_what_a_start_would_read(made: Path) -> None:
    assert {path.relative_to(made).parts[0] for path in read_at_start(made)} == {"cachingqueue", "index", "graph", "anchors"}
    assert (made / SEAL).exists()


def test_each_run_takes_the_seal_away_and_seals_anew(directory: Path, web: RandomWeb) -> None:
    before = (directory / SEAL).read_bytes()
    there: list[bool] = []
    crawl = build_crawl(config_of(web.start_urls, ALL_HOSTS), directory)
    there.append((directory / SEAL).exists())
    assert crawl.run().error is None
    assert there == [False]
    assert (directory / SEAL).read_bytes() != before
    check_stored(directory, web)


@pytest.mark.parametrize("pattern", FILES)
def test_a_file_that_was_touched_is_read(directory: Path, web: RandomWeb, pattern: str) -> None:
    file = next(directory.glob(pattern))
    flip(file, tell=True)
    refused = run_again(directory, web)
    assert refused is not None
    assert file.name in str(refused)


@pytest.mark.parametrize("pattern", FILES)
def test_what_a_disk_has_lost_is_found_by_the_check_and_then_refused(
    directory: Path, web: RandomWeb, pattern: str, capfd: pytest.CaptureFixture[str]
) -> None:
    """Its time of change says nothing: this is what a start that reads nothing can't see, and reading it again does."""
    file = next(directory.glob(pattern))
    flip(file, tell=False)
    assert cli.run(["check", "--state", "--dir", str(directory)]) == 3
    assert file.name in capfd.readouterr().err
    refused = run_again(directory, web)
    assert refused is not None
    assert file.name in str(refused)


def test_a_start_does_not_read_what_nobody_has_touched(directory: Path, web: RandomWeb) -> None:
    """Or it would have found this: nothing in it is asked for by a revisit of pages that have not changed."""
    flip(next(directory.glob("index/*.pos")), tell=False)
    assert run_again(directory, web) is None


def test_the_check_of_a_whole_state_leaves_the_seal(directory: Path, capfd: pytest.CaptureFixture[str]) -> None:
    before = (directory / SEAL).read_bytes()
    assert cli.run(["check", "--state", "--dir", str(directory)]) == 0
    assert "the state is whole: " in capfd.readouterr().out
    assert (directory / SEAL).read_bytes() == before


def test_the_check_wants_a_crawl(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert cli.run(["check", "--state", "--dir", str(tmp_path)]) == 2
    assert "no crawl in" in capfd.readouterr().err


def test_a_run_that_fails_seals_nothing(web: RandomWeb, tmp_path: Path) -> None:
    name = f"{parts.HERE}:BadStorage"
    settings = ALL_HOSTS | {"storage.chain": ["log", name], "own": {name: {"at": "store", "after": 5}}}
    assert run_crawl(tmp_path, web.start_urls, settings).ending.error is not None
    assert not (tmp_path / SEAL).exists()

"""A disk that fails at the n-th write: the crawl ends with one message, and goes on from there when the disk is well again."""

from __future__ import annotations

import errno
import os
import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from larm.errors import StorageError
from tests.stories.crawls import ALL_HOSTS, run_crawl, watch
from tests.support.faults import FaultyDisk
from tests.support.random_web import random_web
from tests.torn.bases import SETTINGS, Bases

SEED = int(os.environ.get("LARM_SEED", "1"))


@pytest.fixture(scope="module")
def bases(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bases]:
    with random_web(4, hosts=4, pages=40, delay=0.001) as web:
        yield Bases(tmp_path_factory.mktemp("faults"), web)


@pytest.mark.parametrize("error", [errno.ENOSPC, errno.EIO], ids=["full", "bad"])
def test_each_kind_of_write_fails_once(bases: Bases, tmp_path: Path, error: int) -> None:
    """The first attempt of each kind at each file, in a crawl from the beginning."""
    sites = all_sites(bases, tmp_path / "all")
    firsts = sorted({site: number for number, site in reversed(list(enumerate(sites, 1)))}.values())
    assert len(firsts) > 20
    for number in firsts[error == errno.EIO :: 4]:  # the others in the long test below
        fail(bases, tmp_path / str(number), number, error)


@pytest.mark.slow
@pytest.mark.timeout(1200)
@pytest.mark.parametrize("error", [errno.ENOSPC, errno.EIO, errno.EROFS, errno.EDQUOT])
def test_each_write_fails_once(bases: Bases, tmp_path: Path, error: int) -> None:
    for number in range(1, len(all_sites(bases, tmp_path / "all")) + 1):
        fail(bases, tmp_path / str(number), number, error)


@pytest.mark.parametrize("base", ["stopped", "killed", "finished"])
def test_a_write_fails_while_a_crawl_is_continued(bases: Bases, base: str) -> None:
    choose = random.Random(SEED)
    for _ in range(10):
        fail(bases, bases.copy(base), choose.randrange(1, 60), choose.choice([errno.ENOSPC, errno.EIO]))


def all_sites(bases: Bases, directory: Path) -> list[str]:
    watch(bases.web)
    with FaultyDisk(directory) as disk:
        assert run_crawl(directory, bases.web.start_urls, ALL_HOSTS | SETTINGS).reason == "finished"
    return disk.sites


def fail(bases: Bases, directory: Path, number: int, error: int) -> None:
    watch(bases.web)
    with FaultyDisk(directory, number, error) as disk:
        try:
            run = run_crawl(directory, bases.web.start_urls, ALL_HOSTS | SETTINGS)
            failure: BaseException | None = run.ending.error
        except StorageError as raised:
            failure = raised
        except BaseException as raised:
            raised.add_note(f"{number}: {disk.failed}")
            raise
    if disk.failed is None:
        return  # this time it wrote less often
    where = f"{number}: {os.strerror(error)}: {disk.failed}"
    assert type(failure) is StorageError, f"{where}: {failure!r}"
    assert failure.exit_status == 3
    assert "\n" not in str(failure)
    assert str(directory) in str(failure), where
    try:
        assert bases.resume(directory) is None
    except BaseException as raised:
        raised.add_note(f"after {where}")
        raise

"""The same for what Python does not see: each write of SQLite and tantivy, by a library that is loaded before theirs."""

from __future__ import annotations

import errno
import os
import random
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.stories.crawls import ALL_HOSTS, watch
from tests.stories.leftovers import leftovers
from tests.stories.processes import Process, Said, crawl_arguments
from tests.support.random_web import random_web
from tests.torn.bases import SETTINGS, Bases

SEED = int(os.environ.get("LARM_SEED", "1"))
SOURCE = Path(__file__).with_name("faulty_disk.c")


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("no C compiler")
    made = tmp_path_factory.mktemp("library") / "faulty_disk.so"
    subprocess.run([compiler, "-shared", "-fPIC", "-o", str(made), str(SOURCE), "-ldl"], check=True)
    return made


@pytest.fixture(scope="module")
def bases(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bases]:
    with random_web(4, hosts=4, pages=40, delay=0.001) as web:
        yield Bases(tmp_path_factory.mktemp("native"), web)


class Native:
    """Runs crawls on a disk that fails."""

    def __init__(self, library: Path, bases: Bases) -> None:
        self._library = library
        self.bases = bases

    def crawl(self, directory: Path, at: int, error: int) -> tuple[Said, list[str]]:
        watch(self.bases.web)
        report = directory.with_suffix(".report")
        faults = {"FAULT_FOLDER": str(directory), "FAULT_AT": str(at), "FAULT_ERROR": str(error), "FAULT_REPORT": str(report)}
        arguments = crawl_arguments(directory, self.bases.web.start_urls, SETTINGS | ALL_HOSTS)
        with Process(*arguments, environment=faults | {"LD_PRELOAD": str(self._library), "RUST_BACKTRACE": "0"}) as process:
            said = process.end()
        return said, report.read_text().splitlines() if report.exists() else []

    def fail(self, directory: Path, at: int, error: int) -> None:
        said, sites = self.crawl(directory, at, error)
        failed = [site for site in sites if site.startswith("! ")]
        if not failed:
            return
        where = f"{at}: {os.strerror(error)}: {failed[0]}\n{said.err}"
        if said.status == 0:  # SQLite copes with some, such as that of a file that it has done with
            assert leftovers(directory) == self.bases.right, where
        else:
            assert said.status == 3, where
            assert said.last.startswith("larm: "), where
            assert str(directory) in said.last, where
            assert "Traceback" not in said.err, where
        try:
            assert self.bases.resume(directory) is None
        except BaseException as raised:
            raised.add_note(f"after {where}")
            raise


@pytest.fixture(scope="module")
def native(library: Path, bases: Bases) -> Native:
    return Native(library, bases)


def test_some_writes_fail(native: Native, tmp_path: Path) -> None:
    said, sites = native.crawl(tmp_path / "all", 0, 0)
    assert said.status == 0, said.err
    assert any("/index/" in site for site in sites)
    assert any("cache.db-wal" in site for site in sites)
    choose = random.Random(SEED)
    for number in range(6):
        error = (errno.ENOSPC, errno.EIO)[number % 2]
        native.fail(tmp_path / f"{number}", choose.randrange(1, len(sites)), error)


@pytest.mark.slow
@pytest.mark.timeout(1200)
@pytest.mark.parametrize("error", [errno.ENOSPC, errno.EIO], ids=["full", "bad"])
def test_many_writes_fail(native: Native, tmp_path: Path, error: int) -> None:
    _, sites = native.crawl(tmp_path / "all", 0, 0)
    for number in random.Random(SEED).sample(range(1, len(sites)), 100):
        native.fail(tmp_path / f"{number}", number, error)

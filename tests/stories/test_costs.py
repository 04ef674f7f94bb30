"""What larm costs, in figures that a busy machine does not change; ``python -m benchmarks.hot_path`` has the times.

Each bound is what was measured and a tenth. Who lowers a figure lowers its bound; a bound that has to rise needs a reason.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

from larm.testing.web import SyntheticWeb
from tests.stories.manual_pages import add_manual
from tests.stories.processes import ROOT
from tests.stories.reading import PAGES

FEW, MANY = 60, 260
"""Pages of two crawls: what one page more takes is the difference, without the start and the end."""


class Counted(msgspec.Struct):
    """See ``counted``."""

    modules: int
    child_modules: int
    calls: int
    blocks: int


def python(*arguments: str) -> str:
    """Return what Python prints for these arguments, on either stream."""
    path = os.pathsep.join((ROOT, str(Path(__file__).parents[2])))  # larm as it is installed, then the tests
    environment = {**os.environ, "PYTHONPATH": path, "PYTHONHASHSEED": "0"}
    done = subprocess.run(arguments, capture_output=True, text=True, check=False, env=environment, timeout=600)
    assert done.returncode == 0, done.stderr
    return done.stdout + done.stderr


def counted(*arguments: str) -> Counted:
    return msgspec.json.decode(python(sys.executable, "-P", "-m", "tests.stories.counted", *arguments), type=Counted)


def crawl(directory: Path, pages: int, *options: str) -> Counted:
    with SyntheticWeb() as web:
        add_manual(web.host("manual.localhost"), pages)
        start = web.url("manual.localhost", "/0.html")
        found = counted("crawl", start, "--dir", str(directory), "-q", "--delay", "0", "--per-host", "16", *options)
        assert len(web.fetched()) == pages
    return found


def test_help_loads_few_modules() -> None:
    assert counted("--help").modules <= 147


@pytest.mark.parametrize(("options", "most", "most_in_child"), [((), 585, 384), (("--no-index",), 545, 384)])
def test_crawl_of_one_page_loads_few_modules(tmp_path: Path, options: tuple[str, ...], most: int, most_in_child: int) -> None:
    found = crawl(tmp_path, 1, "-s", "processing.processes=1", *options)
    assert found.modules <= most
    assert found.child_modules <= most_in_child
    if sys.platform == "linux":
        assert found.child_modules, "no page was read by a page process"


@pytest.mark.parametrize(("options", "most_calls", "most_blocks"), [((), 1_070, 24), (("--no-index",), 675, 22)])
def test_page_of_manual_takes_few_calls_and_blocks(
    tmp_path: Path, options: tuple[str, ...], most_calls: int, most_blocks: int
) -> None:
    few, many = (crawl(tmp_path / str(pages), pages, *options) for pages in (FEW, MANY))
    assert (many.calls - few.calls) / (MANY - FEW) <= most_calls
    assert (many.blocks - few.blocks) / (MANY - FEW) <= most_blocks


@pytest.mark.timeout(600)
@pytest.mark.skipif(shutil.which("valgrind") is None, reason="valgrind counts instructions")
def test_reading_page_of_manual_takes_few_instructions() -> None:
    python(sys.executable, "-P", "-m", "tests.stories.reading", "0")  # so that larm's bytecode is there
    once, thrice = (_instructions(times) for times in (1, 3))
    assert (thrice - once) / (2 * PAGES) <= 4_100_000


def _instructions(times: int) -> int:
    said = python(
        *("valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null"),
        *(sys.executable, "-P", "-m", "tests.stories.reading", str(times)),
    )
    found = re.search(r"Collected : (\d+)", said)
    assert found is not None, said
    return int(found[1])

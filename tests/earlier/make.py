"""Makes directories of today's larm, to be kept for later ones: ``python -m tests.earlier.make NAME``, from the root.

To be run when a form on the disk changes, with the larm *before* the change; the archive goes into ``tests/earlier/data``.
"""

from __future__ import annotations

import signal
import subprocess
import sys
import tarfile
import tempfile
import threading
from pathlib import Path

from larm.building.wiring import build_crawl
from tests.earlier.web import SETTINGS, EarlierWeb, earlier_web
from tests.stories.crawls import config_of, run_crawl, watch

DATA = Path(__file__).with_name("data")
KINDS = ("finished", "stopped", "killed")
"""How the crawls ended; the last one by -9, so with its write-ahead logs, and ahead of its checkpoint."""
_CRAWL = """
import sys
from pathlib import Path
from larm.building.wiring import build_crawl
from tests.earlier.web import SETTINGS, leading_to
from tests.stories.crawls import config_of
directory, port, *starts = sys.argv[1:]
with leading_to(int(port)):
    build_crawl(config_of(starts, SETTINGS), Path(directory)).run()
"""


def make(folder: Path) -> None:
    """One of each kind."""
    with earlier_web() as web:
        run_crawl(folder / "finished", web.start_urls, SETTINGS)
        middle = len(web.requests) // 2
        crawl = build_crawl(config_of(web.start_urls, SETTINGS), folder / "stopped")
        watch(web).at(middle, crawl.stop)
        assert crawl.run().reason == "shutdown"
        _kill(folder / "killed", web, middle)


def _kill(directory: Path, web: EarlierWeb, middle: int) -> None:
    """When a checkpoint knows of half of the pages, and a few more have come."""
    due = threading.Event()
    log = watch(web)
    log.at(middle, lambda: _wait_for_checkpoints(directory))
    log.at(middle + 6, due.set)
    with subprocess.Popen([sys.executable, "-c", _CRAWL, str(directory), str(web.listening), *web.start_urls]) as process:
        assert due.wait(30)
        process.send_signal(signal.SIGKILL)


def _wait_for_checkpoints(directory: Path) -> None:
    """Three, of which the last one has all that was before. The server calls this, so nothing is fetched meanwhile."""
    seen: set[int] = set()
    never = threading.Event()
    for _ in range(3_000):
        stats = directory / "stats.json"
        seen |= {stats.stat().st_mtime_ns} if stats.exists() else set()
        if len(seen) > 3:
            return
        never.wait(0.01)
    raise AssertionError(f"{directory}: no checkpoint in half a minute")


def pack(folder: Path, path: Path) -> None:
    """Without what says who made it."""
    with tarfile.open(path, "w:xz", preset=9) as archive:
        for kind in KINDS:
            archive.add(folder / kind, kind, filter=_plain)


def _plain(member: tarfile.TarInfo) -> tarfile.TarInfo:
    member.uid = member.gid = 0
    member.uname = member.gname = ""
    return member


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as made:
        make(Path(made))
        target = DATA / f"{sys.argv[1]}.tar.xz"
        pack(Path(made), target)
        print(f"{target}: {target.stat().st_size:,} bytes")

"""Bodies that cost who reads them gigabytes, in one crawl beside good pages: seen from outside, as a watchdog sees it."""

from __future__ import annotations

import re
import signal
import zlib
from pathlib import Path
from random import Random
from time import process_time

import pytest

from larm.testing.web import SyntheticWeb
from tests.stories.crawls import run_crawl, stored
from tests.stories.processes import larm_says
from tests.support.memory import GOOD, Seen, build, crawl_of, watch

MB = 1_000_000


def good_pages(directory: Path) -> int:
    return sum("//good.localhost" in url for url in stored(directory))


def crawl(directory: Path, starts: list[str], kill_at: int | None) -> Seen:
    return watch(crawl_of(str(directory), starts, ["monitor.tick=200ms"]), kill_at)


def packing() -> float:
    """Seconds of CPU that zlib takes for 20 MB of noise here and now, which do not become less as those of good pages do."""
    noise, began = Random(1).randbytes(20_000_000), process_time()
    zlib.compress(noise)
    return process_time() - began


@pytest.mark.slow
@pytest.mark.timeout(400)  # where others use the machine, too
def test_four_heavy_bodies_beside_good_pages(tmp_path: Path) -> None:
    with SyntheticWeb() as web:
        starts = build(web, ["paragraphs", "short", "links", "drip"], drip=50_000)
        alone = crawl(tmp_path / "alone", starts[:1], None)
        seen = crawl(tmp_path / "beside", starts, 1_000 * MB)
    assert (seen.status, seen.killed) == (0, False), seen.said
    assert seen.main < 400 * MB
    assert seen.together < 1_000 * MB
    as_then = alone.cpu + 14 * packing()  # when this was set, the good pages took .95 s, which 20 MB took three times
    assert seen.cpu < max(6 * alone.cpu, as_then), "of the bad ones as much as of 1,500 good ones"
    assert good_pages(tmp_path / "beside") == GOOD
    aside = re.search(r"takes more memory than limits\.memory leaves: (\d) \(", seen.said)
    assert len(stored(tmp_path / "beside")) + int(aside[1] if aside else 0) == GOOD + 3 + 16


@pytest.mark.timeout(400)
def test_a_watchdog_that_kills_at_300_mb_is_survived_by_the_second_run(tmp_path: Path) -> None:
    with SyntheticWeb() as web:
        starts = build(web, ["links"])
        assert crawl(tmp_path, starts, 300 * MB).status == -signal.SIGKILL
        seen = crawl(tmp_path, starts, 300 * MB)
        assert (seen.status, seen.killed) == (0, False), seen.said
        assert good_pages(tmp_path) == GOOD
        assert f"to read them takes more memory than limits.memory leaves: 1 ({starts[1]}); the next visit" in seen.said
        assert "set aside: to read it takes more memory" in larm_says("why", starts[1], "--dir", str(tmp_path)).out.decode()
        again = run_crawl(tmp_path, starts, {"frontier.per_host": 4, "limits.memory": "4GB", "filters.traps.repetition": False})
        assert "larm/set_aside_for_memory" not in again.counters, "the next visit may have more"
        assert len(stored(tmp_path)) == GOOD + 1


def test_a_limit_is_kept(tmp_path: Path) -> None:
    """The page is tried, within what is left."""
    with SyntheticWeb() as web:
        starts = build(web, ["short"], good=10)
        seen = watch(crawl_of(str(tmp_path), starts, ["limits.memory=256MB"]), 300 * MB)
    assert (seen.status, seen.killed) == (0, False), seen.said
    assert "a larger limits.memory lets them be read" in seen.said

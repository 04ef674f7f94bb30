"""What ``larm check --state`` finds in the files of a crawl."""

from __future__ import annotations

from pathlib import Path

import pytest

from larm.ops.state_check import find_damage
from larm.testing.web import SyntheticWeb
from tests.stories.crawls import run_crawl


@pytest.fixture
def start(web: SyntheticWeb) -> str:
    write_site(web, "ferry")
    return web.url("a.localhost")


def write_site(web: SyntheticWeb, word: str) -> None:
    site = web.host("a.localhost")
    site.page("/", links=[f"/{n}" for n in range(40)])
    for n in range(40):
        site.page(f"/{n}", title=f"Page {n}", links=["/", f"/{n + 1}"], body=f"<p>The {word} of number {n} goes.</p>" * 20)


def flip(path: Path, at: int) -> None:
    data = bytearray(path.read_bytes())
    for each in range(at, min(at + 8, len(data))):
        data[each] ^= 0x55
    path.write_bytes(data)


@pytest.mark.parametrize("compress", [True, False], ids=["frames", "plain"])
def test_changed_bytes_of_logs_and_page_files_are_found_where_they_are(tmp_path: Path, start: str, compress: bool) -> None:
    settings = {"storage.log.compress": compress}
    run_crawl(tmp_path, start, settings | {"crawl.max_pages": 20})
    run_crawl(tmp_path, start, settings)
    assert not list(find_damage(tmp_path))
    for name in ("store.log", "links.log", "pagefile_1.pfl" + ".zst" * compress):
        path = tmp_path / "logs" / name
        whole = path.read_bytes()
        for at in range(0, len(whole), len(whole) // 25):
            flip(path, at)
            found = list(find_damage(tmp_path))
            assert [(each.part, each.path) for each in found] == [("log", path)] * len(found), name
            assert any(each.begin <= at < each.end for each in found), f"{name}: byte {at}: {found}"
            path.write_bytes(whole)


def test_logs_are_whole_for_the_check_after_old_versions_have_left(tmp_path: Path, web: SyntheticWeb, start: str) -> None:
    keep = {"storage.log.keep.versions": 1, "storage.log.page_file_size": "2kB", "storage.log.compress": False}
    run_crawl(tmp_path, start, keep)
    write_site(web, "harbour")
    run_crawl(tmp_path, start, keep)
    assert not list(find_damage(tmp_path))
    notes = run_crawl(tmp_path, start, keep).notes
    assert any(note.startswith("40 old versions of pages were taken out of the logs") for note in notes), notes
    assert not list(find_damage(tmp_path))
    flip(tmp_path / "logs" / "store.log", 100)
    assert [each.part for each in find_damage(tmp_path)] == ["log"]

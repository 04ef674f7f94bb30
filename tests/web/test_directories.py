"""Which crawls a server has."""

from __future__ import annotations

from pathlib import Path

from larm.config import SearchSettings
from larm.crawldir.form import MARKER
from larm.web.crawls import crawl_of
from larm.web.directories import Directories


def test_a_folder_that_cannot_be_looked_into_is_in_nobodys_way(tmp_path: Path) -> None:
    """Such as lost+found, where the root is a disk; here a link that leads to itself, as root may look everywhere."""
    for name in ("tides", "winds"):
        (tmp_path / name).mkdir()
        (tmp_path / name / MARKER).touch()
    (tmp_path / "loop").symlink_to("loop")
    directories = Directories((), tmp_path, SearchSettings())
    assert [each.name for each in directories.all()] == ["tides", "winds"]
    (tmp_path / "winds" / MARKER).unlink()
    (tmp_path / "winds" / MARKER).symlink_to(MARKER)
    assert [each.name for each in directories.all()] == ["tides", "winds"], "it was one, and will say what is wrong"


def test_a_crawl_that_cannot_be_looked_at_any_more_says_so(tmp_path: Path) -> None:
    """And the page with all crawls has the others."""
    (tmp_path / "tides").mkdir()
    (tmp_path / "tides" / MARKER).touch()
    (served,) = Directories((), tmp_path, SearchSettings()).all()
    (tmp_path / "tides" / MARKER).unlink()
    (tmp_path / "tides").rmdir()
    (tmp_path / "tides").symlink_to("tides")
    crawl = crawl_of(served)
    assert "symbolic links" in crawl.said
    assert (crawl.runs, crawl.can_start) == (False, False)

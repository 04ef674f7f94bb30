"""What most titles of a host say is not shown."""

from __future__ import annotations

from pathlib import Path

import pytest

from larm.index.meta_words import meta_words
from larm.index.page import Page
from larm.index.search.searcher import IndexSearcher
from larm.index.writer import IndexWriter
from larm.model.url import URLNormalizer

NAMES = ["ash", "beech", "birch", "cedar", "elm", "fir", "larch", "lime", "maple", "oak", "pine", "yew"]


def searcher(directory: Path, *titles: tuple[str, str]) -> IndexSearcher:
    """Of pages with these hosts and titles."""
    writer = IndexWriter(directory / "index", 15_000_000, 1)
    writer.open(None)
    for number, (host, title) in enumerate(titles):
        url = URLNormalizer().parse(f"http://{host}/{number}")
        writer.add(Page(url, "text/html", title, "a tree", meta=meta_words(url, "text/html")))
    writer.commit()
    writer.close()
    return IndexSearcher(directory)


def shown(found: IndexSearcher) -> set[str]:
    return {hit.title for hit in found.search("tree", 50)}


@pytest.mark.parametrize(
    "title",
    [
        "{} — All Trees",
        "{} | All Trees",
        "All Trees: {}",
        "All Trees :: {}",
        "All Trees -- {}",
        "{} - Leaves - All Trees",
        "{} (All Trees)",
    ],
)
def test_the_name_of_the_site_is_left_out(title: str, tmp_path: Path) -> None:
    found = searcher(tmp_path, *(("a.org", title.format(name)) for name in NAMES))
    assert shown(found) == {*NAMES}


def test_what_few_titles_of_the_host_say_stays(tmp_path: Path) -> None:
    """The same words are many pages' of another host; and a title is never left without words."""
    site = [("a.org", f"{name} - All Trees") for name in NAMES]
    others = [("b.org", f"{name} - wood") for name in NAMES]
    found = searcher(
        tmp_path, *site, *others, ("b.org", "house - All Trees"), ("a.org", "All Trees"), ("a.org", "… - All Trees")
    )
    assert shown(found) == {*NAMES, "house - All Trees", "All Trees", "… - All Trees"}


def test_of_few_pages_nobody_knows(tmp_path: Path) -> None:
    assert shown(searcher(tmp_path, ("a.org", "oak - Trees"), ("a.org", "fir - Trees"))) == {"oak - Trees", "fir - Trees"}


def test_what_all_titles_say_counts_next_to_nothing(tmp_path: Path) -> None:
    found = searcher(tmp_path, *(("a.org", f"{name} - All Trees") for name in NAMES), ("a.org", "forest"))
    first = found.search("trees forest", 1).hits[0]
    assert first.title == "forest"

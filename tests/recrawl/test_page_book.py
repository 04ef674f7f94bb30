from __future__ import annotations

from pathlib import Path

from larm.model.document import Visit
from larm.model.message import UNKNOWN
from larm.model.url import URLNormalizer
from larm.recrawl.page_book import PageBook
from larm.recrawl.revisit import Recrawl
from tests.storage.pages import page, url

ADDRESS = "http://a.org/1"


def test_what_no_checkpoint_knows_is_undone(tmp_path: Path) -> None:
    """A page is gone, which no checkpoint knows any more; the next time it is as it was, and it must not be forgotten."""
    book = PageBook(tmp_path / "pages.db")
    book.open(None)
    book.store([page(ADDRESS, text="word")])
    position = book.commit()
    book.store([Visit(ADDRESS, url=url(ADDRESS), status=404)])
    assert book.commit() != position
    assert [visit.page for visit in recrawl(tmp_path).gone()] == [ADDRESS]
    book.close()
    book = PageBook(tmp_path / "pages.db")
    book.open(position)
    assert recrawl(tmp_path).gone() == []
    assert [message.known for batch in recrawl(tmp_path).due() for message in batch] == [UNKNOWN]
    book.close()


def recrawl(directory: Path) -> Recrawl:
    return Recrawl(directory / "pages.db", [], 1.0, lambda _: None, URLNormalizer().parse)

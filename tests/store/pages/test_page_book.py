from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from larm.engine.recrawl.revisit import Demand, Recrawl
from larm.model.document import Visit
from larm.model.message import UNKNOWN
from larm.model.url import URLNormalizer
from larm.ops.report import change_of
from larm.parse.directives import of_header
from larm.store.pages.page_book import PageBook
from larm.store.pages.page_row import encode_row
from larm.store.pages.page_rows import PageRows, page_rows
from larm.testing.clock import FakeClock
from tests.store.stored_pages import page, url

ADDRESS = "http://a.org/1"


def test_what_no_checkpoint_knows_is_undone(tmp_path: Path) -> None:
    """A page is gone, which no checkpoint knows any more; the next time it is as it was, and it must not be forgotten."""
    book = PageBook(tmp_path / "pages.db")
    book.open(None)
    book.store([page(ADDRESS, text="word")])
    position = book.commit()
    [known] = [row.known for _, row in page_rows(tmp_path / "pages.db")]
    book.store([Visit(ADDRESS, url=url(ADDRESS), status=404)])
    assert book.commit() != position
    assert [visit.page for visit in recrawl(tmp_path).gone()] == [ADDRESS]
    book.close()
    book = PageBook(tmp_path / "pages.db")
    book.open(position)
    assert recrawl(tmp_path).gone() == []
    assert [message.known for batch, _ in recrawl(tmp_path).more() for message in batch] == [known], "it is there as it was"
    book.store([replace(page(ADDRESS, text="else"), revisited=True)])
    assert book.commit() != position
    book.close()
    book = PageBook(tmp_path / "pages.db")
    book.open(position)
    assert [message.known for batch, _ in recrawl(tmp_path).more() for message in batch] == [UNKNOWN]
    book.close()


def test_a_failure_that_no_checkpoint_knows_counts_once_when_it_repeats(tmp_path: Path) -> None:
    path, failed = tmp_path / "pages.db", Visit(ADDRESS, url=url(ADDRESS), status=500)
    book = PageBook(path)
    book.open(None)
    book.store([page(ADDRESS, text="word")])
    positions = [book.commit()]
    for _ in range(3):
        book.store([failed])
        positions.append(book.commit())
    book.close()
    [(_, before)] = page_rows(path)
    book = PageBook(path)
    book.open(positions[2])
    [(_, undone)] = page_rows(path)
    book.store([failed])
    book.commit()
    book.close()
    [(_, again)] = page_rows(path)
    assert [row.failing and row.failing.runs for row in (before, undone, again)] == [3, 2, 3]


def test_what_a_page_asks_for_is_kept_whatever_the_year(tmp_path: Path) -> None:
    """With a time zone, a date may be in the year 0 or 10,000."""
    book = PageBook(tmp_path / "pages.db")
    book.open(None)
    visit = page(ADDRESS, text="word")
    assert visit.document is not None
    asked = []
    for date in ("0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00", "2030-01-02"):
        until = of_header(f"unavailable_after: {date}", "larm").until
        book.store([replace(visit, document=replace(visit.document, until=until, follow=False, snippet=7))])
        book.commit()
        asked += [of_header(row.asks, "larm") for _, row in page_rows(tmp_path / "pages.db")]
    assert [each[1:4] for each in asked] == [(False, True, 7)] * 3
    assert [each.until for each in asked] == [0.0, 253_402_300_799.0, 1_893_542_400.0]
    book.close()


def test_amended_rows_go_back_to_what_each_position_knew(tmp_path: Path) -> None:
    """A page that is gone for long is not stored again by a crash after an amendment, nor requested whole."""
    path, gone, other = tmp_path / "pages.db", url("http://a.org/gone"), page("http://a.org/other", "text")
    book = PageBook(path)
    book.open(None)
    book.store([page(gone.access, "text"), other])
    book.commit()
    book.store([Visit(gone.access, url=gone, status=404)])
    book.store([Visit(gone.access, url=gone, status=410, gone=True)])
    position = book.commit()
    before = dict(page_rows(path))
    amended = {key: replace(row, referrer="http://b.org/") for key, row in before.items()}
    for key, row in amended.items():
        book.amend(key, row)
    later = book.commit()
    book.close()
    for known, rows in ((later, amended), (position, before)):
        book = PageBook(path)
        book.open(known)
        book.close()
        assert dict(page_rows(path)) == rows


def test_rows_of_a_host_go_from_one_book_to_another(tmp_path: Path) -> None:
    """What is known there already counts more if it is younger; in the old one nothing is left."""
    clock = FakeClock(1_000_000.0)
    old, new = PageBook(tmp_path / "pages.db", clock), PageBook(tmp_path / "new.db", clock)
    for book in (old, new):
        book.open(None)
    old.store([page(ADDRESS, text="word"), page("http://b.org/", text="else")])
    old.store([Visit("http://a.org/2", url=url("http://a.org/2"), status=500, failure="HTTP status 500")])
    clock.advance(10.0)
    new.store([page(ADDRESS, text="later")])
    old.commit()
    (rows,) = PageRows(tmp_path / "pages.db").of_host("a.org")
    assert sorted(row.access for _, row in rows) == [ADDRESS, "http://a.org/2"]
    new.store([Visit(row.access, url=row.message(key).url, row=encode_row(row)) for key, row in rows])
    new.commit()
    known = dict(rows)
    found = dict(page_rows(tmp_path / "new.db"))
    assert found.keys() == known.keys()
    assert {row.access: row == known[key] for key, row in found.items()} == {
        ADDRESS: False,
        "http://a.org/2": True,
    }
    old.store([Visit(row.access, url=row.message(key).url, left=True) for key, row in rows])
    position = old.commit()
    for book in (old, new):
        book.close()
    book = PageBook(tmp_path / "pages.db", clock)
    book.open(position)
    assert [row.host for _, row in page_rows(tmp_path / "pages.db")] == ["b.org"]
    book.close()


@pytest.mark.parametrize("unchanged", [304, 200])
def test_a_page_came_when_it_was_sent_and_not_when_it_was_unchanged(tmp_path: Path, unchanged: int) -> None:
    clock = FakeClock(1_000_000.0)
    book = PageBook(tmp_path / "pages.db", clock)
    book.open(None)
    begin = int(clock.wall())
    found = []
    visits = [page(ADDRESS, text="word"), *[Visit(ADDRESS, url=url(ADDRESS), status=unchanged)] * 2]
    for visit in [*visits, Visit(ADDRESS, url=url(ADDRESS), status=500), page(ADDRESS, text="else")]:
        book.store([visit])
        book.commit()
        [(_, row)] = page_rows(tmp_path / "pages.db")
        found.append((row.came - begin, row.fetched - begin, row.last.since - begin))
        clock.advance(10.0)
    book.close()
    assert found == [(0, 0, 0), (0, 10, 0), (0, 20, 0), (0, 20, 30), (40, 40, 40)]


@pytest.mark.parametrize(
    ("failure", "back"),
    [(401, "304"), (401, "200"), (401, "sent again"), (0, "304"), (0, "200"), (0, "sent again"), (404, "sent again")],
)
def test_page_that_is_back_with_the_same_bytes_has_not_changed(tmp_path: Path, failure: int, back: str) -> None:
    clock = FakeClock(1_000_000.0)
    book = PageBook(tmp_path / "pages.db", clock)
    book.open(None)
    again = replace(page(ADDRESS, text="word"), revisited=True)
    same = again if back == "sent again" else Visit(ADDRESS, url=url(ADDRESS), status=int(back))
    failed = Visit(ADDRESS, url=url(ADDRESS), status=failure, failure="" if failure else "it was set aside")
    for visit in (page(ADDRESS, text="word"), failed, same):
        clock.advance(10.0)
        book.store([visit])
    book.commit()
    book.close()
    [(_, row)] = page_rows(tmp_path / "pages.db")
    assert row.last.brought
    assert change_of(row, int(clock.wall())) is None


def recrawl(directory: Path) -> Recrawl:
    return Recrawl(directory / "pages.db", [], Demand(), lambda _: None, URLNormalizer().parse)


def test_a_page_is_current_as_long_as_its_server_says_and_is_believed(tmp_path: Path) -> None:
    clock = FakeClock(1_000_000.0)
    book = PageBook(tmp_path / "pages.db", clock)
    book.open(None)
    book.store([replace(page(ADDRESS, text="word"), headers={"cache-control": "max-age=600"})])
    book.commit()
    [(_, row)] = page_rows(tmp_path / "pages.db")
    begin = clock.wall()
    assert [row.is_current(begin + after, 1000) for after in (0, 599, 600)] == [True, True, False]
    assert [row.is_current(begin + after, 60) for after in (0, 59, 60)] == [True, True, False]
    clock.advance(5000.0)
    book.store([Visit(ADDRESS, url=url(ADDRESS), status=304, headers={"cache-control": "max-age=60"})])
    book.commit()
    [(_, row)] = page_rows(tmp_path / "pages.db")
    assert row.is_current(clock.wall() + 59, 1000)
    assert not row.is_current(clock.wall() + 60, 1000)
    book.store([Visit(ADDRESS, url=url(ADDRESS), status=404)])
    book.commit()
    [(_, row)] = page_rows(tmp_path / "pages.db")
    assert not row.is_current(clock.wall(), 1000)
    book.close()

"""A revisit that asks for a share of the pages: its rounds, and which pages it chooses."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import msgspec
import pytest

from larm.engine.recrawl.revisit import Demand, Recrawl
from larm.engine.recrawl.share import Likely
from larm.model.document import Document, Visit
from larm.model.message import UNKNOWN, URLMessage
from larm.model.url import URLNormalizer
from larm.store.pages.page_book import PageBook
from larm.store.pages.page_row import PageRow, Past, claim
from larm.store.pages.page_rows import page_rows
from larm.testing.clock import FakeClock
from tests.store import stored_pages as pages

PARSE = URLNormalizer().parse

DAY = 86_400
BEGAN = 1_000_000_000.0
HOST = "http://a.org"
SITEMAP = f"{HOST}/sitemap.xml"


def page(address: str, text: str, *, revisited: bool = False) -> Visit:
    visit = pages.page(address, text=text, body=text.encode())
    return msgspec.structs.replace(visit, url=PARSE(address), revisited=revisited)


class Crawl:
    """A page book, and revisits of it without a river."""

    def __init__(self, directory: Path, names: list[str]) -> None:
        self.clock = FakeClock(BEGAN)
        self.path = directory / "pages.db"
        self.book = PageBook(self.path, self.clock)
        self.book.open(None)
        self.notes: list[str] = []
        self.store(*(page(f"{HOST}{each}", text="first") for each in names))

    def store(self, *visits: Visit) -> None:
        self.book.store(visits)
        self.book.commit()

    def rows(self) -> dict[str, PageRow]:
        return {row.access.removeprefix(HOST): row for _, row in page_rows(self.path)}

    def answer(self, path: str, *, changed: bool) -> None:
        address, row = f"{HOST}{path}", self.rows()[path]
        if changed:
            self.store(page(address, f"after {row.known.digest}", revisited=True))
        else:
            self.store(Visit(address, url=PARSE(address), status=304))

    def sitemap(self, lastmods: Mapping[str, float], *, again: bool = False) -> None:
        said = {PARSE(f"{HOST}{path}").fingerprint: int(seconds) for path, seconds in lastmods.items()}
        visit = page(SITEMAP, f"{said}", revisited=again)
        self.store(msgspec.structs.replace(visit, document=Document("application/xml", lastmods=said)))

    def recrawl(self, share: float, *, resumed: object = None) -> Recrawl:
        state = resumed if isinstance(resumed, dict) else None
        return Recrawl(self.path, [], Demand(share=share), self.notes.append, PARSE, wall=self.clock.wall, state=state)

    def round(self, recrawl: Recrawl, *changed: str) -> list[str]:
        """The next one; the pages that it asks for are answered."""
        first(recrawl)
        paths = [message.url.access.removeprefix(HOST) for message in asked(recrawl)]
        for path in paths:
            self.answer(path, changed=path in changed)
        return paths


def first(recrawl: Recrawl) -> list[str]:
    """What it asks for before anything has come."""
    messages: list[URLMessage] = []
    while recrawl.begins:
        messages += asked(recrawl)
    return [message.url.access.removeprefix(HOST) for message in messages]


def asked(recrawl: Recrawl) -> list[URLMessage]:
    """The next part or round."""
    messages: list[URLMessage] = []
    for batch, reached in recrawl.more():
        messages += batch
        recrawl.go_on(reached)
    return messages


def test_pages_that_changed_before_and_the_folders_that_have_changed_come_first(tmp_path: Path) -> None:
    names = [f"/{folder}/{number}" for folder in ("news", "old", "older") for number in range(100)]
    crawl = Crawl(tmp_path, names)
    news = [name for name in names if name.startswith("/news")]
    crawl.clock.advance(DAY)
    recrawl = crawl.recrawl(0.3)
    assert first(recrawl) == []
    sample = crawl.round(recrawl, *news)
    assert recrawl.goes_on
    best = crawl.round(recrawl, *news)
    assert not recrawl.goes_on
    assert (len(sample), len(best)) == (18, 72)
    assert set(best) <= set(news)  # what the sample taught
    assert crawl.notes == ["210 pages were not asked for: recrawl.share is 0.3 (-s recrawl.share=1 asks for all)"]
    crawl.clock.advance(DAY)
    recrawl = crawl.recrawl(0.1)
    crawl.round(recrawl, *news)
    assert set(crawl.round(recrawl)) <= set(news)


def test_what_a_sitemap_calls_changed_comes_first_as_long_as_it_is_right(tmp_path: Path) -> None:
    names = [f"/{number}" for number in range(200)]
    crawl = Crawl(tmp_path, names)
    crawl.sitemap({})
    crawl.clock.advance(DAY)
    recrawl = crawl.recrawl(0.1)
    assert first(recrawl) == ["/sitemap.xml"]
    changed = names[40:60]
    crawl.sitemap(dict.fromkeys(changed, BEGAN + 500), again=True)
    asked = crawl.round(recrawl, *changed) + crawl.round(recrawl, *changed)
    assert len(asked) == 20  # with the sitemap 21 of 201
    assert len(set(asked) & set(changed)) >= 17  # half of the sample is of others


def test_a_sitemap_that_was_wrong_is_not_believed(tmp_path: Path) -> None:
    crawl = Crawl(tmp_path, [f"/{number}" for number in range(40)])
    crawl.clock.advance(DAY)
    (row, *others) = crawl.rows().values()
    for right, wrong, least, most in ((20, 0, 0.9, 1.0), (0, 20, 0.0, 0.1), (10, 10, 0.4, 0.6)):
        likely = Likely(crawl.clock.wall())
        for each in (row, *others):
            likely.add(each)
        likely.add(msgspec.structs.replace(row, past=Past(int(BEGAN), right=right, wrong=wrong)))
        claimed = likely.chance(msgspec.structs.replace(row, past=Past(int(BEGAN), claimed=int(BEGAN) + 5)))
        assert least <= claimed - likely.chance(row) <= most


def test_a_revisit_that_is_killed_goes_on_with_its_round(tmp_path: Path) -> None:
    crawl = Crawl(tmp_path, [f"/{number}" for number in range(50)])
    crawl.clock.advance(DAY)
    recrawl = crawl.recrawl(0.5)
    sample = crawl.round(recrawl)
    state = recrawl.cut(last=False)
    again = crawl.recrawl(0.5, resumed=state)
    assert first(again) == []
    best = crawl.round(again)
    assert len(sample) + len(best) == 25
    assert not set(sample) & set(best)
    assert not crawl.recrawl(0.5, resumed=again.cut(last=True)).goes_on


def test_without_a_share_all_pages_are_asked_for_at_once(tmp_path: Path) -> None:
    crawl = Crawl(tmp_path, ["/1", "/2"])
    crawl.clock.advance(DAY)
    recrawl = crawl.recrawl(1)
    assert sorted(first(recrawl)) == ["/1", "/2"]
    assert not recrawl.goes_on


@pytest.mark.parametrize(
    ("past", "lastmod", "fetched", "news"),
    [
        (Past(), 10 * DAY + 5, 10 * DAY + 4, True),
        (Past(), 10 * DAY + 5, 10 * DAY + 6, False),
        (Past(), 10 * DAY, 10 * DAY + 4, True),  # a day, and it is not over
        (Past(), 10 * DAY, 11 * DAY, False),
        (Past(heard=10 * DAY), 10 * DAY, 10 * DAY + 4, False),
    ],
)
def test_claims(past: Past, lastmod: int, fetched: int, *, news: bool) -> None:
    assert (claim(past, lastmod, fetched).claimed == lastmod) == news


def test_pages_that_came_by_a_clock_that_was_ahead_are_asked_for(tmp_path: Path) -> None:
    """And a revisit that is done knows it, though the clock is still behind."""
    crawl = Crawl(tmp_path, [f"/{number}" for number in range(50)])
    crawl.clock.set_wall(BEGAN - DAY)
    recrawl = crawl.recrawl(0.5)
    asked = crawl.round(recrawl) + crawl.round(recrawl)
    assert len(set(asked)) == 25
    assert not recrawl.goes_on
    assert crawl.notes == ["25 pages were not asked for: recrawl.share is 0.5 (-s recrawl.share=1 asks for all)"]


def test_a_sitemap_is_believed_of_its_own_host_and_of_who_names_it(tmp_path: Path) -> None:
    crawl = Crawl(tmp_path, ["/1"])
    crawl.store(page("http://b.org/1", "first"))
    crawl.clock.advance(DAY)
    said = {PARSE(f"{host}/1").fingerprint: int(BEGAN) + 5 for host in (HOST, "http://b.org")}
    for referrer, claimed in ((f"{HOST}/", 1), ("http://b.org/robots.txt", 2)):
        document = Document("application/xml", lastmods=said)
        crawl.store(msgspec.structs.replace(page(SITEMAP, "map"), document=document, referrer=referrer))
        assert sum(bool(row.past and row.past.claimed) for row in crawl.rows().values()) == claimed


def test_what_a_sitemap_said_is_not_taken_for_an_answer_after_a_crash(tmp_path: Path) -> None:
    """What came after the checkpoint comes whole, though the sitemap spoke of it; the sitemap was new, and is found again."""
    crawl = Crawl(tmp_path, ["/1", "/2"])
    crawl.clock.advance(DAY)
    position = crawl.book.commit()
    crawl.book.store([page(f"{HOST}/2", "other", revisited=True)])
    crawl.sitemap({"/1": BEGAN + DAY + 5, "/2": BEGAN + 2 * DAY})
    crawl.book.close()
    crawl.book = PageBook(crawl.path, crawl.clock)
    crawl.book.open(position)
    rows = crawl.rows()
    assert [path for path, row in rows.items() if row.known == UNKNOWN] == ["/2"]
    assert "/sitemap.xml" not in rows
    assert rows["/1"].past is None
    crawl.sitemap({"/1": BEGAN + DAY + 5, "/2": BEGAN + 2 * DAY})
    crawl.book.close()
    assert crawl.rows()["/1"].past == Past(int(BEGAN), claimed=int(BEGAN) + DAY + 5)


def test_claims_are_judged_by_what_came(tmp_path: Path) -> None:
    crawl = Crawl(tmp_path, ["/1", "/2"])
    crawl.clock.advance(DAY)
    crawl.sitemap({"/1": BEGAN + 5, "/2": BEGAN + 5, "/3": BEGAN + 5})
    crawl.clock.advance(DAY)
    crawl.answer("/1", changed=True)
    crawl.answer("/2", changed=False)
    rows = crawl.rows()
    assert rows["/1"].past == Past(int(BEGAN), changes=1, heard=int(BEGAN) + 5, right=1)
    assert rows["/2"].past == Past(int(BEGAN), heard=int(BEGAN) + 5, wrong=1)
    past = rows["/sitemap.xml"].past
    assert past is not None
    assert past.sitemap


def test_later_rounds_ask_for_whole_pages_where_something_new_has_to_see_them(tmp_path: Path) -> None:
    """The run was ended in the first round, and the next one has one more storage."""
    some = Crawl(tmp_path, ["/", "/1", "/2"])
    some.clock.advance(DAY)
    begun = some.recrawl(0.5)
    first(begun)
    again = Recrawl(
        some.path,
        [],
        Demand(share=0.5, whole=True),
        some.notes.append,
        PARSE,
        wall=some.clock.wall,
        state=begun.cut(last=True),
    )
    known = [message.known for message in asked(again)]
    assert len(known) == 3
    assert all(each is not None and each.digest < 0 and not each.etag for each in known)

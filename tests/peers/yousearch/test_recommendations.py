"""Recommendations by themselves: nobody makes up, changes or brings back what somebody else has said."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import msgspec
import pytest

from larm.errors import StorageError
from larm.peers.identity import Identity
from larm.peers.yousearch.recommendations import Board, Recommendation, Shelf, is_good, signed
from larm.testing.clock import FakeClock

DAY = 86_400.0


def said(author: Identity, made: float = 100.0, **other: object) -> Recommendation:
    plain = Recommendation(query="keyword=eels", url="http://a.org/", title="A", author="", name="anna", made=made)
    return signed(author, msgspec.structs.replace(plain, **other))


def take(board: Board, each: Iterable[Recommendation], now: float, payer: str = "") -> None:
    """As a registrar does."""
    board.take([one for one in each if is_good(one, now)], now, payer)


def test_a_board_believes_signatures_and_what_is_newer() -> None:
    anna, board = Identity.new(), Board()
    first = said(anna)
    forged = msgspec.structs.replace(first, title="B", made=200.0)
    stolen = msgspec.structs.replace(first, author=Identity.new().key)
    take(board, [first, forged, stolen, said(anna, made=10_000.0, url="http://future.org/")], now=300.0)
    assert board.of("keyword=eels", 300.0) == (first,)
    gone = said(anna, made=200.0, gone=True)
    take(board, [gone], now=300.0)
    take(board, [first], now=300.0)
    assert board.of("keyword=eels", 300.0) == (), "what was taken back does not return"
    again = msgspec.json.decode(msgspec.json.encode(first), type=Recommendation)
    assert is_good(again, 300.0)


def test_a_board_has_an_end() -> None:
    board = Board()
    each = [board.take([said(Identity.new())], now=300.0, payer=f"192.0.2.{n // 20}") for n in range(120)]
    assert (len(board.of("keyword=eels", 300.0)), sum(each)) == (100, 20)


def test_one_address_has_some_places_for_a_query() -> None:
    board = Board()
    assert board.take([said(Identity.new()) for _ in range(120)], now=300.0, payer="192.0.2.1") == 100
    assert board.take([said(Identity.new())], now=300.0, payer="192.0.2.2") == 0


def test_what_nobody_signs_again_is_forgotten() -> None:
    anna, board, now = Identity.new(), Board(), 300.0 + 31 * DAY
    first = said(anna)
    take(board, [first, said(anna, url="http://b.org/", made=200.0 + 30 * DAY)], now=300.0 + 30 * DAY)
    assert len(board.of("keyword=eels", 300.0)) == 1, "too old to be believed, as it may have been taken back since"
    take(board, [first], now=300.0)
    assert len(board.of("keyword=eels", 300.0)) == 2
    assert [each.url for each in board.of("keyword=eels", now)] == ["http://b.org/"]
    take(board, [], now=now)
    assert (len(board._said["keyword=eels"]), board._from.total()) == (1, 1)
    take(board, [], now=now + 31 * DAY)
    assert (board._said, board._from.total()) == ({}, 0)


def open_to_all(_: str) -> bool:
    return False


def test_recommendation_is_taken_back_when_its_page_turns_private(tmp_path: Path) -> None:
    clock = FakeClock(1_700_000_000.0)
    shelf = Shelf(Identity.new(), "anna", tmp_path / "recommendations.json", clock)
    for url in ("http://a.org/", "http://b.org/"):
        assert shelf.add("keyword=eels", url, "Title", anonymous=False) is not None
    (back,) = shelf.renew(lambda url: url == "http://a.org/")
    assert (back.url, back.title, back.gone) == ("http://a.org/", "", True)
    assert is_good(back, clock.wall())
    assert shelf.renew(lambda url: url == "http://a.org/") == [], "once"


def test_an_author_signs_again_what_he_still_recommends(tmp_path: Path) -> None:
    anna, clock = Identity.new(), FakeClock(1_700_000_000.0)
    shelf = Shelf(anna, "anna", tmp_path / "recommendations.json", clock)
    kept = shelf.add("keyword=eels", "http://a.org/", "A", anonymous=False)
    hidden = shelf.add("keyword=eels", "http://b.org/", "B", anonymous=True)
    gone = shelf.add("keyword=eels", "http://c.org/", "C", anonymous=False)
    assert kept is not None
    assert hidden is not None
    assert gone is not None
    shelf.take_back("keyword=eels", gone.url, gone.author)
    assert shelf.renew(open_to_all) == []
    clock.advance(8 * DAY)
    again = shelf.renew(open_to_all)
    assert [(each.url, each.author) for each in again] == [(kept.url, kept.author), (hidden.url, hidden.author)]
    assert all(is_good(each, clock.wall()) and each.made == clock.wall() for each in again)
    assert len(shelf.all()) == 3
    clock.advance(23 * DAY)
    shelf.renew(open_to_all)
    assert len(Shelf(anna, "anna", tmp_path / "recommendations.json", clock).all()) == 2, "nobody would take the third again"


def test_what_was_taken_back_takes_no_room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("larm.peers.yousearch.recommendations._MOST_OWN", 2)
    shelf = Shelf(Identity.new(), "anna", tmp_path / "recommendations.json", FakeClock(100.0))
    for n in range(4):
        said = shelf.add("keyword=eels", f"http://a.org/{n}", "A", anonymous=False)
        assert said is not None
        shelf.take_back(said.query, said.url, said.author)


def test_one_address_can_not_fill_a_board() -> None:
    board, anna, many = Board(), Identity.new(), Identity.new()
    board.take((said(many, query=f"keyword=w{n}") for n in range(2_100)), now=300.0, payer="192.0.2.1")
    assert board.of("keyword=w1999", 300.0)
    assert not board.of("keyword=w2000", 300.0)
    take(board, [said(anna)], now=300.0, payer="192.0.2.2")
    assert board.of("keyword=eels", 300.0)


def test_a_shelf_keeps_them(tmp_path: Path) -> None:
    anna, clock, file = Identity.new(), FakeClock(100.0), tmp_path / "recommendations.json"
    shelf = Shelf(anna, "anna", file, clock)
    shelf.add("keyword=eels", "http://a.org/", "A", anonymous=False)
    hidden = shelf.add("keyword=eels", "http://b.org/", "B", anonymous=True)
    assert hidden is not None
    again = Shelf(anna, "anna", file, clock)
    assert again.all() == shelf.all()
    assert file.stat().st_mode & 0o077 == 0, "it has keys in it"
    clock.advance(5)
    gone = again.take_back("keyword=eels", "http://b.org/", hidden.author)
    assert gone is not None
    assert (gone.gone, gone.author, is_good(gone, clock.wall())) == (True, hidden.author, True)
    assert again.take_back("keyword=eels", "http://b.org/", hidden.author) is None
    file.write_text("nonsense")
    with pytest.raises(StorageError, match="damaged"):
        Shelf(anna, "anna", file, clock)

"""Recommendations by themselves: nobody makes up, changes or brings back what somebody else has said."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from larm.errors import StorageError
from larm.peers.identity import Identity
from larm.peers.yousearch.recommendations import Board, Recommendation, Shelf, is_good, signed
from larm.testing.clock import FakeClock


def said(author: Identity, made: float = 100.0, **other: object) -> Recommendation:
    plain = Recommendation(query="keyword=eels", url="http://a.org/", title="A", author="", name="anna", made=made)
    return signed(author, msgspec.structs.replace(plain, **other))


def test_a_board_believes_signatures_and_what_is_newer() -> None:
    anna, board = Identity.new(), Board()
    first = said(anna)
    forged = msgspec.structs.replace(first, title="B", made=200.0)
    stolen = msgspec.structs.replace(first, author=Identity.new().key)
    board.take([first, forged, stolen, said(anna, made=10_000.0, url="http://future.org/")], now=300.0)
    assert board.of("keyword=eels") == (first,)
    gone = said(anna, made=200.0, gone=True)
    board.take([gone], now=300.0)
    board.take([first], now=300.0)
    assert board.of("keyword=eels") == (), "what was taken back does not return"
    again = msgspec.json.decode(msgspec.json.encode(first), type=Recommendation)
    assert is_good(again)


def test_a_board_has_an_end() -> None:
    board = Board()
    board.take([said(Identity.new()) for _ in range(120)], now=300.0)
    assert len(board.of("keyword=eels")) == 100


def test_one_address_can_not_fill_a_board() -> None:
    board, anna, many = Board(), Identity.new(), Identity.new()
    board.take((said(many, query=f"keyword=w{n}") for n in range(2_100)), now=300.0, payer="192.0.2.1")
    assert board.of("keyword=w1999")
    assert not board.of("keyword=w2000")
    board.take([said(anna)], now=300.0, payer="192.0.2.2")
    assert board.of("keyword=eels")


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
    assert (gone.gone, gone.author, is_good(gone)) == (True, hidden.author, True)
    assert again.take_back("keyword=eels", "http://b.org/", hidden.author) is None
    file.write_text("nonsense")
    with pytest.raises(StorageError, match="damaged"):
        Shelf(anna, "anna", file, clock)

"""One liar among the owners of a word neither displaces candidates nor changes how rare the word is (YACY-47, 48)."""

from __future__ import annotations

from collections.abc import Sequence

from larm.peers.yacy.hashes import packed, word_hash
from larm.peers.yacy.joining import Joining
from larm.peers.yacy.questions import Found, Row, WordFound
from larm.peers.yacy.url_hash import url_hash

WORD = word_hash("harbour")
EVERYTHING = {WORD: range(16)}
HONEST = [url_hash(f"http://honest.example/{n}") for n in range(20)]
FORGED = [url_hash(f"http://forged.example/{n}") for n in range(500)]


def answer(urls: Sequence[str], hits: int = 3, *, abstract: Sequence[str] = ()) -> Found:
    rows = tuple(Row(url, hits, 1, 20, 0) for url in urls)
    return Found((WordFound(len(urls), rows=rows, urls=b"".join(map(packed, abstract))),), ("author",))


def test_pages_that_one_of_three_owners_names_come_last_and_are_not_counted() -> None:
    joining = Joining([[WORD]])
    joining.add([WORD], answer(HONEST, abstract=HONEST), "one", EVERYTHING)
    joining.add([WORD], answer(HONEST), "two", EVERYTHING)
    joining.add([WORD], answer(FORGED, 255, abstract=FORGED), "liar", EVERYTHING)
    assert set(joining.best(20, 1_000)) < set(FORGED), "before all have answered it is not known"
    joining.settle()
    assert set(joining.best(20, 1_000)) == set(HONEST)
    assert joining.pages_with(0) == len(HONEST)
    assert len(joining.best(1_000, 1_000)) == len(HONEST) + len(FORGED), "they may be of a young peer"


def test_pages_count_if_no_other_owner_has_answered_or_this_peer_has_them() -> None:
    alone = Joining([[WORD]])
    alone.add([WORD], answer(HONEST), "one", EVERYTHING)
    alone.add([WORD], answer([]), "no owner", {WORD: ()})
    alone.settle()
    assert alone.pages_with(0) == len(HONEST)
    own = Joining([[WORD]])
    own.add([WORD], answer(HONEST), "", EVERYTHING)
    own.add([WORD], answer([]), "new", EVERYTHING)
    own.settle()
    assert own.pages_with(0) == len(HONEST)


def test_malformed_hashes_of_a_liar_are_ignored() -> None:
    joining = Joining([[WORD]])
    joining.add([WORD], answer(["", "x" * 12, "ä" * 12, "short"]), "liar", EVERYTHING)
    joining.add([WORD], answer(HONEST), "one", EVERYTHING)
    joining.settle()
    assert set(joining.best(30, 100)) == {*HONEST, "x" * 12}

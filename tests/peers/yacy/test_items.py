"""What is handed over: signed, bounded, and refused where it is not what it says."""

from __future__ import annotations

import zlib
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from larm.peers.yacy.chunk import (
    ADDRESS,
    DESCRIPTION,
    MOST,
    NAMED,
    TITLE,
    BadChunkError,
    Reference,
    check_chunk,
    cut,
    read_chunk,
    references_in,
    words_in,
    write_chunk,
)
from larm.peers.yacy.hashes import ALPHABET, RING, packed, word_hash
from larm.peers.yacy.item import LARGEST, LIFE, Header, Kind, digest_of, encoded_key, is_body, new_header, refusal
from larm.peers.yacy.library import Vocabulary
from larm.peers.yacy.page import TEXT, BadPageError, Page, joined, place_of, read_page, references_of, write_page
from larm.peers.yacy.ring import EXPONENT
from larm.peers.yacy.shelf import Shelf
from larm.peers.yacy.url_hash import url_hash
from tests.peers.yacy.keys import FakeKey, fake_verify

NOW = 1_700_000_000.0
HASHES = st.text(ALPHABET, min_size=12, max_size=12)
BYTE = st.integers(0, 255)
REFERENCES = st.builds(Reference, HASHES, BYTE, BYTE, st.just(7))
ROWS = st.lists(st.tuples(HASHES, REFERENCES), max_size=60, unique_by=lambda row: (row[0], row[1].url))


@given(ROWS, st.integers(EXPONENT, 12))
def test_chunks_have_all_references_and_lie_where_they_say(rows: list[tuple[str, Reference]], depth: int) -> None:
    found = []
    for (first, last), words in cut(rows, depth):
        assert (last - first + 1) == RING >> depth
        body = write_chunk(words)
        back = read_chunk(body)
        check_chunk(back, first, last)
        assert words_in(body) == [packed(word) for word in back]
        assert references_in(body, [*back, "AAAAAAAAAAAA"]) == back
        for word in back:
            assert references_in(body, [word]) == {word: back[word]}
            found += [(word, each) for each in back[word]]
    assert sorted(found) == sorted(rows)


def test_a_common_word_is_parted() -> None:
    word = word_hash("common")
    rows = [(word, Reference("A" + str(n).rjust(11, "0"), 1, 0, 7)) for n in range(2 * MOST + 5)]
    chunks = list(cut(rows, 8))
    assert [len(words[word]) for _, words in chunks] == [MOST, MOST, 5]


def test_what_is_cut_does_not_depend_on_the_order() -> None:
    rows = [(word_hash(f"w{n}"), Reference(word_hash(f"u{n % 7}"), 1, 0, 7)) for n in range(500)]
    assert [write_chunk(words) for _, words in cut(rows, 6)] == [write_chunk(words) for _, words in cut(rows[::-1], 6)]


@given(st.binary(max_size=300))
def test_any_bytes_are_a_chunk_or_refused(data: bytes) -> None:
    for body in (data, zlib.compress(data)):
        with pytest.raises(BadChunkError):
            read_chunk(body)
        with pytest.raises(BadPageError):
            read_page(body)


@pytest.mark.parametrize(
    "body",
    [
        (b"", b"", b"", [5], [], b"", b""),
        (b"123456789", b"1", b"123456789", [1], [1], b"1", b"1"),
        (b"123456789", b"1", b"123456789", [2, -1], [0], b"1", b"1"),
        (b"12345678", b"1", b"123456789", [1], [0], b"1", b"1"),
        (b"123456789", b"1", b"123456789", [MOST + 1], [0] * (MOST + 1), b"1" * (MOST + 1), b"1" * (MOST + 1)),
    ],
)
def test_numbers_that_do_not_fit(body: tuple[object, ...]) -> None:
    with pytest.raises(BadChunkError):
        read_chunk(zlib.compress(msgspec.msgpack.encode(body)))


def test_a_page_that_is_nested_without_end_is_refused() -> None:
    page = msgspec.msgpack.encode(Page("http://a.example/"))
    nested = bytes([page[0] + 1]) + page[1:] + b"\x91" * 100_000  # one field more than a page has
    with pytest.raises(BadPageError, match="nested"):
        read_page(zlib.compress(nested))


def test_a_bomb_is_refused() -> None:
    for read, error in ((read_chunk, BadChunkError), (read_page, BadPageError)):
        with pytest.raises(error):
            read(zlib.compress(bytes(100_000_000)))  # type: ignore[operator]


@given(st.builds(Page, st.just("http://a.example/"), st.text(), st.text(), st.text(max_size=100), st.text(max_size=8)))
def test_pages_there_and_back(page: Page) -> None:
    try:
        bodies = write_page(page)
    except UnicodeEncodeError:
        return  # lone surrogates
    assert joined(map(read_page, bodies)) == msgspec.structs.replace(
        page, title=page.title[:1_000], description=page.description[:1_000]
    )


def test_a_page_fits_however_long_it_is() -> None:
    import random

    text = "".join(random.Random(1).choices([chr(n) for n in range(0x4E00, 0x9F00)], k=200_000))
    bodies = write_page(Page(url="http://a.example/", title=text, other=text, links=(text,) * 999, text=text, linked=10**9))
    assert max(map(len, bodies)) <= LARGEST
    pieces = [*map(read_page, bodies)]
    page = joined(reversed(pieces))
    assert page is not None
    assert page.text == text
    assert page.linked < 1_000, "no claim makes a page more important than that"
    assert joined(pieces[1:]) is None
    cut = joined(pieces[:2] + pieces[3:])
    assert cut is not None
    assert cut.text == pieces[0].text + pieces[1].text, "up to the piece that is missing"


def test_what_a_page_has_beyond_the_limit_is_cut() -> None:
    page = joined(map(read_page, write_page(Page(url="http://a.example/", text="x" * (TEXT + 5)))))
    assert page is not None
    assert len(page.text) == TEXT


@pytest.mark.parametrize("url", ["file:///etc/passwd", "javascript:alert(1)", "", "ftp://a/"])
def test_only_pages_of_the_web(url: str) -> None:
    (body,) = write_page(Page(url=url))
    with pytest.raises(BadPageError):
        read_page(body)


def test_references_of_a_page() -> None:
    page = Page(
        url="http://a.example/otter", title="Otters", description="river", text="otters swim, otters eat; the end",
        other="home", links=("Swimmers",), linked=99,
    )  # fmt: skip
    found = dict(references_of(page, lambda text: text.lower().replace("/", " ").replace(",", "").split(),
                               lambda word: [word.rstrip("s")], lambda word: word == "the"))  # fmt: skip
    rank = 12 << 4
    assert found[word_hash("otters")][1:3] == (2, TITLE | rank)
    assert found[word_hash("otter")][1:3] == (2, TITLE | ADDRESS | rank)
    assert found[word_hash("river")][1:3] == (0, DESCRIPTION | rank)
    assert found[word_hash("swimmer")][1:3] == (0, NAMED | rank)
    assert found[word_hash("home")][1:3] == (0, rank)
    assert found[word_hash("home")].rank == 2.0
    assert word_hash("the") not in found


def header(key: FakeKey, body: bytes, created: float = NOW, **fields: object) -> Header:
    made = new_header(Kind.PAGE, digest_of(body), (place_of(read_page(body)),) * 2, created, key)
    return msgspec.structs.replace(made, **fields)


@pytest.mark.parametrize(
    ("forged", "reason"),
    [
        ({"created": int(NOW) + 1}, "signed"),
        ({"gone": True}, "signed"),
        ({"author": FakeKey(2).key}, "signed"),
        ({"digest": b"x"}, "no header"),
        ({"first": -1}, "no header"),
        ({"last": RING}, "no header"),
        ({"first": 0, "last": RING >> 4}, "too much"),
        ({"created": int(NOW - LIFE - 1)}, "over"),
        ({"created": int(NOW + 10_000)}, "not yet"),
    ],
)
def test_headers_that_are_refused(forged: dict[str, object], reason: str) -> None:
    (body,) = write_page(Page(url="http://a.example/", text="text"))
    good = header(FakeKey(1), body)
    assert refusal(good, NOW, fake_verify) == ""
    assert is_body(good, body)
    assert not is_body(good, body + b"x")
    assert reason in refusal(msgspec.structs.replace(good, **forged), NOW, fake_verify)


@pytest.fixture
def shelf(tmp_path: Path) -> Shelf:
    return Shelf(tmp_path / "shelf.db", 8_000, fake_verify)


def body_of(number: int, site: str = "a") -> bytes:
    import random

    noise = "".join(random.Random(number).choices("abcdefghijklmnop", k=800))
    return write_page(Page(url=f"http://{site}.example/{number}", text=noise))[0]


def put(shelf: Shelf, author: int, number: int, site: str = "a") -> str:
    body = body_of(number, site)
    return shelf.handed(header(FakeKey(author), body), body, NOW)


def test_one_author_gets_an_eighth_and_all_no_more_than_the_quota(shelf: Shelf) -> None:
    said = [put(shelf, 1, n) for n in range(4)]
    assert said[0] == ""
    assert said[-1] == "its author has the share of one author"
    said = [put(shelf, n, n, f"s{n}") for n in range(10, 60)]
    assert said[-1] == "there is no room any more"
    assert shelf.counts[1] <= 8_000


def test_items_of_unknown_authors_do_not_displace_the_document_of_a_sampled_one(
    shelf: Shelf, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("larm.peers.yacy.shelf_reader._MOST_ITEMS", 2)
    for author in (1, 2, 3):
        body = write_page(Page(url="http://a.example/", text=f"text of {author}"))[0]
        assert shelf.handed(header(FakeKey(author), body), body, NOW) == ""
    shelf.authors.judge(FakeKey(3).key, NOW, good=True, fresh=True)
    found = [each.author for each, _ in shelf.reader.pages(url_hash("http://a.example/"), NOW, shelf.authors.shows)]
    assert found == [FakeKey(3).key, FakeKey(1).key]


def test_full_shelf_drops_the_largest_author_that_is_not_shown_for_one_that_is(shelf: Shelf) -> None:
    for n in range(10, 60):
        put(shelf, n, n, f"s{n}")
    keys = [each for n in range(10, 60) if (each := FakeKey(n).key) and shelf._usage[encoded_key(each)]]
    assert put(shelf, 70, 70, "s70") == "there is no room any more"
    shelf.authors.judge(FakeKey(70).key, NOW, good=True, fresh=True)
    assert put(shelf, 71, 71, "s71") == "there is no room any more", "it is not shown either"
    assert put(shelf, 70, 70, "s70") == ""
    assert [shelf._usage[encoded_key(each)] > 0 for each in keys].count(False) == 1


def test_one_site_gets_a_fourth_whoever_signs_its_pages_and_dropped_ones_make_room(shelf: Shelf) -> None:
    said = [put(shelf, n, n) for n in range(10, 20)]
    assert said[-1] == "its site has the share of one site"
    assert shelf.counts[1] <= 2_000
    shelf.drop_authors([FakeKey(10).key])
    assert put(shelf, 30, 30) == ""
    assert put(shelf, 31, 31) == "its site has the share of one site"


def test_one_address_gets_a_fourth_whichever_keys_it_has(shelf: Shelf) -> None:
    for n in range(10, 40):
        shelf.authors.meet(FakeKey(n).key, "192.0.2.1" if n < 30 else f"192.0.2.{n}", NOW)
    said = [put(shelf, n, n, f"s{n}") for n in range(10, 30)]
    assert said[-1] == "its address has the share of one address"
    assert put(shelf, 31, 31, "s31") == ""


def test_a_new_author_gets_a_trickle_until_it_is_old_enough(tmp_path: Path) -> None:
    shelf = Shelf(tmp_path / "young.db", 4_000_000, fake_verify, young=100.0)
    shelf.authors.meet(FakeKey(1).key, "192.0.2.1", NOW)
    said = [put(shelf, 1, n, f"s{n}") for n in range(3)]
    assert said[0] == ""
    assert said[1:] == ["its author is new here, and has the share of a new author"] * 2
    body = body_of(5, "s5")
    assert shelf.handed(header(FakeKey(1), body, NOW + 100), body, NOW + 100) == ""


def test_own_items_need_no_room(shelf: Shelf) -> None:
    for n in range(30):
        assert shelf.handed(header(FakeKey(1), body_of(n)), body_of(n), NOW, own=True) == ""
    assert shelf.counts == (0, 0, 30)


def test_words_that_lie_elsewhere_are_refused(shelf: Shelf) -> None:
    rows = [(word_hash("a"), Reference(word_hash("u"), 1, 0, 7))]
    (((first, last), words),) = cut(rows, 8)
    body = write_chunk(words)
    for places in ((first, last), ((first + (last - first + 1)) % RING, (last + (last - first + 1)) % RING)):
        said = shelf.handed(new_header(Kind.WORDS, digest_of(body), places, NOW, FakeKey(1)), body, NOW)
        assert said == ("" if places == (first, last) else "it has words of another part of the ring")


def test_an_older_header_does_not_bring_back_what_was_withdrawn(shelf: Shelf) -> None:
    key, body = FakeKey(1), body_of(1)
    old = header(key, body, NOW - 100)
    assert not shelf.handed(old, body, NOW)
    gone = new_header(Kind.PAGE, old.digest, (old.first, old.last), NOW, key, gone=True)
    assert shelf.offered(gone, NOW) == (False, "")
    assert not shelf.reader.pages(read_page(body).hash, NOW)
    assert shelf.offered(old, NOW) == (False, "")
    assert not shelf.handed(old, body, NOW)
    assert not shelf.reader.pages(read_page(body).hash, NOW)


def test_what_was_withdrawn_before_it_came_takes_room_too(tmp_path: Path) -> None:
    shelf = Shelf(tmp_path / "small.db", 64_000, fake_verify)
    kept = 0
    for number in range(500):
        gone = new_header(Kind.PAGE, digest_of(b"%d" % number), (0, 0), NOW, FakeKey(number), gone=True)
        said = shelf.offered(gone, NOW).reason
        kept += not said
    assert 0 < kept < 250, "anybody makes as many keys as he likes"
    assert said == "there is no room any more"
    counted = shelf.counts
    shelf.expire(NOW)
    assert shelf.counts == counted
    assert counted[1] <= 64_000


def test_an_item_that_moves_is_still_signed(shelf: Shelf) -> None:
    body, key = body_of(1), FakeKey(1)
    before = header(key, body)
    assert not shelf.handed(before, body, NOW, own=True)
    shelf.put_own(new_header(Kind.PAGE, before.digest, (before.first, before.last + 1), NOW + 5, key))
    (kept,) = shelf.own().values()
    assert kept.last == before.last + 1
    assert not refusal(kept, NOW + 5, fake_verify), "or nobody would take it"


def test_where_an_item_of_others_belongs_is_checked_with_its_body(shelf: Shelf) -> None:
    body, key = body_of(1), FakeKey(1)
    before = header(key, body)
    assert not shelf.handed(before, body, NOW)
    moved = new_header(Kind.PAGE, before.digest, (before.first + 1, before.last + 1), NOW + 5, key)
    assert shelf.offered(moved, NOW + 5).wanted
    assert "elsewhere" in shelf.handed(moved, body, NOW + 5)
    ((_, kept),) = shelf.headers(0, 10)
    assert kept == before


def test_what_is_on_the_shelf_outlives_the_process(tmp_path: Path) -> None:
    path, body = tmp_path / "shelf.db", body_of(1)
    first = Shelf(path, 100_000, fake_verify)
    first.handed(header(FakeKey(1), body), body, NOW)
    second = Shelf(path, 100_000, fake_verify)  # the first was not closed: it was killed
    assert second.counts[0] == 1
    first.close()
    second.close()


def test_what_an_item_is_found_by_takes_room_too(tmp_path: Path) -> None:
    """A chunk of a thousand words takes more of the disk by its rows than by its body."""
    shelf = Shelf(tmp_path / "rows.db", 10_000_000, fake_verify)
    references = [(word_hash(f"w{n}"), Reference("AAAAAAAAAAAA", 1, 0, 4)) for n in range(5_000)]
    for number, (places, words) in enumerate(cut(references, 4)):
        body = write_chunk(words)
        own = new_header(Kind.WORDS, digest_of(body), places, NOW, FakeKey(number))
        assert not shelf.handed(own, body, NOW)
    bodies = sum(len(body) for _, body in shelf.bodies([header.name for _, header in shelf.headers(0, 100)]))
    assert shelf.counts[1] == bodies + 40 * 5_000
    size = shelf.counts[1]
    assert not shelf.handed(own, body, NOW + 5), "the same again takes no room"
    assert shelf.counts[1] == size


def test_a_word_has_its_stems_in_the_languages_of_the_pages() -> None:
    """Italian has the stem "rot" for "rotate", and no other language has."""
    vocabulary, italian = Vocabulary(()), word_hash("rot")

    def hashes(query: str, shares: dict[str, float]) -> set[str]:
        return {each for unit in vocabulary.understand(query, shares).units for each in unit.hashes}

    assert italian in hashes("rotate", {"en": 0.7, "it": 0.3})
    assert italian not in hashes("rotate", {"en": 0.99, "it": 0.01})
    assert word_hash("hous") in hashes("houses", {})
    many = " ".join(f"houses{n}" for n in range(40))
    assert len(vocabulary.understand(many, {"en": 0.5, "es": 0.3, "de": 0.2}).units) == 40

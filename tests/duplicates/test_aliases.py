from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import ClassVar

import msgspec
import pytest

from larm import config
from larm.duplicates.aliases import Aliases
from larm.errors import StorageError
from larm.model.document import Document, Visit
from larm.model.told import Told
from larm.model.url import URLNormalizer

PARSE = URLNormalizer().parse


def prose(seed: int, words: int = 200) -> str:
    chance = random.Random(seed)
    return " ".join(
        "".join(chance.choice("abcdefghijklmnoprstuvwz") for _ in range(chance.randint(2, 9))) for _ in range(words)
    )


def page(name: str, text: str, title: str = "", **more: object) -> Visit:
    document = Document("text/html", title, text)
    return msgspec.structs.replace(Visit(page="", url=PARSE(f"http://a.test/{name}"), document=document), **more)


def gone(name: str) -> Visit:
    return Visit(page="", url=PARSE(f"http://a.test/{name}"), gone=True)


@pytest.fixture(autouse=True)
def closed() -> Iterator[None]:
    """What a test leaves open, as a crash would."""
    yield
    while Rig.made:
        Rig.made.pop().aliases.close()


class Rig:
    """Aliases, and an index that does what they say."""

    made: ClassVar[list[Rig]] = []

    def __init__(self, folder: Path, position: object = None, index: dict[str, str] | None = None) -> None:
        self.told: list[Told] = []
        self.counts: Counter[str] = Counter()
        self.index = index if index is not None else {}
        self.aliases = Aliases(
            folder / "aliases.db", config.Duplicates(), self.told.extend, lambda name, n: self.counts.update({name: n})
        )
        Rig.made.append(self)
        self.aliases.open(position)  # type: ignore[arg-type]

    def store(self, *visits: Visit, together: bool = True) -> dict[str, str]:
        for batch in [visits] if together else [[visit] for visit in visits]:
            for visit in self.aliases.settle(batch) + self.aliases.rest():
                assert visit.url is not None
                if visit.document is not None and visit.document.index:
                    self.index[visit.url.access[14:]] = visit.document.raw_text
                elif visit.document is not None or visit.gone:
                    self.index.pop(visit.url.access[14:], None)
        return self.index


@pytest.fixture(params=[True, False], ids=["one-batch", "one-by-one"])
def together(request: pytest.FixtureRequest) -> bool:
    return bool(request.param)


def test_the_first_of_equal_pages_is_indexed(tmp_path: Path, together: bool) -> None:
    rig = Rig(tmp_path)
    text = prose(1)
    near = text.replace(text[500:520], "something else")
    pages = [
        page("a", text),
        page("b", " ".join(text.split()[:])),
        page("c", near),
        page("d", prose(2)),
        page("e", "short"),
        page("f", "Short."),
    ]
    assert list(rig.store(*pages, together=together)) == ["a", "d", "e", "f"]  # letters count in their case
    assert rig.counts == {"duplicates/exact": 1, "duplicates/near": 1}
    assert [(each.url.access[14:], each.first[14:], each.stale) for each in rig.told] == [
        ("a", "", False), ("b", "a", True), ("c", "a", True), ("d", "", False), ("e", "", True), ("f", "", True),
    ]  # fmt: skip


def test_pages_of_other_titles_must_be_more_alike(tmp_path: Path) -> None:
    """The manual's pages about OptionalInt and OptionalDouble are no duplicates; a print version is one."""
    rig = Rig(tmp_path)
    words = prose(1, 400).split()
    like = " ".join(words[:370] + prose(2, 30).split())
    rig.store(page("int", " ".join(words), title="Int"), page("double", like, title="Double"), page("print", like, title="Int"))
    assert list(rig.index) == ["int", "double"]
    assert rig.told[2].first == "http://a.test/double"[: len(rig.told[2].first)]


def test_pages_without_text_are_all_indexed(tmp_path: Path, together: bool) -> None:
    rig = Rig(tmp_path)
    assert len(rig.store(*(page(name, "  \n") for name in "abc"), together=together)) == 3


def test_a_page_that_changes_leads_no_longer(tmp_path: Path) -> None:
    rig = Rig(tmp_path)
    rig.store(*(page(name, prose(1), title=name) for name in "abc"))
    assert list(rig.index) == ["a"]
    rig.store(page("a", prose(2), revisited=True))
    assert rig.index == {"a": prose(2), "b": prose(1)}
    rig.store(page("c", prose(2), revisited=True))  # from alias of one to alias of another
    assert rig.index == {"a": prose(2), "b": prose(1)}
    rig.store(page("b", prose(2), revisited=True))
    assert rig.index == {"a": prose(2)}


def test_an_alias_takes_over_when_the_page_that_led_is_gone(tmp_path: Path) -> None:
    rig = Rig(tmp_path)
    rig.store(*(page(name, prose(1)) for name in "abc"))
    rig.store(gone("a"))
    assert len(rig.index) == 1
    (heir,) = rig.index
    rig.store(gone(heir))
    (last,) = rig.index
    assert {heir, last} == {"b", "c"}
    rig.store(gone(last), gone("never-there"))
    assert rig.index == {}
    assert rig.counts["duplicates/promoted"] == 2
    assert rig.store(page("a", prose(1))) == {"a": prose(1)}


def test_a_page_that_asks_not_to_be_indexed_is_as_good_as_gone(tmp_path: Path) -> None:
    rig = Rig(tmp_path)
    rig.store(page("a", prose(1)), page("b", prose(1)))
    noindex = page("a", prose(1))
    assert noindex.document is not None
    hidden = msgspec.structs.replace(noindex, document=msgspec.structs.replace(noindex.document, index=False))
    assert list(rig.store(hidden)) == ["b"]


def test_pages_that_are_not_indexed_are_told_of(tmp_path: Path) -> None:
    """A wiki's forms are no pages for the index; whether they say anything new is of interest all the same."""
    rig = Rig(tmp_path)
    for name, text in (("a", prose(1)), ("b", prose(1)), ("c", prose(2))):
        visit = page(name, text)
        assert visit.document is not None
        rig.store(msgspec.structs.replace(visit, document=msgspec.structs.replace(visit.document, index=False)))
    assert [(each.stale, each.first) for each in rig.told] == [(False, ""), (True, ""), (False, "")]
    assert rig.index == {}


def test_a_list_has_its_text_in_its_links(tmp_path: Path) -> None:
    rig = Rig(tmp_path)
    for number, other in enumerate((prose(1), prose(2), prose(2), prose(1) + prose(3, 60))):
        document = Document("text/html", "News", "All the news.", other_text=other)
        rig.store(Visit(page="", url=PARSE(f"http://a.test/{number}"), document=document))
    assert [each.stale for each in rig.told] == [False, False, True, False]


def test_the_same_page_again_changes_nothing(tmp_path: Path) -> None:
    rig = Rig(tmp_path)
    for _ in range(3):
        rig.store(page("a", prose(1)), page("b", prose(1)))
        assert list(rig.index) == ["a"]


def test_a_crash_between_commits_leaves_no_trace(tmp_path: Path) -> None:
    rig = Rig(tmp_path)
    rig.store(page("a", prose(1)), page("b", prose(1)))
    position = rig.aliases.commit()
    index = dict(rig.index)
    rig.store(gone("a"), page("c", prose(1)))
    assert list(rig.index) == ["b"]
    rig.aliases.commit()  # and the checkpoint is not written any more
    rig.aliases.close()
    rig = Rig(tmp_path, position, index)
    rig.store(page("c", prose(1)), page("d", prose(3)))
    assert list(rig.index) == ["a", "d"]
    assert rig.told[0].first.endswith("/a")
    rig.aliases.close()


def test_surrogates_are_no_reason_to_fail(tmp_path: Path) -> None:
    rig = Rig(tmp_path)
    rig.store(page("a", prose(1)), page("b", prose(1), title="\ud800"), page("c", prose(2) + "\udfff"), page("d", prose(2)))
    rig.store(gone("a"), gone("c"))
    assert list(rig.index) == ["b", "d"]


def test_aliases_that_were_not_opened(tmp_path: Path) -> None:
    with pytest.raises(StorageError, match="not opened"):
        Aliases(tmp_path / "aliases.db", config.Duplicates()).commit()


def naming(name: str, canonical: str, text: str, **more: object) -> Visit:
    made = page(name, text, **more)
    assert made.document is not None
    named = PARSE(f"http://a.test/{canonical}")
    return msgspec.structs.replace(made, document=msgspec.structs.replace(made.document, canonical=named))


@pytest.mark.parametrize("canonical_first", [True, False])
def test_a_page_that_names_another_is_its_alias(tmp_path: Path, canonical_first: bool, together: bool) -> None:
    """Whatever it says, and whichever comes first."""
    rig = Rig(tmp_path)
    pages = [page("c", prose(1)), naming("print", "c", prose(2)), naming("mobile", "c", prose(3))]
    rig.store(*(pages if canonical_first else reversed(pages)), together=together)
    assert list(rig.index) == ["c"]
    assert rig.counts == {"duplicates/canonical": 2}
    rig.store(gone("c"))
    assert sorted(rig.index) == ["mobile", "print"]
    rig.store(page("c", prose(1)))
    assert list(rig.index) == ["c"]


def test_a_canonical_page_that_never_comes(tmp_path: Path, together: bool) -> None:
    rig = Rig(tmp_path)
    pages = [naming("a", "nowhere", prose(1)), naming("b", "nowhere", prose(2)), naming("c", "nowhere", prose(1))]
    assert list(rig.store(*pages, together=together)) == ["a", "b"]


def test_pages_that_name_each_other(tmp_path: Path, together: bool) -> None:
    rig = Rig(tmp_path)
    pages = [naming("a", "b", prose(1)), naming("b", "a", prose(2)), naming("x", "x", prose(3)), naming("y", "b", prose(4))]
    rig.store(*pages, together=together)
    assert list(rig.index) == ["a", "x"]


def test_followers_of_a_page_that_becomes_an_alias_follow_it(tmp_path: Path) -> None:
    rig = Rig(tmp_path)
    rig.store(naming("a", "c", prose(1)), page("b", prose(1)))
    assert list(rig.index) == ["a"]
    rig.store(page("c", prose(5)))
    assert list(rig.index) == ["c"]
    rig.store(gone("c"))
    assert len(rig.index) == 1, "a and b say the same"


def test_any_number_of_pages_that_name_one(tmp_path: Path) -> None:
    """As a shop's variants do, which may all come before the product."""
    rig = Rig(tmp_path)
    rig.store(*(naming(f"v{number}", "c", prose(number)) for number in range(30)))
    assert len(rig.index) == 30
    rig.store(page("c", prose(100)))
    assert list(rig.index) == ["c"]
    rig.store(gone("c"))
    assert len(rig.index) == 30


@pytest.mark.parametrize("first", ["named", "naming"])
def test_a_page_that_names_an_alias(tmp_path: Path, first: str) -> None:
    """It follows whom that one follows, whichever comes first."""
    rig = Rig(tmp_path)
    pages = [page("c", prose(1)), naming("print", "c", prose(2))]
    rig.store(page("lead", prose(1)), *(pages if first == "named" else reversed(pages)))
    assert list(rig.index) == ["lead"]
    rig.store(gone("lead"))
    assert list(rig.index) == ["c"]
    rig.store(gone("c"))
    assert list(rig.index) == ["print"]


def test_aliases_that_name_each_other_follow_no_alias(tmp_path: Path) -> None:
    """When the page changes that they all followed, each is looked at anew; none may lean on what another one was."""
    rig = Rig(tmp_path)
    others = [naming(f"p{number}", f"p{(number + 1) % 6}", prose(1)) for number in range(6)]
    rig.store(page("lead", prose(1)), page("other", prose(2)), *others)
    assert list(rig.index) == ["lead", "other"]
    rig.store(page("lead", prose(2), revisited=True))  # from now on it follows
    assert set(rig.index) - {"other"} <= {f"p{number}" for number in range(6)}
    (heir,) = set(rig.index) - {"other"}
    rig.store(gone("other"))
    assert set(rig.index) == {"lead", heir}
    rig.store(gone("lead"))
    assert set(rig.index) == {heir}


def test_a_site_that_names_its_home_page_everywhere(tmp_path: Path) -> None:
    rig = Rig(tmp_path)
    rig.store(page("", prose(1)), naming("a", "", prose(2)), naming("?utm=1", "", prose(1)))
    assert list(rig.index) == ["", "a"]


@pytest.mark.parametrize("seed", range(12))
def test_any_order_of_events_leaves_one_page_for_each_text(tmp_path: Path, seed: int) -> None:
    """Pages come, change, go, at random, with crashes: in the end the index has each text once, and all that are there."""
    chance = random.Random(seed)
    rig = Rig(tmp_path)
    there: dict[str, int] = {}
    position, saved_index, saved_there = rig.aliases.commit(), dict(rig.index), dict(there)
    for _ in range(60):
        name, text = chance.choice("abcdefgh"), chance.randrange(4)
        what = chance.random()
        if what < 0.7:
            rig.store(page(name, prose(text), revisited=True))
            there[name] = text
        elif what < 0.85:
            rig.store(gone(name))
            there.pop(name, None)
        elif what < 0.95:
            position, saved_index, saved_there = rig.aliases.commit(), dict(rig.index), dict(there)
        else:
            if chance.random() < 0.5:
                rig.aliases.commit()
            rig.aliases.close()
            rig = Rig(tmp_path, position, dict(saved_index))
            there = dict(saved_there)
        assert sorted(rig.index.values()) == sorted(prose(text) for text in set(there.values()))
        assert all(rig.index[name] == prose(there[name]) for name in rig.index)

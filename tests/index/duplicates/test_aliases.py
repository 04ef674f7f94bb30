from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import ClassVar

import msgspec
import pytest

from larm.errors import StorageError
from larm.index.duplicates.aliases import Aliases
from larm.model.document import Document, Visit
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

    def __init__(
        self, folder: Path, position: object = None, index: dict[str, str] | None = None, *, merge: bool = True
    ) -> None:
        self.counts: Counter[str] = Counter()
        self.index = index if index is not None else {}
        self.groups: dict[str, int] = {}
        self.aliases = Aliases(folder / "aliases.db", lambda name, n: self.counts.update({name: n}), merge=merge)
        Rig.made.append(self)
        self.aliases.open(position)  # type: ignore[arg-type]

    def store(self, *visits: Visit, together: bool = True) -> dict[str, str]:
        for batch in [visits] if together else [[visit] for visit in visits]:
            for visit in self.aliases.settle(batch) + self.aliases.rest():
                assert visit.url is not None
                if visit.document is not None and visit.document.index:
                    self.index[visit.url.access[14:]] = visit.document.raw_text
                    self.groups[visit.url.access[14:]] = visit.group or visit.document.seen
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
    assert list(rig.store(*pages, together=together)) == ["a", "c", "d", "e", "f"]  # letters count in their case
    assert rig.groups["a"] == rig.groups["c"]
    assert len(set(rig.groups.values())) == 4
    assert rig.counts == {"duplicates/exact": 1, "duplicates/near": 1}


def test_pages_that_have_less_in_common_are_not_nearly_the_same(tmp_path: Path) -> None:
    """The manual's pages about OptionalInt and OptionalDouble are two results; a page and its print version are one."""
    rig = Rig(tmp_path)
    words = prose(1, 400).split()
    like = " ".join(words[:370] + prose(2, 30).split())
    rig.store(page("int", " ".join(words), title="Int"), page("double", like, title="Double"), page("print", like, title="Int"))
    assert list(rig.index) == ["int", "double", "print"]
    assert rig.groups["int"] != rig.groups["double"] == rig.groups["print"]


def test_short_pages_that_differ_in_a_number_are_different_pages(tmp_path: Path) -> None:
    rig = Rig(tmp_path)
    text = f"{prose(1, 60)} Algorithm {{}} of the collection. {prose(2, 60)}"
    rig.store(*(page(str(number), text.format(number), title="An algorithm") for number in range(134, 140)))
    assert len(rig.index) == len(set(rig.groups.values())) == 6


def test_all_of_a_long_text_counts(tmp_path: Path) -> None:
    """An index of all letters begins as the one of its first letters does."""
    rig = Rig(tmp_path)
    begin = prose(1, 4000)
    rig.store(page("symbols", begin, title="Index"), page("all", begin + prose(2, 25_000), title="Index"))
    assert len(set(rig.groups.values())) == 2
    rig.store(page("more", begin + prose(3, 600), title="Index"))  # a ninth is new, and the lengths say so as well
    assert len(set(rig.groups.values())) == 3


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("bool operator==(T a, T b);", "bool operator!=(T a, T b);"),
        ("1 23", "12 3"),
        (prose(1, 400) + " == 1", prose(1, 400) + " != 1"),
        ("3.5", "35"),
    ],
)
def test_the_same_is_only_what_is_the_same_to_the_letter(tmp_path: Path, one: str, other: str) -> None:
    rig = Rig(tmp_path)
    rig.store(page("a", one), page("b", other), page("c", one))
    assert list(rig.index) == ["a", "b"]


def test_a_title_makes_another_page(tmp_path: Path, together: bool) -> None:
    rig = Rig(tmp_path)
    rig.store(page("a", prose(1), title="Print: one"), page("b", prose(1), title="one"), together=together)
    assert list(rig.index) == ["a", "b"]
    assert len(set(rig.groups.values())) == 1


@pytest.mark.parametrize("script", ["漢字仮名交文章東京都会議室", "абвгдежзиклмнопрстуф", "αβγδεζηθικλμνξοπρστ"])
def test_nearly_the_same_in_any_script(tmp_path: Path, script: str) -> None:
    chance = random.Random(1)
    gap = "" if ord(script[0]) > 0x3000 else " "
    words = [gap.join("".join(chance.choices(script, k=6)) for _ in range(300)) for _ in range(3)]
    rig = Rig(tmp_path)
    rig.store(page("a", gap.join(words)), page("b", gap.join([words[0], *words])), page("c", gap.join(words) + gap + script))
    assert list(rig.index) == ["a", "b", "c"]
    assert rig.groups["a"] == rig.groups["c"] != rig.groups["b"]


def test_a_page_that_is_nearly_the_same_stays_when_the_other_goes(tmp_path: Path, together: bool) -> None:
    rig = Rig(tmp_path)
    near = prose(1) + " and more"
    rig.store(page("a", prose(1)), page("b", near), page("c", near), together=together)
    assert list(rig.index) == ["a", "b"]
    rig.store(page("b", near, revisited=True))
    assert rig.groups["a"] == rig.groups["b"]
    rig.store(gone("a"))
    assert list(rig.index) == ["b"]
    rig.store(gone("b"))
    assert list(rig.index) == ["c"]
    rig.store(page("a", prose(1)))
    assert list(rig.index) == ["c", "a"]
    assert rig.groups["a"] == rig.groups["c"]


def test_nothing_is_merged_any_more(tmp_path: Path) -> None:
    """The index gets the aliases when the setting has changed, also if the process dies before the checkpoint."""
    rig = Rig(tmp_path)
    rig.store(page("a", prose(1)), page("b", prose(1)), naming("c", "a", prose(2)), page("d", prose(3)))
    position = rig.aliases.commit()
    index = dict(rig.index)
    assert list(index) == ["a", "d"]
    for _ in range(2):
        rig.aliases.close()
        rig = Rig(tmp_path, position, dict(index), merge=False)
        assert sorted(rig.store()) == ["a", "b", "c", "d"]
        assert rig.aliases.commit() == {}
    rig.aliases.close()
    rig = Rig(tmp_path, {}, rig.index, merge=False)
    rig.store(page("a", prose(5), revisited=True), page("e", prose(3)))
    assert sorted(rig.index) == ["a", "b", "c", "d", "e"]
    rig.aliases.close()
    rig = Rig(tmp_path, {}, rig.index)
    rig.store(page("f", prose(1)), page("g", prose(1)))
    assert sorted(rig.index) == ["a", "b", "c", "d", "e", "f"], "nobody knows any more what a said"


def test_there_is_no_table_where_nothing_is_merged(tmp_path: Path) -> None:
    rig = Rig(tmp_path, merge=False)
    rig.store(page("a", prose(1)), page("b", prose(1)))
    assert list(rig.index) == ["a", "b"]
    assert rig.aliases.commit() == {}
    assert not list(tmp_path.iterdir())


def test_pages_without_text_are_all_indexed(tmp_path: Path, together: bool) -> None:
    rig = Rig(tmp_path)
    assert len(rig.store(*(page(name, "  \n") for name in "abc"), together=together)) == 3


def test_a_page_that_changes_leads_no_longer(tmp_path: Path) -> None:
    rig = Rig(tmp_path)
    rig.store(*(page(name, prose(1)) for name in "abc"))
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
    rig.aliases.close()


def test_surrogates_are_no_reason_to_fail(tmp_path: Path) -> None:
    rig = Rig(tmp_path)
    rig.store(page("a", prose(1)), page("b", prose(1), title="\ud800"), page("c", prose(2) + "\udfff"), page("d", prose(2)))
    rig.store(gone("a"), gone("c"))
    assert list(rig.index) == ["b", "d"]


def test_aliases_that_were_not_opened(tmp_path: Path) -> None:
    with pytest.raises(StorageError, match="not opened"):
        Aliases(tmp_path / "aliases.db").commit()


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
        what = chance.random()
        if what < 0.85:
            visits = []
            for _ in range(chance.randrange(1, 6)):
                name, text = chance.choice("abcdefgh"), chance.randrange(4)
                if chance.random() < 0.8:
                    visits.append(page(name, prose(text), revisited=chance.random() < 0.8))
                    there[name] = text
                else:
                    visits.append(gone(name))
                    there.pop(name, None)
            rig.store(*visits)
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

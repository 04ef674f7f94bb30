"""Whether a page says anything that others had not said before."""

from __future__ import annotations

import random
import threading

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from larm.index.duplicates.fingerprints import text_fingerprint
from larm.index.duplicates.novelty import NoveltyJudge, own_text, page_text
from larm.kit.threads.workers import Workers
from larm.model.document import Document, Visit
from larm.model.links import Link, Links
from larm.model.novelty import PageText
from larm.testing.fakes import url


def prose(seed: int, words: int = 200) -> str:
    chance = random.Random(seed)
    return " ".join(
        "".join(chance.choice("abcdefghijklmnoprstuvwz") for _ in range(chance.randint(2, 9))) for _ in range(words)
    )


def page(
    name: str, text: str, title: str = "", *, other: str = "", mime: str = "text/html", headings: tuple[str, ...] = ()
) -> Visit:
    document = Document(mime, title, text, other_text=other, headings=headings)
    return Visit(page="", url=url(f"http://a.test/{name}"), referrer="http://a.test/", document=document)


def stale(*visits: Visit) -> list[bool]:
    """One after the other."""
    judge = NoveltyJudge()
    return [novelty.stale for visit in visits for _, novelty in judge.judge([visit])]


def test_what_was_said_before_is_nothing_new() -> None:
    near = prose(1).replace(prose(1)[500:520], "something else")
    visits = [page("a", prose(1)), page("b", prose(1)), page("c", near), page("d", prose(2)), page("e", ""), page("f", " ")]
    expected = [False, True, True, False, True, True]
    assert stale(*visits) == expected
    judged = NoveltyJudge().judge(visits)
    assert [novelty.stale for _, novelty in judged] == expected, "in a batch, too"
    assert [novelty.url for _, novelty in judged] == [visit.url for visit in visits]
    assert {novelty.referrer for _, novelty in judged} == {"http://a.test/"}


def test_less_than_a_tenth_is_nothing_new() -> None:
    words = prose(1, 1000).split()
    some, more = " ".join(words[:950] + prose(2, 50).split()), " ".join(words[:800] + prose(3, 200).split())
    assert stale(page("a", " ".join(words)), page("b", some), page("c", more)) == [False, True, False]


def test_a_text_of_one_piece_is_new_once() -> None:
    texts = ["Terrible floods", "Terrible storms", "Terrible floods"]
    visits = [page(f"{number}", text) for number, text in enumerate(texts)]
    assert [made.features for made, _ in NoveltyJudge().judge(visits)] == [1, 1, 1]
    assert stale(*visits) == [False, False, True]


def test_two_known_words_beside_each_other_are_nothing_new() -> None:
    """One of few pieces of such a page is; else tags that can be combined would have something to say for very long."""
    said = "Tagged {}\n\nItem 1. Item 2. Item 3. Item 4."
    tags = ["apples and oranges", "lemons and cherries", "apples and cherries"]
    assert stale(*(page(f"{n}", said.format(tag)) for n, tag in enumerate(tags))) == [False, False, True]


def test_numbers_and_identifiers_say_nothing() -> None:
    text = "Events of the day {}: none are known to the club, session {}. Next day: {}"
    days = [page(f"{n}", text.format(n, f"a{n}f", n + 1)) for n in range(100, 120)]
    assert stale(*days) == [False] + [True] * 19


def test_a_page_that_repeats_its_address_says_nothing() -> None:
    """Nothing found for ..., which was asked for."""
    names = ["some/strange/place", "another/odd/corner", "deep/in/woods"]
    assert stale(*(page(name, f"There is nothing at /{name} on this server, sorry.") for name in names)) == [False, True, True]
    titles = [page(name, "Nothing here at all, really nothing.", title=f"Not found: {name}") for name in names]
    assert stale(*titles) == [False, True, True]


def test_addresses_with_parameters_say_nothing() -> None:
    """Nor do they make a page another one, as the versions of a file, whose pages lead to other versions."""
    shown = "History of a file in all its versions.\n{}"
    links = ["\n".join(f"/git?a=history;f=3;hb={at + n:08x}" for n in range(3)) for at in (0x1F3A8C01, 0x8B7E6D52)]
    visits = [page(f"git?f=3;hb={n}", shown.format(each)) for n, each in enumerate(links)]
    assert own_text(visits[0].url, shown.format(links[0])).split() == shown.format("").split()
    assert len({novelty.simhash for _, novelty in NoveltyJudge().judge(visits)}) == 1
    asked = "Who asks? Nobody=nothing."
    assert own_text(visits[0].url, asked) == asked


def test_a_word_of_the_title_is_something() -> None:
    """Parts of a catalogue that have little text, and a name of their own."""
    text = "Price: 12.50. In stock. Add to the basket."
    parts = [
        page(f"part/{n}", text, title=f"{name} | Shop") for n, name in enumerate(["Grommet", "Washer", "Spindle", "Washer"])
    ]
    assert stale(*parts) == [False, False, False, True]
    numbered = [page(f"part/{n}", text, title=f"Part {n} | Shop") for n in range(3)]
    assert stale(*numbered) == [False, True, True]


def test_a_list_has_its_text_in_its_links() -> None:
    others = (prose(1), prose(2), prose(2), prose(1) + prose(3, 60))
    visits = [page(f"{n}", "All the news.", "News", other=other) for n, other in enumerate(others)]
    assert stale(*visits) == [False, False, True, False]


def test_known_titles_in_another_order_are_nothing_new() -> None:
    """Related pages, drawn anew for each request, would else have something to say for ever."""
    chance, titles = random.Random(4), [prose(number, 4) for number in range(12)]
    drawn = ["\n".join(chance.sample(titles, 5)) for _ in range(40)]
    days = stale(*(page(f"{number}", "No events.", "Day", other=other) for number, other in enumerate(drawn)))
    assert days[20:] == [True] * 20


def test_pages_that_are_not_for_the_index_count() -> None:
    """A wiki's forms: whether they say anything new is of interest all the same."""
    visits = [page(name, text) for name, text in (("a", prose(1)), ("b", prose(1)), ("c", prose(2)))]
    documents = [msgspec.structs.replace(visit.document, index=False) for visit in visits if visit.document]
    hidden = [msgspec.structs.replace(visit, document=each) for visit, each in zip(visits, documents, strict=True)]
    assert stale(*hidden) == [False, True, False]


def test_what_has_no_text_because_of_what_it_is_says_nothing_either_way() -> None:
    """Of pictures nobody knows what they say."""
    assert stale(*(page(name, "", mime="image/png") for name in "abc")) == [False] * 3


def test_fingerprints_are_those_that_the_aliases_would_make() -> None:
    visits = [page("a/b/c", f"Nothing found for /a/b/c. {prose(n, 100 * n)}") for n in range(1, 5)]
    texts = [own_text(visit.url, visit.document.raw_text) for visit in visits if visit.document]
    made = [fingerprint for fingerprint, _ in NoveltyJudge().judge(visits)]
    assert made == [text_fingerprint(each) for each in texts]


@settings(max_examples=30)
@given(st.lists(st.tuples(st.sampled_from(["", "Great news. ", prose(1)]), st.text(max_size=80)), max_size=6))
def test_pages_are_judged_alike_by_what_was_measured_elsewhere(found: list[tuple[str, str]]) -> None:
    visits = [page(f"?q={n}", text + more, more, other=text) for n, (text, more) in enumerate(found)]
    assert NoveltyJudge().judge([measured_elsewhere(visit) for visit in visits]) == NoveltyJudge().judge(visits)


def measured_elsewhere(visit: Visit) -> Visit:
    """The page without its text, as another process sends it."""
    assert visit.document is not None
    assert visit.url is not None
    made = msgspec.msgpack.decode(msgspec.msgpack.encode(page_text(visit.url, visit.document)), type=PageText)
    return replace(visit, document=replace(visit.document, raw_text="", other_text="", measured=made))


@settings(max_examples=30)
@given(st.lists(st.tuples(st.text(max_size=80), st.text(max_size=20)), max_size=6))
def test_any_text_can_be_judged_and_is_stale_the_second_time(found: list[tuple[str, str]]) -> None:
    judge = NoveltyJudge()
    visits = [page(str(n), text, title) for n, (text, title) in enumerate(found)]
    judge.judge(visits)
    assert all(novelty.stale for _, novelty in judge.judge(visits))


def test_surrogates_are_no_reason_to_fail() -> None:
    assert stale(page("a", "\ud800" * 3, title="\udfffabc\ud800"), page("b", "", title="abc")) == [False, True]


def test_any_thread_may_ask() -> None:
    """Of many equal pages one is new, whoever comes first."""
    judge = NoveltyJudge()
    said: list[bool] = []
    begin = threading.Barrier(4)

    def ask() -> None:
        begin.wait()
        said.extend(novelty.stale for _, novelty in judge.judge([page("a", prose(1))]))

    died: list[BaseException] = []
    workers = Workers(lambda _, error: died.append(error))
    for number in range(4):
        workers.start(f"asks-{number}", ask)
    workers.join(10)
    assert sorted(said) == [False, True, True, True]
    assert died == []


def test_a_short_value_that_stands_in_the_text_is_no_parameter_that_means_nothing() -> None:
    """The texts of two years are the same without the year; a session stands in links only."""
    events = page("events?year=2031&sid=8f3a9c01d2&all=1", "Events of 2031: none. Next: events?sid=8f3a9c01d2", "All events")
    [(_, novelty)] = NoveltyJudge().judge([events])
    assert novelty.spoken == {"year"}


def test_a_title_is_of_its_own_with_its_numbers_but_without_the_address() -> None:
    titles = [
        ("a", "Ann Lee 1723"),
        ("b", "Ann Lee 1724"),
        ("c", "ANN LEE 1723"),
        ("d", ""),
        ("2030-5", "May 2030"),
        ("2031-5", "May 2031"),
    ]
    visits = [page(name, "Text.", title) for name, title in titles]
    named = [novelty.named for _, novelty in NoveltyJudge().judge(visits)]
    assert named == [True, True, False, False, True, False]


def test_what_is_called_in_its_first_heading_has_a_title_of_its_own() -> None:
    """All pages of some sites have that of the site."""
    heads = [("Ann Lee", "Sources"), ("Ben Lee", "Sources"), ("Ann Lee", "Children"), ()]
    visits = [page(str(n), "Text.", "Our family", headings=each) for n, each in enumerate(heads)]
    assert [novelty.named for _, novelty in NoveltyJudge().judge(visits)] == [True, True, False, True]


def test_a_cloud_of_links_in_another_order_is_nothing_new() -> None:
    tags = prose(1, 60).split()
    links = Links.of(Link(url(f"http://a.test/tags/{tag}"), 0, tag) for tag in tags[4:])
    clouds = [" ".join(random.Random(seed).sample(tags, len(tags))) for seed in range(4)]
    plain = [page(f"{number}", f"Tagged\n{text}") for number, text in enumerate(clouds)]
    linked = [replace(each, document=replace(each.document, links=links)) for each in plain]
    assert stale(*plain) == [False] * 4
    assert stale(*linked) == [False, True, True, True]


def test_a_copy_has_the_title_and_the_text_of_a_page_of_its_host() -> None:
    visits = [
        page("a", prose(1), "One"),
        page("a?p=7", prose(1), "One"),
        page("b", prose(1), "Two"),
        page("c", prose(2), "One"),
    ]
    visits += [page("e", "", "One"), page("f", "", "One")]
    copies = [novelty.copy for _, novelty in NoveltyJudge().judge(visits)]
    assert copies == [False, True, False, False, False, False]

"""RTF, as a reading process reads it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from larm.model.cuts import DOCUMENTS, TEXT
from larm.parse.apart import rich_text
from larm.parse.apart.child import found_in
from larm.parse.apart.protocol import RTF, Found, Request
from larm.parse.mime import mime_of

HEAD = rb"{\rtf1\ansi\ansicpg1252{\fonttbl{\f0\fcharset0 Times;}{\f1\fcharset204 Arial;}{\f2\fcharset128 Mincho;}}"


def read(body: bytes, head: bytes = HEAD, *, seconds: float = 30.0, text: int = 1_000_000) -> Found:
    return found_in(Request(RTF, head + body, seconds, text, 400_000_000))


@pytest.mark.parametrize(
    ("body", "text"),
    [
        (rb"One \b wo\b0 rd.\par Two\line three\tab four}", "One word.\nTwo\nthree\tfour"),
        (b"A line of\r\n the file}", "A line of the file"),
        (rb"\{a\}\\ b\~c\-d \ldblquote e\rdblquote}", "{a}\\ b\xa0c\xadd “e”"),
        (rb"\'e4 \u8364? \u-10179\'3f\u-8704\'3f \uc0\u228 \uc2\u228 ae.}", "ä € 😀 ää."),
        (rb"{\f1 \'ef\'f0}\'e4 {\f2 \'82\'a0\'83A}}", "прä あア"),
        (rb"{\plain\f1 \'ef\plain \'e4}}", "пä"),
        (rb"\trowd a\cell b\cell\row c}", "a\tb\t\nc"),
        (rb"{\pict 00ff}{\*\unknown x{\b y}}{\stylesheet{\s1 heading 1;}}{\listtext 1.}a}", "a"),
        (b"{\\pict\\bin5 }}}{\\}after}", "after"),
        (rb"a} nothing behind it", "a"),
        (rb"a {\b breaks off", "a breaks off"),
        (rb"a{\footnote {\super 1} Note.} b{\*\annotation Said.} c\par}", "a b c\n\n1 Note.\nSaid.\n"),
        (rb"{\header Head}a{\*\shpinst{\sp{\sn x}{\sv y}}{\shptxt Box\par}}b}", "ab\nHead\nBox\n\n"),
        (rb"\u99999999? \bin-3 \uc-9 \u65 \f \ansicpg77777 \'e4}", "\ue0ff Aä"),
    ],
)
def test_text(body: bytes, text: str) -> None:
    found = read(body)
    assert (found.text, found.warnings, found.cuts) == (text, (), ())


def test_what_it_says_of_itself() -> None:
    times = rb"{\creatim\yr2019}{\revtim\yr2020\mo5\dy3\hr10\min5}"
    found = read(rb"{\info{\title Of \'e4pples}{\author A}{\subject Fruit}{\*\company B}" + times + b"}a}")
    assert (found.title, found.description, found.modified, found.text) == ("Of äpples", "A Fruit", 1_588_500_300, "a")
    assert read(rb"{\info{\revtim\yr2020\mo99\dy3}}a}").modified == 0


def test_headings_of_which_the_first_is_the_title_where_there_is_no_other() -> None:
    body = rb"\pard\outlinelevel0 Chap\b ter\b0  one\par\pard words\par\pard\outlinelevel1 Two\par}"
    found = read(body)
    assert (found.headings, found.title) == (("Chapter one", "Two"), "Chapter one")
    assert read(rb"{\info{\title Named}}" + body).title == "Named"


def test_links() -> None:
    field = rb'{\field{\*\fldinst{ HYPERLINK "http://a/%d" }}{\fldrslt{\ul the \b link}}}'
    odd = rb'{\field{\*\fldinst HYPERLINK x}}{\field{\*\fldinst HYPERLINK "http://a/2"}}'
    found = read(b"see " + field % 1 + rb"\par" + odd + field % 3 + b"}")
    assert found.text == "see the link\nthe link"
    assert found.links == (("http://a/1", "the link"), ("http://a/2", ""), ("http://a/3", "the link"))


def test_it_is_bounded() -> None:
    late = read(rb"\par words\par" * 10_000, seconds=-1.0)
    assert late.cuts == (DOCUMENTS,)
    assert read(rb"words\par " * 1_000, text=50).cuts == (TEXT,)
    deep = read(b"words" + b"{" * 20_000)
    why = "ValueError: more than 10000 groups stand in each other"
    assert (deep.text, deep.failed, deep.warnings) == ("words", False, (why,))


@pytest.mark.parametrize("end", [b"", b"}" * 2_000])
def test_results_of_fields_in_each_other_are_not_read_again_for_each(monkeypatch: pytest.MonkeyPatch, end: bytes) -> None:
    """9,000 of them took a minute and a half, most of it behind the last look at the clock."""
    handed, link = [0], rich_text._Reader._link

    def count(reader: rich_text._Reader, anchor: str) -> None:
        handed[0] += len(anchor)
        link(reader, anchor)

    monkeypatch.setattr(rich_text._Reader, "_link", count)
    field = rb'{\field{\*\fldinst HYPERLINK "http://a.test/"}'
    found = read(rb"{\fldrslt a" * 1_000 + field + rb"{\fldrslt a" * 999 + rb"x\~" * 100 + end)
    assert handed[0] <= len(found.text)
    assert [address for address, _ in found.links] == ["http://a.test/"]


PIECES = rb"{ } \* \fldinst \fldrslt \u1 \bin9 \footnote \par \'e4 \info \title a".split()


@given(st.one_of(st.binary(max_size=200), st.lists(st.sampled_from([HEAD, *PIECES])).map(b" ".join)))
def test_any_bytes_are_read(body: bytes) -> None:
    assert read(body).warnings == ()


def test_what_is_no_rtf_is_said_to_be_none() -> None:
    found = read(b"\0 damaged", b"")
    assert (found.failed, found.warnings) == (True, ("it is no RTF, or damaged",))


SENT_AS = ("application/rtf", "text/rtf", "text/plain", "application/msword", "application/octet-stream", "")


@pytest.mark.parametrize("sent_as", SENT_AS)
def test_it_is_known_by_its_beginning(sent_as: str) -> None:
    assert mime_of(sent_as, HEAD) == "application/rtf"

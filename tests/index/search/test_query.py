from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from larm.index.search.operators import OPERATORS, period
from larm.index.search.query import LONGEST, MOST_WORDS, parse_question
from larm.index.tree import All, Any, Dates, In, Info, Linking, Meta, Node, Not, Phrase, Question, Word, split, wanted

A, B, C, D = (Word(letter) for letter in "abcd")
BB, CC = Word("bb"), Word("cc")
SOME_DAY = 1_714_521_600  # 1 May 2024


@pytest.mark.parametrize(
    ("text", "tree"),
    [
        ("", None),
        (" \t\n", None),
        ("a b", All((A, B))),
        ("a a", All((A, A))),  # who repeats a word means it
        ('"a b" "a b"', Phrase("a b")),
        ('"a b" c', All((Phrase("a b"), C))),
        ("„a b“ «c d»", All((Phrase("a b"), Phrase("c d")))),
        ("「a」", Phrase("a")),
        ("-bb", Not(BB)),
        ("a NOT bb", All((A, Not(BB)))),
        ("NOT (a b)", Not(All((A, B)))),
        ("NOT", Word("NOT")),
        ('a -"b c"', All((A, Not(Phrase("b c"))))),
        ("a -bb OR c", All((A, Any((Not(BB), C))))),
        ("a OR b", Any((A, B))),
        ("a|b|c", Any((A, B, C))),
        ("a b OR c d", All((A, Any((B, C)), D))),
        ("(a b) OR c", Any((All((A, B)), C))),
        ("(a OR b) (c OR d)", All((Any((A, B)), Any((C, D))))),
        ("a （b｜c）", All((A, Any((B, C))))),
        ("-(a b)", Not(All((A, B)))),
        ("a AND b", All((A, B))),
        ("a or b and c", All((A, Word("or"), B, Word("and"), C))),
        ("a - b --fresh e-mail", All((A, B, Word("--fresh"), Word("e-mail")))),
        ("std::vector 10:30 http: //a", All((Word("std::vector"), Word("10:30"), Word("http:"), Word("//a")))),
        ("http://a.org/x?y", Any((Info("http://a.org/x?y"), Word("a.org/x?y")))),
        ("a https://[", All((A, Word("https://[")))),
        ("f(x) g(x, y)", All((Word("f(x)"), Word("g(x,"), Word("y")))),
        ('no:"b c"', All((Word("no"), Phrase("b c")))),
    ],
)
def test_words(text: str, tree: Node | None) -> None:
    assert parse_question(text) == Question(tree)


@pytest.mark.parametrize(
    ("text", "tree"),
    [
        ("intitle:a", In("title", A)),
        ("INTITLE:a", In("title", A)),
        ('inurl:"a b"', In("url", Phrase("a b"))),
        ("intitle:(a OR b -cc)", All((Any((In("title", A), In("title", B))), Not(In("title", CC))))),
        ("title:a", In("title", A)),
        ('url:"a b"', In("url", Phrase("a b"))),
        ("title:(a b)", All((In("title", A), In("title", B)))),
        ("site:a.org", Meta("site", "a.org")),
        ("site:*.A.org", Meta("site", "a.org")),
        ("site:.org", Meta("site", "org")),
        ("site:https://a.org:8080", Meta("site", "a.org:8080")),
        ("site:a.org/Docs/x.html", All((Meta("site", "a.org"), Meta("path", "/docs/x.html")))),
        ('site:"a.org/"', Meta("site", "a.org")),
        ("site:bücher.de", Meta("site", "xn--bcher-kva.de")),
        ("-site:a.org", Not(Meta("site", "a.org"))),
        ("host:a.org", Meta("host", "a.org")),
        ("host:all", Meta("host", "all")),
        ("path:docs/guide/", Meta("path", "/docs/guide")),
        ("cld:a.org", Meta("cld", "a.org")),
        ("filetype:.PDF", Meta("filetype", "pdf")),
        ("lang:de-AT", Meta("lang", "de")),
        ("media:Image", Meta("media", "image")),
        ("mime:text/html", Meta("mime", "text/html")),
        ("type:PDF", Meta("mime", "application/pdf")),
        ("type:html", Any((Meta("mime", "text/html"), Meta("mime", "application/xhtml+xml")))),
        ("-type:html", Not(Any((Meta("mime", "text/html"), Meta("mime", "application/xhtml+xml"))))),
        ("type:image/png", Meta("mime", "image/png")),
        ("type:all", Meta("mime", "all")),
        ("size:12KB", Meta("size", "10000")),
        ("code:200", Meta("code", "200")),
        ("modified:2024-5", Meta("modified", "2024-05")),
        ("modified:2024-5-7", Meta("modified", "2024-05-07")),
        ("date:all", Meta("date", "all")),
        ("before:2024-05", Dates(high=SOME_DAY)),
        ("after:2024-05-01", Dates(low=SOME_DAY)),
        ("link:http://a.org/?x=(1)", Linking("http://a.org/?x=(1)")),
        ("info:a.org", Info("a.org")),
    ],
)
def test_operators(text: str, tree: Node) -> None:
    assert parse_question(text) == Question(tree)


@pytest.mark.parametrize(
    ("text", "tree", "note"),
    [
        ("site: a", All((Word("site:"), A)), "site: was taken for a word: not followed by a host"),
        ("a intitle:", All((A, Word("intitle:"))), "intitle: was taken for a word: not followed by a word"),
        ("a site:%%", All((A, Word("site:%%"))), "site:%% was taken for words: not followed by a host"),
        (
            "a before:soon",
            All((A, Word("before:soon"))),
            "before:soon was taken for words: not followed by a date (2024, 2024-05 or 2024-05-17)",
        ),
        (
            "a after:2024-13",
            All((A, Word("after:2024-13"))),
            "after:2024-13 was taken for words: not followed by a date (2024, 2024-05 or 2024-05-17)",
        ),
        (
            "a modified:99",
            All((A, Word("modified:99"))),
            "modified:99 was taken for words: not followed by a date (2024, 2024-05 or 2024-05-17)",
        ),
        ("a lang:?", All((A, Word("lang:?"))), "lang:? was taken for words: not followed by a language"),
        ("a code:28P01", All((A, Word("code:28P01"))), "code:28P01 was taken for words: not followed by a number"),
        (
            "a size:" + "9" * 400,
            All((A, Word("size:" + "9" * 400))),
            f"size:{'9' * 50} was taken for words: not followed by a size",
        ),
        ("intitel:a", Word("intitel:a"), "intitel: is no operator; there is intitle:"),
        ("line:a filetipe:pdf", All((Word("line:a"), Word("filetipe:pdf"))), "filetipe: is no operator; there is filetype:"),
        ("OR a", A, "an OR needs a word on both sides; it was ignored"),
        ("a OR", A, "an OR needs a word on both sides; it was ignored"),
        ("a OR | b", Any((A, B)), "an OR needs a word on both sides; it was ignored"),
        ("(a b", All((A, B)), "a ( without its ) was closed at the end"),
        ("a) b", All((A, B)), "a ) without its ( was ignored"),
        ('a "b', All((A, B)), "a quote without its partner was ignored"),
        ("- a", A, "a - alone excludes nothing; it stands right before the word: -word"),
        ("a -", A, "a - alone excludes nothing; it stands right before the word: -word"),
        ("-", None, "a - alone excludes nothing; it stands right before the word: -word"),
        ("(a -) b", All((A, B)), "a - alone excludes nothing; it stands right before the word: -word"),
        ("()", None, "parentheses with no word in them were ignored"),
        ("a () b", All((A, B)), "parentheses with no word in them were ignored"),
        ("AND", None, "an AND needs a word on both sides; it was ignored"),
        ("a AND", A, "an AND needs a word on both sides; it was ignored"),
        ("AND a", A, "an AND needs a word on both sides; it was ignored"),
        ("(a AND) b", All((A, B)), "an AND needs a word on both sides; it was ignored"),
        ('"', None, "a quote without its partner was ignored"),
        (" ... , ", None, "there is no word to look for"),
        ('""', None, "there is no word to look for"),
        ("type:string", Word("type:string"), "type:string was taken for words: not followed by a type, as html or pdf"),
        ("(" * 30 + "a" + ")" * 30, A, "parentheses were ignored: there are too many in each other"),
    ],
)
def test_a_bad_query_gets_a_note_and_the_nearest_sensible_search(text: str, tree: Node | None, note: str) -> None:
    question = parse_question(text)
    assert question.tree == tree
    assert note in question.notes


@pytest.mark.parametrize(
    "text",
    [
        "could not connect to server: Connection refused",
        "git rebase -i",
        "tar -x -f a",
        "path: size: host: date: x",
        "a -> b := 5 c++ -= 1",
        "ERROR: 08006 code:28P01",
    ],
)
def test_what_is_pasted_is_words(text: str) -> None:
    assert parse_question(text).tree == All(tuple(map(Word, text.split())))


@pytest.mark.parametrize(("number", "tree"), [(1_000, A), (1_001, Not(A))])
def test_parse_question_with_thousand_nots_returns_tree(number: int, tree: Node) -> None:
    assert parse_question("NOT " * number + "a").tree == tree


def test_limits() -> None:
    many = parse_question(" ".join(f"w{number}" for number in range(MOST_WORDS + 5)))
    assert isinstance(many.tree, All)
    assert len(many.tree.items) == MOST_WORDS
    assert many.notes == (f"only the first {MOST_WORDS} words of the query were used",)
    assert parse_question("a b c", most_words=2).tree == All((A, B))
    assert parse_question("x" * (LONGEST + 1)).notes == ("only the first 4,096 characters of the query were read",)


def test_what_scores_and_what_filters() -> None:
    """Plain words may be left out by a softer search; what has an operator may not."""
    tree = parse_question('a "b c" -dd site:x.org intitle:t (e OR f)').tree
    assert [item.text for item in wanted(tree)] == ["a", "b c", "t", "e", "f"]
    words, rest = split(tree)
    assert words == (A,)
    assert isinstance(rest, All)
    assert len(rest.items) == 5
    assert split(None) == ((), None)
    assert split(A) == ((A,), None)


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("2024", 366 * 86_400),
        ("2024-02", 29 * 86_400),
        ("2023-12", 31 * 86_400),
        ("2024-02-29", 86_400),
        ("1970", 365 * 86_400),
    ],
)
def test_periods(text: str, seconds: int) -> None:
    found = period(text)
    assert found is not None
    assert found[1] - found[0] == seconds


@pytest.mark.parametrize("text", ["", "0", "24", "0000", "9999", "9999-12-31", "2023-02-29", "2024-00", "٢٠٢٤", "2024-"])
def test_what_is_no_date(text: str) -> None:
    assert period(text) is None


PIECES = [*"ab()|-\":'", " ", "OR", "AND", '"a b"', "intitle:(", "😀", "漢字", "\x00", "\ud800"] + [
    f"{name}:" for name in OPERATORS
]
typed = st.text() | st.lists(st.sampled_from(PIECES), max_size=40).map("".join)


@settings(max_examples=300)
@given(typed)
def test_nothing_that_is_typed_raises(text: str) -> None:
    """And no group is empty; every note is one sentence, said once."""
    question = parse_question(text)
    assert len(set(question.notes)) == len(question.notes)
    assert all(0 < len(note) < 200 for note in question.notes)

    def check(node: Node | None) -> None:
        match node:
            case All(items) | Any(items):
                assert len(items) > 0
                for item in items:
                    check(item)
            case Not(item):
                check(item)
            case Word(text) | Phrase(text) | In(_, Word(text) | Phrase(text)) | Linking(text) | Info(text):
                assert text.strip()
            case Meta(name, value):
                assert " " not in f"{name}:{value}"

    check(question.tree)


@given(typed)
def test_parsing_is_stable(text: str) -> None:
    """A second OR, more spaces, or AND change nothing."""
    assert parse_question(text.replace(" ", "  ")).tree == parse_question(text).tree or '"' in text

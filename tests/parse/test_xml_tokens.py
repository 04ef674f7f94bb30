from __future__ import annotations

from time import process_time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from larm.parse.xml_tokens import END, MAX_DEPTH, START, TEXT, XmlTokens, root_of


def shown(text: str) -> str:
    """The stream as text: ``<a x='1'>b</a>``, the decoded characters in it."""
    marks = {START: "<{0}{1}>", END: "</{0}>", TEXT: "{1}"}
    return "".join(marks[kind].format(name, rest) for kind, name, rest in XmlTokens(text))


@pytest.mark.parametrize(
    ("text", "stream"),
    [
        ("<a>b</a>", "<a>b</a>"),
        ("<A x='1>2'>b</A>", "<a x='1>2'>b</a>"),
        ("<a/>", "<a/></a>"),
        ("<p:a>&amp;&#228;&#xE4;&eacute;</p:a>", "<p:a>&äää</p:a>".replace("äää", "ääé")),
        ("<a>&unknown; &amp &</a>", "<a>&unknown; &amp &</a>"),
        ("<a><![CDATA[<b>&amp;]]></a>", "<a><b>&amp;</a>"),
        ("<?xml version='1.0'?><!-- <b> --><a/>", "<a/></a>"),
        ("<!DOCTYPE a [<!ENTITY x 'y'> <!-- ]> -->]><a>&x;</a>", "<a>&x;</a>"),
        ("<a><b>c</a>d", "<a><b>c</b></a>d"),
        ("<a>b</c></a>", "<a>b</a>"),
        ("<a>1 < 2</a>", "<a>1 < 2</a>"),
        ("<a><b", "<a></a>"),
        ("<a>b", "<a>b</a>"),
        ("<a><!-- b", "<a></a>"),
        ("<a x=1 y='2>b</a>", "<a x=1 y='2>b</a>"),
        ("", ""),
    ],
)
def test_stream(text: str, stream: str) -> None:
    assert shown(text) == stream


@pytest.mark.parametrize(
    ("text", "faults", "cut"),
    [
        ("<a><b/>&amp;</a>", [], False),
        ("<a><b>", [], True),
        ("<a><b x='", [], True),
        ("<a><![CDATA[x", [], True),
        ("<a><b></a>", ["<b> without an end"], False),
        ("</b><a/>", ["</b> without a beginning"], False),
        ("<a>&x;</a>", ["&x; is unknown"], False),
        ("<a>1 < 2</a>", ["a lone <"], False),
        ("<a x='1></a>", ["a tag that is malformed"], False),
    ],
)
def test_what_is_not_well_formed_is_told(text: str, faults: list[str], cut: bool) -> None:
    tokens = XmlTokens(text)
    list(tokens)
    assert (tokens.faults, tokens.cut) == (faults, cut)


def test_attributes() -> None:
    tokens = XmlTokens("")
    assert tokens.attributes(" A='1' b=\"&lt;'\" c = 3 a=4 d/") == {"a": "1", "b": "<'", "c": "3", "d": ""}


def test_entities_are_never_expanded() -> None:
    lol = "".join(f"<!ENTITY lol{n + 1} '{f'&lol{n};' * 10}'>" for n in range(9))
    assert shown(f"<!DOCTYPE a [<!ENTITY lol0 'lol'>{lol}]><a>&lol9;</a>") == "<a>&lol9;</a>"
    assert shown("<!DOCTYPE a [<!ENTITY x SYSTEM 'file:///etc/passwd'>]><a>&x;</a>") == "<a>&x;</a>"


def test_depth_is_bounded() -> None:
    tokens = XmlTokens("<a>" * 100_000)
    assert sum(kind == START for kind, _, _ in tokens) == MAX_DEPTH + 1
    assert tokens.cut


@pytest.mark.parametrize(
    "piece",
    ["<", "<!", "<!--", "<?", "<![CDATA[", "<a", "<a x='", "</a>", "<a>", "<a><b></a>", "&", "<!DOCTYPE a [", "<a b=\"'"],
)
def test_the_time_is_linear(piece: str) -> None:
    text = "<x>" + piece * (300_000 // len(piece))
    start = process_time()
    for _ in XmlTokens(text):
        pass
    assert process_time() - start < 5


@settings(max_examples=300)
@given(
    st.lists(
        st.sampled_from(
            ["<a>", "</a>", "<b x='1'>", "</b>", "<!--", "-->", "<![CDATA[", "]]>", "&lt;", "x", "<", ">", "'", "<c/>"]
        )
    )
)
def test_any_text_is_a_balanced_stream(pieces: list[str]) -> None:
    stack: list[str] = []
    for kind, name, _ in XmlTokens("".join(pieces)):
        if kind == START:
            stack.append(name)
        elif kind == END:
            assert stack.pop() == name
    assert stack == []


def test_root() -> None:
    assert root_of("<?xml version='1.0'?><!-- <b> -->\n<x:RSS version='2.0'>") == "rss"
    assert root_of("http://example.org/") == ""

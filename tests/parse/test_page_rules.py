"""Title, main text and fields by selectors, of any markup."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from larm.config import PageRules
from larm.model.outcome import Fetched, Timing
from larm.parse.html import read, reading_of
from larm.parse.lexbor_tree import read_tree
from larm.parse.page_rules import MAX_LENGTH, MAX_VALUES, NOTHING, TOO_SLOW, USED, Ruled, Rules, apply


def ruled(html: str, *rules: PageRules) -> Ruled:
    body = html.encode()
    page = read(Fetched(200, {"content-type": "text/html; charset=utf-8"}, body, Timing()), "text/html", read_tree)
    return apply(rules, body, page, lambda part: reading_of(part, read_tree)[0])


def test_elements_within_elements_count_once() -> None:
    html = "<div class=a>one <div class=a>two</div></div><div class=b>three <p class=c>four</p></div><p>five"
    found = ruled(html, PageRules(main=".a", without=".b, .c"))
    assert (found.page.text, found.page.other) == ("one\ntwo", "five")


@pytest.mark.parametrize("selector", ["html", "body", "*", "head, body, html *"])
def test_all_of_a_page_may_be_meant(selector: str) -> None:
    html = "<title>Title</title><p>one<p>two"
    assert ruled(html, PageRules(main=selector)).page.other == ""
    assert ruled(html, PageRules(without=selector)).page.text == ""


def test_the_first_rules_that_fit_count() -> None:
    rules = PageRules(when=".x", fields={"kind": ".x"}), PageRules(fields={"kind": "p"}), PageRules(title="p")
    assert ruled("<p>one", *rules).fields == {"kind": ("one",)}
    assert ruled("<p>one<b class=x>two", *rules).fields == {"kind": ("two",)}
    nothing = ruled("<p>one", PageRules(when=".y", main="p"))
    assert (nothing.fields, nothing.counts) == ({}, ())


def test_attributes_and_what_is_not_there() -> None:
    found = ruled("<a href='/x' rel>link</a>", PageRules(fields={"to": "a::attr(href)", "rel": "a::attr(rel)", "no": "i"}))
    assert (found.fields, found.counts) == ({"to": ("/x",)}, (USED, NOTHING))


def test_what_is_too_much_is_said() -> None:
    many = "".join(f"<i>{n}</i>" for n in range(MAX_VALUES + 1)) + f"<b>{'x' * (MAX_LENGTH + 1)}</b>"
    found = ruled(many, PageRules(fields={"n": "i", "x": "b"}))
    assert len(found.fields["n"]) == MAX_VALUES
    assert found.fields["x"] == ("x" * MAX_LENGTH,)
    assert len(found.page.warnings) == 2


@pytest.mark.parametrize("written", ["", "p[", "..a", "p::x", "::attr(x)", "p::attr()"])
def test_what_is_no_selector_is_refused(written: str) -> None:
    with pytest.raises(ValueError, match="is no CSS selector"):
        Rules({"a.org": [PageRules(fields={"f": written})]})


MARKUP = st.lists(
    st.sampled_from(["<div class=a>", "</div>", "<p>", "<table>", "<td class=b>", "<template>", "<svg>", "text ", "<b>"]),
    max_size=30,
).map("".join)


@given(MARKUP, st.sampled_from([".a", "div", "*", "p, td", "body > *"]), st.sampled_from([".b", "*", ".a *", "div div", "p"]))
def test_any_markup_is_read(html: str, main: str, without: str) -> None:
    found = ruled(html, PageRules(main=main, without=without, fields={"f": without}))
    assert USED in found.counts


NEST, FLAT = "<div>" * 2_000 + "x", "<p>x" * 15_000
TABLE = f"<table>{('<tr>' + '<td class=a>x' * 10) * 1_000}"


@pytest.mark.parametrize(
    ("html", "selector", "slow"),
    [
        (NEST, "q div div", True),
        (NEST, "h1, q div  div", True),
        (NEST, ":is(q div, b) div", True),
        (NEST, "q:not(p div div)", True),
        (NEST, "div:has(q) a", True),
        (FLAT, "q ~ p", True),
        (FLAT, "p:nth-last-of-type(2)", True),
        (FLAT, "body:has(> q) p", True),
        (NEST, "h1, q > div > div + div", False),
        (NEST, "div:has(q)", False),
        (FLAT, "body p[title='a ~ b']:first-child", False),
        (TABLE, "body table tr.a td:nth-child(2n + 1):not(.b)", False),
        (TABLE, "tr:nth-child(2) > td", False),
        (TABLE, "td:has(> img)", False),
    ],
)
def test_rules_are_applied_unless_selectors_have_too_many_ways(html: str, selector: str, slow: bool) -> None:
    for rule in (PageRules(when=selector), PageRules(main=selector), PageRules(fields={"x": f"{selector}::attr(y)"})):
        assert (ruled(html, PageRules(when="h6"), rule).counts == (TOO_SLOW,)) is slow


def test_values_of_nested_elements_are_read_up_to_a_limit() -> None:
    found = ruled("<div>" * 1_000 + "x" * 100_000, PageRules(fields={"x": "div"}))
    assert found.fields == {"x": ("x" * MAX_LENGTH,)}
    assert "too long" in found.page.warnings[-1]

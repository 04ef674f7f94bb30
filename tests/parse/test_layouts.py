"""The heading of an article is part of its main text, wherever the template puts it, and the name of the site is not."""

from __future__ import annotations

import pytest

from larm.parse.markdown import markdown
from tests.parse.layouts import LAYOUTS, SITE, TITLE, layout
from tests.parse.pages import document

PARSERS = pytest.mark.parametrize("parser", ["lexbor", "html5lib"])
TEXT = "<p>A sentence of the article, long enough to look like one, with commas. And a second sentence behind it.</p>"


@PARSERS
@pytest.mark.parametrize("name", LAYOUTS)
def test_heading_of_article_is_once_in_main_text(parser: str, name: str) -> None:
    found = document(layout(name), parser=parser)
    assert found.text.count(TITLE) == 1
    assert all(f"paragraph {number}." in found.text for number in range(6))
    assert SITE not in found.text.replace(f"From {SITE}", "")


@pytest.mark.parametrize("name", LAYOUTS)
def test_heading_of_article_is_once_in_markdown(name: str) -> None:
    page = layout(name)
    lines = markdown(page.encode(), document(page).raw_text, "http://a.localhost/").splitlines()
    assert [line[:2] for line in lines if TITLE in line] == ["##" if name == "phpbb prosilver" else "# "]
    assert not [line for line in lines if line.startswith("# ") and TITLE not in line]

from __future__ import annotations

import pytest

from larm.processing.directives import Robots, header_links, of_header, of_meta, refresh_target


@pytest.mark.parametrize(
    ("content", "indexed", "follow"),
    [
        ("noindex", False, True),
        ("NoFollow", True, False),
        ("noindex,nofollow", False, False),
        ("none", False, False),
        ("all", True, True),
        (" index , follow", True, True),
        ("noindexing", True, True),
        ("", True, True),
    ],
)
def test_meta_robots(content: str, indexed: bool, follow: bool) -> None:
    assert of_meta(Robots(), content) == (indexed, follow)


@pytest.mark.parametrize(
    ("header", "indexed", "follow"),
    [
        ("noindex", False, True),
        ("otherbot: noindex, nofollow", True, True),
        ("nofollow, otherbot: noindex", True, False),
        ("larm: noindex", False, True),
        ("otherbot: nofollow, larm: none", False, False),
        ("max-snippet: 5, noindex", False, True),
        ("unavailable_after: 25 Jun 2010 15:00:00 GMT, nofollow", True, False),
    ],
)
def test_x_robots_tag(header: str, indexed: bool, follow: bool) -> None:
    assert of_header(Robots(), header) == (indexed, follow)


def test_the_strictest_rule_wins() -> None:
    assert of_header(of_meta(Robots(), "noindex"), "nofollow") == (False, False)


@pytest.mark.parametrize(
    ("content", "target"),
    [
        ("5; url=/x", "/x"),
        ("0;URL='a b' ", "a b"),
        ('3 ; url = "k"z', "k"),
        ("0,/y", "/y"),
        ("0 /z", "/z"),
        (".5;url=q", "q"),
        ("5", ""),
        ("5;", ""),
        ("5url=x", ""),
        ("url=x", ""),
        ("", ""),
    ],
)
def test_refresh(content: str, target: str) -> None:
    assert refresh_target(content) == target


def test_refresh_is_quick_for_anything() -> None:
    assert refresh_target("1" * 500_000 + "x") == ""
    assert refresh_target("1" + " " * 500_000) == ""


def test_link_header() -> None:
    header = '</a>; rel="next x"; title="a, b", <b>, <c>;rel=preload; as=script'
    assert list(header_links(header)) == [("/a", "next x"), ("b", ""), ("c", "preload")]

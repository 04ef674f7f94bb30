"""What belongs to a start URL."""

from __future__ import annotations

import pytest

from larm.model.region import Globs, Reach, Region, region_of
from larm.testing.fakes import url


def region(start: str, reach: Reach = Reach.BELOW, *, include: tuple[str, ...] = (), exclude: tuple[str, ...] = ()) -> Region:
    return region_of(start, url(start), reach, Globs(include, exclude))


@pytest.mark.parametrize(
    ("start", "inside", "outside"),
    [
        ("http://a.org/docs/", "http://a.org/docs/x?y", "http://a.org/docs2"),
        ("http://a.org/docs/index.html", "https://a.org/docs/", "http://a.org/"),
        ("http://a.org/docs/page.html", "http://a.org/docs/other.html", "http://b.org/docs/page.html"),
        ("http://a.org/docs", "http://a.org/docs/x", "http://a.org/other"),
        ("http://a.org/docs", "http://a.org/docs", "http://a.org/docsx/y"),
        ("http://a.org", "http://a.org/anything", "http://www.a.org/"),
        ("http://a.org:8080/x/?q", "http://a.org:8080/x/y", "http://a.org/x/y"),
    ],
)
def test_below(start: str, inside: str, outside: str) -> None:
    below = region(start)
    assert below.holds(url(inside)) == ""
    assert below.holds(url(outside)) == f"not {below}"


def test_a_domain_has_all_its_hosts() -> None:
    domain = region("https://www.example.co.uk/x", Reach.DOMAIN)
    assert [domain.holds(url(f"http://{host}/")) == "" for host in ("example.co.uk", "a.b.example.co.uk", "other.co.uk")] == [
        True,
        True,
        False,
    ]
    assert str(domain) == "in the domain example.co.uk"


@pytest.mark.parametrize(
    ("glob", "inside", "outside"),
    [
        ("/docs/*", "http://a.org/docs/x/y?z", "http://a.org/x/docs/y"),
        ("*.pdf", "http://a.org/x.PDF", "http://a.org/x.pdfs"),
        ("*.pdf", "http://a.org/x.pdf?page=2", "http://a.org/pdf?x.pdfs"),
        ("*.pdf?", "http://a.org/x.pdf1", "http://a.org/x.pdf1?page=2"),
        ("*id=1*", "http://a.org/x?id=12", "http://a.org/x?id=2"),
        ("/a/x", "http://a.org/a/x?y", "http://a.org/a/x/?y"),
        ("a.org/x", "http://a.org/x?", "http://a.org/y?a.org/x"),
        ("*/print/*", "http://a.org/x/print/1", "http://a.org/print"),
        ("a.org/blog/*", "https://a.org/blog/x", "https://b.a.org/blog/x"),
        ("http://a.org/*", "http://a.org/x", "https://a.org/x"),
        ("/x?id=?", "http://a.org/x?id=1", "http://a.org/x?id=12"),
    ],
)
def test_patterns(glob: str, inside: str, outside: str) -> None:
    assert [Globs(include=(glob,)).refuses(url(each).normalised) == "" for each in (inside, outside)] == [True, False]
    assert Globs(exclude=(glob,)).refuses(url(inside).normalised) == f"excluded by {glob}"
    assert Globs(exclude=(glob,)).refuses(url(outside).normalised) == ""


def test_a_region_says_what_it_is() -> None:
    assert (
        str(region("http://a.org/x/", include=("*.html",), exclude=("/y", "/z"))) == "below a.org/x/, only *.html, not /y, /z"
    )
    assert not region("http://a.org/", Reach.HOST, exclude=("/y",)).whole
    assert region("http://a.org/", Reach.HOST).whole

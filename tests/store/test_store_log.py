from __future__ import annotations

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from larm.kit.logs.columns import clean
from larm.model.links import Links
from larm.store.page_file import PLAIN
from larm.store.store_log import StoreEntry, format_entry, format_links, parse_entry
from tests.store.stored_pages import link

PLACES = ("http://www.example.com/", "http://WWW.Example.com/Dir/Index.html", "http://example.com/dir/")
ENTRY = StoreEntry(*PLACES, link_type=0, status=200, mime="text/html", size=1234, title="Home")
numbers = st.integers(0, 2**40)
entries = st.builds(
    StoreEntry,
    from_page=st.text(),
    url=st.text(),
    normalised=st.text(),
    link_type=st.integers(0, 2),
    status=st.integers(0, 599),
    mime=st.text(),
    size=numbers,
    title=st.text(),
    file=st.integers(1, 10_000),
    offset=numbers,
    place=st.integers(PLAIN, 2**30),
)


def test_sample_lines_of_store_log() -> None:
    """LARM-92's sample, and LARM-93: without bytes the last two columns are absent."""
    head = (
        "http://www.example.com/\thttp://WWW.Example.com/Dir/Index.html\thttp://example.com/dir/\t0\t200\ttext/html\t1234\tHome"
    )
    assert format_entry(ENTRY._replace(file=1)) == head + "\t1\t0\n"
    assert format_entry(ENTRY._replace(file=1, place=7)) == head + "\t1\t0\t7\n"
    assert format_entry(ENTRY) == head + "\n"


def test_sample_line_of_links_log() -> None:
    """LARM-89's sample."""
    home = link("http://WWW.Example.com/Dir/Index.html", "Home page", normalised="http://example.com/dir/")
    assert format_links("http://www.example.com/", Links.of([home])) == (
        b"http://www.example.com/\thttp://WWW.Example.com/Dir/Index.html\thttp://example.com/dir/\t0\tHome page\n"
    )


def test_links_that_are_not_followed_are_marked_in_crawls_by_several_agents() -> None:
    made = [link("http://a.example/", "A"), msgspec.structs.replace(link("http://a.example/i.png", "-"), follow=False)]
    assert format_links("http://b.example/", Links.of(made), marked=True) == (
        b"http://b.example/\thttp://a.example/\thttp://a.example/\t0\tA\n"
        b"http://b.example/\thttp://a.example/i.png\thttp://a.example/i.png\t0\t-\t-\n"
    )


@given(entries)
def test_what_is_written_is_read(entry: StoreEntry) -> None:
    """format, then parse, gives the entry with clean texts; a line is one line with ten columns, or eleven."""
    line = format_entry(entry)
    assert line.count("\n") == 1
    assert len(line.split("\t")) == (10 if entry.place == PLAIN else 11)
    assert list(parse_entry(line[:-1])) == [clean(field) if isinstance(field, str) else field for field in entry]


@given(entries)
def test_entries_without_bytes_too(entry: StoreEntry) -> None:
    entry = entry._replace(file=0, offset=0, title=clean(entry.title))
    assert parse_entry(format_entry(entry)[:-1]).title == entry.title


@pytest.mark.parametrize("place", ["", "\t3\t77"])
def test_the_last_format_of_larm_is_read(place: str) -> None:
    """LARM-92: an anchor column after the link type, a quoted title, last-modified."""
    line = f'http://a/\thttp://b/\thttp://b/\t0\t\t200\ttext/html\t1234\t"Home "page""\tMon, 01 Jan 2001 00:00:00 GMT{place}'
    entry = parse_entry(line)
    assert entry[:8] == ("http://a/", "http://b/", "http://b/", 0, 200, "text/html", 1234, 'Home "page"')
    assert (entry.file, entry.offset) == ((3, 77) if place else (0, 0))


@pytest.mark.parametrize(
    "line", ["", "a\tb", "\t" * 7, "\t".join("abcdefghij"), "\t".join("abcdefghijk"), "\t".join("abcdefghijkl"), "\t" * 20]
)
def test_other_lines_are_refused(line: str) -> None:
    with pytest.raises(ValueError, match=r"columns|int"):
        parse_entry(line)


@given(st.text(), st.lists(st.tuples(st.text(), st.text(), st.text()), max_size=5))
def test_links_are_always_whole_lines(page: str, links: list[tuple[str, str, str]]) -> None:
    """Whatever stands in a page: a line for each link, five columns in each, encodable."""
    made = tuple(link(f"http://a/{access}", anchor, 0, f"n{normalised}") for access, normalised, anchor in links)
    lines = format_links(page, Links.of(made)).decode().split("\n")
    assert lines.pop() == ""
    assert len(lines) == len(links)
    for line, (_, _, anchor) in zip(lines, links, strict=True):
        assert line.count("\t") == 4
        assert line.split("\t")[4] == clean(anchor)


def test_controls_become_spaces() -> None:
    assert clean("a\tb\r\nc\x00\x1b\x85\u2028\ud800d") == "a b  c     d"
    assert clean("Zürich\u00a0漢字 \U0001f600") == "Zürich\u00a0漢字 \U0001f600"

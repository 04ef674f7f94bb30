"""The compiled reader says what a walk in Python says, on public sets of real pages and of odd markup."""

from __future__ import annotations

import gzip
import tarfile
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import pytest

from larm.parse.charset import utf8_of
from larm.parse.lexbor_tree import COMPILED
from tests.parse.both_walks import both_processors, differences, document_of
from tests.shared_data import shared

pytestmark = pytest.mark.skipif(not COMPILED, reason="installed without a C compiler")

_PAGES = {
    "html-article-benchmark": ("html.tar.xz", 69),
    "html-readability": ("pages.tar.xz", 150),
    "html-trafilatura-eval": ("html.tar.xz", 300),
    "links-htmlproofer": ("fixtures.tar.xz", 130),
    "links-lychee": ("fixtures.tar.xz", 20),
    "fuzz-wget": ("wget_html_fuzzer.in.tar.xz", 100),
    "web-helsingborg": ("site.tar.xz", 500),
}
"""Archive, and how many pages there are in it, at least: else the test would say nothing."""
_MOST = 600  # pages of a set
_FRAMES = (
    b"%s",
    b"<!DOCTYPE html><html><head></head><body>%s</body></html>",
    b"<html><head></head><body><div>x<p>y %s</p>z<b>t</b></div> u</body></html>",
    b"<!DOCTYPE html><html><head></head><body><table><tr><td>%s</td><td>k</table></body></html>",
    b"<!DOCTYPE html><html><head></head><body><ul><li>s<a href=x>%s</a><li>k</ul></body></html>",
    b"<!DOCTYPE html><html><head>%s</head><body>k</body></html>",
)


def _bodies(file: Path) -> Iterator[tuple[str, bytes]]:
    with tarfile.open(file) as tar:
        for member in tar:
            if member.isfile():
                body = tar.extractfile(member).read()  # type: ignore[union-attr]
                yield member.name, gzip.decompress(body) if body.startswith(b"\x1f\x8b") else body


@pytest.mark.parametrize("name", _PAGES)
def test_real_pages(name: str) -> None:
    archive, least = _PAGES[name]
    bodies = list(_bodies(shared(name, "given", archive)))
    plain, compiled = both_processors()
    for file, body in bodies[:: len(bodies) // _MOST + 1]:
        assert not differences(utf8_of(body, "text/html")[0]), file
        url = f"http://a.localhost/{quote(file)}"
        assert document_of(compiled, url, body) == document_of(plain, url, body), file
    print(f"\n{name}: {len(bodies)} pages")
    assert len(bodies) >= least


@pytest.mark.parametrize("frame", _FRAMES)
def test_odd_markup(frame: bytes) -> None:
    """The documents of html5lib's tests of tree construction, each within a page."""
    count = 0
    for file in sorted(shared("html5lib-tests", "given", "tree-construction").glob("*.dat")):
        for case in file.read_bytes().split(b"#data\n")[1:]:
            body = frame % case.split(b"\n#errors")[0]
            assert not differences(body), (file.name, body)
            count += 1
    assert count > 1_000

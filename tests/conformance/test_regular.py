"""Regular pages: what is read in one pass is what the tree says, on public sets of real pages and of odd markup."""

from __future__ import annotations

import gzip
import tarfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from larm.processing.charset import utf8_of
from larm.processing.regular import COMPILED
from tests.processing.both_readers import differences
from tests.shared_data import shared

pytestmark = pytest.mark.skipif(not COMPILED, reason="installed without a C compiler")

_PAGES = {
    "html-article-benchmark": ("html.tar.xz", 35),
    "html-readability": ("pages.tar.xz", 30),
    "html-trafilatura-eval": ("html.tar.xz", 115),
    "links-htmlproofer": ("fixtures.tar.xz", 120),
    "links-lychee": ("fixtures.tar.xz", 20),
    "web-helsingborg": ("site.tar.xz", 1_900),
}
"""Archive, and how many regular pages there are in it, at least: else the test would say nothing."""
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


def _kind(name: str, body: bytes) -> str:
    found = differences(body)
    assert not found, (name, found[0])
    return "irregular" if found is None else "regular"


@pytest.mark.parametrize("name", _PAGES)
def test_real_pages(name: str) -> None:
    archive, least = _PAGES[name]
    kinds = Counter(_kind(file, utf8_of(body, "text/html")[0]) for file, body in _bodies(shared(name, "given", archive)))
    print(f"\n{name}: {dict(kinds)}")
    assert kinds["regular"] >= least


@pytest.mark.parametrize("frame", _FRAMES)
def test_odd_markup(frame: bytes) -> None:
    """The documents of html5lib's tests of tree construction, each in a page that may be regular."""
    kinds: Counter[str] = Counter()
    for file in sorted(shared("html5lib-tests", "given", "tree-construction").glob("*.dat")):
        for case in file.read_bytes().split(b"#data\n")[1:]:
            kinds[_kind(file.name, frame % case.split(b"\n#errors")[0])] += 1
    print(f"\n{dict(kinds)}")
    assert kinds["regular"] >= 10

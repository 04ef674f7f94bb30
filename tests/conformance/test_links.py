"""Links: of real pages against what other tools found, of a crawler maze, and of pages that are meant to break parsers."""

from __future__ import annotations

import json
import lzma
import re
import tarfile
import time
from collections.abc import Iterator, Sequence

import pytest
from msgspec.structs import replace

from larm.model.document import squeeze
from larm.model.url import BadUrl, URLNormalizer
from larm.parse.by_mime import ByMime
from larm.testing.fakes import message, page
from tests.conformance.links_differences import DIRECTIVES
from tests.parse.pages import by_mime, document
from tests.shared_data import shared

_NORMALIZER = URLNormalizer()
_PAGES = {  # where the pages of links-real are
    "html-trafilatura-eval": "html.tar.xz",
    "html-article-benchmark": "html.tar.xz",
    "html-readability": "pages.tar.xz",
}


def _files(*parts: str) -> Iterator[tuple[str, bytes]]:
    with tarfile.open(shared(*parts)) as tar:
        for member in tar:
            if (file := tar.extractfile(member)) is not None:
                yield member.name, file.read()


def _normalised(urls: list[str]) -> set[str]:
    found = set()
    for url in urls:
        try:
            found.add(_NORMALIZER.parse(url).normalised)
        except BadUrl:
            continue
    return found


def _is_hyperlink(link_type: int, follow: bool) -> bool:
    return link_type == 1 or follow


def test_links_real() -> None:
    """Precision and recall of the links of real pages (a, area, iframe, frame); what <link> and <meta> add is left out."""
    parts = by_mime(nofollow=False)
    pages = {corpus: dict(_files(corpus, "given", name)) for corpus, name in _PAGES.items()}
    right = extra = missing = titles = count = 0
    with lzma.open(shared("links-real", "given", "links.jsonl.xz"), "rt", encoding="utf-8") as lines:
        for line in lines:
            case = json.loads(line)
            body = re.sub(rb"<(?:link|meta\s[^>]*refresh)\b", b"<x ", pages[case["corpus"]][case["file"]], flags=re.IGNORECASE)
            found = parts.process(message(case["url"]), page(body, content_type="text/html"))
            got = {link.url.normalised for link in found.links if _is_hyperlink(link.link_type, link.follow)}
            expected = _normalised(case["links"])
            right += len(got & expected)
            extra += len(got - expected)
            missing += len(expected - got)
            titles += found.title == " ".join((case["title"] or "").split())
            count += 1
    precision, recall = right / (right + extra), right / (right + missing)
    print(f"links-real: {count} pages, precision {precision:.2%}, recall {recall:.2%}, titles {titles / count:.2%}")
    assert precision >= 0.999
    assert recall >= 0.99
    assert titles / count >= 0.99


def _allowed(contents: Sequence[str]) -> tuple[bool, bool, bool]:
    """May be indexed, followed, kept: by the plainest reading."""
    words = set(re.findall(r"[a-z]+(?![\w:-])", re.sub(r"[\w-]+:[\w-]+", " ", " ".join(contents).lower())))
    none = "none" in words
    return not none and "noindex" not in words, not none and "nofollow" not in words, "noarchive" not in words


def test_links_real_directives() -> None:
    """rel=canonical and meta robots of the same pages."""
    parts = by_mime(text=False)
    pages = {corpus: dict(_files(corpus, "given", name)) for corpus, name in _PAGES.items()}
    wrong = []
    canonicals = count = 0
    with lzma.open(shared("links-real", "given", "links.jsonl.xz"), "rt", encoding="utf-8") as lines:
        for case in map(json.loads, lines):
            found = parts.process(message(case["url"]), page(pages[case["corpus"]][case["file"]], content_type="text/html"))
            try:
                named = _NORMALIZER.join(case["base"], case["canonical"]).normalised if case["canonical"] else None
            except BadUrl:
                named = None
            expected = None if named == _NORMALIZER.parse(case["url"]).normalised else named
            got = found.canonical.normalised if found.canonical else None
            rules = (found.index, found.follow, found.archive)
            if got != expected or rules != _allowed(case["meta_robots"]):
                wrong.append(case["file"])
            canonicals += expected is not None
            count += 1
    print(f"links-real: canonical and meta robots of {count - len(wrong)} of {count} pages, {canonicals} name another address")
    assert wrong == list(DIRECTIVES)
    assert canonicals > 50


def test_crawl_maze_by_header() -> None:
    for header in ("Link", "Refresh"):
        value = {"Link": "</test/x.found>; rel=next", "Refresh": "0; url=/test/x.found"}[header]
        assert [link.url.path_query for link in document("x", headers={header: value}).links] == ["/test/x.found"]


@pytest.mark.parametrize(
    "parts",
    [
        ("links-htmlproofer", "given", "fixtures.tar.xz"),
        ("links-lychee", "given", "fixtures.tar.xz"),
        ("fuzz-wget", "given", "wget_html_fuzzer.in.tar.xz"),
    ],
    ids=lambda parts: parts[0],
)
def test_odd_pages(parts: tuple[str, ...]) -> None:
    """Nothing escapes, every link is http or https, each page is done within a second."""
    slowest = 0.0
    count = 0
    by: ByMime = by_mime(follow_embedded=True)
    for name, body in _files(*parts):
        began = time.perf_counter()
        found = by.process(message("http://a.localhost/dir/page"), page(body, content_type="text/html"))
        slowest = max(slowest, time.perf_counter() - began)
        assert all(link.url.access.startswith(("http://", "https://")) for link in found.links), name
        assert not any("HtmlProcessor" in line for line in found.warnings), (name, found.warnings)
        count += 1
    print(f"{parts[0]}: {count} pages, slowest {slowest * 1000:.1f} ms")
    assert count
    assert slowest < 1


def test_nutch() -> None:
    """crawl-nutch: its pages, one nested to trap spiders, alike by both parsers; its URLs are taken if they are http."""
    root = shared("crawl-nutch", "given", "src")
    quick, reference = by_mime(), by_mime(parser="html5lib")
    for file in sorted(root.rglob("*.html")):
        answer = page(file.read_bytes(), content_type="text/html")
        began = time.perf_counter()
        ours, theirs = (each.process(message("http://a.localhost/dir/page"), answer) for each in (quick, reference))
        assert time.perf_counter() - began < 1, file
        assert [link.url for link in ours.links] == [link.url for link in theirs.links], file
        assert not ours.warnings, file
    lines = {line for file in root.rglob("*.urls") for line in file.read_text(encoding="utf-8").split() if line[:1] in "+-"}
    accepted = {line[1:] for line in lines if _normalised([line[1:]])}
    print(f"crawl-nutch: {len(accepted)} of {len(lines)} URLs are addresses to larm")
    assert accepted == {line[1:] for line in lines if re.match(r".https?://", line)}
    assert len(accepted) > 300


def test_odd_style_sheets() -> None:
    """The same for CSS, of which larm reads the addresses where embedded files are followed."""
    slowest = 0.0
    by: ByMime = by_mime(follow_embedded=True)
    for name, body in _files("fuzz-wget", "given", "wget_css_fuzzer.in.tar.xz"):
        began = time.perf_counter()
        found = by.process(message("http://a.localhost/dir/page"), page(body, content_type="text/css"))
        slowest = max(slowest, time.perf_counter() - began)
        assert not any("CssProcessor" in line for line in found.warnings), (name, found.warnings)
    print(f"fuzz-wget: style sheets, slowest {slowest * 1000:.1f} ms")
    assert 0 < slowest < 1


_TREE_LINK = re.compile(r"^\| +<(?:svg |math )?(a|area|img|frame|iframe)>\n((?:\| +[^<\n\"]*=\".*\"\n)*)", re.MULTILINE)


def test_html5lib_trees() -> None:
    """The hrefs and srcs of each tree that the standard's algorithm builds."""
    failures = []
    count = 0
    for file in sorted(shared("html5lib-tests", "given", "tree-construction").glob("*.dat")):
        for case in re.split(r"(?:^|\n)#data\n", file.read_text(encoding="utf-8"))[1:]:
            data, _, rest = case.partition("\n#errors")
            if "#document-fragment" in rest or "#script-on" in rest or "#document\n" not in rest:
                continue
            expected = _targets(rest.partition("#document\n")[2] + "\n")
            if expected is None:
                continue
            count += 1
            got = {link.url.access for link in document(data).links}
            if got != expected:
                failures.append((file.name, data, expected, got))
    print(f"html5lib trees: links of {count - len(failures)} of {count}")
    assert len(failures) <= 0.01 * count, failures


def _targets(tree: str) -> set[str] | None:
    """The addresses in a printed tree; None where the printed form leaves doubt."""
    if "content\n" in tree or "<base" in tree or "<link" in tree or "<script" in tree:
        return None
    found = set()
    for match in _TREE_LINK.finditer(tree):
        name = "href" if match[1] in ("a", "area") else "src"
        value = re.search(rf'^\| +(?:xlink )?{name}="(.*)"$', match[2], re.MULTILINE)
        if value and (value[1].partition("#")[0].strip()):
            try:
                found.add(_NORMALIZER.join("http://a.localhost/dir/page.html", value[1]).access)
            except BadUrl:
                continue
    return found


def test_both_parsers_read_real_pages_alike() -> None:
    """lexbor against html5lib, the reference."""
    quick, reference = by_mime(), by_mime(parser="html5lib")
    differing = []
    chosen = [(name, body) for name, body in _files("html-trafilatura-eval", "given", "html.tar.xz") if len(body) < 60_000][:40]
    for name, body in chosen:
        answer = page(body, content_type="text/html")
        ours, theirs = (each.process(message("http://a.localhost/dir/page"), answer) for each in (quick, reference))
        texts = [(each.text, squeeze(each.other_text)) for each in (ours, theirs)]
        if texts[0] != texts[1] or replace(ours, raw_text="", other_text="") != replace(theirs, raw_text="", other_text=""):
            differing.append(name)
    print(f"lexbor and html5lib: {len(chosen) - len(differing)} of {len(chosen)} pages alike")
    assert differing == []

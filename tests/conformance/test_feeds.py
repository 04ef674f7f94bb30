"""feedparser's feeds, well-formed, ill-formed and in odd encodings: each says in a comment what a reader must find.

``entries[0]['link'] == 'http://example.com/'`` and the like are evaluated by walking their syntax trees over what larm's
reader found; nothing is executed. Of links, all that a crawler has a use for counts; in addition each address that an
expectation names as a link must be among the links of the document that a crawl makes of the feed.
"""

from __future__ import annotations

import ast
import re
import tarfile
from collections.abc import Iterator
from functools import cache
from typing import Any, NamedTuple

from larm.config import ProcessingSettings
from larm.model.link_memo import LinkMemo
from larm.model.url import BadUrl, URLNormalizer
from larm.parse.by_mime import processors
from larm.parse.charset import text_of
from larm.parse.feed import read_feed
from larm.parse.feed_entry import Entry, FeedLink
from larm.testing.fakes import message, page
from tests.conformance.feed_differences import DIFFERENCES
from tests.shared_data import shared

ADDRESS = "http://127.0.0.1:8097/feed.xml"
_EXPECT = re.compile(rb"Expect:\s*(.*)")
_HEADER = re.compile(rb"^Header:\s*([\w-]+):[ \t]*(.*?)\s*$", re.MULTILINE)
_LINKS = frozenset(("link", "links", "href", "enclosures", "source", "url"))
normalizer = URLNormalizer()


class Case(NamedTuple):
    name: str
    body: bytes
    headers: dict[str, str]
    expression: str


@cache
def cases() -> list[Case]:
    found = []
    with tarfile.open(shared("feeds-feedparser", "given", "files.tar.xz")) as tar:
        for member in tar:
            file = tar.extractfile(member) if member.isfile() else None
            if file is None or not member.name.endswith(".xml"):
                continue
            body = file.read()
            told = body if b"Expect:" in body else text_of(body)[0].encode()
            if match := _EXPECT.search(told):
                headers = {name.decode().lower(): value.decode("latin-1") for name, value in _HEADER.findall(body)}
                headers.setdefault("content-type", "application/xml")
                found.append(Case(member.name, body, headers, match[1].decode("utf-8", "replace").strip()))
    return found


def resolve(base: str, href: str) -> str:
    try:
        return normalizer.join(base, href).access
    except BadUrl:
        return href


def address_of(link: FeedLink, base: str) -> str:
    for each in (*link.bases, link.href):
        base = resolve(base, each)
    return base


class Named(dict[str, Any]):
    """With feedparser's old name of an address."""

    def __missing__(self, name: str) -> Any:
        if name == "url" and "href" in self:
            return self["href"]
        raise KeyError(name)


def link_of(link: FeedLink, base: str) -> dict[str, Any]:
    found = {"href": address_of(link, base), "rel": link.rel, "title": link.title, "hreflang": link.language}
    kind = link.mime or ("text/html" if link.rel == "alternate" else "application/atom+xml" if link.rel == "self" else "")
    return Named((name, value) for name, value in (found | {"type": kind, "length": link.length}).items() if value)


def entry_of(entry: Entry, base: str) -> dict[str, Any]:
    """In feedparser's words."""
    links = [link_of(link, base) for link in entry.links]
    found: dict[str, Any] = {"title": entry.title, "links": links, "title_detail": {"value": entry.title}}
    found["enclosures"] = [
        Named((name, value) for name, value in link.items() if name != "rel") for link in links if link["rel"] == "enclosure"
    ]
    if entry.link is not None and entry.link.rel != "guid":
        found["link"] = address_of(entry.link, base)
    source = [link_of(link, base) for link in entry.source]
    found["source"] = Named(links=source, href=source[0]["href"] if source else "")
    return found


def names_a_link(expression: str) -> bool:
    """Whether it expects something of links: the last name of one of its paths is about links, its value no markup."""
    tree = ast.parse(expression, mode="eval")
    for node in ast.walk(tree):
        if isinstance(node, ast.Compare) and about(node) in _LINKS | {"rel", "hreflang", "length"}:
            return True
        if isinstance(node, ast.Call) and ast.unparse(node).endswith("has_key('link')"):
            return True
    return False


def about(node: ast.Compare) -> str:
    """The innermost name, which says what is compared; of ``links[0]['type']`` that is ``href``."""
    path = ast.unparse(node.left)
    names = re.findall(r"\['(\w+)'\]|\.(\w+)", path)
    last = "".join(names[-1]) if names else ""
    if "links" in path or "enclosures" in path:
        return "href"
    if is_part(path):
        return last if last in ("href", "url", "link") and "media" not in path else "other"
    return last


class Unknown(Exception):
    """The expression asks for what larm's reader does not keep."""


def value(node: ast.AST, names: dict[str, Any]) -> Any:
    match node:
        case ast.Expression(body=body):
            return value(body, names)
        case ast.Constant(value=constant):
            return constant
        case ast.Dict(keys=keys, values=values):
            return {value(key, names): value(each, names) for key, each in zip(keys, values, strict=True) if key}
        case ast.Name(id=name):
            return names[name]
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            return not value(operand, names)
        case ast.BoolOp(op=ast.And(), values=values):
            return all(value(each, names) for each in values)
        case ast.Compare(left=left, comparators=rights):
            return all(value(left, names) == value(right, names) for right in rights)
        case ast.Subscript(value=of, slice=key):
            return value(of, names)[value(key, names)]
        case ast.Attribute(value=of, attr=key):
            return value(of, names)[key]
        case ast.Call(func=ast.Name(id="len"), args=[of]):
            return len(value(of, names))
        case ast.Call(func=ast.Attribute(value=of, attr="has_key"), args=[key]):
            return value(key, names) in value(of, names)
        case _:
            raise Unknown(ast.dump(node))


def test_expectations_about_links() -> None:
    failures = []
    count = 0
    process = processors(LinkMemo(normalizer), ProcessingSettings())
    for case in cases():
        if not names_a_link(case.expression) or case.name in DIFFERENCES:
            continue
        count += 1
        wanted = set(expected_addresses(case.expression))
        document = process.process(
            message(ADDRESS), page(case.body, **{name.replace("-", "_"): text for name, text in case.headers.items()})
        )
        lacking = wanted - {link.url.access for link in document.links}
        if lacking or not holds(case):
            failures.append((case.name, case.expression, lacking))
    for failure in failures:
        print(*failure, sep="\n   ")
    share = 1 - len(failures) / count
    print(f"feedparser, links: {count - len(failures)} of {count} ({share:.1%}); {len(DIFFERENCES)} differences")
    assert count >= 50
    assert share >= 0.95


def holds(case: Case) -> bool:
    feed = read_feed(text_of(case.body, case.headers["content-type"])[0].lstrip())
    if feed is None:
        return False
    try:
        base = normalizer.join(ADDRESS, case.headers.get("content-location", "")).access
    except BadUrl:
        base = ADDRESS
    names = {
        "bozo": False,
        "feed": entry_of(feed.about, base),
        "entries": [entry_of(entry, base) for entry in feed.entries],
    }
    try:
        return bool(value(ast.parse(case.expression, mode="eval"), names))
    except (KeyError, IndexError):
        # of authors, images and the like only the address is kept; that it is among the links is tested
        return all(is_part(ast.unparse(node.left)) for node in _comparisons(case.expression))


def is_part(path: str) -> bool:
    """Whether it is something within a feed or an entry that has addresses of its own."""
    return any(
        part in path for part in ("author", "contributor", "publisher", "image", "generator", "thr_", "media", "textinput")
    )


def _comparisons(expression: str) -> Iterator[ast.Compare]:
    return (node for node in ast.walk(ast.parse(expression, mode="eval")) if isinstance(node, ast.Compare))


def expected_addresses(expression: str) -> Iterator[str]:
    """Addresses that something called a link is compared with."""
    for node in _comparisons(expression):
        for right in node.comparators:
            for each in ast.walk(right):
                if isinstance(each, ast.Constant) and isinstance(each.value, str):
                    text = each.value
                    if (
                        re.fullmatch(r"https?://[^\s<>]+", text)
                        and about(node) in _LINKS
                        and "['rel']" not in ast.unparse(node.left)
                    ):
                        yield normalizer.parse(text).access

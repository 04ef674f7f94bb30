"""crawler-commons' sitemap cases: (document, address, options) -> the list of URLs with their lastmod."""

from __future__ import annotations

import base64
import json
from typing import Any

from larm.config import ProcessingSettings
from larm.kit.gunzip import unpack
from larm.model.link_memo import LinkMemo
from larm.model.url import URLNormalizer
from larm.parse import sitemap
from larm.parse.by_mime import MAX_SIZE, processors
from larm.parse.charset import text_of
from larm.parse.dates import seconds_of
from larm.parse.feed import ROOTS, read_feed
from larm.parse.xml_tokens import root_of
from larm.testing.fakes import message, page
from tests.conformance.sitemap_differences import DIFFERENCES
from tests.shared_data import shared

normalizer = URLNormalizer()
Entries = list[tuple[str, int]]


def cases() -> list[dict[str, Any]]:
    lines = shared("sitemaps-crawlercommons", "given", "sitemaps.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


def body(case: dict[str, Any]) -> bytes:
    return base64.b64decode(case["content_b64"]) if case.get("content_b64") else case["content"].encode()


def option(case: dict[str, Any], name: str) -> bool:
    return f"{name}=true" in case["conf"].split(",")


def access(text: str) -> str:
    return normalizer.parse(sitemap.completed(text)).access


def read(case: dict[str, Any]) -> Entries | str:
    """What larm's readers find, with the case's options; a text: why the sitemap is refused."""
    data = body(case)
    if data.startswith(b"\x1f\x8b"):
        data, _ = unpack(data, MAX_SIZE)
    text = text_of(data)[0].lstrip("\ufeff \t\r\n")
    root = root_of(text)
    found: list[tuple[str, int]] = []
    if root in sitemap.ROOTS:
        made = sitemap.read_xml(text, partial=option(case, "allowPartial"), strict_namespace=option(case, "strictNamespace"))
        if made.error and not made.entries:
            return made.error
        found = [(entry.loc, entry.modified) for entry in made.entries]
    elif root in ROOTS and (feed := read_feed(text)):
        found = [(entry.link.href, entry.modified) for entry in feed.entries if entry.link]
    elif sitemap.kind_of_text(text) is not sitemap.TextKind.NO_SITEMAP:
        found = [(entry.loc, 0) for entry in sitemap.read_text(text).entries]
    else:
        return "no sitemap"
    entries = [(access(loc), seconds) for loc, seconds in found]
    if option(case, "strict") and root != sitemap.INDEX:
        entries = [entry for entry in entries if sitemap.speaks_for(case["url"], entry[0])]
    return entries


def expected(case: dict[str, Any]) -> Entries | str:
    if isinstance(case["expected"], str):
        return str(case["expected"])
    return [(access(each["loc"]), seconds_of(each["lastmod"] or "")) for each in case["expected"]["urls"]]


def same(found: Entries | str, wanted: Entries | str) -> bool:
    return isinstance(found, str) if isinstance(wanted, str) else found == wanted


def test_crawler_commons() -> None:
    failures = []
    count = 0
    for case in cases():
        if (case["test"], case["url"]) in DIFFERENCES:
            continue
        count += 1
        found, wanted = read(case), expected(case)
        if not same(found, wanted):
            failures.append((case["test"], found, wanted))
    print(f"crawler-commons sitemaps: {count - len(failures)} of {count}; {len(DIFFERENCES)} differences")
    assert count >= 15
    assert failures == []


def test_a_crawl_follows_the_same_urls() -> None:
    """Whatever the type it is sent with, and it is not indexed (feeds are)."""
    process = processors(LinkMemo(normalizer), ProcessingSettings())
    failures = []
    for case in cases():
        wanted = expected(case)
        if option(case, "strictNamespace") or option(case, "allowPartial") or isinstance(wanted, str):
            continue
        for content_type in ("text/xml", "application/xml; charset=utf-8", "", "application/octet-stream"):
            found = process.process(message(case["url"]), page(body(case), content_type=content_type))
            followed = [link.url.access for link in found.links if link.follow]
            if not set(dict.fromkeys(loc for loc, _ in wanted)) <= set(followed):
                failures.append((case["test"], content_type, found.links, wanted))
            if found.index and case["expected"]["type"] != "RSS":
                failures.append((case["test"], content_type, "indexed", ""))
    assert failures == []

"""JSON Feed 1 and 1.1 (jsonfeed.org): JSON to Document. Called wherever XML is read (`larm.parse.triage`); no state."""

from typing import Final

import msgspec

from larm.model.cuts import EFFORT
from larm.model.document import Document
from larm.model.link_memo import LinkMemo
from larm.model.message import URLMessage
from larm.model.outcome import Fetched
from larm.parse.assembly import Assembler
from larm.parse.charset import text_of
from larm.parse.dates import seconds_of
from larm.parse.feed import Feed
from larm.parse.feed_entry import Entry, FeedLink
from larm.parse.fragment import fragment
from larm.parse.xml import page_of_feed
from larm.parse.xml_tree import MAX_NODES

_VERSION: Final = "https://jsonfeed.org/version/"


class _Item(msgspec.Struct):
    url: str | None = None
    external_url: str | None = None
    title: str | None = None
    summary: str | None = None
    content_html: str | None = None
    content_text: str | None = None
    date_published: str | None = None
    date_modified: str | None = None


class _Feed(msgspec.Struct):
    version: str = ""
    title: str | None = None
    description: str | None = None
    home_page_url: str | None = None
    next_url: str | None = None
    language: str | None = None
    items: list[_Item] | None = None


class JsonFeedProcessor:
    """For both types; other JSON is not read."""

    def __init__(self, assembler: Assembler, links: LinkMemo, effort: int) -> None:
        """``effort``: times the limits, as in ``processing.effort``."""
        # constant after construction
        self._assembler = assembler
        self._links = links
        self._effort = effort

    def process(self, message: URLMessage, fetched: Fetched, mime: str) -> Document:
        """See `larm.seams.Processor`."""
        if mime == "application/json" and b"jsonfeed.org" not in fetched.body:
            return Document(mime)
        text, encoding = text_of(fetched.body, fetched.headers.get("content-type", ""))
        address = message.url.access
        if text.count("{") > MAX_NODES * self._effort:
            return Document(mime, warnings=(f"{address}: JSON Feed: too many objects",), cuts=(EFFORT,))
        try:
            found = msgspec.json.decode(text.lstrip("\ufeff"), type=_Feed)
        except (msgspec.MsgspecError, RecursionError, UnicodeError) as error:
            return Document(mime, warnings=(f"{address}: JSON Feed: {error}",))
        if not found.version.startswith(_VERSION):
            return Document(mime)
        page = page_of_feed(self._links, message, "", _feed(found, self._effort))
        page = page._replace(charset=encoding.name, declared=encoding.declared)
        return self._assembler.document(message, fetched, mime, page)


def _feed(found: _Feed, effort: int) -> Feed:
    links = _links(("alternate", found.home_page_url), ("next", found.next_url))
    about = Entry(" ".join((found.title or "").split()), links, found.description or "", 0, [], [])
    entries = [_entry(item, effort) for item in found.items or ()]
    return Feed(about, entries, found.language or "", [], any(entry.cut for entry in entries))


def _entry(item: _Item, effort: int) -> Entry:
    links = _links(("alternate", item.url), ("related", item.external_url))
    content = fragment(item.content_html or "", effort)
    texts = dict.fromkeys((item.summary or "", content.text or item.content_text or ""))
    mentioned = [FeedLink(href, (), "mentioned", "", words) for href, words in content.links]
    modified = seconds_of(item.date_modified or "") or seconds_of(item.date_published or "")
    title = " ".join((item.title or "").split())
    return Entry(title, links, "\n".join(filter(None, texts)), modified, mentioned, [], content.cut)


def _links(*links: tuple[str, str | None]) -> list[FeedLink]:
    return [FeedLink(href, (), rel) for rel, href in links if href]

"""TextProcessor: plain text. It has no title, and no links unless it is a sitemap. Called on the fetcher threads; no state."""

import re
from typing import Final

from larm.model.document import Document
from larm.model.message import URLMessage
from larm.model.outcome import Fetched
from larm.parse.assembly import Assembler
from larm.parse.charset import header_charset, text_of
from larm.parse.mime import is_binary
from larm.parse.page import Page
from larm.parse.sitemap import TextKind, kind_of_text, read_text
from larm.parse.xml import sitemap_page

_NOT_FOR_READERS = frozenset(("text/css", "text/javascript", "text/rtf"))
"""Text that is fetched with ``follow_embedded``, or is written for programs only."""
_STRUCK: Final = re.compile("[^\n]\x08")
_INVISIBLE: Final = re.compile(r"[\0-\x08\x0b\x0e-\x1a\x1c-\x1f\x7f]+")  # `str.translate` takes six times as long but for ASCII
_LOOKED_AT, _MOST = 20_000, 0.01  # bytes, and the share of them that may be no characters


class TextProcessor:
    """For text/plain, and for all other text that has no processor of its own: sources, tables, notes."""

    def __init__(self, assembler: Assembler, *, strict_sitemaps: bool = False) -> None:
        # constant after construction
        self._assembler = assembler
        self._strict_sitemaps = strict_sitemaps

    def process(self, message: URLMessage, fetched: Fetched, mime: str) -> Document:
        """See `larm.seams.Processor`. Bytes that are no text are stored and not read."""
        body = fetched.body
        if mime in _NOT_FOR_READERS:
            return Document(mime)
        if is_binary(body) and not _is_text_all_the_same(body, fetched.headers.get("content-type", "")):
            return Document(mime, warnings=(f"{message.url.access}: sent as {mime}, but it is binary",))
        text, encoding = text_of(body, fetched.headers.get("content-type", ""))
        kind = kind_of_text(text)
        if kind is TextKind.NO_SITEMAP:
            page = Page(text=_readable(text))
        else:
            words = _readable(text) if kind is TextKind.WITH_WORDS else ""
            page = sitemap_page(read_text(text), message.url.access, self._strict_sitemaps)
            page = page._replace(text=words)
        page = page._replace(charset=encoding.name, declared=encoding.declared)
        listed = kind is TextKind.SITEMAP or (kind is TextKind.WITH_WORDS and message.is_sitemap)
        return self._assembler.document(message, fetched, mime, page, index=not listed)


def _readable(text: str) -> str:
    text = text.replace("\r\n", "\n")
    return _INVISIBLE.sub("", _STRUCK.sub("", text) if "\b" in text else text).strip()


def _is_text_all_the_same(body: bytes, content_type: str) -> bool:
    """In an encoding with zeros in it, or with few characters that are none: printed twice, as manual pages are, the end of a
    file of DOS, a record filled up."""
    if header_charset(content_type).startswith(("utf-16", "utf-32")):
        return True
    head = _STRUCK.sub("", body[:_LOOKED_AT].decode("latin-1")).rstrip("\0\x1a")
    return len(head) - len(_INVISIBLE.sub("", head)) <= len(head) * _MOST

"""The MIME type of an answer: what its Content-Type says or, where that says nothing, what its first bytes look like.

After WHATWG MIME Sniffing. A wrong type is believed, as browsers do: HTML sent as text/plain is text. Pure; any thread.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

UNKNOWN: Final = "application/octet-stream"
"""The type of bytes that are no text and look like nothing we know."""

_ESSENCE = re.compile(r"\s*([!#$%&'*+.^_`|~0-9a-z-]+/[!#$%&'*+.^_`|~0-9a-z-]+)\s*(?:;|$)", re.IGNORECASE)
_SAYS_NOTHING = frozenset({"application/octet-stream", "unknown/unknown", "application/unknown", "*/*", "content/unknown"})
_SNIFFED = 1_445  # bytes, as in the standard
_HTML = re.compile(
    rb"[\t\n\f\r ]*(?:<!--|"
    rb"<(?:!DOCTYPE HTML|HTML|HEAD|SCRIPT|IFRAME|H1|DIV|FONT|TABLE|A|STYLE|TITLE|BODY|BR|B|P|META|LINK)[ \t\n\f\r>])",
    re.IGNORECASE,
)
_XHTML = re.compile(rb"\s*<\?xml[^>]*>\s*(?:<!--.*?-->\s*)?(?:<!DOCTYPE html\b|<html\b)", re.IGNORECASE | re.DOTALL)
_MARKS = (
    (b"%PDF-", "application/pdf"),
    (b"%!PS-Adobe-", "application/postscript"),
    (b"GIF8", "image/gif"),
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"BM", "image/bmp"),
    (b"\x1f\x8b\x08", "application/gzip"),
    (b"PK\x03\x04", "application/zip"),
    (b"Rar!\x1a\x07", "application/vnd.rar"),
    (b"wOFF", "font/woff"),
    (b"wOF2", "font/woff2"),
    (b"OggS\0", "application/ogg"),
    (b"ID3", "audio/mpeg"),
)
_BOMS = (b"\xef\xbb\xbf", b"\xfe\xff", b"\xff\xfe")
_BINARY = re.compile(rb"[\x00-\x08\x0b\x0e-\x1a\x1c-\x1f]")


def mime_of(content_type: str, body: bytes) -> str:
    """The essence, lower case, such as ``text/html``; never empty."""
    return _essence(content_type) or sniff(body)


def is_binary(body: bytes) -> bool:
    """Whether these bytes, sent as text, are none: servers send what they don't know as text/plain."""
    return not body.startswith(_BOMS) and _BINARY.search(body, 0, _SNIFFED) is not None


def sniff(body: bytes) -> str:
    """The type that the first bytes look like."""
    text = body[3:] if body.startswith(_BOMS[0]) else body
    if _HTML.match(text) or _XHTML.match(text[:_SNIFFED]):
        return "text/html"
    if text.lstrip()[:5] == b"<?xml":
        return "text/xml"
    for mark, mime in _MARKS:
        if body.startswith(mark):
            return mime
    if body[:4] == b"RIFF" and body[8:14] == b"WEBPVP":
        return "image/webp"
    return UNKNOWN if is_binary(body) else "text/plain"


@lru_cache(maxsize=1_000)
def _essence(content_type: str) -> str:
    """What the header says; empty if nothing of use. Of several headers, joined by commas, the last that is well-formed."""
    found = ""
    for part in content_type.split(","):
        match = _ESSENCE.match(part)
        if match and (essence := match[1].lower()) not in _SAYS_NOTHING:
            found = essence
    return found

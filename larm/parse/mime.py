"""The MIME type of an answer: what its Content-Type says or, where that says nothing, what its first bytes look like.

After WHATWG MIME Sniffing, but for what is plainly something else than its type says. A browser believes some of these types
to keep a file from running as a page; nothing runs here. Not believed are: types that mean "I don't know"; what begins as only
an HTML page does; text that is a feed, a sitemap, PDF or an image; zip files that are documents. Pure; any thread.
"""

import re
import zlib
from functools import lru_cache
from typing import Final

from larm.parse.readable import names

UNKNOWN: Final = "application/octet-stream"
"""The type of bytes that are no text and look like nothing we know."""

_ESSENCE = re.compile(r"\s*([!#$%&'*+.^_`|~0-9a-z-]+/[!#$%&'*+.^_`|~0-9a-z-]+)\s*(?:;|$)", re.IGNORECASE)
_SAYS_NOTHING = names(
    "application/octet-stream binary/octet-stream unknown/unknown application/unknown */* content/unknown"
    " application/force-download application/x-force-download application/download application/x-download"
)
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
_MARKED = tuple(mark for mark, _ in _MARKS)
_TEXTS = frozenset(("text/html", "text/plain"))
_GZIP = b"\x1f\x8b\x08"
_ZIPS = frozenset(("application/zip", "application/x-zip-compressed", "application/x-zip"))
_PLAINLY_HTML = re.compile(rb"(?:\xef\xbb\xbf)?\s*+<(?:!DOCTYPE\s++HTML|HTML)[\s>]", re.IGNORECASE)
_MAYBE_XML = re.compile(
    rb"(?:\xef\xbb\xbf)?\s*+<(?:\?xml|!--|[a-z][\w.-]*+:|rss|feed|urlset|sitemapindex)|%PDF-", re.IGNORECASE
)
_ROOT = re.compile(
    rb"(?:\xef\xbb\xbf)?\s*+(?:(?:<\?[^>]*+>|<!--.*?-->|<!DOCTYPE[^>\[]*+(?:\[[^\]]*+\]\s*+)?>)\s*+)*+<(?:[a-z][\w.-]*+:)?([a-z][\w.-]*+)",
    re.IGNORECASE | re.DOTALL,
)
_ROOT_WITHIN = 4_096  # bytes of comments and the like before the first element
_BY_ROOT = {
    b"rss": "application/rss+xml",
    b"rdf": "application/rdf+xml",
    b"feed": "application/atom+xml",
    b"urlset": "application/xml",
    b"sitemapindex": "application/xml",
}
_OFFICE = (  # what only such a file has within it
    (b"word/document", "application/vnd.openxmlformats-officedocument.wordprocessingml.document"),
    (b"xl/workbook", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"),
    (b"ppt/presentation", "application/vnd.openxmlformats-officedocument.presentationml.presentation"),
)
_SAID_OF_OFFICE = frozenset(mime for _, mime in _OFFICE)
_FAMILIES = re.compile(r"openxmlformats|opendocument|macroenabled")
_ZIP = b"PK\x03\x04"
_PDF = re.compile(rb"(?:\xef\xbb\xbf)?\s{0,99}%PDF-")
_OPEN_DOCUMENT = re.compile(rb"(application/(?:vnd\.oasis\.opendocument\.(?:text|spreadsheet|presentation)|epub\+zip))")
_PDF_WITHIN = 1_024  # bytes of something else that readers of PDF tolerate (ISO 32000-1, annex H)
_DEFLATED: Final = 8  # of a zip file
_MOST_OF_A_TYPE = 200  # bytes
_ZIP_ENDS = 65_536  # bytes at either end of a zip file that have the names of its first and of all its members
_BOMS = (b"\xef\xbb\xbf", b"\xfe\xff", b"\xff\xfe")
_BINARY = re.compile(rb"[\x00-\x08\x0b\x0e-\x1a\x1c-\x1f]")


def mime_of(content_type: str, body: bytes) -> str:
    """The essence, lower case, such as ``text/html``; never empty."""
    essence = _essence(content_type)
    if document := _document(essence, body):
        return document
    if essence in _TEXTS:
        if _MAYBE_XML.match(body) and (found := _mislabelled(body)):
            return found
        if body.startswith(_MARKED) and is_binary(body):
            return _marked(body)
    if essence and essence != "text/html" and not essence.endswith("xml") and _PLAINLY_HTML.match(body):
        return "text/html"
    if essence.endswith("xml") and body.startswith(_GZIP):
        return "application/gzip"
    return essence or sniff(body)


def _document(essence: str, body: bytes) -> str:
    """PDF, RTF and office files, be they sent as something else, as a .docx as application/msword; empty for all others."""
    if essence in _ZIPS:
        return _of_zip(body)
    if body.startswith(_ZIP):
        if essence not in _SAID_OF_OFFICE and _FAMILIES.search(essence):
            return ""  # it is said more exactly than we could see
        found = _of_zip(body)
        return found if found != "application/zip" else ""
    if "pdf" not in essence and _PDF.match(body):
        return "application/pdf"
    return "application/rtf" if body.startswith(b"{\\rtf") else ""


def is_binary(body: bytes) -> bool:
    """Whether these bytes, sent as text, are none: servers send what they don't know as text/plain."""
    return not body.startswith(_BOMS) and _BINARY.search(body, 0, _SNIFFED) is not None


def sniff(body: bytes) -> str:
    """The type that the first bytes look like."""
    return _mislabelled(body) or _markup(body[3:] if body.startswith(_BOMS[0]) else body) or _marked(body)


def _markup(text: bytes) -> str:
    if _HTML.match(text) or _XHTML.match(text[:_SNIFFED]):
        return "text/html"
    return "text/xml" if text[:_SNIFFED].lstrip()[:5] == b"<?xml" else ""


def _marked(body: bytes) -> str:
    for mark, mime in _MARKS:
        if body.startswith(mark):
            return _of_zip(body) if mime == "application/zip" else mime
    if b"%PDF-" in body[:_PDF_WITHIN]:
        return "application/pdf"
    if body[:4] == b"RIFF" and body[8:14] == b"WEBPVP":
        return "image/webp"
    return UNKNOWN if is_binary(body) else "text/plain"


def _mislabelled(body: bytes) -> str:
    """The type of what servers like to send as HTML or text: feeds, sitemaps, PDF; empty for anything else."""
    if body.startswith(b"%PDF-"):
        return "application/pdf"
    root = _ROOT.match(body[:_ROOT_WITHIN])
    return _BY_ROOT.get(root[1].lower(), "") if root else ""


def _of_zip(body: bytes) -> str:
    """The type of a zip file, which may be a document."""
    if match := _OPEN_DOCUMENT.match(_first_member(body)):
        return match[1].decode()
    head, tail = body[:_ZIP_ENDS], body[-_ZIP_ENDS:]
    if b"[Content_Types].xml" in head or b"[Content_Types].xml" in tail:
        for name, mime in _OFFICE:
            if name in head or name in tail:
                return mime
    return "application/zip"


def _first_member(body: bytes) -> bytes:
    """Of a zip file that begins with its type; empty of any other. It should be stored as it is, but not all programs do so."""
    name, extra = (int.from_bytes(body[at : at + 2], "little") for at in (26, 28))
    if body[30 : 30 + name] != b"mimetype":
        return b""
    data = body[30 + name + extra :][:_MOST_OF_A_TYPE]
    if int.from_bytes(body[8:10], "little") != _DEFLATED:
        return data
    try:
        return zlib.decompressobj(-15).decompress(data, _MOST_OF_A_TYPE)
    except zlib.error:
        return b""


@lru_cache(maxsize=1_000)
def _essence(content_type: str) -> str:
    """What the header says; empty if nothing of use. Of several headers, joined by commas, the last that is well-formed."""
    found = ""
    for part in content_type.split(","):
        match = _ESSENCE.match(part)
        if match and (essence := match[1].lower()) not in _SAYS_NOTHING:
            found = essence
    return found

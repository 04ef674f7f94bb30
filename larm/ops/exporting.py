"""Exports: the pages of a directory, one after the other, in forms that other programs read. For ``larm export``; main thread.

Each form has a head, a piece for each page, and an end; nothing is collected, so memory does not grow with the pages.
"""

import csv
import hashlib
import io
import json
import re
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote, unquote, urlsplit
from xml.sax.saxutils import escape

import msgspec

from larm.building.own_fields import field_names
from larm.config import Config
from larm.index.reader import IndexReader
from larm.index.search.answer import moment
from larm.index.search.links import LinkDesk
from larm.index.search.query import parse_question
from larm.kit.printable import cell, escaped, without_controls
from larm.model.document import Document
from larm.ops.stored_pages import StoredPage, StoredPages
from larm.parse.fragments import HTML
from larm.parse.markdown import markdown
from larm.parse.readable import ordered
from larm.store.reader import LeftOut

SITEMAP_MOST = 50_000
"""URLs of one sitemap, by the protocol (sitemaps.org)."""
_COLUMNS = ordered("url title description language mime status size depth modified fetched links text")
_LONGEST_NAME = 120  # characters of a file's name; file systems allow 255 bytes
_INDEX = "index"
"""Name of the page of a folder."""
_UNSAFE = re.compile(
    r'[\x00-\x1f<>:"/\\|?*%\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\ud800-\udfff\U000e0000-\U000e007f]'
)


class Exported(msgspec.Struct, frozen=True):
    """One page, on its way into a form."""

    page: StoredPage
    document: Document
    body: Callable[[], bytes]
    """Its bytes; empty where no copy is kept."""

    def facts(self) -> dict[str, Any]:
        """What is known of it, but text and links."""
        row, document = self.page.row, self.document
        return {
            "url": self.page.url.access,
            "title": document.title,
            "description": document.description,
            "language": document.language or None,
            "mime": document.mime,
            "status": self.page.entry.status,
            "size": self.page.entry.size,
            "depth": None if row is None else row.depth,
            "modified": moment(document.modified),
            "fetched": moment(row.fetched) if row is not None else None,
        }

    @property
    def fields(self) -> dict[str, str | tuple[str, ...]]:
        """Those of the user's: a text where there is one value, else all of them."""
        return {name: said[0] if len(said) == 1 else said for name, said in self.document.fields.items()}


class Form(NamedTuple):
    """How pages are written."""

    piece: Callable[[Exported], str]
    """Of a page; empty: it does not belong into this form."""
    head: str = ""
    """Before the first page."""
    end: str = ""
    """After the last."""


def _json_line(page: Exported) -> str:
    """An object a page."""
    document, row = page.document, page.page.row
    links = [{"url": each.url.access, "text": each.anchor, "follow": each.follow} for each in document.links]
    more = {
        "referrer": page.page.entry.from_page,
        "canonical": document.canonical.access if document.canonical else None,
        "index": row.index if row is not None else True,
        "headings": document.headings,
        **({"fields": page.fields} if page.fields else {}),
        "text": document.text,
        "links": links,
    }
    return escaped(json.dumps(page.facts() | more, ensure_ascii=False).encode("utf-8", "replace").decode()) + "\n"


def _table(fields: Sequence[str], *, raw: bool) -> Form:
    """CSV (RFC 4180) with a line of names; of the links only the number.

    ``fields``: those of the user's, a column each behind all others; several values are parted by line ends. ``raw``: what
    spreadsheets take for formulas has no quotation mark in front.
    """
    columns = {name: f"field.{name}" if name in _COLUMNS else name for name in fields}

    def piece(page: Exported) -> str:
        own = {column: "\n".join(page.document.fields.get(name, ())) for name, column in columns.items()}
        row = page.facts() | {"links": len(page.document.links), "text": page.document.text} | own
        row = {name: cell(value, raw=raw) if isinstance(value, str) else value for name, value in row.items()}
        line = io.StringIO()
        csv.DictWriter(line, [*_COLUMNS, *own], lineterminator="\r\n").writerow(row)
        return line.getvalue().encode("utf-8", "replace").decode()

    return Form(piece, ",".join([*_COLUMNS, *columns.values()]) + "\r\n")


def _markdown(page: Exported, effort: int) -> str:
    """The main text of a page with headings, lists, links and tables, behind its facts in YAML.

    ``effort``: see `larm.parse.hostile`."""
    facts = page.fields | {name: value for name, value in page.facts().items() if value not in (None, "")}
    head = "".join([f"{name}: {json.dumps(value, ensure_ascii=False)}\n" for name, value in facts.items()])
    document = page.document
    body = page.body() if document.mime in HTML else b""
    plain = document.raw_text
    text = markdown(body, plain, page.page.url.access, effort) if body else plain.strip() + "\n"
    return without_controls(f"---\n{head}---\n\n{text}\n").encode("utf-8", "replace").decode()


def _sitemap_url(page: Exported) -> str:
    """Pages that want to be found, under the addresses by which they want to be known."""
    document, url = page.document, page.page.url
    elsewhere = document.canonical is not None and document.canonical.fingerprint != url.fingerprint
    if elsewhere or not document.index or (page.page.row is not None and not page.page.row.index):
        return ""
    modified = moment(document.modified)
    date = f"<lastmod>{modified[:10]}</lastmod>" if modified else ""
    return f"<url><loc>{escape(url.access)}</loc>{date}</url>\n"


_XML = '<?xml version="1.0" encoding="UTF-8"?>\n'
_XMLNS = 'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"'
_SITEMAP = Form(_sitemap_url, f"{_XML}<urlset {_XMLNS}>\n", "</urlset>\n")
FORMS: dict[str, Callable[[Config, bool], Form]] = {
    "jsonl": lambda *_: Form(_json_line),
    "csv": lambda settings, raw: _table(field_names(settings), raw=raw),
    "markdown": lambda settings, _: Form(partial(_markdown, effort=settings.processing.effort)),
    "sitemap": lambda *_: _SITEMAP,
}
"""By the names of ``--format``; of the settings, and of ``--raw``."""


def exported(settings: Config, directory: Path, query: str = "", left_out: LeftOut | None = None) -> Iterator[Exported]:
    """Yield the pages that a query finds, all without one, in the order of the crawl; no sitemaps.

    Raises UsageError, StorageError. ``left_out``: gets the pages that can't be read.
    """
    wanted = found_by(settings, directory, query) if query else None
    with StoredPages(settings, directory, left_out=left_out) as pages:
        for page in pages:
            if wanted is None or page.url.fingerprint in wanted:
                document = pages.read_whole(page)
                if document is not None and document.lastmods is None:
                    yield Exported(page, document, lambda page=page: pages.body(page))  # type: ignore[misc]


def found_by(settings: Config, directory: Path, query: str) -> frozenset[int]:
    """Fingerprints of all pages that have what is asked for. Raises UsageError where there is no index, StorageError."""
    reader = IndexReader(directory / "index", settings.search)
    return frozenset(reader.pages(LinkDesk(directory).resolve(parse_question(query, is_field=reader.has_field).tree, [])))


def write_all(pages: Iterator[Exported], form: Form, write: Callable[[str], object]) -> int:
    """One after the other; returns how many pages were written."""
    written = 0
    write(form.head)
    for page in pages:
        if text := form.piece(page):
            write(text)
            written += 1
    write(form.end)
    return written


def write_markdown(pages: Iterator[Exported], form: Form, folder: Path) -> int:
    """A file for each page, named after its address: ``HOST/PATH``. Existing files of these names are replaced.

    Raises OSError.
    """
    written = 0
    for page in pages:
        path = folder / file_of(page.page.url.access, ".md")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(form.piece(page), encoding="utf-8")
        written += 1
    return written


def write_sitemaps(pages: Iterator[Exported], folder: Path, most: int = SITEMAP_MOST) -> int:
    """``sitemap-1.xml`` and so on, and ``sitemap.xml``, which is their index. Raises OSError."""
    form = _SITEMAP
    pieces = (text for page in pages if (text := form.piece(page)))
    folder.mkdir(parents=True, exist_ok=True)
    written, names = 0, list[str]()
    for text in pieces:
        if written % most == 0:
            names.append(f"sitemap-{len(names) + 1}.xml")
            (folder / names[-1]).write_text(form.head, encoding="utf-8")
        written += 1
        with (folder / names[-1]).open("a", encoding="utf-8") as file:
            file.write(text)
    for name in names:
        with (folder / name).open("a", encoding="utf-8") as file:
            file.write(form.end)
    entries = "".join([f"<sitemap><loc>{name}</loc></sitemap>\n" for name in names])
    (folder / "sitemap.xml").write_text(f"{_XML}<sitemapindex {_XMLNS}>\n{entries}</sitemapindex>\n", encoding="utf-8")
    return written


def file_of(address: str, suffix: str) -> Path:
    """Where the file of an address goes, below a folder: never above it, and no two pages at one place."""
    parts = urlsplit(address)
    port = ":80" if parts.scheme == "http" and parts.port is None else ""  # https has the name without one
    host = _name((parts.netloc + port).replace(":", "+") or "files")
    *folders, last = parts.path.split("/")
    names = [_name(unquote(name)) for name in folders if name]
    last = f"{_name(unquote(last))}{'%' * (last == _INDEX)}" if last else _INDEX
    if parts.query:
        last = _name(f"{unquote(last)}?{parts.query}")
    return Path(host, *(name + "%" * name.endswith(suffix) for name in names), last + suffix)


def _name(text: str) -> str:
    """A name that all file systems take; what they do not is escaped, so that names stay apart."""
    safe = _UNSAFE.sub(lambda match: f"%{ord(match[0]):02X}", text)
    if len(safe.encode("utf-8", "replace")) > _LONGEST_NAME:
        safe = f"{quote(safe)[:80]}-{hashlib.sha256(text.encode()).hexdigest()[:16]}"
    return safe.replace(".", "%2E") if not safe.strip(".") else safe

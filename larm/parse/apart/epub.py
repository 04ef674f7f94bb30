"""Books in EPUB (EPUB 3.3): a zip file of pages, which are read as those of the web are. Runs in a reading process only."""

import posixpath
from urllib.parse import unquote

from larm.model.cuts import EFFORT
from larm.parse.apart.limits import Budget
from larm.parse.apart.package import Package, Unreadable, local
from larm.parse.html import reading_of
from larm.parse.page import as_html
from larm.parse.parts import headings_of, title_of
from larm.parse.trees import tree_reader
from larm.parse.xml_tokens import START

_PAGE = "application/xhtml+xml"
_ENDS = (".xhtml", ".html", ".htm")


def read(package: Package, budget: Budget) -> str:
    """The text into ``budget``, page by page as a book is read; the title of the first page that has one."""
    pages = _reading_order(package) or sorted(name for name in package.names if name.lower().endswith(_ENDS))
    locked = _encrypted(package)
    if not (found := [name for name in pages if name in package.names]):
        raise Unreadable("there are no pages in it")
    if not (readable := [name for name in found if name not in locked]):
        raise Unreadable("it is encrypted")
    package.warnings += [f"{name} is missing" for name in pages if name not in package.names]
    package.warnings += [f"{name} is encrypted" for name in found if name in locked]
    title = ""
    for name in readable:
        page, warnings = reading_of(as_html(package.text(name).encode("utf-8", "replace"), _PAGE), tree_reader(), budget.effort)
        package.warnings += [f"{name}: {warning}" for warning in warnings]
        if warnings:
            budget.cuts[EFFORT] = None  # all of them say that
        headings, _ = headings_of(page)
        title = title or title_of(page.title, headings)
        budget.headings += headings
        budget.text("".join([f"{text}\n" for text in page.blocks.texts]))
        for tag, attributes, words in page.elements:
            if tag == "a" and "://" in (address := attributes.get("href") or ""):  # others lead to pages of the book
                budget.link(address, words)
        if budget.spent(name):
            break
    return title


def _reading_order(package: Package) -> list[str]:
    """Names of parts, each once; those that are missing, too."""
    about = package.book()
    tokens, folder = package.tokens(about), posixpath.dirname(about)
    places: dict[str, str] = {}
    order: dict[str, None] = {}
    for kind, name, rest in tokens:
        if kind != START or local(name) not in ("item", "itemref"):
            continue
        attributes = tokens.attributes(rest)
        if local(name) == "itemref":
            order[places.get(attributes.get("idref", ""), "")] = None
        elif attributes.get("media-type", "").lower() in (_PAGE, "text/html"):
            places[attributes.get("id", "")] = posixpath.normpath(posixpath.join(folder, unquote(attributes.get("href", ""))))
    return [name for name in order if name] or list(dict.fromkeys(places.values()))


def _encrypted(package: Package) -> set[str]:
    """Names of parts; fonts often are, which are none of ours."""
    return {unquote(each.get("uri", "")) for each in package.elements("META-INF/encryption.xml", "cipherreference")}

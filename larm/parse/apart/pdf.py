"""PDF: text, title, outline, links, filled-in forms, with PDFium, the reader of Chrome. Runs in a reading process only.

Chosen by measuring 142 odd files against poppler: PDFium finds .96 of its words (with the forms; pypdf .91, pdfminer .92) in a
fifth of the time of the others, and it is C++ code that reads whatever the web sends: hence the process.
"""

import ctypes
import re
import sys
import unicodedata
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any
from urllib.parse import quote

import pypdfium2.raw as pdfium

from larm.parse.apart.limits import Budget, one_line
from larm.parse.apart.protocol import Found
from larm.parse.apart.titles import is_file_name, title_of
from larm.parse.dates import seconds_of_pdf
from larm.parse.page import MAX_HEADINGS

_TITLE_WITHIN = 2_000  # characters of the first page
_FORM_VERSION = 2  # of the structure that PDFium's forms want; its last one without scripts
_LARGE = 16
"""Points of a heading, where a page has letters of one size only."""
_ERRORS = {
    pdfium.FPDF_ERR_FORMAT: "it is no PDF, or damaged",
    pdfium.FPDF_ERR_PASSWORD: "it needs a password",
    pdfium.FPDF_ERR_SECURITY: "its encryption is not known",
}
_HYPHEN = re.compile("[\x02\ufffe]\\s*")
"""A word is divided at the end of a line; PDFium's mark for it."""
_INVISIBLE = re.compile("[\0-\x08\x0b\x0e-\x1f\x7f\ufffe\uffff]")


def read_pdf(body: bytes, budget: Budget) -> Found:
    """What PDFium makes of it."""
    pdfium.FPDF_InitLibrary()
    start = body.find(b"%PDF-", 0, 1_024)
    data = body[start:] if start > 0 else body
    document = pdfium.FPDF_LoadMemDocument64(data, len(data), None)
    if not document:
        error = pdfium.FPDF_GetLastError()
        return budget.given_up(_ERRORS.get(error, f"PDFium gives up with error {error}"))
    budget.title = title_of(_meta(document, b"Title"))
    _read_pages(document, budget, titled=not is_file_name(budget.title))
    _read_attached(document, budget)
    _read_outline(document, budget)
    modified = seconds_of_pdf(_meta(document, b"ModDate")) or seconds_of_pdf(_meta(document, b"CreationDate"))
    language = _wide(partial(pdfium.FPDFCatalog_GetLanguage, document))
    about = " ".join(_meta(document, name) for name in (b"Author", b"Subject", b"Keywords"))
    found = budget.found(budget.title, modified, language, about)
    pdfium.FPDF_CloseDocument(document)
    return found


def _read_outline(document: Any, budget: Budget) -> None:
    """Append the titles of the outline to the headings, in their order. A broken outline may be a circle."""
    waiting = [pdfium.FPDFBookmark_GetFirstChild(document, None)]
    for _ in range(2 * MAX_HEADINGS):
        if not (bookmark := waiting.pop() if waiting else None):
            continue
        budget.headings.append(" ".join(_clean(_wide(partial(pdfium.FPDFBookmark_GetTitle, bookmark))).split()))
        waiting.append(pdfium.FPDFBookmark_GetNextSibling(document, bookmark))
        waiting.append(pdfium.FPDFBookmark_GetFirstChild(document, bookmark))


def _read_attached(document: Any, budget: Budget) -> None:
    """The names of the files that are attached, and the texts of those that are PDF: of a portfolio they are all there is."""
    for number in range(pdfium.FPDFDoc_GetAttachmentCount(document)):
        attached = pdfium.FPDFDoc_GetAttachment(document, number)
        name = _clean(_wide(partial(pdfium.FPDFAttachment_GetName, attached)))
        budget.text(name + "\n")
        size = ctypes.c_ulong()
        if budget.spent(name):
            break
        if not pdfium.FPDFAttachment_GetFile(attached, None, 0, size):
            continue
        data = ctypes.create_string_buffer(size.value)
        if not pdfium.FPDFAttachment_GetFile(attached, data, size, size) or bytes(memoryview(data)[:5]) != b"%PDF-":
            budget.warnings.append(f"{name}: a file that is attached, and not read")
        elif inner := pdfium.FPDF_LoadMemDocument64(data, size.value, None):
            _read_pages(inner, budget, titled=True)
            pdfium.FPDF_CloseDocument(inner)
        else:
            budget.warnings.append(f"{name}: a PDF that is attached, and can't be read")


def _read_pages(document: Any, budget: Budget, *, titled: bool) -> None:
    """The pages of a document into ``budget``; one that isn't ``titled`` has its title on the first one."""
    form_info = pdfium.FPDF_FORMFILLINFO(version=_FORM_VERSION)
    form = pdfium.FPDFDOC_InitFormFillEnvironment(document, form_info)
    count = pdfium.FPDF_GetPageCount(document)
    for number in range(count):
        if budget.spent(f"page {number + 1} of {count}"):
            break
        page = pdfium.FPDF_LoadPage(document, number)
        if not page:
            budget.warnings.append(f"page {number + 1} can't be read")
            continue
        text = pdfium.FPDFText_LoadPage(page)
        if text:
            with _of_page(number, budget):
                _read_page(document, page, text, budget)
            if number == 0 and not titled:
                with _of_page(number, budget):
                    budget.title = _largest(text) or budget.title
            pdfium.FPDFText_ClosePage(text)
        with _of_page(number, budget):
            _read_notes(page, form, budget)
        pdfium.FPDF_ClosePage(page)
    if form:
        pdfium.FPDFDOC_ExitFormFillEnvironment(form)


def _read_page(document: Any, page: Any, text: Any, budget: Budget) -> None:
    box = pdfium.FS_RECTF(0.0, pdfium.FPDF_GetPageHeightF(page), pdfium.FPDF_GetPageWidthF(page), 0.0)
    pdfium.FPDF_GetPageBoundingBox(page, box)
    budget.text(_clean(_bounded(text, box)) + "\n")
    for address, rectangle in _annotations(document, page):
        budget.link(address, _clean(_bounded(text, rectangle)))
    for address in _addresses(text):
        budget.link(address)


def _bounded(text: Any, box: Any) -> str:
    """The characters within a rectangle, in the order in which people read them."""
    left, top, right, bottom = box.left, box.top, box.right, box.bottom
    count = pdfium.FPDFText_GetBoundedText(text, left, top, right, bottom, None, 0)
    if count <= 0:
        return ""
    buffer = (ctypes.c_ushort * count)()
    pdfium.FPDFText_GetBoundedText(text, left, top, right, bottom, buffer, count)
    return bytes(buffer).decode("utf-16-le", "replace")


def _annotations(document: Any, page: Any) -> Iterator[tuple[str, Any]]:
    """(address, rectangle) of each link that was made as one."""
    position, link = ctypes.c_int(0), pdfium.FPDF_LINK()
    while pdfium.FPDFLink_Enumerate(page, position, link):
        action = pdfium.FPDFLink_GetAction(link)
        kind = pdfium.FPDFAction_GetType(action) if action else None
        if kind == pdfium.PDFACTION_URI:
            address = _narrow(partial(pdfium.FPDFAction_GetURIPath, document, action))
        elif kind == pdfium.PDFACTION_REMOTEGOTO:  # the name of a file beside this one
            address = quote(_narrow(partial(pdfium.FPDFAction_GetFilePath, action)), "/:")
        else:
            continue
        rectangle = pdfium.FS_RECTF()
        if address and pdfium.FPDFLink_GetAnnotRect(link, rectangle):
            yield address, rectangle


def _addresses(text: Any) -> Iterator[str]:
    """What looks like an address in the text."""
    links = pdfium.FPDFLink_LoadWebLinks(text)
    if not links:
        return
    for number in range(pdfium.FPDFLink_CountWebLinks(links)):
        count = pdfium.FPDFLink_GetURL(links, number, None, 0)
        if count > 1:
            buffer = (ctypes.c_ushort * count)()
            pdfium.FPDFLink_GetURL(links, number, buffer, count)
            yield bytes(buffer).decode("utf-16-le", "replace").rstrip("\0")
    pdfium.FPDFLink_CloseWebLinks(links)


_WITHOUT_WORDS = (pdfium.FPDF_ANNOT_LINK, pdfium.FPDF_ANNOT_POPUP)
"""Of these the contents describe what is elsewhere."""


def _read_notes(page: Any, form: Any, budget: Budget) -> None:
    """What somebody has written on the page, what is in the fields of a form, and what these offer."""
    for number in range(pdfium.FPDFPage_GetAnnotCount(page)):
        note = pdfium.FPDFPage_GetAnnot(page, number)
        if not note:
            continue
        kind = pdfium.FPDFAnnot_GetSubtype(note)
        words: list[str] = []
        if kind == pdfium.FPDF_ANNOT_WIDGET and form:
            words = [_wide(partial(pdfium.FPDFAnnot_GetFormFieldValue, form, note))]
            options = range(pdfium.FPDFAnnot_GetOptionCount(form, note))
            words += [_wide(partial(pdfium.FPDFAnnot_GetOptionLabel, form, note, option)) for option in options]
        elif kind not in _WITHOUT_WORDS:
            words = [_wide(partial(pdfium.FPDFAnnot_GetStringValue, note, b"Contents"))]
        if text := " ".join(filter(None, words)):
            budget.text(_clean(text) + "\n")
        pdfium.FPDFPage_CloseAnnot(note)


@contextmanager
def _of_page(number: int, budget: Budget) -> Iterator[None]:
    """Whatever goes wrong with a part of a page costs that part."""
    try:
        yield
    except MemoryError:
        raise
    except Exception as error:  # noqa: BLE001  it was found in a document, and is said of it
        budget.warnings.append(f"page {number + 1}: {one_line(error)}")


def _meta(document: Any, name: bytes) -> str:
    return _clean(_wide(partial(pdfium.FPDF_GetMetaText, document, name)))


def _wide(get: Callable[[Any, int], int]) -> str:
    """Of a function that writes UTF-16 with a NUL into a buffer and returns its size in bytes."""
    size = get(None, 0)
    if size <= 2:
        return ""
    buffer = (ctypes.c_ushort * (size // 2))()
    get(buffer, size)
    return bytes(buffer).decode("utf-16-le", "replace").rstrip("\0")


def _narrow(get: Callable[[Any, int], int]) -> str:
    """The same in UTF-8."""
    size = get(None, 0)
    if size <= 1:
        return ""
    buffer = ctypes.create_string_buffer(size)
    get(buffer, size)
    return buffer.value.decode("utf-8", "replace")


def _largest(text: Any) -> str:
    """Return the first words in the largest letters of a page: its title, as a reader sees it.

    Where all letters are of one size, that is the first line of large ones.
    """
    runs: list[tuple[float, list[str]]] = []
    size = 0.0
    for index in range(min(pdfium.FPDFText_CountChars(text), _TITLE_WITHIN)):
        code = pdfium.FPDFText_GetUnicode(text, index)  # of UTF-16; anything, in broken fonts
        character = chr(code) if 0 <= code <= sys.maxunicode else " "
        if not character.isspace():
            size = round(pdfium.FPDFText_GetFontSize(text, index), 1)
        if not runs or runs[-1][0] != size:
            runs.append((size, []))
        runs[-1][1].append(character)
    titles = [(size, " ".join(_clean("".join(letters)).split())) for size, letters in runs]
    titles = [(size, title) for size, title in titles if sum(map(str.isalpha, title)) > 3 and not title[0].islower()]
    if titles and len({size for size, _ in titles}) < 2:  # all letters are of one size
        return _clean("".join(runs[0][1])).strip().partition("\n")[0].strip()[:200] if titles[0][0] >= _LARGE else ""
    if not titles:
        return ""
    return max(titles, key=lambda each: each[0])[1][:200]


def _clean(text: str) -> str:
    text = unicodedata.normalize("NFKC", _HYPHEN.sub("", text))  # letters for letters, not the forms that fonts have of them
    return _INVISIBLE.sub(" ", text).replace("\r\n", "\n")

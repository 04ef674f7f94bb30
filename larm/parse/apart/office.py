"""Office files, and books: which reader is for which kind. Runs in a reading process only."""

from larm.model.cuts import DOCUMENTS
from larm.parse.apart import beside, open_document, sheet, slides, word
from larm.parse.apart.limits import Budget
from larm.parse.apart.package import Package, Unreadable
from larm.parse.apart.protocol import EPUB, OPEN, SHEET, SLIDES, WORD, Found
from larm.parse.apart.titles import better_title


def _book(package: Package, budget: Budget) -> str:
    from larm.parse.apart.epub import read  # with the reader of pages, for who has books

    return read(package, budget)


_READERS = {WORD: word.read, SHEET: sheet.read, SLIDES: slides.read, OPEN: open_document.read, EPUB: _book}


def read_office(body: bytes, kind: str, budget: Budget) -> Found:
    """What is in a document of Office Open XML, OpenDocument or EPUB."""
    try:
        package = Package(body, budget.memory)
    except Unreadable as error:
        return budget.given_up(str(error))
    try:
        budget.title = _READERS[kind](package, budget)
        beside.read(package, budget)
        properties = package.properties("meta.xml" if kind == OPEN else package.book() or "docProps/core.xml")
    except Unreadable as error:
        _note(package, budget)
        return budget.given_up(str(error))
    _note(package, budget)
    title = better_title(properties.title, budget.title)
    return budget.found(title, properties.modified, properties.language, properties.description)


def _note(package: Package, budget: Budget) -> None:
    """What is to be said of its parts."""
    budget.warnings += package.warnings
    if package.cut:
        budget.cuts[DOCUMENTS] = None

"""OpenDocument texts, tables and presentations (ISO/IEC 26300). Runs in a reading process only."""

from __future__ import annotations

import re

from larm.parse.apart.limits import Budget
from larm.parse.apart.package import Package, Unreadable, local
from larm.parse.xml_tokens import START, TEXT, XmlTokens

_SKIPPED = frozenset(("text:tracked-changes", "office:forms", "office:automatic-styles", "office:styles", "office:scripts"))
_ENDS = {"text:p": "\n", "text:h": "\n", "table:table-cell": "\t", "table:table-row": "\n"}
_SEPARATORS = {"text:tab": "\t", "text:line-break": "\n", "text:soft-page-break": " "}
_ABOUT = frozenset(("dc:creator", "dc:date", "meta:date-string", "text:note-citation"))  # of a comment, of a footnote
_ASIDE = frozenset(("style:header", "style:header-left", "style:header-first"))
_ASIDE |= frozenset(name.replace("header", "footer") for name in _ASIDE)
_OBJECT = re.compile(r"(?:.*/)?Object [^/]*/content\.xml")
_LINKS = frozenset(("text:a", "draw:a"))


def read(package: Package, budget: Budget) -> str:
    """The text into ``budget``; the first heading."""
    text = package.text("content.xml")
    if "encryption-data" in package.text("META-INF/manifest.xml"):
        raise Unreadable("it needs a password")
    if not text:
        raise Unreadable("there is no content in it")
    reader = _Reader(budget)
    _read_part(package.tokens_of(text), reader, budget)
    objects = dict.fromkeys(filter(_OBJECT.fullmatch, sorted(package.names)), frozenset[str]())  # charts, formulas
    for name, only in {"styles.xml": _ASIDE, **objects}.items():
        if budget.spent(name):
            break
        _read_part(package.tokens(name), _Reader(budget, only), budget)
    return reader.title


def _read_part(tokens: XmlTokens, reader: _Reader, budget: Budget) -> None:
    for kind, name, rest in budget.within(tokens):
        if kind == TEXT:
            reader.characters(rest)
        elif kind == START:
            reader.begin(name, tokens.attributes(rest) if rest else {})
        else:
            reader.end(name)
    reader.finish()


def _from_outside(address: str) -> str:
    """As seen from where the document is. Within, it counts as a folder: one ``../`` leads out of it (ODF 1.3, part 2, 3.7)."""
    return address.strip().removeprefix("../")


class _Reader:
    """Takes what matters from the stream of tags. Text stands in paragraphs and headings, and nowhere else."""

    def __init__(self, budget: Budget, only: frozenset[str] = frozenset()) -> None:
        """``only``: elements in which the text is wanted; empty: all."""
        self.title = ""
        self._budget = budget
        self._only = only
        self._wanted = not only
        self._line: list[str] = []
        self._around: list[list[str]] = []  # the lines that it stands in, by a note or a text box; the first is none
        self._skip = 0
        self._links: list[tuple[str, int]] = []

    def characters(self, text: str) -> None:
        if self._around and not self._skip:
            self._line.append(text)

    def begin(self, name: str, attributes: dict[str, str]) -> None:
        if self._skip or name in _SKIPPED or name in _ABOUT:
            self._skip += 1
        elif name in self._only:
            self._wanted = True
        elif not self._wanted:
            return
        elif name in ("text:p", "text:h"):
            self._around.append(self._line)
            self._line = []
        elif name in _SEPARATORS:
            self._line.append(_SEPARATORS[name])
        elif name == "text:s":
            self._line.append(" ")
        elif name in _LINKS:
            self._links.append((_from_outside(attributes.get("xlink:href", "")), len(self._line)))
        elif name in ("table:table", "draw:page"):
            label = next((value for key, value in attributes.items() if local(key) == "name"), "")
            self._budget.text(label + "\n")

    def end(self, name: str) -> None:
        if self._skip:
            self._skip -= 1
        elif name in self._only:
            self._wanted = False
        elif not self._wanted:
            return
        elif name in _LINKS and self._links:
            address, begin = self._links.pop()
            self._budget.link(address, "".join(self._line[begin:]))
        elif name in _ENDS:
            line = self._end_line() if name in ("text:p", "text:h") else ""
            if name == "text:h" and line.strip():
                self._budget.headings.append(" ".join(line.split()))
                self.title = self.title or line
            self._budget.text(line + _ENDS[name])

    def finish(self) -> None:
        """Also where the time is over."""
        while self._around:
            self._budget.text(self._end_line() + "\n")

    def _end_line(self) -> str:
        line, self._line = "".join(self._line), self._around.pop() if self._around else []
        return line

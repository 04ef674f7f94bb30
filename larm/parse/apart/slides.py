"""Slides of Office Open XML (ECMA-376, PresentationML). Runs in a reading process only."""

import re

from larm.parse.apart.limits import Budget
from larm.parse.apart.package import Package, Unreadable, identity, local
from larm.parse.xml_tokens import START, TEXT, XmlTokens

_TITLES = ("title", "ctrTitle")
_NUMBER = re.compile(r"\d+")


def read(package: Package, budget: Budget) -> str:
    """The texts into ``budget``, slide by slide with its notes; the title of the first slide that has one."""
    slides = _slides(package)
    if not slides:
        raise Unreadable("there are no slides in it")
    title = ""
    for number, part in enumerate(slides):
        if budget.spent(f"slide {number + 1} of {len(slides)}"):
            break
        relations = package.relations(part)
        found = _read_part(package.tokens(part), relations, budget)
        title = title or found
        for notes in (target for target in relations.values() if "/notesSlides/" in target):
            _read_part(package.tokens(notes), {}, budget)
    return title


def _slides(package: Package) -> list[str]:
    """In the order of the presentation."""
    main = package.main("ppt/presentation.xml")
    relations = package.relations(main)
    ordered = [relations.get(identity(attributes), "") for attributes in package.elements(main, "sldid")]
    found = [part for part in ordered if part in package.names]
    return found or sorted(
        (name for name in package.names if re.fullmatch(r"ppt/slides/slide\d+\.xml", name)),
        key=lambda name: int(_NUMBER.findall(name)[-1]),
    )


def _read_part(tokens: XmlTokens, relations: dict[str, str], budget: Budget) -> str:
    reader = _Reader(relations, budget)
    for kind, name, rest in tokens:
        if kind == TEXT:
            reader.characters(rest)
        elif kind == START:
            reader.begin(local(name), tokens.attributes(rest) if rest else {})
        else:
            reader.end(local(name))
    return reader.title


class _Reader:
    """Takes what matters from the stream of tags: runs of text in paragraphs in shapes."""

    def __init__(self, relations: dict[str, str], budget: Budget) -> None:
        self.title = ""
        self._relations = relations
        self._budget = budget
        self._line: list[str] = []
        self._run: list[str] = []
        self._inside = False  # of a text
        self._is_title = False
        self._address = ""  # of the run or the shape

    def characters(self, text: str) -> None:
        if self._inside:
            self._run.append(text)

    def begin(self, name: str, attributes: dict[str, str]) -> None:
        self._inside = name == "t"
        if name == "br":
            self._run.append("\n")
        elif name == "ph":
            self._is_title = attributes.get("type", "") in _TITLES
        elif name == "hlinkclick":
            self._address = self._relations.get(identity(attributes), "")

    def end(self, name: str) -> None:
        self._inside = False
        if name in ("r", "fld", "p"):
            words, self._run = "".join(self._run), []
            self._line.append(words)
            if words:
                self._budget.link(self._address, words)
                self._address = ""
        if name == "p":
            self._end_line("".join(self._line))
        elif name == "sp":
            self._budget.link(self._address)  # the whole shape is the link
            self._is_title, self._address = False, ""

    def _end_line(self, line: str) -> None:
        self._budget.text(line + "\n")
        if self._is_title and line.strip():
            self._budget.headings.append(" ".join(line.split()))
            self.title = self.title or line
        self._line = []

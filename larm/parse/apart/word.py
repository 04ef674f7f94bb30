"""Texts of Office Open XML (ECMA-376, WordprocessingML). Runs in a reading process only."""

import re

from larm.parse.apart.limits import Budget
from larm.parse.apart.package import Package, Unreadable, identity, local
from larm.parse.xml_tokens import START, TEXT, XmlTokens

_ASIDE = re.compile(r"(?:header|footer|footnotes|endnotes|comments)\d*\.xml")
_HEADING = re.compile(r"heading ?\d|title|subtitle", re.IGNORECASE)
_FIELD = re.compile(r"\s*HYPERLINK\s+\"([^\"]+)\"", re.IGNORECASE)
_SEPARATORS = {"tab": "\t", "br": "\n", "cr": "\n", "nobreakhyphen": "-"}


def read(package: Package, budget: Budget) -> str:
    """The text into ``budget``; the title, as it stands in the text."""
    main = package.main("word/document.xml")
    if main not in package.names:
        raise Unreadable("there is no text in it")
    styles = _headings(package.tokens("word/styles.xml"))
    title = _Part(package.relations(main), styles, budget).read(package.tokens(main))
    folder = main.rpartition("/")[0]
    for name in sorted(package.names):
        if name.rpartition("/")[0] == folder and _ASIDE.fullmatch(name.rpartition("/")[2]):
            if budget.spent(name):
                break
            _Part(package.relations(name), frozenset(), budget).read(package.tokens(name))
    return title


def _headings(tokens: XmlTokens) -> frozenset[str]:
    """Ids of the styles of headings, which have names of their own in each language; their names are English."""
    found, current = {"Title", *(f"Heading{level}" for level in range(1, 7))}, ""
    for kind, name, rest in tokens:
        if kind == START and local(name) in ("style", "name"):
            attributes = tokens.attributes(rest)
            values = {local(key): value for key, value in attributes.items()}
            if local(name) == "style":
                current = values.get("styleid", "")
            elif _HEADING.fullmatch(values.get("val", "")):
                found.add(current)
    return frozenset(found)


class _Part:
    """One part of the document, from its beginning to its end."""

    def __init__(self, relations: dict[str, str], headings: frozenset[str], budget: Budget) -> None:
        self._relations = relations
        self._headings = headings
        self._budget = budget
        self._line: list[str] = []  # of the paragraph
        self._around: list[tuple[list[str], bool, tuple[str, int] | None]] = []  # paragraphs that it stands in, by a text box
        self._is_heading = False
        self._title = ""
        self._link: tuple[str, int] | None = None  # address, and where its text begins in the line
        self._field: list[str] = []
        self._skip = 0  # depth within what is said twice

    def read(self, tokens: XmlTokens) -> str:
        inside = ""
        for kind, name, rest in self._budget.within(tokens):
            if kind == TEXT:
                if inside == "t" and not self._skip:
                    self._line.append(rest)
                elif inside == "instrtext":
                    self._field.append(rest)
            elif kind == START:
                inside = local(name)
                self._begin(inside, tokens.attributes(rest) if rest else {})
            else:
                inside = ""
                self._end(local(name))
        for _ in range(len(self._around) + 1):  # where the time is over
            self._end("p")
        return self._title

    def _begin(self, name: str, attributes: dict[str, str]) -> None:
        if name == "fallback" or self._skip:
            self._skip += 1
        elif name in _SEPARATORS:
            self._line.append(_SEPARATORS[name])
        elif name == "p":
            self._around.append((self._line, self._is_heading, self._link))
            self._line, self._is_heading, self._link = [], False, None
        elif name == "pstyle":
            self._is_heading = next(iter(attributes.values()), "") in self._headings
        elif name == "hyperlink":
            self._link = (self._relations.get(identity(attributes), ""), len(self._line))
        elif name == "fldsimple":
            match = _FIELD.match(next((value for key, value in attributes.items() if key.endswith("instr")), ""))
            self._link = (match[1], len(self._line)) if match else None
        elif name == "fldchar":
            self._field_mark(next((value for key, value in attributes.items() if key.endswith("fldchartype")), ""))

    def _field_mark(self, mark: str) -> None:
        """A field is: begin, instructions, separate, the text that one sees, end."""
        if mark == "begin":
            self._field = []
        elif mark == "separate":
            match = _FIELD.match("".join(self._field))
            self._link = (match[1], len(self._line)) if match else self._link
        elif mark == "end":
            self._end("fldsimple")

    def _end(self, name: str) -> None:
        if self._skip:
            self._skip -= 1
        elif name in ("hyperlink", "fldsimple") and self._link:
            address, begin = self._link
            self._budget.link(address, "".join(self._line[begin:]))
            self._link = None
        elif name == "p":
            line = "".join(self._line)
            self._budget.text(line + "\n")
            if self._is_heading and line.strip():
                self._budget.headings.append(" ".join(line.split()))
                self._title = self._title or line
            self._line, self._is_heading, self._link = self._around.pop() if self._around else ([], False, None)
        elif name == "tc":
            self._budget.text("\t")

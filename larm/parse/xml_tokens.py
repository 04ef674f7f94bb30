"""XmlTokens: XML as a stream of tags and texts, well-formed or not. Pure; one thread.

A tenth of the feeds on the web are no well-formed XML; a parser that gives up is of no use to a crawler. Why one of our own:
HTML parsers, lexbor among them, know ``<link>`` and ``<image>`` as something else, libxml2 would be a dependency of 5 MB. This
one is also safe by what it lacks: it knows no entities but characters, so nothing is expanded (billion laughs) and nothing is
fetched (XXE). The time is linear in the size of the text, whatever it holds.
"""

import html
import re
from collections.abc import Iterator, Sequence
from html.entities import html5
from typing import Final

START: Final = 0
"""``(START, name, attributes as they stand there)``; names are in lower case and have their prefix."""
END: Final = 1
"""``(END, name, "")``; each START has its own, also where the text lacks it."""
TEXT: Final = 2
"""``(TEXT, "", characters)``, entities decoded."""
Token = tuple[int, str, str]

MAX_TOKENS: Final = 5_000_000
"""A sitemap of 150,000 URLs has 2.4 million, with pictures and languages twice as many."""
MAX_DEPTH: Final = 500
"""Elements within each other."""

_TAG = re.compile(r"<(/?)([^\W\d][\w:.-]*+)((?:[^<>\"']++|\"[^\"<]*+\"|'[^'<]*+')*+)>")
_LAX_TAG = re.compile(r"<(/?)([^\W\d][\w:.-]*+)([^<>]*+)>")  # where quotes are missing
_TAG_BEGIN = re.compile(r"</?[^\W\d]|</?$|<!")
_DECLARATION = re.compile(
    r"<![^<>\[]*+(?:\[(?:[^\[\]<>\"']++|\"[^\"]*+\"|'[^']*+'|<!--(?:(?!-->).)*+-->|<[^<>]*+>)*+\]\s*+)?>", re.DOTALL
)
_BRACKETS = (("<!--", "-->"), ("<![CDATA[", "]]>"), ("<?", "?>"))
_ATTRIBUTE = re.compile(r"([^\s=/>\"']++)\s*+(?:=\s*+(?:\"([^\"]*)\"|'([^']*)'|([^\s\"'>]++)))?")
_ENTITY = re.compile(r"&(?:#(?:[0-9]{1,7}|[xX][0-9a-fA-F]{1,6})|(\w{1,40}));")


class XmlTokens:
    """Iterate once; then `faults`, `cut` and `given_up` are known."""

    def __init__(self, text: str, effort: int = 1) -> None:
        """``effort``: times the limits, as in ``processing.effort``."""
        # constant after construction
        self._text = text
        self._effort = effort
        # written while iterating
        self.faults: list[str] = []
        """What is not well-formed, the first few of each kind of it."""
        self.cut = False
        """The text ended, or was given up, with open elements."""
        self.given_up = False
        """It is longer or deeper than anything that is read of a text."""
        self._open: list[str] = []
        self._counts: dict[str, int] = {}
        self._lacking: set[str] = set()  # ends of comments and the like that don't come any more

    def __iter__(self) -> Iterator[Token]:
        text, at, end = self._text, 0, len(self._text)
        find, match = text.find, _TAG.match
        deepest = MAX_DEPTH * self._effort
        for _ in range(MAX_TOKENS * self._effort):
            mark = find("<", at)
            if mark < 0:
                mark = end
            if mark > at:
                piece = text[at:mark]
                yield TEXT, "", (self.decoded(piece) if "&" in piece else piece)
            if mark == end:
                break
            found = match(text, mark)
            if found is None:
                at, piece, found = self._other(mark)
                if piece:
                    yield TEXT, "", piece
                if found is None:
                    continue
            at = found.end()
            slash, name, rest = found.groups()
            yield from self._close(name.lower()) if slash else self._begin(name.lower(), rest)
            if len(self._open) > deepest:
                self.fault("nested too deeply")
                self.given_up = True
                break
        else:
            self.given_up = at < end
        if self._open:
            self.cut = True
            for name in reversed(self._open):
                yield END, name, ""

    def decoded(self, text: str) -> str:
        """With its entities as characters; unknown ones stay as they are."""
        return _ENTITY.sub(self._character, text)

    def attributes(self, rest: str) -> dict[str, str]:
        """Of a START; names in lower case, the first of equal ones counts."""
        found: dict[str, str] = {}
        for name, *values in _ATTRIBUTE.findall(rest):
            value = "".join(values)
            found.setdefault(name.lower(), self.decoded(value) if "&" in value else value)
        return found

    def fault(self, what: str) -> None:
        """Note it; a text may have a million of them."""
        if len(self.faults) < 5 and what not in self.faults:
            self.faults.append(what)

    def _begin(self, name: str, rest: str) -> Sequence[Token]:
        if rest.endswith("/"):
            return (START, name, rest), (END, name, "")
        self._open.append(name)
        self._counts[name] = self._counts.get(name, 0) + 1
        return ((START, name, rest),)

    def _close(self, name: str) -> Sequence[Token]:
        stack = self._open
        if not self._counts.get(name):
            self.fault(f"</{name[:50]}> without a beginning")
            return ()
        ended: list[Token] = []
        last = ""
        while last != name:
            if ended:
                self.fault(f"<{last[:50]}> without an end")
            last = stack.pop()
            self._counts[last] -= 1
            ended.append((END, last, ""))
        return ended

    def _other(self, at: int) -> tuple[int, str, re.Match[str] | None]:
        """(where it ends, its characters, a tag after all) of what begins with ``<`` and is no proper tag."""
        text = self._text
        for begin, end in _BRACKETS:
            if text.startswith(begin, at):
                found = self._up_to(end, at, len(begin))
                return found[0], found[1] if begin == "<![CDATA[" else "", None
        if text.startswith("<!", at) and "declaration" not in self._lacking:
            if declaration := _DECLARATION.match(text, at):
                return declaration.end(), "", None
            self._lacking.add("declaration")  # it may have been long: once is enough
        if tag := _LAX_TAG.match(text, at):
            self.fault("a tag that is malformed")
            return at, "", tag
        if ">" in self._lacking or text.find(">", at) < 0:
            self._lacking.add(">")
            if _TAG_BEGIN.match(text, at):
                self.cut = True
                return len(text), "", None
        self.fault("a lone <")
        return at + 1, "<", None

    def _up_to(self, mark: str, at: int, begin: int) -> tuple[int, str]:
        end = -1 if mark in self._lacking else self._text.find(mark, at + begin)
        if end < 0:
            self._lacking.add(mark)
            self.cut = True
            return len(self._text), self._text[at + begin :]
        return end + len(mark), self._text[at + begin : end]

    def _character(self, match: re.Match[str]) -> str:
        name = match[1]
        if name is None:
            return html.unescape(match[0])
        if (known := html5.get(name + ";")) is None:
            self.fault(f"&{name}; is unknown")
            return match[0]
        return known


def root_of(text: str) -> str:
    """The name of the first element in lower case, without its prefix; empty where there is none. Looks at the beginning."""
    for count, (kind, name, _) in enumerate(XmlTokens(text[:ROOT_WITHIN])):
        if kind == START:
            return name.rpartition(":")[2]
        if count > 100:
            break
    return ""


ROOT_WITHIN: Final = 20_000
"""Characters of comments, processing instructions and doctype that may stand before the first element."""

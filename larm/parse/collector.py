"""Collector: what is in a page, gathered node by node from any tree: its text in blocks, its headings, links and facts.

`larm.parse.lexbor_tree` and `larm.parse.html5lib_tree` walk their trees with one; ``compiled.pyx`` does the same
in C, and says the same, to the character. Made for each page, by the thread that reads it.
"""

from collections.abc import Callable, Sequence
from typing import Any, Final, Generic, TypeVar

from larm.model.crawl_hash import letters
from larm.parse.boxes import FURNITURE, NAVIGATION, weigh
from larm.parse.elements import ELEMENTS, HEADING, NOTHING, PLAIN, Meaning
from larm.parse.page import ASKED, LINKED_DATA, SHADOW, Attributes, Blocks, Element, Reading
from larm.parse.readable import is_blank

MAX_TEXT: Final = 1_000
"""Characters of the text of a link that are looked at (LARM-101 keeps 200); anchors may be nested a thousandfold."""

More = Callable[[str, str], Reading]
"""Reads the HTML within an element that is for other browsers; told its name before."""
Node = TypeVar("Node")


class Collector(Generic[Node]):
    """Told where each element begins and ends and what text is between, it has a `Reading` in the end.

    Two questions about a node are for who knows the tree.
    """

    NO_WEIGHT: Any = 0.0

    def __init__(self, more: More | None) -> None:
        """``more``: None within HTML for other browsers."""
        self._more = more
        self._title = ""
        self._blocks = Blocks()
        self._furnished = False
        self._headings: list[str] = []
        self._places: list[str] = []
        self._place = ""  # the last id, or name of an anchor, since the last text
        self._elements: list[Element] = []
        self._about: list[Element] = []
        self._linked_data: list[str] = []
        # the text of the block that is open
        self._words: list[str] = []
        self._mark = PLAIN
        self._weight, self._kinds = self.NO_WEIGHT, 0
        self._linked = 0
        # what is open
        self._around: list[tuple[Any, int]] = []  # for each block what was known outside of it
        self._heading: list[int] = []  # number of the first block of each
        self._links: list[tuple[int, int]] = []  # their places in elements (-1: in none) and said
        self._leading = 0  # links that lead somewhere
        self._said: list[str] = []  # the text of the links
        self._drawn = 0  # drawings
        self._based = False  # a fragment alone leads to another page
        self._shadowed = False
        self._parted = False  # what has just ended parts words, such as a picture

    def attributes_of(self, node: Node) -> Attributes:
        """All of them, their names in lower case."""
        raise NotImplementedError

    def text_of(self, node: Node) -> str:
        """All text in an element."""
        raise NotImplementedError

    def begin(self, name: str, node: Node) -> bool:
        """An element begins; whether what is in it counts."""
        meaning = ELEMENTS.get(name, NOTHING)
        if meaning.mark:
            self._begin_block(meaning, node)
        if name == "a":
            self._begin_link(node)
        elif name == "br":
            self._words.append("\n")
            self._say_in_link(" ")
        elif meaning.leads or meaning.says:
            attributes = _asked(self.attributes_of(node))
            self._based = self._based or (name == "base" and "href" in attributes)
            (self._elements if meaning.leads else self._about).append((name, attributes, ""))
            if name == "img":
                self._say_in_link(f" {attributes.get('alt') or ''} ")
            elif name == "script" and attributes.get("type") == LINKED_DATA:
                self._linked_data.append(self.text_of(node))
            elif (page := attributes.get("srcdoc")) and self._more is not None:
                found = self._more(name, page)
                self._break(PLAIN)
                self._elements += found.elements
                self._blocks.extend(found.blocks)
        elif name == "title" and not self._drawn and is_blank(self._title):
            self._title = self.text_of(node)
        elif meaning.more and self._more is not None:
            found = self._more(name, self.text_of(node))
            self._elements += found.elements
            self._about += found.about
        elif name == "svg":
            self._drawn += 1
        elif name == "template":
            self._shadowed = self._shadowed or SHADOW in self.attributes_of(node)
        return not meaning.hidden

    def say(self, text: str) -> None:
        """A text."""
        if self._parted:
            self._parted = False
            if text[:1].isalnum() or text[:1] >= "\x80":
                self._words.append(" ")
                self._say_in_link(" ")
        self._words.append(text)
        if self._leading:
            self._linked += len(text)
        self._say_in_link(text)

    def end(self, name: str) -> None:
        """An element ends that has begun."""
        meaning = ELEMENTS.get(name, NOTHING)
        if meaning.mark:
            self._end_block(meaning)
        elif name == "a":
            self._end_link()
        elif meaning.parts or self._drawn:
            self._drawn -= name == "svg"
            self._parted = True

    def reading(self, language: str) -> Reading:
        """All that was found, when the last element has ended."""
        self._break(PLAIN)
        return Reading(
            self._title,
            self._blocks,
            self._furnished,
            self._headings,
            self._elements,
            self._about,
            language,
            self._linked_data,
            self._places,
            letters("".join(self._blocks.texts)),
            self._blocks.outside,
            self._shadowed,
        )

    def _break(self, mark: str) -> None:
        """What follows is another block. In the text of a link that is a space."""
        if text := "".join(self._words).strip():
            self._blocks.add(text, self._mark, self._weight, self._kinds, self._linked)
            if not self._heading:
                self._place = ""
        self._words.clear()
        self._mark, self._linked = mark, 0
        self._say_in_link(" ")

    def _begin_block(self, meaning: Meaning, node: Node) -> None:
        self._break(meaning.mark)
        self._around.append((self._weight, self._kinds))
        attributes = self.attributes_of(node)
        self._place = attributes.get("id") or self._place
        if meaning.boxes is not None and (box := weigh(meaning.boxes.tag, attributes)) is not None:
            self._weight = self._weight + box.weight  # a new sum: whoever learns the weights has lists of names in their place
            self._kinds |= box.kind
            if box.kind & FURNITURE and not box.kind & NAVIGATION:
                self._furnished = True
        if meaning.heading:
            self._heading.append(len(self._blocks))

    def _end_block(self, meaning: Meaning) -> None:
        self._break(HEADING if meaning.heading else PLAIN)
        self._weight, self._kinds = self._around.pop()
        if meaning.heading:
            first = self._heading.pop()
            if not self._heading:
                self._headings.append(" ".join(self._blocks.texts[first:]))
                self._places.append(self._place)
                self._place = ""

    def _begin_link(self, node: Node) -> None:
        whole = self.attributes_of(node)
        attributes = _asked(whole)
        self._place = whole.get("id") or attributes.get("name") or self._place
        href = attributes.get("href")
        place = -1  # it leads nowhere (LARM-102)
        if (href and href[0] != "#") or "xlink:href" in attributes or (self._based and "href" in attributes):
            place = len(self._elements)
            self._elements.append(("a", attributes, ""))
            self._leading += 1
        self._links.append((place, len(self._said)))

    def _say_in_link(self, text: str) -> None:
        if self._links:
            self._said.append(text)

    def _end_link(self) -> None:
        place, begin = self._links.pop()
        if place >= 0:
            self._leading -= 1
            self._elements[place] = ("a", self._elements[place][1], _beginning(self._said, begin))
        if not self._links:
            self._said.clear()


def _asked(attributes: Attributes) -> Attributes:
    return {name: value for name, value in attributes.items() if name in ASKED}


def _beginning(pieces: Sequence[str], at: int) -> str:
    found, length = [], 0
    while at < len(pieces) and length < MAX_TEXT:
        found.append(pieces[at])
        length += len(pieces[at])
        at += 1
    return "".join(found)[:MAX_TEXT]

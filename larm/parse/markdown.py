"""The main text of a page of HTML as Markdown (CommonMark, tables as GitHub has them). Pure; for ``larm export``.

The page is walked as a tree; each block of it is kept if the main text, as the crawl found it, has it next. So what is a menu
is decided in one place (`larm.parse.main_text`), and this file knows only how things are written.
"""

import re
from collections.abc import Callable, Iterator
from itertools import accumulate, pairwise
from typing import NamedTuple
from urllib.parse import urljoin

from selectolax.lexbor import LexborHTMLParser, LexborNode

from larm.parse.charset import utf8_of
from larm.parse.readable import names
from larm.parse.trees import cut

_DEEPEST = 80  # levels; what is deeper is text of the level above
_HEADINGS = {f"h{level}": "#" * level + " " for level in range(1, 7)}
_SKIPPED = names("script style template noscript svg head iframe object select button")
_BLOCKS = names(
    "address article aside blockquote body center dd details dialog div dl dt fieldset figcaption figure footer form"
    " header hr html li main nav ol p pre section summary table tbody td tfoot th thead tr ul"
) | frozenset(_HEADINGS)
_MARKS = {"strong": "**", "b": "**", "em": "*", "i": "*"}
_CODE = names("code tt kbd samp")
_ESCAPED = re.compile(r"([\\`*_\[\]<])")
_LINE_START = re.compile(r"^(\s*)([#>+-]|\d+[.)])(?=\s)", re.MULTILINE)
_EMPTY = {"br": "\0", "img": ""}  # a line break, until white space is squeezed
_SPACE = re.compile(r"\s+")
_NEAR = 5_000  # characters of the main text in which a block is looked for that is not the next one
_LONG = 20  # characters: a shorter block is kept only where it is the next one


class _Block(NamedTuple):
    plain: str
    """Without white space and markup, to compare."""
    text: str
    tight: bool = False
    """No empty line between it and the next of its kind."""


def markdown(body: bytes, main_text: str, base: str, effort: int = 1) -> str:
    """``main_text``: of the same page, as in `larm.model.document.Document`. Links are made absolute by ``base``.

    ``effort``: see `larm.parse.hostile`.
    """
    data, _ = cut(utf8_of(body)[0], effort)
    root = LexborHTMLParser(data).body
    if root is None:
        return ""
    lines = ["".join(line.split()) for line in main_text.split("\n")]
    main, ends, at = "".join(lines), set(accumulate(map(len, lines))), 0
    kept: list[_Block] = []
    for block in _Writer(base).blocks(root):
        found = _place(block.plain, main, at)
        if found >= 0 and found + len(block.plain) in ends:  # a menu's entry may be the beginning of the next block
            at = found + len(block.plain)
            kept.append(block)
        elif kept and block.plain == kept[-1].plain and kept[-1].text[0] != "#":  # said twice: a menu first, and then the text
            kept[-1] = block
    written = [block.text + ("\n" if block.tight and after.tight else "\n\n") for block, after in pairwise(kept)]
    return "".join(written) + (kept[-1].text + "\n" if kept else "")


def _place(plain: str, main: str, at: int) -> int:
    """Where the block stands in the main text; -1: it is no part of it."""
    if not plain:
        return -1
    if main.startswith(plain, at):
        return at
    return main.find(plain, at, at + _NEAR + len(plain)) if len(plain) >= _LONG else -1


class _Writer:
    """One page's."""

    def __init__(self, base: str) -> None:
        self._base = base

    def blocks(self, node: LexborNode, depth: int = 0, indent: str = "", mark: str = "") -> Iterator[_Block]:
        """The blocks in an element; ``mark`` stands before the first of them, ``indent`` before all others."""
        inline: list[LexborNode] = []

        def paragraph() -> Iterator[_Block]:
            nonlocal mark
            text, plain = "".join([self._inline(each, depth) for each in inline]).strip(), _plain(*inline)
            inline.clear()
            if text:
                lines = _LINE_START.sub(r"\1\\\2", _SPACE.sub(" ", text).replace(" \0 ", "\n").replace("\0", "\n"))
                yield _Block(plain, (mark or indent) + lines.replace("\n", f"  \n{indent}"), tight=bool(mark))
                mark = ""

        for child in node.iter(include_text=True):
            tag = child.tag or ""
            if tag in _SKIPPED:
                continue
            if tag not in _BLOCKS or depth >= _DEEPEST:
                inline.append(child)
                continue
            yield from paragraph()
            for block in self._block(child, tag, depth + 1, indent, mark):
                yield block
                mark = ""
        yield from paragraph()

    def _block(self, node: LexborNode, tag: str, depth: int, indent: str, mark: str) -> Iterator[_Block]:
        if tag in _HEADINGS:
            text = _SPACE.sub(" ", self._inside(node, depth)).strip()
            if text:
                yield _Block(_plain(node), (mark or indent) + _HEADINGS[tag] + text)
        elif tag == "pre":
            code = node.text().strip("\n")
            fence = "`" * max(3, 1 + max((len(run) for run in re.findall("`+", code)), default=0))
            lines = f"{fence}\n{code}\n{fence}".replace("\n", f"\n{indent}")
            yield _Block(_plain(node), (mark or indent) + lines)
        elif tag in ("ul", "ol"):
            items = (child for child in node.iter() if child.tag == "li")
            for number, item in enumerate(items, 1):
                head = "- " if tag == "ul" else f"{number}. "
                yield from self.blocks(item, depth, indent + " " * len(head), (mark or indent) + head)
                mark = ""
        elif tag == "blockquote":
            yield from self.blocks(node, depth, indent + "> ", (mark or indent) + "> ")
        elif tag == "table":
            yield from self._table(node, depth, indent)
        else:
            yield from self.blocks(node, depth, indent, mark)

    def _table(self, table: LexborNode, depth: int, indent: str) -> Iterator[_Block]:
        """A table with one more in it, or with one column, is there for the layout."""
        rows = list(_rows(table))
        widths = [len([cell for cell in row.iter() if cell.tag in ("td", "th")]) for row in rows]
        if max(widths, default=0) < 2 or len(table.css("table")) > 1:
            for row in rows:
                yield from self.blocks(row, depth, indent)
            return
        for number, row in enumerate(rows):
            cells = [self._inside(cell, depth) for cell in row.iter() if cell.tag in ("td", "th")]
            texts = [_SPACE.sub(" ", cell).strip().replace("|", "\\|") for cell in cells]
            line = f"{indent}| {' | '.join(texts)} |"
            if not number:
                line += f"\n{indent}|{' --- |' * len(cells)}"
            yield _Block(_plain(row), line, tight=True)

    def _inside(self, node: LexborNode, depth: int) -> str:
        return "".join([self._inline(child, depth) for child in node.iter(include_text=True) if child.tag not in _SKIPPED])

    def _inline(self, node: LexborNode, depth: int) -> str:
        tag = node.tag or ""
        if tag == "-text":
            return _ESCAPED.sub(r"\\\1", node.text_content or "")
        if tag in _EMPTY or tag in _SKIPPED or tag.startswith(("-", "!", "_")):
            return _EMPTY.get(tag, "")
        return self._marked(node, tag, depth)

    def _marked(self, node: LexborNode, tag: str, depth: int) -> str:
        if depth >= _DEEPEST or tag in _CODE:
            text = node.text()
            return _quoted(text) if tag in _CODE else _ESCAPED.sub(r"\\\1", text)
        text = self._inside(node, depth + 1)
        if tag == "a" and (address := self._address(node)):
            return _around(text, lambda words: f"[{words}]({address})")
        mark = _MARKS.get(tag, "")
        return _around(text, lambda words: f"{mark}{words}{mark}") if mark else text

    def _address(self, node: LexborNode) -> str:
        href = (node.attributes.get("href") or "").strip()
        try:
            found = urljoin(self._base, href)
        except ValueError:
            return ""
        if not href or not found.startswith(("http:", "https:", "file:", "mailto:")):
            return ""
        return _SPACE.sub("%20", found).replace("(", "%28").replace(")", "%29").replace("<", "%3C").replace(">", "%3E")


def _rows(table: LexborNode) -> Iterator[LexborNode]:
    """Its own, and not those of tables in it, which are met in their cells."""
    for part in table.iter():
        if part.tag == "tr":
            yield part
        else:
            yield from (row for row in part.iter() if row.tag == "tr")


def _quoted(text: str) -> str:
    fence = "`" * (1 + max((len(run) for run in re.findall("`+", text)), default=0))
    space = " " if text[:1] == "`" or text[-1:] == "`" else ""
    return f"{fence}{space}{text}{space}{fence}" if text.strip() else text


def _around(text: str, mark: Callable[[str], str]) -> str:
    """Marks must stand at words, not at spaces."""
    words = text.strip()
    if not words:
        return text
    before, after = text[: len(text) - len(text.lstrip())], text[len(text.rstrip()) :]
    return f"{before}{mark(words)}{after}"


def _plain(*nodes: LexborNode) -> str:
    """Their words, without white space."""
    texts = [node.text_content if node.tag == "-text" else node.text() for node in nodes if node.tag not in _SKIPPED]
    return "".join("".join([text for text in texts if text]).split())

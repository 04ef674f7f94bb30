"""The text and the links of a piece of HTML: entries of feeds contain such. Pure; any thread."""

from typing import NamedTuple

from selectolax.lexbor import LexborHTMLParser

from larm.parse.readable import BLOCK, HIDDEN, anchor
from larm.parse.trees import cut


class Fragment(NamedTuple):
    """What a reader sees of it."""

    text: str
    links: list[tuple[str, str]]
    """(href as it stands there, anchor)."""
    cut: bool = False
    """Not all of it was read."""


def fragment(html: str, effort: int = 1) -> Fragment:
    """Of HTML that stands somewhere within a page. Text without any markup is itself. ``effort``: see `hostile`."""
    if "<" not in html and "&" not in html:
        return Fragment(html, [])
    body, warnings = cut(html.encode("utf-8", "replace"), effort)
    root = LexborHTMLParser(body).root
    words: list[str] = []
    links: list[tuple[str, str]] = []
    nodes = root.traverse(include_text=True) if root is not None else iter(())
    for node in nodes:
        tag = node.tag
        if tag == "-text":
            words.append(node.text_content or "")
        elif tag in BLOCK:
            words.append("\n")
        elif tag in HIDDEN:
            if node.first_child is not None:
                next(nodes)
        elif tag == "a" and (href := node.attributes.get("href")):
            links.append((href, anchor(node.text())))
    return Fragment("".join(words), links, bool(warnings))

"""Feeds: RSS 0.9x to 2.0, RDF (RSS 1.0), Atom 0.3 and 1.0, CDF. XML in, a `Feed` out. Pure; any thread."""

from collections.abc import Iterator
from typing import Final, NamedTuple

from larm.parse.feed_entry import CORE, DATED, NAMESPACES, Entry, read_entry
from larm.parse.xml_tree import Node, Tree, parse

ROOTS: Final = ("rss", "feed", "rdf", "channel")
"""Elements that make a feed of an XML document (RDF: if there are items in it)."""


class Feed(NamedTuple):
    """A feed."""

    about: Entry
    entries: list[Entry]
    language: str
    """As it stands there, such as ``en-GB``."""
    warnings: list[str]
    given_up: bool = False
    """It is longer than what is read of it, or the HTML in it is more work."""


def read_feed(text: str, effort: int = 1) -> Feed | None:
    """None: it is no feed. ``effort``: times the limits, as in ``processing.effort``."""
    tree: Tree = parse(text, NAMESPACES, effort)
    root = tree.root
    if root is None or root.local not in ROOTS:
        return None
    channel = next((node for node in root if node.local == "channel" and node.space in CORE), None) or root
    found = list(_entries(root))
    if root.local == "rdf" and channel is root and not found:
        return None
    entries = [read_entry(node, effort) for node in found]
    about = read_entry(channel, effort)
    if root is not channel and root.local == "rss":  # some close the channel too early
        about = about._replace(links=about.links or read_entry(root, effort).links)
    said = (node.text() for node in channel if node.local == "language" and node.space in DATED)
    language = root.get("xml:lang") or channel.get("xml:lang") or next(said, "")
    cut = about.cut or any(entry.cut for entry in entries)
    return Feed(about, entries, language.strip(), tree.warnings, tree.given_up or cut)


def _entries(root: Node) -> Iterator[Node]:
    """Items wherever they stand: in the channel, beside it (RDF), in ``<items>``; none within another one."""
    stack = [iter(root)]
    while stack:
        for node in stack[-1]:
            if node.local in ("item", "entry") and node.space in CORE:
                yield node
            elif node.local in ("channel", "items", "rss", "feed") and node.space in CORE:
                stack.append(iter(node))
                break
        else:
            stack.pop()

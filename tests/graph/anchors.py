"""Which texts links to a page have, and how many: larm asks for those of all pages at a time (`GraphReader.all_texts`)."""

from __future__ import annotations

from collections import Counter

from larm.graph.reader import GraphReader


def anchors(graph: GraphReader, fingerprint: int) -> list[tuple[str, int]]:
    """(text, links that have it), those of most links first; also of a page that was not fetched."""
    node = graph._node(fingerprint)
    assert node is not None
    offsets = graph._snapshot.array("text_offsets", "Q")
    found = Counter(graph._backlinks(node)[1::2]).most_common()
    return [(text, count) for number, count in found if (text := graph._line("texts", offsets[number]))]

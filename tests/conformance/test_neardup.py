"""Nearly the same news articles (neardup-minhash): pairs that are one search result, against the pairs that were copied."""

from __future__ import annotations

from pathlib import Path

import pytest

from larm.index.duplicates.aliases import Aliases
from larm.model.document import Document, Visit
from larm.model.url import URLNormalizer
from tests.shared_data import shared

RECALL = 0.95
LEAST_LIKE = 0.5
"""Pairs of a lower similarity must not be one result."""


def shingles(text: str) -> set[tuple[str, ...]]:
    words = text.lower().split()
    return {tuple(words[at : at + 3]) for at in range(len(words) - 2)}


@pytest.mark.parametrize("size", [100, 1000])
def test_copied_articles_are_one_result(tmp_path: Path, size: int) -> None:
    given = shared("neardup-minhash", "given", f"articles_{size}.train")
    texts = dict(line.split(" ", 1) for line in given.read_text().splitlines() if line.strip())
    truth = {frozenset(line.split()) for line in given.with_suffix(".truth").read_text().splitlines() if line.strip()}
    parse = URLNormalizer().parse
    visits = [
        Visit(page="", url=parse(f"http://news.test/{name}"), document=Document("text/html", name, text))
        for name, text in texts.items()
    ]
    aliases = Aliases(tmp_path / "aliases.db")
    aliases.open(None)
    indexed = [visit for at in range(0, size, 64) for visit in aliases.settle(visits[at : at + 64])]
    indexed += aliases.rest()
    aliases.commit()
    aliases.close()
    named = {visit.document.seen: visit.document.title for visit in indexed if visit.document}
    found = {frozenset((visit.document.title, named[visit.group])) for visit in indexed if visit.document and visit.group}
    likeness = {
        pair: len(one & other) / len(one | other) for pair in found for one, other in [[shingles(texts[name]) for name in pair]]
    }
    recall = len(found & truth) / len(truth)
    print(
        f"neardup-minhash {size}: recall {recall:.3f}, {len(found - truth)} more pairs, least like {min(likeness.values()):.2f}"
    )
    assert len(indexed) == size, "each has words of its own"
    assert len({visit.group or visit.document.seen for visit in indexed if visit.document}) == size - len(found)
    assert recall >= RECALL
    assert min(likeness.values()) >= LEAST_LIKE

"""Languages: single sentences of newspapers, and pages that declare theirs."""

from __future__ import annotations

import json
import lzma
from collections import defaultdict

import pytest

from larm.parse.language import detect, language_of
from larm.parse.readable import names
from tests.shared_data import shared

CLAIMED = names(
    "af ar az be bg bn cs cy da de el en eo es et eu fa fi fr gu he hi hu hy is it ja ka kk ko lg lt lv mn mr nl no pa pl pt ro"
    " ru sk sl sn so sq sv sw ta te th tl tn tr ts uk ur vi zh"
)
"""Languages of which at least 97 of 100 sentences are told right, taken together. Others are named if they are found."""
_SAME = {"nb": "no", "nn": "no"}


@pytest.mark.parametrize(("kind", "bar"), [("sentences", 0.97), ("word-pairs", 0.80)])
def test_lingua(kind: str, bar: float) -> None:
    """Of the languages that larm claims to know, all sentences together."""
    right: dict[str, list[bool]] = defaultdict(list)
    with lzma.open(shared("langid-lingua", "given", "texts.jsonl.xz"), "rt", encoding="utf-8") as lines:
        for line in lines:
            case = json.loads(line)
            code = _SAME.get(case["lang"], case["lang"])
            if case["kind"] == kind and code in CLAIMED:
                found = language_of("", case["text"]) if kind == "sentences" else detect(case["text"])[0]
                right[code].append(found == code)
    score = sum(map(sum, right.values())) / sum(map(len, right.values()))
    worst = sorted((sum(each) / len(each), code) for code, each in right.items())[:6]
    print(f"lingua, {kind}: {score:.3f} in {len(right)} languages; the worst: {', '.join(f'{c} {s:.2f}' for s, c in worst)}")
    assert len(right) == len(CLAIMED) >= 20
    assert score >= bar

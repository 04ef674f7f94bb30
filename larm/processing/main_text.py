"""Which blocks of a page are its main text. Pure; called by `larm.processing.parts`.

Each block gets a score: the weights of the boxes it is in, the kind of its element, its length, commas and end, how much of it
is links, the same of its neighbours, its place in the page. Above zero it is main text. This is a logistic regression, learned
from pages whose main text is known (``benchmarks/learn_main_text.py``); its numbers are in `larm.processing.box_words`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import accumulate
from math import log1p
from typing import Any, Final

from larm.processing.box_words import BLOCKS
from larm.processing.boxes import Box

Block = tuple[int, str, Any, int, int, int, bool, int]
"""A piece of a page with text in it: (number of the piece, character of its mark, sum of the weights of its boxes, characters,
characters in links, commas, whether it ends as sentences do, kinds of its boxes added up). A page has hundreds of them."""

_ENDS: Final = '.!?:"”’。…»)'
_LONGEST: Final = 5_000
"""Characters; from more no more is concluded."""
_MOST_COMMAS: Final = 5
_OTHER_COMMAS: Final = ("、", "。", "，", "। ", "؛", "، ")

LENGTHS = [log1p(size) / 5 for size in range(_LONGEST)]
_OWN = [
    BLOCKS["bias"] + BLOCKS["length"] * length + BLOCKS["short"] * (size < 20) + BLOCKS["long"] * (size > 100)
    for size, length in enumerate(LENGTHS)
]
_NEAR = [BLOCKS["length near"] * length for length in LENGTHS]
_FAR = [BLOCKS["length far"] * length for length in LENGTHS]
_COMMAS = [commas / _MOST_COMMAS for commas in range(_MOST_COMMAS + 1)]
_KINDS = {" ": BLOCKS["paragraph"], "\t": BLOCKS["item"], "\r": BLOCKS["heading"]}


def blocks(pieces: Sequence[str], boxes: Iterator[Box], anchors: Iterator[int], nothing: Any = 0.0) -> list[Block]:
    """The pieces with text. ``boxes`` and ``anchors`` (lengths of the links) in the order in which they begin."""
    found: list[Block] = []
    around: list[tuple[Any, int]] = []
    weight, kinds = nothing, 0
    for number, piece in enumerate(pieces):
        mark = piece[0]
        if mark in "\f\x1c":
            around.append((weight, kinds))
            box = next(boxes, None)
            if box is not None:
                weight, kinds = weight + box.weight, kinds | box.kind
        elif mark in "\v\x1d" and around:
            weight, kinds = around.pop()
        text = piece.strip()
        if not text:
            continue
        size = len(text)
        linked = sum([next(anchors, 0) for _ in range(text.count("\1"))]) if "\1" in text else 0
        commas = text.count(", ") + text.count(". ") if size > 20 else 0
        if not text.isascii():
            commas += sum(map(text.count, _OTHER_COMMAS))
        found.append((number, mark, weight, size, linked, commas, text[-1] in _ENDS, kinds))
    return found


def scores(page: Sequence[Block]) -> list[float]:
    """Of each block; above zero it is main text."""
    links, links_length, links_near, links_far = (BLOCKS[name] for name in ("links", "links*length", "links near", "links far"))
    commas_own, commas_near, commas_far, ends_own = (BLOCKS[name] for name in ("commas", "commas near", "commas far", "ends"))
    block, kinds, last = BLOCKS["block"], _KINDS, _LONGEST - 1
    own: list[float] = []
    near, far = [0.0], [0.0, 0.0]
    for _, mark, weight, size, linked, commas, ends, _ in page:
        at = min(last, size)
        share = linked / size if linked < size else 1.0
        comma = _COMMAS[commas] if commas < _MOST_COMMAS else 1.0
        own.append(
            weight
            + kinds.get(mark, block)
            + _OWN[at]
            + share * (links + links_length * LENGTHS[at])
            + comma * commas_own
            + ends * ends_own
        )
        near.append(_NEAR[at] + share * links_near + comma * commas_near)
        far.append(_FAR[at] + share * links_far + comma * commas_far)
    near.append(0.0)
    far += (0.0, 0.0)
    before = list(accumulate([each[3] for each in page], initial=0))
    place = BLOCKS["place"] / max(1, before[-1])
    return [
        mine + close + closer + distant + far_off + place * position
        for mine, close, closer, distant, far_off, position in zip(own, near, near[2:], far, far[4:], before, strict=False)
    ]

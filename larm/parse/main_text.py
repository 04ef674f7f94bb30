"""Which blocks of a page are its main text. Pure; called by `larm.parse.parts`.

Each block gets a score: the weights of the boxes it is in, the kind of its element, its length, commas and end, how much of it
is links, the same of its neighbours, its place in the page. Above zero it is main text. This is a logistic regression, learned
from pages whose main text is known (``benchmarks/learn_main_text.py``); its numbers are in `larm.parse.box_words`.
"""

from math import log1p
from typing import Final

from larm.parse.box_words import BLOCKS
from larm.parse.page import Blocks

ENDS: Final = '.!?:"”’。…»)'
_LONGEST: Final = 5_000
"""Characters; from more no more is concluded."""
_MOST_COMMAS: Final = 5
_WORDS: Final = 20
"""Characters; what is shorter is no sentence of several words."""
_OTHER_COMMAS: Final = ("、", "。", "，", "। ", "؛", "، ")
_COMMAS_OF_ALL: Final = (", ", ". ", *_OTHER_COMMAS)

LENGTHS = [log1p(size) / 5 for size in range(_LONGEST)]
_OWN = [
    BLOCKS["bias"] + BLOCKS["length"] * length + BLOCKS["short"] * (size < 20) + BLOCKS["long"] * (size > 100)
    for size, length in enumerate(LENGTHS)
]
_NEAR = [BLOCKS["length near"] * length for length in LENGTHS]
_FAR = [BLOCKS["length far"] * length for length in LENGTHS]
_COMMAS = [commas / _MOST_COMMAS for commas in range(_MOST_COMMAS + 1)]
_KINDS = {" ": BLOCKS["paragraph"], "\t": BLOCKS["item"], "\r": BLOCKS["heading"]}


def scores(page: Blocks) -> list[float]:
    """Return the score of each block; above zero it is main text."""
    links, links_length, links_near, links_far = (BLOCKS[name] for name in ("links", "links*length", "links near", "links far"))
    commas_own, commas_near, commas_far, ends_own = (BLOCKS[name] for name in ("commas", "commas near", "commas far", "ends"))
    block, kinds, last = BLOCKS["block"], _KINDS, _LONGEST - 1
    own: list[float] = []
    near, far = [0.0], [0.0, 0.0]
    before, total = [], 0
    for text, mark, weight, linked, size in zip(page.texts, page.marks, page.weights, page.linked, page.sizes, strict=True):
        at = size if size < last else last  # noqa: FURB136  a call takes ten times as long
        share = linked / size if linked < size else 1.0
        mine = weight + kinds.get(mark, block) + _OWN[at]
        close, distant = _NEAR[at], _FAR[at]
        if share:
            mine += share * (links + links_length * LENGTHS[at])
            close += share * links_near
            distant += share * links_far
        if (size > _WORDS or not text.isascii()) and (commas := commas_of(text)):
            comma = _COMMAS[commas] if commas < _MOST_COMMAS else 1.0
            mine += comma * commas_own
            close += comma * commas_near
            distant += comma * commas_far
        own.append(mine + ends_own if text[-1] in ENDS else mine)
        near.append(close)
        far.append(distant)
        before.append(total)
        total += size
    near.append(0.0)
    far += (0.0, 0.0)
    place = BLOCKS["place"] / max(1, total)
    return [
        mine + close + closer + distant + far_off + place * position
        for mine, close, closer, distant, far_off, position in zip(own, near, near[2:], far, far[4:], before, strict=False)
    ]


def commas_of(text: str) -> int:
    """And other signs of sentences, in some alphabets."""
    if text.isascii():
        return (text.count(", ") + text.count(". ")) if len(text) > _WORDS else 0
    return sum(map(text.count, _COMMAS_OF_ALL if len(text) > _WORDS else _OTHER_COMMAS))

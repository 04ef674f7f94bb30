"""Which blocks of a page are its main text. Pure; called by `larm.parse.parts`.

Each block gets a score: the weights of the boxes it is in, the kind of its element, its length, commas and end, how much of it
is links, the same of its neighbours, its place in the page. Above zero it is main text. This is a logistic regression, learned
from pages whose main text is known (``benchmarks/learn_main_text.py``); its numbers are in `larm.parse.box_words`.
"""

from collections.abc import Sequence
from itertools import accumulate
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
    commas_own, commas_near, commas_far, ends = (BLOCKS[name] for name in ("commas", "commas near", "commas far", "ends"))
    block, kinds, last, sizes = BLOCKS["block"], _KINDS, _LONGEST - 1, page.sizes
    short = [min(last, size) for size in sizes]
    own = [
        weight + kinds.get(mark, block) + _OWN[size] for weight, mark, size in zip(page.weights, page.marks, short, strict=True)
    ]
    near = [0.0, *map(_NEAR.__getitem__, short), 0.0]
    far = [0.0, 0.0, *map(_FAR.__getitem__, short), 0.0, 0.0]
    for at, linked in enumerate(page.linked):
        if linked:
            share = linked / sizes[at] if linked < sizes[at] else 1.0
            own[at] += share * (links + links_length * LENGTHS[short[at]])
            near[at + 1] += share * links_near
            far[at + 2] += share * links_far
    for at, commas in enumerate(commas_of(page.texts)):
        if commas:
            comma = _COMMAS[commas] if commas < _MOST_COMMAS else 1.0
            own[at] += comma * commas_own
            near[at + 1] += comma * commas_near
            far[at + 2] += comma * commas_far
    for at, text in enumerate(page.texts):
        if text[-1] in ENDS:
            own[at] += ends
    before = list(accumulate(sizes, initial=0))
    place = BLOCKS["place"] / max(1, before[-1])
    return [
        mine + close + closer + distant + far_off + place * position
        for mine, close, closer, distant, far_off, position in zip(own, near, near[2:], far, far[4:], before, strict=False)
    ]


def commas_of(texts: Sequence[str]) -> list[int]:
    """Return the number of commas and other signs of sentences in each text, in some alphabets."""
    found = [text.count(", ") + text.count(". ") if len(text) > _WORDS else 0 for text in texts]
    whole = "\n".join(texts)
    if others := [sign for sign in _OTHER_COMMAS if sign[0] in whole]:  # one character is found ten times as fast as two
        found = [commas + sum(map(text.count, others)) for commas, text in zip(found, texts, strict=True)]
    return found

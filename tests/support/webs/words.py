"""Texts for generated pages: the same for the same seed, in every process."""

import random
import zlib
from functools import cache

_SYLLABLES = "ba co di fu ge hi ja ko lu me na po qui ra se ti va wo zy".split()  # noqa: SIM905  short is better here
_VOCABULARY = 6_000
_CHINESE = (0x4E00, 0x5200)
"""Code points of the letters that Chinese texts are made of."""


def chance(*seed: object) -> random.Random:
    """Chance that is the same wherever it is asked."""
    return random.Random(hashed(*seed))


def hashed(*seed: object) -> int:
    """32 bits."""
    return zlib.crc32("\0".join(map(str, seed)).encode())


@cache
def _vocabulary() -> list[str]:
    """Words, the frequent ones many times."""
    draw = random.Random(1)
    known = ["".join(draw.choices(_SYLLABLES, k=draw.randint(1, 4))) for _ in range(_VOCABULARY)]
    return [known[int(len(known) * (place / len(known)) ** 3)] for place in range(len(known))]


def words(count: int, *seed: object) -> list[str]:
    """Words of a language that nobody speaks; some are frequent, most are not."""
    return chance(*seed).choices(_vocabulary(), k=count)


def prose(count: int, *seed: object) -> str:
    """Sentences of about ``count`` words, in paragraphs."""
    found, sentences, draw = words(count, *seed), [], chance("lengths", *seed)
    while found:
        length = draw.randint(6, 18)
        sentences.append(" ".join(found[:length]).capitalize() + ".")
        found = found[length:]
    return "\n\n".join(" ".join(sentences[start : start + 5]) for start in range(0, len(sentences), 5))


def name(*seed: object) -> str:
    """A name of one word that hardly any other seed has."""
    return "".join(chance("name", *seed).choices(_SYLLABLES, k=5)).capitalize()


def chinese(count: int, *seed: object) -> str:
    """Sentences of ``count`` letters of Chinese."""
    draw = chance("zh", *seed)
    letters = [chr(int(_CHINESE[0] + (_CHINESE[1] - _CHINESE[0]) * draw.random() ** 2)) for _ in range(count)]
    return "\n\n".join("".join(letters[start : start + 20]) + "。" for start in range(0, count, 20))

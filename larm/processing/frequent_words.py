"""The most frequent words of some languages, and how many words of a text they are. Pure; any thread.

Called by `larm.processing.language` for each page.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

from larm.processing.readable import names

FREQUENT: Final = {
    "ca": names("els les amb per una és dels que del i"),
    "cs": names("se na je že by ale jsem jako podle také"),
    "da": names("og at det ikke af til er på den en"),
    "de": names("der die und das ist nicht von mit den ein auf für"),
    "en": names("the of and to that with this from are is"),
    "es": names("que los del las una por con para el se más como"),
    "fi": names("ja on ei se että oli kun mutta myös ovat"),
    "fr": names("le les et des est une dans pour que du sur qui"),
    "hu": names("az és hogy nem is egy ez meg mint csak"),
    "id": names("yang dan di itu dengan untuk dari ini tidak pada"),
    "it": names("che il della per non una sono di con del anche più"),
    "nl": names("de het een van dat niet op te voor zijn met ook"),
    "no": names("og det på ikke av til som jeg er å den har"),
    "pl": names("w na nie się że do jest i z to"),
    "pt": names("que não do da uma para com os em são dos mais"),
    "ro": names("și în cu nu este pe care din la să"),
    "ru": names("и в не на что с по как это но"),
    "sv": names("och att det som på är för inte av den en med"),
    "tr": names("ve bir bu için ile da de çok olarak daha"),
    "uk": names("і в не на що з та як це до"),
}


def share(text: str, code: str) -> tuple[float, int]:
    """(of the words of a text, the share of the most frequent ones of a language, how many there are)."""
    words = text.lower().split()
    return share_of(words, code), len(words)


def share_of(words: Collection[str], code: str) -> float:
    """The same of words that are in lower case."""
    frequent = FREQUENT.get(code)
    return sum(map(frequent.__contains__, words)) / len(words) if frequent and words else 0.0

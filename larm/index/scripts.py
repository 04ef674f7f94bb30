"""Scripts that put no spaces between words: which they are, and whether a text uses them. Pure; the writer thread calls it.

Chinese, Japanese, Thai, Lao, Khmer and Burmese; Korean too, as its spaces part phrases rather than words. Such text is indexed
by characters, and two neighbours are asked for as a phrase: that needs no dictionary and finds every word.
"""

import re
from functools import cache
from typing import NamedTuple

from larm.index.terms import composed

# ranges as Python and Rust write them alike: kana, han, hangul, thai, lao, burmese, khmer
UNSPACED = (
    r"\u3041-\u3096\u309d-\u30ff\u31f0-\u31ff\uff66-\uff9f"
    r"\u3005-\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
    r"\u1100-\u11ff\u3130-\u318f\uac00-\ud7a3"
    r"\u0e01-\u0e4e\u0e81-\u0ece\u1000-\u109d\u1780-\u17d3"
)
_HEAVY = 0.1
"""From this share of such characters on, a text is one of these scripts."""
_PERHAPS = bytes(range(256)).translate(None, b"\xe0\xe1\xe3\xe4\xe5\xe6\xe7\xe8\xe9\xea\xeb\xec\xed\xef\xf0")
"""All bytes but those that, in UTF-8, begin a character of such a script (and some others)."""


_ASCII = bytes(range(128))
_CERTAIN = bytes([*range(0xCC), 0xD0, 0xD1, 0xE2])
"""Bytes of UTF-8 that begin no accent and nothing that could be written in another way, but for the following of 0xE2."""
_UNCERTAIN = re.compile(rb"\xe2(?:\x80[\x80\x81]|\x84[\xa6\xaa\xab]|\x8c[\xa9\xaa]|[\x83\xab\xb3\xb5\xb7])")


@cache
def _runs() -> re.Pattern[str]:
    """Of such characters. Made when it is wanted: a millisecond, and most crawls never see one."""
    return re.compile(rf"[{UNSPACED}\U00020000-\U0003ffff]+")


class Parts(NamedTuple):
    """A text, parted by how its words are found."""

    spaced: str
    unspaced: str


def composed_and_parted(text: str) -> Parts:
    """`parted` of `composed`, which for most texts is the text itself: to see that takes half the time."""
    return Parts(text, "") if is_plain(text) else parted(composed(text))


def is_plain(text: str) -> bool:
    """Nothing but Latin and Cyrillic letters and the usual signs, in their usual form. False may be an error."""
    if text.isascii():
        return True
    try:
        text.encode("latin-1")  # all of it is plain; and to see that it is takes a twelfth of the time
        return True
    except UnicodeEncodeError:
        data = text.encode("utf-8", "surrogatepass").translate(None, _ASCII)  # little is left
    return not data.translate(None, _CERTAIN) and not _UNCERTAIN.search(data)


def parted(text: str) -> Parts:
    """The whole text goes to one side; the passages without spaces of a text that has few of them go to both.

    Nearly free for ASCII, 10 us for 10 KB in other letters, 100 us where there are such passages.
    """
    if text.isascii():
        return Parts(text, "")
    few = text.encode("utf-8", "replace").translate(None, _ASCII)
    if not few.translate(None, _PERHAPS) or not _runs().search(few.decode()):
        return Parts(text, "")
    runs = _runs().findall(text)
    return Parts("", text) if sum(map(len, runs)) >= _HEAVY * len(text) else Parts(text, " ".join(runs))


def is_unspaced(character: str) -> bool:
    """Of such a script; also for a character with its marks."""
    return _runs().match(character) is not None

"""What larm does not read of a page, as there is a limit: names, and what a person is told. Pure; any thread.

Whatever loses words or links of a page has one of these names. It is counted (``cut/NAME``), noted in the page book
(`larm.store.pages.page_book`) with the limit that held, found by ``cut:NAME``, and told by ``larm crawl``, ``stats``, ``why``
and ``search``. A later run with a larger limit asks for such pages again, as a whole.
"""

from collections.abc import Iterable, Mapping
from typing import Final, NamedTuple

ENDS_EARLY: Final = "ends_early"
"""The server broke off, or what came can't be unpacked to its end: no limit, and no later run but asks for it again."""
PAGE: Final = "fetch.page_size"
"""The body is longer."""
FILE: Final = "fetch.document_size"
"""The same of PDF and office files."""
TEXT: Final = "storage.index.text_size"
"""The text is longer than what is indexed, or has more different words."""
DOCUMENTS: Final = "processing.documents"
"""A PDF or office file takes more time or memory to read."""
PROCESSES: Final = "processing.documents.processes"
"""There are none to read PDF and office files."""
LINKS: Final = "processing.links"
"""It leads to more places."""
EFFORT: Final = "processing.effort"
"""Its markup is more work: nested, left open, with more attributes or elements than that of pages for people."""
PROCESSOR: Final = "processor"
"""A processor raised, which may be mended any day: its limit is noted as 0, so that each later run reads the page again."""


class Cut(NamedTuple):
    """One of them."""

    what: str
    """Said of a page."""
    settings: tuple[tuple[str, int, str], ...]
    """What helps most pages: settings, numbers and units."""

    def remedy(self, limit: int) -> str:
        """Settings, as they stand behind ``--set``, by which more of a page is read than with that limit; empty: none."""
        least = sum(number * _UNITS[unit] for _, number, unit in self.settings)
        times = larger(least, limit) // least if least else 1
        return " --set ".join(f"{name}={times * number}{unit}" for name, number, unit in self.settings)


_UNITS = {"": 1, "s": 1_000, "MB": 10**6, "GB": 10**9}
"""As limits count them: durations in milliseconds."""
CUTS: Final[dict[str, Cut]] = {
    ENDS_EARLY: Cut("that came, or could be unpacked, in part only", ()),
    PAGE: Cut("longer than fetch.page_size", ((PAGE, 100, "MB"),)),
    FILE: Cut("longer than fetch.document_size", ((FILE, 500, "MB"),)),
    TEXT: Cut("with more text than storage.index.text_size", ((TEXT, 100, "MB"),)),
    DOCUMENTS: Cut(
        "for which processing.documents allows too little time or memory",
        ((f"{DOCUMENTS}.timeout", 60, "s"), (f"{DOCUMENTS}.memory", 2, "GB")),
    ),
    PROCESSES: Cut("of PDF or office files, which processing.documents.processes leaves unread", ((PROCESSES, 2, ""),)),
    LINKS: Cut("with more links than processing.links", ((LINKS, 10_000_000, ""),)),
    EFFORT: Cut("whose markup is more work than processing.effort", ((EFFORT, 10, ""),)),
    PROCESSOR: Cut("that a processor failed on (logs/thread*_errors.log says how)", ()),
}
_BLOCK: Final = 50_000
_WORDS: Final = bytes(byte if 0x80 <= byte < 0xE0 or (chr(byte).isalnum() and byte < 0x80) else 32 for byte in range(256))
"""Bytes of UTF-8 that words of alphabets have; of the others a space."""
COUNTED: Final = "cut/"
"""What the names of the statistics begin with."""


def cut_text(text: str, size: int) -> str:
    """Return the beginning of a text, at most ``size`` bytes of UTF-8 with a different word for each 100 of these.

    Each such word costs tantivy 2 us or more. Signs of languages that put no spaces between words don't count.
    """
    most = max(10_000, size // 100)
    if len(text) <= min(size // 4, 2 * most):  # nearly always
        return text
    encoded = text.encode("utf-8", "replace")
    words: set[bytes] = set()
    for start in range(0, min(size, len(encoded)), _BLOCK):
        words.update(encoded[start : start + _BLOCK].translate(_WORDS).split())
        if len(words) > most:
            return encoded[:start].decode("utf-8", "ignore")
    return text if len(encoded) <= size else encoded[:size].decode("utf-8", "ignore")


def may_be_whole(cuts: Mapping[str, int], now: Mapping[str, int]) -> bool:
    """Whether more of a page that was cut by these limits would be read with those of ``now``."""
    return any(now.get(name, 0) > limit for name, limit in cuts.items())


def larger(least: int, limit: int) -> int:
    """``least``, doubled until it is more than a limit that was too small."""
    while least <= limit:
        least *= 2
    return least


def sentence_of(name: str, limit: int) -> str:
    """The same of one page."""
    cut = CUTS.get(name)
    if cut is None:
        return ""
    remedy = f" --set {cut.remedy(limit)}" if cut.settings else ""
    return f"words or links of it are missing: it is one {cut.what}; 'larm crawl{remedy}' reads it again"


def was_cut(statistics: Iterable[str]) -> bool:
    """Whether some page was cut, in this run or an earlier one, by the names of the statistics."""
    return any(name.startswith(COUNTED) for name in statistics)

"""NoveltyJudge: does a page say anything that others of this crawl had not said before?

Asked where pages have been read, on the threads that fetch and read, so that it is known before the page's links go on. Three
things count: pieces of the main text (numbers are all the same, for a calendar has always one more), of the rest of the text
where there is little main text, and words of the title. What a page repeats of its own address is nothing of its own.
"""

import re
import threading
from collections.abc import Sequence
from mmap import ACCESS_COPY, mmap
from typing import Any

import xxhash

from larm.index.duplicates.fingerprints import fingerprints, new_memory
from larm.model.document import Document, Visit
from larm.model.novelty import Fingerprint, Novelty
from larm.model.url import Url
from larm.model.url_shape import parts_of, without_echo

SHORT = 1500
"""Characters; a main text that has fewer may be that of a list, of which the rest says more."""
_LITTLE = 10
"""A text is nothing new if less than one in so many of its pieces was not seen before ..."""
_FEW = 2
"""... or fewer than so many are, where there are as many: one is made by two known words beside each other, as of tags that can
be combined."""
_LINE_END = 8 * "\x80" + " "
"""Of short texts: so long that no piece goes on behind it. In lists, known titles in another order are nothing new."""
_CLOUD = 5
"""Words of a line that may be a cloud of links; of these, all but one of so many have to be words of links."""
_QUERY = re.compile(r"(?<!\S)[^\s?]*\?[^\s=]*=\S*")
"""An address with parameters, as some pages show them instead of words: what stands in them is nothing that a page says."""
_WORD = re.compile(r"[^\W\d_]{3,}")
_ANY_WORD = re.compile(r"\w+")
_SPOKEN = 4
"""Characters: of a year."""
_SLOTS = 1 << 18
"""Words of titles that are remembered: 2 MB."""


def own_text(url: Url | None, text: str) -> str:
    """The text; a short one without the address, which makes up much of it on pages that say nothing, nor others."""
    return text if len(text) > SHORT or url is None else without_echo(_QUERY.sub(" ", text), url.access)


class NoveltyJudge:
    """One for a crawl; any thread. What it remembers is bounded, and not kept across restarts."""

    def __init__(self) -> None:
        # constant after construction
        self._lock = threading.Lock()
        # guarded by self._lock
        self._memory: Any = None
        self._words = memoryview(mmap(-1, 8 * _SLOTS, access=ACCESS_COPY)).cast("Q")  # memory that is taken as it fills

    def judge(self, visits: Sequence[Visit]) -> list[tuple[Fingerprint, Novelty]]:
        """Of pages that were just read, each with a document and an address, in the order in which they count as known."""
        documents = [visit.document or Document("") for visit in visits]
        short = [n for n, each in enumerate(documents) if len(each.raw_text) < SHORT]
        texts = [own_text(visit.url, each.raw_text) for visit, each in zip(visits, documents, strict=True)]
        other_texts = [own_text(visits[n].url, documents[n].other_text) for n in short]
        with self._lock:
            if self._memory is None:
                self._memory = new_memory()
            anchors = [documents[n].links.anchors for n in short]
            lines = fingerprints([_in_lines(texts[n], own) for n, own in zip(short, anchors, strict=True)], self._memory)
            others = fingerprints(
                [_in_lines(each, own) for each, own in zip(other_texts, anchors, strict=True)], self._memory, links=True
            )
            prints = fingerprints(texts, self._memory)
            copies = [self._is_copy(*each) for each in zip(visits, documents, prints, strict=True)]
            titled, named = zip(*map(self._new_title, visits, documents), strict=True) if visits else ((), ())
        parts = {n: (one, other) for n, one, other in zip(short, lines, others, strict=True)}
        return [
            (prints[n], _novelty(visit, parts.get(n, (prints[n],)), titled=titled[n], named=named[n], copy=copies[n]))
            for n, visit in enumerate(visits)
        ]

    def _new_title(self, visit: Visit, document: Document) -> tuple[bool, bool]:
        """Whether a word of it was in no title before; whether no page had it, with its first heading. What is in the address
        does not count."""
        address = visit.url.access.lower() if visit.url is not None else ""
        new = [self._is_new(word) and word not in address for word in _WORD.findall(document.title.lower())]
        title = " ".join((document.title, *document.headings[:1])).lower()
        words = [word for word in _ANY_WORD.findall(title) if word not in address]
        return any(new), bool(words) and self._is_new("\n" + "\n".join(words))

    def _is_copy(self, visit: Visit, document: Document, text: Fingerprint) -> bool:
        if not text.features or visit.url is None:
            return False
        return not self._is_new(f"\n{visit.url.host}\n{document.title}\n{text.features}\n{text.sketch.decode('latin-1')}")

    def _is_new(self, text: str) -> bool:
        number = xxhash.xxh3_64_intdigest(text.encode("utf-8", "surrogatepass"))
        place = number & (_SLOTS - 1)
        new = self._words[place] != number
        self._words[place] = number
        return new


def _in_lines(text: str, anchors: str) -> str:
    """Of a line whose words are nearly all those of links, such as a cloud of tags, the order says nothing."""
    lines = [_in_words(line, anchors) if line.count(" ") >= _CLOUD else line for line in text.split("\n")]
    return _LINE_END.join(lines)


def _in_words(line: str, anchors: str) -> str:
    words = line.split()
    if not words or words[-1] not in anchors:  # as in most sentences
        return line
    own = frozenset(anchors.split())
    linked = sum(each in own for each in words) if len(words) >= _CLOUD else 0
    return _LINE_END.join(words) if linked * _CLOUD >= len(words) * (_CLOUD - 1) else line


def _novelty(visit: Visit, parts: Sequence[Fingerprint], *, titled: bool, named: bool, copy: bool) -> Novelty:
    """``parts``: of its text, the first of which has one counts for what the page is like."""
    looked, new = (sum(each.news[place] for each in parts) for place in (0, 1))
    html = visit.document is not None and visit.document.mime in ("text/html", "application/xhtml+xml")
    stale = not titled and ((new < min(_FEW, looked) or new * _LITTLE < looked) if looked else html)
    simhash = next((each.simhash for each in parts if each.features), 0)
    return Novelty(visit.url or Url("", "", "", 0), visit.referrer, stale, simhash, _spoken(visit), named, copy=copy)


def _spoken(visit: Visit) -> frozenset[str]:
    """Only short values: what is longer and stands in a text may be a session in one of its links."""
    parameters = parts_of(visit.url.access).parameters if visit.url is not None else {}
    short = {name: value for name, value in parameters.items() if 0 < len(value) <= _SPOKEN}
    if not short or visit.document is None:
        return frozenset()
    words = set(_ANY_WORD.findall(f"{visit.document.title} {visit.document.raw_text[:SHORT]}"))
    return frozenset(name for name, value in short.items() if value in words)

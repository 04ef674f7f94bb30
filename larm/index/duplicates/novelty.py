"""NoveltyJudge: does a page say anything that others of this crawl had not said before?

Three things count: pieces of the main text (numbers are all the same, for a calendar has always one more), of the rest of the
text where there is little main text, and words of the title. What a page repeats of its own address is nothing of its own.

`page_text` measures the text where the page is read, in whichever process. `NoveltyJudge` remembers what others have said, on
the threads that fetch and read, before the links of the page go on.
"""

import re
import threading
from collections.abc import Sequence

import xxhash

from larm.index.duplicates.fingerprints import measured, new_memory
from larm.model.document import Document, Visit
from larm.model.hollow import PAGES
from larm.model.novelty import Fingerprint, Novelty, PageText
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
_SLOTS = 1 << 20
"""Words of titles that are remembered: 2 MB."""


def own_text(url: Url | None, text: str) -> str:
    """The text; a short one without the address, which makes up much of it on pages that say nothing, nor others."""
    if len(text) > SHORT or url is None:
        return text
    return without_echo(_QUERY.sub(" ", text) if "?" in text else text, url.access)


def page_text(url: Url, document: Document) -> PageText:
    """Return what `NoveltyJudge` has to know of the text of a page. Pure."""
    main = document.raw_text
    own = own_text(url, main)
    features, simhash, sketch, pieces = measured(own, False)
    like, all_pieces = simhash if features else 0, [pieces]
    if len(main) < SHORT:
        anchors = document.links.anchors
        in_lines = measured(_in_lines(own, anchors), False)
        others = measured(_in_lines(own_text(url, document.other_text), anchors), True)
        like = next((each[1] for each in (in_lines, others) if each[0]), 0)
        all_pieces = [in_lines[3], others[3], pieces]
    address, title = url.access.lower(), document.title.lower()
    words = _WORD.findall(title)
    echoed = [word for word in words if word in address]
    name = " ".join((title, *document.headings[:1])).lower()
    named = [word for word in _ANY_WORD.findall(name) if word not in address]
    return PageText(
        Fingerprint(features, simhash, sketch),
        like,
        tuple(all_pieces),
        _numbers([word for word in words if word not in echoed]),
        _numbers(echoed),
        _numbers(["\n" + "\n".join(named)]) if named else b"",
        _numbers([f"\n{url.host}\n{document.title}\n{features}\n{sketch.decode('latin-1')}"]) if features else b"",
        _spoken(url, document) if "?" in address or ";" in address else frozenset(),
        document.outside,
    )


class NoveltyJudge:
    """One for a crawl; any thread. What it remembers is bounded, and not kept across restarts."""

    def __init__(self) -> None:
        # constant after construction
        self._lock = threading.Lock()
        # guarded by self._lock
        self._pieces, self._words = new_memory(), new_memory(_SLOTS)

    def judge(self, visits: Sequence[Visit]) -> list[tuple[Fingerprint, Novelty]]:
        """Of pages that were just read, each with a document and an address, in the order in which they count as known."""
        texts = []
        for visit in visits:
            document, url = visit.document or Document(""), visit.url or _NOWHERE
            texts.append(document.measured or page_text(url, document))
        with self._lock:
            return [(text.fingerprint, self._novelty(visit, text)) for visit, text in zip(visits, texts, strict=True)]

    def _novelty(self, visit: Visit, text: PageText) -> Novelty:
        news = [self._pieces.news(each) for each in text.pieces]
        looked, new = map(sum, zip(*(news if len(news) == 1 else news[:-1]), strict=True))
        _, titled = self._words.news(text.words)
        self._words.news(text.echoed)
        html = visit.document is not None and visit.document.mime in PAGES
        stale = not titled and ((new < min(_FEW, looked) or new * _LITTLE < looked) if looked else html)
        return Novelty(
            visit.url or _NOWHERE,
            visit.referrer,
            stale,
            text.simhash,
            text.spoken,
            named=self._words.news(text.name)[1] > 0,
            copy=self._words.news(text.same) == (1, 0),
        )


_NOWHERE = Url("", "", "", 0)


def _numbers(texts: Sequence[str]) -> bytes:
    return b"".join([xxhash.xxh3_64_digest(text.encode("utf-8", "surrogatepass")) for text in texts])


def _in_lines(text: str, anchors: str) -> str:
    """Of a line whose words are nearly all those of links, such as a cloud of tags, the order says nothing."""
    lines, linked = text.split("\n"), frozenset[str]()
    for place, line in enumerate(lines):
        if line.count(" ") < _CLOUD or not (words := line.split()) or words[-1] not in anchors:  # as in most sentences
            continue
        linked = linked or frozenset(anchors.split())
        if len(words) >= _CLOUD and sum(map(linked.__contains__, words)) * _CLOUD >= len(words) * (_CLOUD - 1):
            lines[place] = _LINE_END.join(words)
    return _LINE_END.join(lines)


def _spoken(url: Url, document: Document) -> frozenset[str]:
    """Only short values: what is longer and stands in a text may be a session in one of its links."""
    short = {name: value for name, value in parts_of(url.access).parameters.items() if 0 < len(value) <= _SPOKEN}
    if not short:
        return frozenset()
    words = set(_ANY_WORD.findall(f"{document.title} {document.raw_text[:SHORT]}"))
    return frozenset(name for name, value in short.items() if value in words)

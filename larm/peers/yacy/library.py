"""Library: the pages of this machine's crawls that are shared. On the thread ``larm-network-share``.

Only pages that anybody could have had are shared (`larm.model.restriction`), with no more text than each allows to be shown. A
crawl that runs is shared afterwards (YACY-28). The texts and the number of links to a page are those of its own crawl.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

from larm.errors import LarmError
from larm.graph.reader import GraphReader, open_graph
from larm.index.analysis import Analyzer
from larm.index.anchors import said
from larm.index.candidate import Candidate
from larm.index.reader import IndexReader
from larm.index.search.query import parse_question
from larm.index.statistics import read_in
from larm.index.stems import LANGUAGES, Stemmer
from larm.index.tree import All, Meta, wanted
from larm.model.restriction import open_to
from larm.ops.control.client import Control, NotRunning
from larm.peers.yacy.asking import Understood, Unit, sites_of, unit_of
from larm.peers.yacy.page import Page, Words
from larm.peers.yacy.publishing import Source
from larm.peers.yacy.questions import MOST_WORDS
from larm.peers.yacy.url_hash import LOCAL, flags_of, url_hash


class Vocabulary:
    """Words as the index knows them, and their stems, so a word is found in all its forms. Thread-safe."""

    def __init__(self, stop: Sequence[str]) -> None:
        # constant after construction
        self._analyzer = Analyzer()
        self._stemmers = {language: Stemmer(language) for language in sorted(LANGUAGES)}
        self._guessed = dict.fromkeys(self._stemmers, 1.0) | {"en": float(len(self._stemmers))}
        """Weights while the languages of the pages are not known: English first, then stems on which most languages agree."""
        self.stop = frozenset(word for text in stop for word in self._analyzer.words(text))

    def words(self, text: str) -> list[str]:
        """Return the words of a text."""
        return self._analyzer.words(text)

    def stems(self, page: Page) -> Words:
        """Return the function that gives the stems of a word of this page."""
        stemmer = self._stemmers.get(page.language)
        return _no_stems if stemmer is None else lambda word: (stemmer.stem(word),)

    def is_common(self, word: str) -> bool:
        """Return True if the word is neither shared nor asked for."""
        return word in self.stop or self._stemmers["en"].is_function_word(word)

    def understand(self, query: str, shares: Mapping[str, float]) -> Understood:
        """Return the words of a query, each with its stems in the languages of the pages.

        ``shares``: of all pages, by language; empty: not known.
        """
        question = parse_question(query)
        words = [word for item in wanted(question.tree) for word in self.words(item.text)]
        words = [word for word in dict.fromkeys(words) if not self.is_common(word)]
        weights = {name: shares.get(name, 0.0) for name in read_in(shares)} if shares else self._guessed
        most = min(_MOST_STEMS if shares else _GUESSED, max(1, MOST_WORDS // max(1, len(words)) - 1))
        units = [self._unit(word, most, weights) for word in words]
        notes = list(question.notes)
        if not units:
            notes.append("a network is asked for words that are not too common; there are none")
        items = question.tree.items if isinstance(question.tree, All) else (question.tree,)
        hosts = [item.value for item in items if isinstance(item, Meta) and item.name in {"site", "host"}]
        return Understood(tuple(units), tuple(notes), tuple(end for host in hosts for end in sites_of(host)))

    def _unit(self, word: str, most: int, weights: Mapping[str, float]) -> Unit:
        """Return the word with its stems in the most frequent languages."""
        stems = dict[str, float]()
        for name, weight in weights.items():
            stem = self._stemmers[name].stem(word)
            stems[stem] = stems.get(stem, 0.0) + weight
        stems.pop(word, None)
        return unit_of(word, sorted(stems, key=stems.__getitem__, reverse=True)[:most])


_AGAIN = 86_400.0
_LONGEST = 2_048
_TEXTS = 1_000
"""Texts of links to a page that are read."""
_MENUS = 500_000
"""Number of pages up to which words in menus are shared, as they are collected in memory."""
_MOST_STEMS, _GUESSED = 6, 3
"""Number of stems of a word. In a large network each has 48 more peers asked."""


class Shelved(NamedTuple):
    """The pages that are shared."""

    sources: Sequence[Source]
    left_out: int
    """Pages that no stranger could open."""


class Library:
    """The crawls of this machine. ``directories`` lists them; ``private``: pages of private addresses are shared as well."""

    def __init__(self, directories: Callable[[], Sequence[Path]], *, private: bool) -> None:
        # constant after construction
        self._directories = directories
        self._private = private
        # only the sharing thread
        self._seen: dict[Path, tuple[int, int]] = {}
        self._at = float("-inf")

    def is_due(self, now: float) -> bool:
        """Return True if a crawl has changed, or a day is over and items may have to be renewed. False while a crawl runs."""
        found = {path: _moment(path) for path in self._directories()}
        return (found != self._seen or now - self._at > _AGAIN) and not any(map(runs, found))

    def shelved(self, now: float) -> Shelved:
        """Return all pages that may be shared. Raises StorageError."""
        self._at = now
        found, left_out = dict[str, Source](), 0
        readers = open_to(private=self._private)
        seen = {}
        for path in self._directories():
            seen[path] = _moment(path)
            if not any(seen[path]):
                continue
            reader = IndexReader(path / "index")
            left_out += reader.documents - reader.open_pages(readers)
            menus = reader.menus() if reader.documents <= _MENUS else _no_menus
            graph = open_graph(path / "graph")
            for candidate in reader.every(readers):
                name = shareable_name(reader.url(candidate), private=self._private)
                if name is None:
                    left_out += 1
                else:
                    found.setdefault(name, Source(name, partial(page_of, reader, candidate, menus, graph)))
        self._seen = seen
        return Shelved(list(found.values()), left_out)


def shareable_name(url: str, *, private: bool) -> str | None:
    """Return the hash of a URL that any stranger could open; None for others."""
    if not url.startswith(("http://", "https://")) or len(url) > _LONGEST:
        return None
    try:
        name = url_hash(url)
    except ValueError:
        return None
    return name if private or flags_of(name) >> 2 & 7 != LOCAL else None


def page_of(reader: IndexReader, candidate: Candidate, menus: Callable[[Candidate], str], graph: GraphReader | None) -> Page:
    """Return the shared data of a page. Raises StorageError."""
    match = reader.read(candidate, 0.0)
    texts = graph.texts(candidate.page, _TEXTS) if graph is not None else ()
    return Page(
        url=match.url,
        title=match.title,
        description=match.description,
        text=match.body[: match.quote],
        language=match.language,
        mime=match.mime,
        modified=match.modified,
        fetched=match.fetched,
        size=match.size,
        other=menus(candidate) if match.quote is None else "",
        links=tuple(dict.fromkeys(filter(None, map(said, texts)))),
        linked=graph.in_degree(candidate.page) if graph is not None else 0,
    )


def _no_menus(_: Candidate) -> str:
    return ""


def _no_stems(_: str) -> Iterator[str]:
    return iter(())


def _moment(path: Path) -> tuple[int, int]:
    try:
        found = (path / "index" / "meta.json").stat()
    except OSError:
        return 0, 0
    return found.st_mtime_ns, found.st_ino


def runs(path: Path) -> bool:
    """Return True if a crawl runs in this directory."""
    try:
        Control(path, timeout=5.0).close()
    except NotRunning:
        return False
    except LarmError:
        return True
    return True

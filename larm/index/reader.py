"""IndexReader: questions to the full-text index. Knows tantivy and nothing of users: words come analysed, weights from ranking.

Used by `larm.index.search` on one thread. Works while a crawl is writing: `reload` shows what was committed meanwhile.
"""

import json
from array import array
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from pathlib import Path

import tantivy

from larm.config import SearchSettings
from larm.errors import StorageError, UsageError
from larm.index import fields, schema
from larm.index.analysis import Analyzer
from larm.index.anchors import ANCHORS
from larm.index.candidate import Candidate
from larm.index.completion import titles_with, words_beginning
from larm.index.defined import SIGN
from larm.index.facets import count_facets
from larm.index.failure import IndexFailure
from larm.index.meta_words import meta_word
from larm.index.names import Anchors, open_anchors
from larm.index.own_fields import read_stored
from larm.index.readable import openable
from larm.index.retrieval import NOTHING, Retrieval, Retrieved
from larm.index.statistics import QueryContext, Statistics, Vocabulary
from larm.index.synonyms import NONE, read_synonyms
from larm.index.tree import Node, Phrase, Word
from larm.index.word_queries import WordQueries
from larm.model.cuts import CUTS
from larm.model.facets import Facet
from larm.model.findings import WordStatistics
from larm.model.page_record import PageFacts
from larm.model.restriction import READERS, OpenTo

_MOST_VALUES = 1_000
_MOST_CUT = 100_000  # cut pages that are known as such in results


class Match(PageFacts, frozen=True, kw_only=True):
    """A page that was found; its title as it was indexed."""

    body: str
    """The main text."""
    score: float
    explanation: str
    """JSON; empty if it was not asked for."""
    description: str = ""
    quote: int | None = None
    """At most so many characters of the page may be shown; None: any number."""
    sections: str = ""
    """See `larm.index.sections`."""


class IndexReader:
    """The index in the directory ``path``. Raises UsageError if there is none, StorageError if it can't be read."""

    def __init__(self, path: Path, settings: SearchSettings | None = None) -> None:
        if not schema.index_exists(path):
            remedy = "'larm crawl URL' makes one, 'larm reindex' where pages are stored; --dir names another directory"
            raise UsageError(f"no index in {path.parent}: {remedy}")
        # constant after construction
        self._path = path
        self._settings = settings or SearchSettings()
        self.analyzer = Analyzer()
        file = self._settings.synonyms
        self._synonyms = read_synonyms(path.parent / file, self.analyzer) if file else NONE
        self._failure = IndexFailure(path)
        # only the calling thread
        self._moment = self._anchored = (0, 0)
        self._anchors: Anchors | None = None
        self._anchors_damaged = False
        self.reload()

    def reload(self) -> None:
        """See the latest commit; 10 us if there is none."""
        moment = _moment(self._path)
        if moment != self._moment or not any(moment):
            self._moment = moment
            self._open()
            with self._failure:
                self._cut_pages = self._find_cut_pages(self._searcher)
                statistics = Statistics(self._searcher)
                words = WordQueries(self._schema, statistics, self.analyzer, self._synonyms)
            self._retrieval = Retrieval(self._schema, self._searcher, words, self._settings)
        anchors = self._path.with_name(ANCHORS)
        if (moment := _moment(anchors)) != self._anchored:
            self._anchored, self._anchors, self._anchors_damaged = moment, None, False
            try:
                self._anchors = open_anchors(anchors)
            except StorageError:  # searches do without
                self._anchors_damaged = True

    @property
    def anchors_damaged(self) -> bool:
        """Searches do without the texts of links, because their index is damaged."""
        return self._anchors_damaged or (self._anchors is not None and self._anchors.damaged)

    def begin(self, context: QueryContext) -> None:
        """What is asked from now on is part of this search; after a `reload`."""
        self._retrieval.words.context = context

    def word_statistics(self, tree: Node | None) -> WordStatistics:
        """Of the words and phrases of a query."""
        with self._failure:
            self._retrieval.look_up(tree)
        return WordStatistics(self.documents, self._retrieval.words.context.seen)

    def retrieve(self, tree: Node | None, limit: int, offset: int = 0) -> Retrieved:
        """Candidates for an answer to a query, best first: ``limit`` of them after the first ``offset``."""
        if offset >= self.documents:  # tantivy reserves room for both
            return NOTHING
        with self._failure:
            anchors = self._anchors if self._retrieval.words.context.anchors else None
            return self._retrieval.retrieve(tree, anchors, limit, offset)

    def newest(self, found: Retrieved, limit: int, offset: int = 0) -> Retrieved:
        """Of what was found, the pages that changed last."""
        if offset >= self.documents:
            return found._replace(candidates=[])
        with self._failure:
            return self._retrieval.newest(found, min(limit, self.documents), offset)  # tantivy reserves room for so many

    def facets(self, found: Retrieved, now: float, known: Mapping[str, Iterable[str]]) -> tuple[Facet, ...]:
        """Of the pages that match, how many are of which site, type, language and age: `larm.index.facets`."""
        if found.matching is None:
            return ()
        self._retrieval.words.context.deadline.check()
        with self._failure:
            return count_facets(self._searcher, found.matching, now, known)

    def words_beginning(self, tree: Node | None, beginning: str) -> list[tuple[str, int]]:
        """Words with that beginning, and how many pages have each of them beside what the tree asks for; most pages first."""
        self._retrieval.words.context.deadline.check()
        with self._failure:
            return words_beginning(self._searcher, self._retrieval.compiled(tree), beginning)

    def titles_with(self, tree: Node | None, beginning: str) -> list[str]:
        """Titles that have a word with that beginning, of pages that have what the tree asks for."""
        self._retrieval.words.context.deadline.check()
        with self._failure:
            return titles_with(self._schema, self._searcher, self._retrieval.compiled(tree), beginning)

    def frequency(self, name: str, value: str) -> int:
        """Pages with this value of a meta word such as ``host``; those that are deleted may count until a merge."""
        with self._failure:
            return self.statistics.frequency(fields.META, meta_word(name, value))

    def is_function_word(self, word: str) -> bool:
        """One such as "the", in a language of the index."""
        return self._retrieval.words.forms.is_function_word(word)

    def having_all(self, found: Retrieved, candidates: Sequence[Candidate]) -> Set[int]:
        """The pages of those candidates that have all words."""
        with self._failure:
            return self._retrieval.having_all(found, candidates)

    def read(self, candidate: Candidate, score: float, explanation: str = "") -> Match:
        """The stored parts of a candidate."""
        self._retrieval.words.context.deadline.check()
        with self._failure:
            first = self._searcher.doc(candidate.address).get_first
            return Match(
                url=first(fields.URL) or "",
                title=first(fields.TITLE) or "",
                body=first(fields.MAIN) or first(fields.SIGNS) or "",
                mime=first(fields.MIME) or "",
                score=score,
                explanation=explanation,
                description=first(fields.DESCRIPTION) or "",
                language=first(fields.LANGUAGE) or "",
                modified=first(fields.MODIFIED) or 0,
                fetched=first(fields.FETCHED) or 0,
                size=first(fields.SIZE) or 0,
                quote=first(fields.QUOTE),
                cuts=self._cut_pages.get((candidate.address.segment_ord, candidate.address.doc), ()),
                fields=read_stored(bytes(first(fields.OWN) or b"").decode()),
                sections=bytes(first(fields.SECTIONS) or b"").decode(),
            )

    def url(self, candidate: Candidate) -> str:
        """Its address."""
        with self._failure:
            return str(self._searcher.doc(candidate.address).get_first(fields.URL))

    def parts_of_score(self, found: Retrieved, candidate: Candidate) -> dict[str, float]:
        """What each part of the query adds to the score of a candidate; those that add nothing are left out."""
        parts = {}
        for name, query in found.parts.items():
            self._retrieval.words.context.deadline.check()
            try:
                parts[name] = float(json.loads(query.explain(self._searcher, candidate.address).to_json())["value"])
            except ValueError:  # so tantivy says that the page is not found
                continue
        return {name: value for name, value in parts.items() if value}

    @property
    def compared(self) -> bool:
        """Scores of the search under way are compared with those of other indexes."""
        return self._retrieval.words.context.compared

    @property
    def statistics(self) -> Statistics:
        """Frequencies and lengths, as of now."""
        return self._retrieval.words.statistics

    def has_field(self, name: str) -> bool:
        """Whether any page has a field of this name, of the user's."""
        with self._failure:
            return int(self._searcher.doc_freq(fields.META, meta_word(name, "all"))) > 0

    def is_explained(self, name: str) -> bool:
        """Whether some page has an entry of the name."""
        return self._retrieval.words.statistics.frequency(fields.AS_WRITTEN, SIGN + name.lower()) > 0

    def forms(self, word: str, *, derived: bool = True) -> Sequence[str]:
        """The words of the index that a word of a query stands for, itself first; those that are ``derived``, too."""
        return [form.word for form in self._retrieval.words.forms.of(word, derived=derived)]

    def like(self, pattern: str) -> Sequence[str]:
        """The words of the index that a pattern such as ``vac*`` stands for."""
        return [form.word for form in self._retrieval.words.like(pattern)]

    @property
    def documents(self) -> int:
        """Pages in the index."""
        return int(self._searcher.num_docs)

    @property
    def vocabulary(self) -> Vocabulary:
        """The words of the index, as of the last `reload`."""
        return Vocabulary(self._searcher, self._failure, self._retrieval.words.context.deadline)

    def open_pages(self, to: OpenTo) -> int:
        """Return the number of pages that these readers could have had."""
        with self._failure:
            return schema.total(self._searcher.search(self._open_to(to), limit=1))

    def _open_to(self, to: OpenTo) -> tantivy.Query:
        if to not in READERS:
            return tantivy.Query.all_query()
        return tantivy.Query.term_set_query(self._schema, fields.META, [meta_word("open", value) for value in READERS[to]])

    def all_words(self, open_to: OpenTo = "owner") -> set[str]:
        """Return the words of all pages that these readers could have had: 50 us a word where there are others.

        Only where there are none, the words by which links call the pages are among them.
        """
        whole = open_to not in READERS or (pages := self.open_pages(open_to)) >= self.documents
        if not whole and not pages:
            return set()
        names = (fields.TITLE, fields.HEADINGS, fields.URL_WORDS, fields.DESCRIPTION, fields.MAIN, fields.SIGNS, fields.OTHER)
        with self._failure:
            words = [(name, word) for name in names for word, _ in self._searcher.terms_with_prefix(name, "")]
            found = {word for name, word in words if whole or self._is_open(name, word, open_to)}
        return found | (self._anchors.words() if whole and self._anchors is not None else set())

    def _is_open(self, name: str, word: str, to: OpenTo) -> bool:
        parts = (tantivy.Query.term_query(self._schema, name, word), self._open_to(to))
        query = tantivy.Query.boolean_query([(tantivy.Occur.Must, part) for part in parts])
        return bool(self._searcher.search(query, limit=1, count=False).hits)

    def every(self, open_to: OpenTo = "owner") -> list[Candidate]:
        """Return all pages that these readers could have had, as of the last `reload`, in no order."""
        with self._failure:
            found = self._searcher.search(self._open_to(open_to), limit=max(1, self.documents)).hits
            addresses = [address for _, address in found]
            pages = self._searcher.fast_field_values(fields.PAGE, addresses)
        return [Candidate(address, 0.0, int(page or 0), 0, 0) for address, page in zip(addresses, pages, strict=True)]

    def menus(self) -> Callable[[Candidate], str]:
        """Return a function that gives the words of a page's menus, headers and footers, in no order: their text is not stored.

        It takes some 250 bytes of memory for each page of the index.
        """
        found, words = dict[tuple[int, int], "array[int]"](), list[str]()
        with self._failure:
            for word, _ in self._searcher.terms_with_prefix(fields.OTHER, ""):
                query = tantivy.Query.term_query(self._schema, fields.OTHER, word, index_option="basic")
                for _, address in self._searcher.search(query, limit=max(1, self.documents), count=False).hits:
                    found.setdefault((address.segment_ord, address.doc), array("I")).append(len(words))
                words.append(word)

        def words_of(candidate: Candidate) -> str:
            place = (candidate.address.segment_ord, candidate.address.doc)
            return " ".join(words[number] for number in found.get(place, ()))

        return words_of

    def values(self, name: str) -> list[tuple[str, int]]:
        """Of a meta word such as ``lang`` the values, with their numbers of pages, commonest first."""
        with self._failure:
            words = self._searcher.terms_with_prefix(fields.META, meta_word(name, ""), limit=_MOST_VALUES)
            found = [(word, self._matching(word)) for word, _ in words]  # their own numbers count pages of before as well
        head = len(meta_word(name, ""))
        counted = [(word[head:], pages) for word, pages in found if pages]
        return sorted([each for each in counted if each[0] != "all"], key=lambda each: -each[1])

    def _matching(self, word: str) -> int:
        """Pages with a meta word."""
        return schema.total(self._searcher.search(tantivy.Query.term_query(self._schema, fields.META, word), limit=1))

    def pages(self, tree: Node | None) -> list[int]:
        """Fingerprints of all pages that have all that a query asks for."""
        with self._failure:
            return self._retrieval.pages(tree, self.documents)

    def anywhere(self, item: Word | Phrase) -> int:
        """Pages that have it, here or in another index that is asked; there, what is known."""
        with self._failure:
            return self._retrieval.anywhere(item)

    def count(self, tree: Node | None) -> int:
        """Pages that have all that a query asks for."""
        with self._failure:
            return self._retrieval.count(tree)

    def _open(self) -> None:
        with self._failure, openable(self._path) as path:
            index = schema.open_index(path, self._path)
            index.reload()
            self._schema, self._searcher = index.schema, index.searcher()

    def _find_cut_pages(self, searcher: tantivy.Searcher) -> dict[tuple[int, int], tuple[str, ...]]:
        """By their places. There are few; where there are none, that is one look at the vocabulary."""
        found: dict[tuple[int, int], tuple[str, ...]] = {}
        for name in CUTS:
            query = tantivy.Query.term_query(self._schema, fields.META, meta_word("cut", name), index_option="basic")
            for _, address in searcher.search(query, limit=_MOST_CUT, count=False).hits:
                place = (address.segment_ord, address.doc)
                found[place] = (*found.get(place, ()), name)
        return found


def _moment(path: Path) -> tuple[int, int]:
    """What changes with every commit; (0, 0) if there is none."""
    try:
        found = (path / "meta.json").stat()
    except OSError:
        return 0, 0
    return found.st_mtime_ns, found.st_ino

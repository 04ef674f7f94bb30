"""IndexSearcher: words in, pages out, of one index. On one thread; works while a crawl writes.

Used by ``larm search`` and `larm.open_index`, and by `larm.index.search.shared`, which has one for each search under way.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from math import log
from pathlib import Path

import msgspec
from xxhash import xxh3_64_intdigest

from larm.config import SearchSettings
from larm.index.reader import IndexReader, Match
from larm.index.search.advice import advice, missing
from larm.index.search.entries import entry_at, names_of
from larm.index.search.links import DAMAGED, LinkDesk
from larm.index.search.marks import Marks
from larm.index.search.narrowing import narrowed
from larm.index.search.own_score import OwnScore
from larm.index.search.passages import passage_address
from larm.index.search.query import LONGEST, parse_question
from larm.index.search.ranked import Ranker, Ranking
from larm.index.search.results import Results, corrected
from larm.index.search.shown_titles import ShownTitles
from larm.index.search.snippets import make_snippet, safe_line, shortened
from larm.index.search.spelling import FEW, did_you_mean
from larm.index.search.suggesting import Suggestion, suggest
from larm.index.statistics import QueryContext
from larm.index.tree import All, Info, Node, Pages, Question, join, wanted
from larm.kit.clock import SystemClock
from larm.kit.deadline import Deadline, OutOfTimeError
from larm.model.crawl_hash import page_hash
from larm.model.facets import Facet, Narrowed, Sort
from larm.model.findings import MOST_HITS, Asked, Findings, WordStatistics
from larm.model.hit import Hit
from larm.model.page_record import PageLinks, PageRecord
from larm.model.restriction import OpenTo
from larm.seams import Clock

_EMPTY = "the index has no page yet; those of a crawl that runs are found half a minute after they were fetched"


class IndexSearcher:
    """Searches ``directory/index``. Raises UsageError if there is no index, StorageError if it can't be read."""

    def __init__(
        self,
        directory: Path,
        settings: SearchSettings | None = None,
        clock: Clock | None = None,
        own: Sequence[OwnScore] = (),
        *,
        linked: Callable[[Iterable[int]], Sequence[int]] | None = None,
        failing: Callable[[Sequence[int]], Mapping[int, int]] = lambda _: {},
    ) -> None:
        """``own``: scorers of the user's; ``linked``: numbers of links to pages, by fingerprint, where no link graph has them.

        ``failing``: since when revisits have not reached pages, by their fingerprints
        (`larm.store.pages.page_rows.failing_pages`).
        """
        # constant after construction
        settings = settings or SearchSettings()
        self.name = str(directory)
        """Who answers, where several are asked."""
        self._clock = clock or SystemClock()
        self._failing = failing
        self._reader = IndexReader(directory / "index", settings)
        self._ranker = Ranker(directory, self._reader, settings, own, linked)
        self._links = LinkDesk(directory)
        self._titles = ShownTitles(self._reader, self._reader.count)

    @property
    def documents(self) -> int:
        """Pages in the index."""
        return self._reader.documents

    def is_all_open(self, to: OpenTo) -> bool:
        """Return True if these readers could have had every page. Raises StorageError."""
        self.reload()
        return self._reader.open_pages(to) >= self._reader.documents

    def reload(self) -> None:
        """See the latest commit. Raises StorageError."""
        self._ranker.reload()

    def search(
        self,
        words: str,
        n: int = 10,
        page: int = 1,
        explain: bool = False,
        *,
        sort: Sort = "relevance",
        facets: bool = False,
        narrowed: Narrowed = Narrowed(),  # noqa: B008 - a frozen value
        alike: bool = False,
        as_typed: bool = False,
    ) -> Results:
        """The ``n`` best pages for a query (page 2: the next ``n``), as the index is now; for the language see
        `larm.index.search.query`.

        ``sort``: "date" has those first that changed last. ``facets``: count sites, types, languages and ages of what matches;
        ``narrowed`` takes what they name. ``alike``: also pages that say nearly the same as a better one. ``as_typed``: no
        other spelling takes its place, though no page has all words. Anything may be typed; a text without a single word finds
        nothing. Raises StorageError; ConfigError if a scorer of the user's fails.
        """
        return self.results(
            Asked(
                query=words,
                number=n,
                page=page,
                explain=explain,
                sort=sort,
                facets=facets,
                narrowed=narrowed,
                alike=alike,
                as_typed=as_typed,
            )
        )

    def results(self, asked: Asked) -> Results:
        """The same, of a question that has all of that."""
        return corrected(asked, self._results)

    def _results(self, asked: Asked) -> Results:
        return Results(query=asked.query, **self.find(asked).shown)

    def statistics(self, asked: Asked) -> WordStatistics:
        """Of the words of a query, for a search in several indexes. Raises StorageError, OutOfTimeError."""
        self._ranker.reload()
        self._reader.begin(QueryContext(deadline=Deadline(self._clock, asked.seconds)))
        return self._reader.word_statistics(self._links.resolve(self._parsed(asked.query).tree, []))

    def find(self, asked: Asked, among: Sequence[str] | None = None) -> Findings:
        """The same as `search`, in the terms of the seam. Raises OutOfTimeError, too.

        ``among``: addresses of the only pages that may be found; None: any.
        """
        began = self._clock.monotonic()
        reader = self._reader
        self._ranker.reload()
        whole = asked.open_to == "owner" or self.is_all_open(asked.open_to)  # or texts of links would tell of other pages
        context = QueryContext(asked.statistics, Deadline(self._clock, asked.seconds), anchors=whole)
        reader.begin(context)
        question = self._parsed(asked.query)
        notes = list(question.notes)
        tree = narrowed(self._links.resolve(question.tree, notes), asked.narrowed, self._clock.wall(), open_to=asked.open_to)
        if among is not None and tree is not None:
            tree = join((*(tree.items if isinstance(tree, All) else (tree,)), Pages(tuple(among))))
        n = min(max(1, asked.number), MOST_HITS)
        offset = n * (max(1, asked.page) - 1)
        found = self._ranker.rank(tree, n, offset, sort=asked.sort, explain=asked.explain, alike=asked.alike)
        notes += [f"ranked without the link graph, which {DAMAGED}"] if self._ranker.graph_damaged else []
        notes += [f"searched without the index of the texts of links, which {DAMAGED}"] if reader.anchors_damaged else []
        notes += [f"no page has {symbol} as it stands" for symbol in found.unknown]
        notes += self._of_one_stem(found)
        if found.found.loosened and found.total:
            notes.append("no page has what is in quotes, and the rest; these pages have words of it")
        items = tuple(wanted(tree))
        marks = Marks(items, reader.analyzer.words, lambda word: list(found.forms.get(word, ())), self._worth_of())
        names = names_of(items, reader.is_explained)
        failing = self._failing([each.page for each in found.results])
        hits = []
        for each in found.results:
            context.deadline.check()
            hit = _hit(each.match, self._titles.shown(_title(each.match), each.match.url), each.complete, marks, names)
            hits.append(msgspec.structs.replace(hit, failing=failing[each.page]) if each.page in failing else hit)
        suggestion = ""
        try:
            suggestion = self._better(asked.query, tree) if found.complete < FEW and asked.advice else ""
            if found.total and suggestion and not (found.complete or asked.as_typed) and self._loses_nothing(tree, suggestion):
                better = self.find(msgspec.structs.replace(asked, query=suggestion))
                note = f"no page has all of {asked.query}; these pages are for {suggestion}"
                took = self._clock.monotonic() - began
                return msgspec.structs.replace(better, notes=(note, *better.notes), instead=suggestion, took=took)
            if not reader.documents:
                notes.append(_EMPTY)
            elif not found.complete and not suggestion and asked.advice:
                notes += missing(tree, reader.anywhere) if found.total else advice(tree, reader.count)
        except OutOfTimeError:
            notes.append("there was no time to look for other spellings")
        return Findings(
            searcher=self.name,
            hits=tuple(hits),
            total=found.total,
            complete=found.complete,
            alike=found.alike,
            facets=self._facets(found) if asked.facets else (),
            statistics=WordStatistics(reader.documents, context.seen),
            suggestion=suggestion,
            notes=tuple(dict.fromkeys(notes)),
            took=self._clock.monotonic() - began,
        )

    def suggest(self, typed: str, seconds: float | None = None) -> tuple[Suggestion, ...]:
        """What somebody may be about to type, best first. Raises StorageError, OutOfTimeError."""
        self._ranker.reload()
        self._reader.begin(QueryContext(deadline=Deadline(self._clock, seconds)))
        return suggest(self._reader, typed[:LONGEST])

    def _parsed(self, text: str) -> Question:
        return parse_question(text, is_field=self._reader.has_field)

    def _facets(self, found: Ranking) -> tuple[Facet, ...]:
        """Also of sites that few pages of the index are of, where a result is."""
        hosts = [each.match.url.partition("://")[2].partition("/")[0].partition(":")[0].lower() for each in found.results]
        return self._reader.facets(found.found, self._clock.wall(), {"site": hosts})

    def page(self, url: str, open_to: OpenTo = "owner") -> PageRecord | None:
        """What the index has of the page with this address; None where it has none for these readers. Raises StorageError."""
        tree = narrowed(self._info(url), Narrowed(), 0.0, open_to=open_to)
        found = self._reader.retrieve(tree, 1).candidates if tree is not None else []
        return _record(self._reader.read(found[0], 0.0)) if found else None

    def links(self, url: str, limit: int = 100) -> PageLinks:
        """The most important ``limit`` links to and from a page, as far as the link graph is complete. Raises StorageError."""
        return self._links.both(url, limit)

    def _info(self, url: str) -> Node | None:
        self._ranker.reload()
        self._reader.begin(QueryContext())
        return self._links.resolve(Info(url), [])

    def _worth_of(self) -> Callable[[str], float]:
        """What it is worth to show a word in a passage: 1 for a word of one page, 0 for one of all, and for function words."""
        reader, pages, vocabulary = self._reader, self._reader.documents + 2, self._reader.vocabulary

        def worth(word: str) -> float:
            return max(
                0.01, 0 if reader.is_function_word(word) else log(pages / (vocabulary.pages([word])[0] + 1)) / log(pages)
            )

        return worth

    def _of_one_stem(self, found: Ranking) -> list[str]:
        """A sentence, where nothing but a word was asked for that is nowhere, and others that are made of it were found."""
        units = [each.unit for each in found.found.units if not each.common]
        word = units[0].words[0] if len(units) == 1 and len(units[0].words) == 1 else ""
        others = found.forms.get(word, ())[1:]
        if (
            not found.total
            or not others
            or self._reader.vocabulary.pages([word])[0]
            or len(self._reader.forms(word, derived=False)) > 1
        ):
            return []
        return [f'no text has "{word}"; these have {others[0]}']

    def _better(self, text: str, tree: Node | None) -> str:
        """Another spelling of the query, if there is one that finds more."""
        analyzer = self._reader.analyzer
        changeable = [word for item in wanted(tree) for word in analyzer.words(item.text)]
        if not changeable:
            return ""
        return did_you_mean(
            text, changeable, analyzer.spans(text), self._reader.vocabulary, self._reader.forms, total_of=self._total
        )

    def _loses_nothing(self, tree: Node | None, better: str) -> bool:
        """No page has a word that the other spelling changes. Of several indexes another one may."""
        kept = set(self._reader.analyzer.words(better))
        changed = [item for item in wanted(tree) if not kept.issuperset(self._reader.analyzer.words(item.text))]
        return not self._reader.compared and not any(map(self._reader.count, changed))

    def _total(self, text: str) -> int:
        tree = self._links.resolve(self._parsed(text).tree, [])
        return self._reader.count(tree)


def _record(match: Match) -> PageRecord:
    most = None if match.quote is None else max(0, match.quote)
    whole = most is None or most >= len(match.body)
    return PageRecord(
        **match.facts | {"title": _title(match)}, text=match.body[:most], whole=whole, description=match.description
    )


def _title(match: Match) -> str:
    return safe_line(match.title).strip() or match.url


def _hit(match: Match, title: str, complete: bool, marks: Marks, names: Sequence[str]) -> Hit:
    text = match.body[entry_at(match.body, names) :]
    parts = shortened(make_snippet(text, marks, match.description, title=match.title), match.quote)
    return Hit(
        **match.facts | {"title": title},
        parts=parts,
        passage=passage_address(match.url, match.mime, match.body, parts, match.sections),
        complete=complete,
        score=match.score,
        explanation=match.explanation,
        digest=page_hash(match.title, match.body, xxh3_64_intdigest),
    )

"""What a searcher is asked, and what it answers. Frozen values, which msgspec writes and reads: the other side may be far away.

Scores of several indexes mean the same if all know how rare the words are in all of them. So each is asked first for the
statistics of its words (`WordStatistics`), and then for pages, with the sums of these in the question.
"""

from collections.abc import Iterable
from typing import Any

import msgspec

from larm.model.facets import Facet, Narrowed, Sort
from larm.model.hit import Hit
from larm.model.restriction import OpenTo

MOST_HITS = 1_000
"""On a page of results."""


class WordStatistics(msgspec.Struct, frozen=True):
    """How many pages there are, and how many have each word (or words that stand next to each other) of a query."""

    pages: int = 0
    words: dict[str, int] = {}
    """Words in one key are parted by spaces."""
    texts: dict[str, int] = {}
    """For a sample: the number of all pages with each word, in any form, in the text."""
    titles: dict[str, int] = {}
    """For a sample: the same of titles."""
    sample: int = 0
    """The index that is asked has but so many of the pages, and says little of the others; 0: it is as any index."""


def summed(statistics: Iterable[WordStatistics]) -> WordStatistics:
    """Those of several indexes as of one. What is in two of them counts twice, as nobody knows of it."""
    pages, words = 0, dict[str, int]()
    for each in statistics:
        pages += each.pages
        for word, count in each.words.items():
            words[word] = words.get(word, 0) + count
    return WordStatistics(pages, words)


class Asked(msgspec.Struct, frozen=True, kw_only=True):
    """One question."""

    query: str
    """As typed; `larm.index.search.query` has the language."""
    number: int = 10
    """Hits on a page."""
    page: int = 1
    narrowed: Narrowed = Narrowed()
    """Which pages, beside what the query says."""
    open_to: OpenTo = "owner"
    """Only pages that these readers could have had themselves, see `larm.model.restriction`."""
    sort: Sort = "relevance"
    facets: bool = False
    """What it could be narrowed down to is wanted, too."""
    advice: bool = True
    """So is another spelling, or what is to blame, where little is found: a third of the time that a search takes then."""
    as_typed: bool = False
    """No other spelling may take its place, though no page has all of it."""
    explain: bool = False
    """How each score came about is wanted, too."""
    alike: bool = False
    """Pages that say the same as a better one, or nearly, are wanted, too."""
    seconds: float | None = None
    """The time for the answer; None: as long as it takes. What is not done by then is given up, and said."""
    wait: float | None = None
    """Seconds that peers have, as nothing is shown before all have answered; None: those that are configured."""
    statistics: WordStatistics | None = None
    """Those of all indexes that are asked; None: there is only one."""


class Answered(msgspec.Struct, frozen=True, kw_only=True):
    """What there is to show of an answer, be it of one index or of several."""

    hits: tuple[Hit, ...] = ()
    """Best first."""
    total: int = 0
    """All pages that match: those that have all words, and, where these are few, those that have some."""
    complete: int = 0
    """Those of them that have all words."""
    alike: int = 0
    """Pages that were left out, as they say the same as one of these hits, or nearly (YIOOP-58)."""
    exact: bool = True
    """``total`` is the number of pages; otherwise there are at least so many, as several indexes may have the same ones."""
    notes: tuple[str, ...] = ()
    """Sentences about parts of the query that were left out, about the answer, and why nothing was found."""
    facets: tuple[Facet, ...] = ()
    """Of all pages that match, if they were asked for."""
    suggestion: str = ""
    """Another spelling that finds more, where few pages were found."""
    instead: str = ""
    """The spelling that took the place of what was asked, which no page has all of: `Asked.as_typed` has those pages."""
    took: float = 0.0
    """Seconds."""

    @property
    def shown(self) -> dict[str, Any]:
        """These alone, by name, for another value that has them."""
        return {name: getattr(self, name) for name in Answered.__struct_fields__}


class Findings(Answered, frozen=True, kw_only=True):
    """One part of an answer. Of each searcher that was asked there comes one, or more."""

    searcher: str
    """Who answers."""
    by_rank: bool = False
    """The scores mean nothing beside those of others: they say only which of these hits comes first."""
    statistics: WordStatistics = WordStatistics()
    """Of the searcher's own words."""
    failure: str = ""
    """Why there is no answer, or not all of it; one sentence."""
    overall: bool = False
    """The scores are those of one index over all that was asked, as far as others may see it; those of others are fitted."""
    borrowed: bool = False
    """Its pages come from the index that is ``overall``, which knows where they stand."""
    preliminary: bool = False
    """The next part of this searcher takes its place."""

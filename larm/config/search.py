"""Sections of config.yaml: how pages are ranked."""

from typing import Annotated

import msgspec

from larm.config.file_names import FileName
from larm.config.section import Count, Factor, Positive, Section, Weight


class SearchFields(Section, frozen=True):
    """What a word counts in each part of a page."""

    title: Factor = 2.0  # says most about what a page is about
    headings: Factor = 0.0
    url: Factor = 0.5
    description: Factor = 0.5
    main: Factor = 1.0
    other: Factor = 0.3  # menus: on every page of a site


class Search(Section, frozen=True):
    """How pages are ranked. Takes effect at once: nothing is indexed again."""

    candidates: Positive = 100  # pages that tantivy proposes, to be weighed (YIOOP-54)
    fields: SearchFields = SearchFields()
    tie: Annotated[float, msgspec.Meta(ge=0, le=1)] = 0.4  # what further fields and forms count beside the best one
    other_forms: Factor = 0.9  # what a form counts that was not typed
    function_words: Factor = 0.1  # what "the" counts, next to its rarity
    rarity: Annotated[float, msgspec.Meta(ge=0, le=2)] = 0.2  # more weight to rare words than BM25 gives, as a power
    field_rarity: Annotated[float, msgspec.Meta(ge=0, le=1)] = 0.3  # of it: by how few pages have the word in that field
    coverage: Factor = 0.4  # having a word at all, beside having it often
    all_words: Factor = 0.3  # having all words, beside what the most important one counts
    within_names: Factor = 0.4  # the words of names such as os.path, apart from each other
    proximity: Factor = 0.3  # neighbours of the query that stand near each other
    proximity_slop: Count = 4  # words between them
    synonyms: FileName = ""  # a file: words that mean the same
    feedback: Factor = 1.0  # words that the best pages share, beside those of a question of nine words or more
    passages: Factor = 0.6  # how well the best passage of a long page answers, beside the page as a whole
    anchors: Factor = 2.0  # what others call the page, in their links to it
    link_rank: Factor = 0.5  # the importance of the page
    grouped: bool = True  # of pages that say the same, or nearly, show the best one (YIOOP-58)
    own: dict[str, Weight] = {}  # scorers of your own by "package.module:Class", each with its weight (YIOOP-69)

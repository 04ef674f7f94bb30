"""Sections of config.yaml: how pages are ranked."""

from larm.config.file_names import FileName
from larm.config.section import Factor, Positive, Section, Weight


class SearchFields(Section, frozen=True):
    """What a word counts in each part of a page."""

    title: Factor = 2.0  # says most about what a page is about
    url: Factor = 0.5
    description: Factor = 0.5
    main: Factor = 1.0
    other: Factor = 0.3  # menus: on every page of a site


class Search(Section, frozen=True):
    """How pages are ranked. Takes effect at once: nothing is indexed again."""

    candidates: Positive = 100  # pages that tantivy proposes, to be weighed (YIOOP-54)
    fields: SearchFields = SearchFields()
    proximity: Factor = 0.3  # neighbours of the query that stand near each other
    synonyms: FileName = ""  # a file: words that mean the same
    anchors: Factor = 2.0  # what others call the page, in their links to it
    link_rank: Factor = 0.5  # the importance of the page
    grouped: bool = True  # of pages that say the same, or nearly, show the best one (YIOOP-58)
    own: dict[str, Weight] = {}  # scorers of your own by "package.module:Class", each with its weight (YIOOP-69)

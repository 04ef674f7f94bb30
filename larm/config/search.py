"""Sections of config.yaml: how pages are ranked."""

from larm.config.file_names import FileName
from larm.config.section import Factor, Section, Weight


class SearchSettings(Section, frozen=True):
    """How pages are ranked. Takes effect at once: nothing is indexed again."""

    synonyms: FileName = ""  # a file: words that mean the same
    anchors: Factor = 2.0  # what others call the page, in their links to it
    own: dict[str, Weight] = {}  # scorers of your own by "package.module:Class", each with its weight (YIOOP-69)

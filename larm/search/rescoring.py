"""Rescoring: what Yioop's formulas say of a candidate, and scorers of the user's. Used by the ranker, on its thread.

The formulas are off by default: what ``benchmarks/ranking.py --ablation`` says for them is little (README.rst has the figures),
and the text of each candidate must be read for them, which takes half a millisecond.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from larm.config import Search
from larm.index.reader import IndexReader, Match
from larm.index.retrieval import Candidate, Retrieved
from larm.index.scripts import is_unspaced
from larm.model.domain import registered_domain
from larm.search import formulas
from larm.search.own_score import OwnScore

_TITLE = 4
"""What a word in the title counts beside one in the text (YIOOP-61)."""
_READ = 50_000
"""Characters of a text that are looked at."""
_ADDRESS = re.compile(r"[a-z]+://([^/:]*)(?::\d+)?/?(.*)", re.IGNORECASE)


class Rescoring:
    """For one query and its candidates."""

    def __init__(self, reader: IndexReader, settings: Search, found: Retrieved, own: Sequence[OwnScore]) -> None:
        # constant after construction
        self._reader = reader
        self._settings = settings
        self._own = own
        self._called = found.called
        words = [word for each in found.units for word in each.unit.words]
        self._needed = {word: words.count(word) for word in words}
        self._forms = {form: word for word in words for form in reader.forms(word)}

    def parts(self, candidate: Candidate) -> Mapping[str, float]:
        """What is added to the score, by name; with ``relevance: dfr`` this also takes the place of what was there."""
        settings = self._settings
        match = self._reader.read(candidate, 0.0)
        own = {each.name: each.of(match) for each in self._own}
        if not wanted(settings):
            return own
        title = self._reader.analyzer.words(match.title)
        text = self._reader.analyzer.words(match.body[:_READ])
        parts = {**own, **self._bonuses(match, title)}
        if settings.relevance == "dfr":
            parts["DFR relevance"] = self._relevance(title, text, candidate.length)
            parts["links"] = self._called.get(candidate.page, 0.0)
        if settings.spans and len(self._needed) > 1:
            places = self._places(text)
            found = formulas.spans(places, self._needed)
            parts["spans"] = settings.spans * formulas.proximity(found, sum(self._needed.values()), len(text))
        return parts

    def _relevance(self, title: Sequence[str], text: Sequence[str], length: int) -> float:
        statistics = self._reader.statistics
        frequencies = dict.fromkeys(self._needed, 0.0)
        for words, weight in ((title, _TITLE), (text, 1)):
            for word in words:
                if word in self._forms:
                    frequencies[self._forms[word]] += weight
        # a word stands in a page two or three times, if at all; how often in all pages, the index does not say
        return sum(
            formulas.divergence(
                formulas.normalised_frequency(frequency, statistics.mean_length, length),
                max(1, self._reader.pages_with(word)),
                statistics.pages,
            )
            for word, frequency in frequencies.items()
        )

    def _places(self, text: Sequence[str]) -> dict[str, list[int]]:
        places: dict[str, list[int]] = {}
        for place, word in enumerate(text, 1):
            if word in self._forms:
                places.setdefault(self._forms[word], []).append(place)
        return places

    def _bonuses(self, match: Match, title: Sequence[str]) -> dict[str, float]:
        settings, words_of = self._settings.bonuses, self._reader.analyzer.words
        address = _ADDRESS.match(match.url)
        if address is None:
            return {}
        host, path = address[1].lower(), address[2]
        asked = [form for form in self._forms if not is_unspaced(form)]
        parts = {
            "root of a host": settings.host_root * (not path),
            "registered domain": settings.domain * (not path and bool(host) and registered_domain(host) == host),
            "words of the host": settings.host_words * formulas.share(asked, words_of(host)),
            "words of the title": settings.title_words * formulas.share(asked, title),
            "words of the path": settings.path_words * formulas.share(asked, words_of(path)),
        }
        return {name: value for name, value in parts.items() if value}


def wanted(settings: Search) -> bool:
    """Whether any of the formulas is switched on."""
    bonuses = settings.bonuses
    values = (bonuses.host_root, bonuses.domain, bonuses.host_words, bonuses.title_words, bonuses.path_words, settings.spans)
    return settings.relevance == "dfr" or any(values)

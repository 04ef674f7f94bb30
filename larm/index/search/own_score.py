"""OwnScore: a scorer of the user's own, with its weight (YIOOP-69). Used by the ranker, on the thread that searches."""

import msgspec

from larm.errors import ConfigError
from larm.kit.blame import blamed
from larm.seams import FoundPage, Scorer

_MOST = 1_000_000
"""Or its score would be all that counts, and have 300 digits."""


class OwnScore(msgspec.Struct, frozen=True):
    """A scorer of the user's."""

    name: str
    weight: float
    scorer: Scorer

    def of(self, page: FoundPage) -> float:
        """What it adds to the score. Raises ConfigError if it fails, or says what is no number."""
        try:
            score = float(self.scorer.score(page))
        except Exception as error:  # whatever the user's module raises
            raise ConfigError(f"search.own: {self.name} failed at {page.url}: {blamed(error)}") from error
        if not abs(score) <= _MOST:  # nor NaN
            raise ConfigError(f"search.own: {self.name} says {score} of {page.url}: expected a number up to {_MOST:,}")
        return self.weight * score

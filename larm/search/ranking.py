"""What makes a page a better answer. Pure.

For now BM25 over three fields. The weights are the only knobs; whoever adds another signal (links, freshness) adds it here.
"""

from __future__ import annotations

from larm.index import fields

FIELD_WEIGHTS = {fields.TITLE: 3.0, fields.URL_WORDS: 1.5, fields.BODY: 1.0}
"""A word in the title says most about what a page is about."""

TIE = 0.3
"""A word counts as in its best field, plus this part of the others: a page is not three times as good for saying it thrice."""

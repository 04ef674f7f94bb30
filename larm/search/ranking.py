"""What makes a page a better answer. Pure.

For now BM25 over the fields. The weights are the only knobs; whoever adds another signal (links, freshness) adds it here.
"""

from __future__ import annotations

from larm.index import fields

FIELD_WEIGHTS = {
    fields.TITLE: 3.0,
    fields.HEADINGS: 1.5,
    fields.URL_WORDS: 1.5,
    fields.DESCRIPTION: 1.0,
    fields.MAIN: 1.0,
    fields.SIGNS: 1.0,
    fields.OTHER: 0.3,
}
"""A word in the title says most about what a page is about."""

TIE = 0.3
"""A word counts as in its best field, plus this part of the others: a page is not three times as good for saying it thrice."""

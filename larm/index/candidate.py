"""Candidate: a page that the index proposes for an answer. Made by retrieval, weighed by `larm.index.search.ranked`. Pure."""

from typing import NamedTuple

import tantivy


class Candidate(NamedTuple):
    """A page that may be an answer."""

    address: tantivy.DocAddress
    score: float
    """The sum for its words, their neighbourhood and what others call it."""
    page: int
    """Fingerprint of its normalised URL."""
    digest: int
    """Of what a reader sees; 0: nothing."""
    length: int
    """Characters of its main text."""

"""Names of the fields of the index. Pure, and free of tantivy."""

from __future__ import annotations

KEY = "key"  # the normalised URL: one document for each; never shown
URL = "url"  # as it was fetched
URL_WORDS = "url_words"
HOST = "host"
TITLE = "title"
BODY = "body"
MIME = "mimetype"  # LARM-88
GENERATION = "generation"  # number of the commit that brought the document; for recovery

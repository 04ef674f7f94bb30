"""A few documents of strangers as an index of larm's, asked once and thrown away. Any thread; each search has its own."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

from larm.config import Search
from larm.errors import StorageError
from larm.index import page as index
from larm.index.meta_words import meta_words
from larm.index.writer import IndexWriter
from larm.kit.deadline import OutOfTimeError
from larm.model.crawl_hash import page_hash
from larm.model.findings import Asked, Findings
from larm.model.url import BadUrl, URLNormalizer
from larm.peers.strangers import findings_of
from larm.peers.yacy.page import Page
from larm.search.searcher import IndexSearcher

_MEMORY = 15_000_000
"""tantivy's least; 200 documents take four of it."""
_RAM = Path("/dev/shm")  # noqa: S108 - a folder of random name is made in it


def local_search(settings: Search) -> Callable[[Sequence[Page], Asked], Findings]:
    """What searches pages by these settings."""
    normalizer = URLNormalizer()

    def search(pages: Sequence[Page], asked: Asked) -> Findings:
        if not pages:
            return Findings(searcher="")
        try:
            with tempfile.TemporaryDirectory(prefix="larm-", dir=_RAM if _RAM.is_dir() else None) as folder:
                _write(Path(folder) / "index", pages, normalizer)
                found = IndexSearcher(Path(folder), settings).find(asked)
        except OutOfTimeError:
            return Findings(searcher="", exact=False, failure="there was no time to rank what was found")
        except (StorageError, OSError) as error:
            return Findings(searcher="", exact=False, failure=str(error))
        return findings_of("", found, asked.number, trusted=True)

    return search


def _write(path: Path, pages: Sequence[Page], normalizer: URLNormalizer) -> None:
    writer = IndexWriter(path, _MEMORY, 1)
    writer.open(None)
    try:
        for each in pages:
            try:
                url = normalizer.parse(each.url)
            except BadUrl:
                continue
            meta = meta_words(
                url, each.mime, language=each.language, size=each.size, modified=each.modified, fetched=each.fetched
            )
            writer.add(
                index.Page(
                    url=url,
                    mime=each.mime,
                    title=each.title,
                    text=each.text,
                    description=each.description,
                    language=each.language,
                    meta=meta,
                    modified=each.modified,
                    fetched=each.fetched,
                    size=each.size,
                    digest=page_hash(each.title, each.text),
                ),
                replace=False,
            )
        writer.commit()
    finally:
        writer.close()

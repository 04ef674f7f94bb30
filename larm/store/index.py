"""IndexStorage: documents go into the full-text index in ``index/`` (LARM-86, LARM-88).

Every page that was stored is indexed, also types without text: they are found by the words of their URL. The exceptions are
pages that ask not to be, and those that say the same as another (`larm.index.duplicates.aliases`). Made by wiring; everything
else happens on its writer thread; tantivy indexes in its own threads.

Searches see what is committed. A commit costs as much for five pages as for five hundred, so checkpoints commit when enough has
come together or waits for long, else they write down what waits (`larm.store.pending`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from larm import config
from larm.errors import REPAIR, StorageError
from larm.index.meta_words import meta_words
from larm.index.own_fields import field_words, stored
from larm.index.page import Page
from larm.index.sections import sections
from larm.index.writer import IndexWriter
from larm.kit.clock import SystemClock
from larm.kit.disk.seal import NO_SEAL, Seal
from larm.model.cuts import cut_text
from larm.model.document import Document, Visit
from larm.model.url import Url
from larm.seams import Clock
from larm.store.pending import Pending, Told

if TYPE_CHECKING:  # who merges no duplicates need not wait for it
    from larm.index.duplicates.aliases import Aliases

COMMIT_PAGES = 1_000
"""Pages from which on the next checkpoint commits. A commit takes 30 ms for five pages as for five hundred."""
_MEMORY = 50_000_000
"""Bytes of the index writer."""


class IndexStorage:
    """Writes ``directory/index``. Implements `larm.seams.Storage`; raises ConfigError if its memory is too small."""

    name = "index"

    def __init__(
        self,
        directory: Path,
        settings: config.IndexSettings,
        clock: Clock | None = None,
        aliases: Callable[[], Aliases] | None = None,
        seal: Seal = NO_SEAL,
    ) -> None:
        """``aliases`` makes them, on the writer thread. ``seal``: files that need not be looked at."""
        # constant after construction
        self._clock = clock or SystemClock()
        self._text_size = settings.text_size
        self._flags = settings.fields
        self._make_aliases = aliases
        self._writer = IndexWriter(directory / "index", _MEMORY, 1, seal)
        self._pending = Pending(directory / "cachingqueue", COMMIT_PAGES)
        self._patience = settings.commit_after
        # only the writer thread
        self._generation = 0  # of the last commit
        self._since = -math.inf  # when the first of what waits for a commit came
        self._aliases: Aliases | None = None

    def open(self, position: Mapping[str, Any] | None) -> None:
        """Go on after the noted generation, or begin a new index. Raises StorageError."""
        generation = None if position is None else position.get("generation")
        if position is not None and (not isinstance(generation, int) or generation < 0):
            raise StorageError(f"the checkpoint's position of the index storage is damaged ({dict(position)}); {REPAIR}")
        self._writer.open(generation)
        self._generation, self._since = generation or 0, -math.inf
        for told in self._pending.open(generation or 0, position.get("pending", 0) if position else 0):
            self._tell(told)
        if self._make_aliases is not None:
            self._aliases = self._make_aliases()
            self._aliases.open(None if position is None else position.get("aliases"))

    def store(self, visits: Sequence[Visit]) -> None:
        """Index the pages; remove those that are gone or, by now, ask not to be indexed."""
        self._index(visits if self._aliases is None else self._aliases.settle(visits))

    def _index(self, visits: Sequence[Visit]) -> None:
        fetched = int(self._clock.wall())
        for visit in visits:
            url, document = visit.url, visit.document
            if url is None:
                continue
            if document is not None and document.index:
                when = fetched if visit.exchange is None else int(visit.exchange.began)
                told: Told = self._page(url, visit, document, when)
            elif document is not None or visit.gone:
                told = url.normalised
            else:
                continue
            self._tell(told, replace=visit.revisited)
            if not self._pending.count:
                self._since = self._clock.monotonic()
            self._pending.add(told)

    def _tell(self, told: Told, *, replace: bool = True) -> None:
        if isinstance(told, str):
            self._writer.delete(told)
        else:
            self._writer.add(told, replace=replace)

    def _page(self, url: Url, visit: Visit, document: Document, fetched: int) -> Page:
        meta = meta_words(
            url,
            document.mime,
            language=document.language,
            size=len(visit.body),
            modified=document.modified,
            fetched=fetched,
            status=visit.status,
            links=len(document.links),
            domain=url.site,
            headers=visit.headers,
            robots=asked_of_robots(document),
            cuts=visit.cuts,
            restricted=visit.restricted,
        )
        if document.fields:
            meta = f"{meta} {field_words(document.fields, self._flags)}"
        return Page(
            own=stored(document.fields, self._flags) if document.fields else "",
            url=url,
            mime=document.mime,
            title=document.title,
            text=cut_text(document.raw_text, self._text_size),
            other=cut_text(document.other_text, self._text_size),
            headings=document.headings,
            sections=sections(document.headings, document.places),
            description=document.description,
            language=document.language,
            modified=document.modified,
            quote=document.snippet,
            meta=meta,
            fetched=fetched,
            size=len(visit.body),
            digest=visit.group or document.seen,
        )

    def checkpoint(self) -> Mapping[str, Any]:
        """Make durable what was stored; searches see it when enough has come together, or waits for long."""
        position = self._settled()
        waits = self._pending.count
        if waits and (self._pending.full or not self._generation or self._clock.monotonic() >= self._since + self._patience):
            return self._committed(position)
        length = self._pending.write()
        return position | {"generation": self._generation} | ({"pending": length} if length else {})

    def commit(self) -> Mapping[str, Any]:
        """Make the index durable and visible to searches."""
        return self._committed(self._settled())

    def _settled(self) -> dict[str, Any]:
        """The position of the table of aliases."""
        if self._aliases is None:
            return {}
        self._index(self._aliases.rest())
        return {"aliases": self._aliases.commit()}  # tantivy's threads have something to do meanwhile

    def _committed(self, position: dict[str, Any]) -> Mapping[str, Any]:
        generation = self._writer.commit()
        if generation != self._generation:
            self._pending.committed(generation)
            self._generation = generation
        return position | {"generation": generation}

    def close(self) -> None:
        """Let go of the index."""
        self._pending.close()
        self._writer.close()
        if self._aliases is not None:
            self._aliases.close()


def asked_of_robots(document: Document) -> tuple[str, ...]:
    """What the page asks of robots, of what a page in the index can ask."""
    if document.follow and document.archive and document.snippet is None:  # nearly always
        return ()
    asked = (("nofollow", not document.follow), ("noarchive", not document.archive), ("nosnippet", document.snippet == 0))
    return tuple([name for name, does in asked if does])

"""A few documents of strangers as an index of larm's, asked and thrown away. Any thread; each search has its own.

It ranks as one index over all of the network would: how many pages have a word is handed in, and there are empty pages beside
the documents, so that these are as long as they are on the average of all.

It is in memory, where the system has a folder for that. What a process that is killed leaves there is noted in a folder of the
peer's, and goes when the peer starts again.
"""

import math
import secrets
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import msgspec

from larm.config import SearchSettings
from larm.errors import StorageError
from larm.index import page as index
from larm.index.meta_words import meta_words
from larm.index.search.searcher import IndexSearcher
from larm.index.writer import IndexWriter
from larm.kit.deadline import OutOfTimeError
from larm.kit.disk.disk_failure import disk_failures
from larm.model.crawl_hash import page_hash
from larm.model.findings import Asked, Findings
from larm.model.url import BadUrl, URLNormalizer
from larm.peers.strangers import findings_of
from larm.peers.yacy.averages import Averages, lengths_of
from larm.peers.yacy.page import Page

_MEMORY = 15_000_000
"""tantivy's least; 200 documents take four of it."""
_RAM = Path("/dev/shm")  # noqa: S108 - a folder of random name is made in it
_NAME = "larm-"
_MOST_EMPTY = 4
"""Times the documents."""
_IN_ADDRESS = 2
"""Words that the address of an empty one has at least."""


class LocalIndex:
    """Of these documents."""

    def __init__(self, searcher: IndexSearcher | None, empty: str) -> None:
        # constant after construction
        self._searcher = searcher
        self._empty = empty

    def decisive_words(self, asked: Asked) -> list[str]:
        """Words whose frequencies decide which of the documents is best."""
        try:
            return [] if self._searcher is None else self._searcher.decisive_words(asked)
        except (OutOfTimeError, StorageError):
            return []  # the search fails, too, and says why

    def find(self, asked: Asked) -> Findings:
        """The best of them."""
        if self._searcher is None:
            return Findings(searcher="")
        try:
            found = self._searcher.find(asked)
        except OutOfTimeError:
            return Findings(searcher="", exact=False, failure="there was no time to rank what was found")
        except StorageError as error:
            return Findings(searcher="", exact=False, failure=str(error))
        hits = tuple(hit for hit in found.hits if not hit.url.startswith(self._empty))
        return findings_of("", msgspec.structs.replace(found, hits=hits), asked.number, trusted=True)


Local = Callable[[Sequence[Page], Averages], AbstractContextManager[LocalIndex]]


def local_search(settings: SearchSettings, notes: Path) -> Local:
    """What makes an index of some documents, beside the averages of all of them, and is searched by these settings.

    ``notes``: a folder of this process alone. Raises StorageError, OSError."""
    normalizer = URLNormalizer()
    with disk_failures(notes):
        for note in notes.glob(f"{_NAME}*"):
            shutil.rmtree(_RAM / note.name, ignore_errors=True)  # by its name: a link may lead anywhere
        shutil.rmtree(notes, ignore_errors=True)
        notes.mkdir()

    @contextmanager
    def opened(pages: Sequence[Page], averages: Averages) -> Iterator[LocalIndex]:
        if not pages:
            yield LocalIndex(None, "-")
            return
        with _folder(notes) as folder:
            name = f"x{secrets.token_hex(8)}"  # no word that anybody looks for
            _write(folder / "index", [*parsed(pages, normalizer), *_empty(pages, averages, name, normalizer)])
            yield LocalIndex(IndexSearcher(folder, settings, languages=averages.languages or None), f"http://{name}/")

    return opened


@contextmanager
def _folder(notes: Path) -> Iterator[Path]:
    note = folder = notes / f"{_NAME}{secrets.token_hex(8)}"
    if _RAM.is_dir():
        folder = _RAM / note.name
        note.symlink_to(folder)  # before it is there
    folder.mkdir(mode=0o700)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        if note.is_symlink():
            note.unlink()


def _write(path: Path, pages: Sequence[index.Page]) -> None:
    writer = IndexWriter(path, _MEMORY, 1)
    writer.open(None)
    try:
        for each in pages:
            writer.add(each, replace=False)
        writer.commit()
    finally:
        writer.close()


def parsed(pages: Sequence[Page], normalizer: URLNormalizer) -> Iterator[index.Page]:
    """As an index has them; what has an address that is none is left out."""
    for each in pages:
        try:
            url = normalizer.parse(each.url)
        except BadUrl:
            continue
        meta = meta_words(url, each.mime, language=each.language, size=each.size, modified=each.modified, fetched=each.fetched)
        told = {name: getattr(each, name) for name in Page.__struct_fields__ if name != "url"}
        yield index.Page(url=url, meta=meta, digest=page_hash(each.title, each.text), **told)


def _empty(pages: Sequence[Page], averages: Averages, name: str, normalizer: URLNormalizer) -> Iterator[index.Page]:
    """As many that the documents have the mean length in each field, and with one word for as much as the others lack."""
    has = lengths_of(pages)
    needed = [of / mean for of, mean in zip(has, averages.lengths, strict=True) if mean > 0]
    most = _MOST_EMPTY * len(pages)
    missing = min(most, max(needed, default=0.0) - len(pages))  # of strangers' lengths that are next to nothing it is endless
    count = min(most, max(1, math.ceil(missing)))
    lacks = [max(0, round(mean * (len(pages) + count)) - of) for of, mean in zip(has, averages.lengths, strict=True)]
    for number in range(count):
        text, title, description, address = (f"{name[:5]} " * (each // count + (number < each % count)) for each in lacks)
        url = "/".join([f"http://{name}/{number}", *address.split()[_IN_ADDRESS:]])
        yield index.Page(url=normalizer.parse(url), mime="", title=title, text=text, description=description)

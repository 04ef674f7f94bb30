"""IndexWriter: the one writer of the full-text index.

Used by the index storage on its writer thread only: tantivy refuses a second writer, and a second thread gets "Already
borrowed". Never used as a context manager: that would commit even after an exception.

Recovery: the index commits *before* the checkpoint is written, so after a crash it may be one commit ahead of it. `open` undoes
that commit (`larm.index.kept`). Each document carries its generation, the number of the commit that brought it: where nothing
could be kept, `open` removes those that the checkpoint does not know.
"""

import hashlib
import re
import shutil
from contextlib import suppress
from pathlib import Path

import tantivy

from larm.errors import StorageError
from larm.index import fields, schema
from larm.index.accents import accented
from larm.index.analysis import AnyScript, encodable
from larm.index.defined import defined
from larm.index.failure import IndexFailure
from larm.index.integrity import HALF_WRITTEN, check_files, drop_unfinished
from larm.index.kept import go_back, keep
from larm.index.page import Page, url_words
from larm.index.readable import as_the_others
from larm.index.scripts import composed_and_parted
from larm.index.symbols import symbols
from larm.index.terms import composed
from larm.kit.disk.disk_failure import disk_failures
from larm.kit.disk.files import sync_directory
from larm.kit.disk.seal import NO_SEAL, Seal

_LONGEST_KEY = 60_000  # tantivy leaves out terms of more than 65,530 bytes without a word
_INDEX_FILE = re.compile(r"[0-9a-f]{32}\.[a-z0-9.]+|meta\.json|\.managed\.json|\.tantivy-[a-z]+\.lock|\.tmp\w+|\.kept")


class IndexWriter:
    """Write the index in the directory ``path``; ``memory`` bytes for all of its ``threads`` together, 15 MB each at least.

    Every method but `close` may raise StorageError.
    """

    def __init__(self, path: Path, memory: int, threads: int, seal: Seal = NO_SEAL) -> None:
        # constant after construction
        self._path = path
        self._failure = IndexFailure(path)
        self._memory = memory
        self._threads = threads
        self._words = AnyScript()
        self._seal = seal
        # only the writer thread
        self._writer: tantivy.IndexWriter | None = None
        self._generation = 0  # of the last commit
        self._changed = False

    def __repr__(self) -> str:
        state = "open" if self._writer is not None else "closed"
        return f"<IndexWriter {self._path}: {state}, generation {self._generation}>"

    def open(self, generation: int | None) -> None:
        """Go on after commit ``generation``, removing what came later; None: remove the old index and begin a new one."""
        if generation is None:
            self._make_empty()
        elif not schema.index_exists(self._path):
            raise StorageError(
                f"{self._path}: the checkpoint speaks of an index, but there is none (no meta.json); put it back, or make it"
                " anew: 'larm reindex'"
            )
        else:
            go_back(self._path, generation)
            check_files(self._path, self._seal)
            drop_unfinished(self._path)
        index = schema.open_index(self._path)
        with self._failure:
            writer = index.writer(heap_size=self._memory, num_threads=self._threads)
            if generation is not None:
                _rewind(index, writer, generation)
        self._writer = writer
        self._generation = generation or 0
        self._changed = False

    def add(self, page: Page, *, replace: bool = True) -> None:
        """Index a page; ``replace`` the one with the same normalised URL, if there is one.

        Replacing costs 1 us here and 10 us in tantivy's threads, also for a URL that was not there.
        """
        writer = self._open_writer()
        key = key_of(page.url.normalised)
        with self._failure:
            document = _document(page, key, self._words)
            document.add_unsigned(fields.GENERATION, self._generation + 1)
            self._changed = True
            if replace:
                writer.delete_documents_by_term(fields.KEY, key)
            writer.add_document(document)

    def delete(self, normalised: str) -> None:
        """Remove the page with this normalised URL, if it is there."""
        writer = self._open_writer()
        with self._failure:
            self._changed = True
            writer.delete_documents_by_term(fields.KEY, key_of(normalised))

    def commit(self) -> int:
        """Make all changes durable and visible; returns the generation, the same as before if nothing changed."""
        self._open_writer()
        if self._changed:
            keep(self._path, self._generation)
            with self._failure:
                self._open_writer().commit()  # no name for it here, which an error would keep alive, and with it tantivy's lock
            as_the_others(self._path)
            sync_directory(self._path)  # tantivy syncs meta.json, but not its new name
            self._generation += 1
            self._changed = False
        return self._generation

    def close(self) -> None:
        """Let go of the index; what was not committed is lost. Merges that still run are given up: that costs only time."""
        if self._writer is not None:
            self._writer = None
            with suppress(StorageError):  # the folder may be gone
                as_the_others(self._path)  # a merge may have ended since the last commit

    def _open_writer(self) -> tantivy.IndexWriter:
        if self._writer is None:
            raise StorageError(f"{self._path}: the index was not opened")
        return self._writer

    def _make_empty(self) -> None:
        """An empty directory; refuses to remove what was not made by an index."""
        old = self._path.with_name(self._path.name + ".old")
        with disk_failures(self._path):
            if self._path.is_dir():
                foreign = [
                    file.name
                    for file in self._path.iterdir()
                    if not (_INDEX_FILE.fullmatch(file.name) or HALF_WRITTEN.fullmatch(file.name))
                ]
                if foreign:
                    raise StorageError(f"{self._path}: holds {foreign[0]}, which is no part of an index; move it elsewhere")
                # moved away first: a merge of an earlier writer may still be adding files
                shutil.rmtree(old, ignore_errors=True)
                self._path.rename(old)
            shutil.rmtree(old, ignore_errors=True)  # or it would be taken for one that has to be put back
            self._path.mkdir(parents=True)


def _document(page: Page, key: str, words: AnyScript) -> tantivy.Document:
    """All but the generation. What is empty is left out; numbers are always there, as one can look for 0."""
    document = tantivy.Document()
    add_text, add_number = document.add_text, document.add_unsigned
    title = composed(page.title)
    main, signs = composed_and_parted(page.text)
    other, other_signs = composed_and_parted(page.other)
    for field, text in (
        (fields.KEY, key),
        (fields.URL, page.url.access),
        (fields.TITLE, title),
        (fields.DESCRIPTION, composed(page.description)),
        (fields.MAIN, main),
        (fields.SIGNS, signs),
        (fields.SIGNS, other_signs),  # after the main text: what is read back is the first one
        (fields.OTHER, other),
        (fields.AS_WRITTEN, " ".join(_as_written(page, title, main))),
        (fields.META, page.meta),
        (fields.LANGUAGE, page.language),
        (fields.MIME, page.mime),
    ):
        if text:
            try:
                add_text(field, text)
            except UnicodeEncodeError:
                add_text(field, encodable(text))
    words.add(document, fields.URL_WORDS, url_words(page.url.access))
    if page.headings:
        words.add(document, fields.HEADINGS, "\n".join(page.headings))
    for field, number in (
        (fields.PAGE, page.url.fingerprint),
        (fields.MODIFIED, max(0, page.modified)),
        (fields.FETCHED, page.fetched),
        (fields.SIZE, page.size),
        (fields.LENGTH, len(page.text)),
        (fields.DIGEST, page.digest),
    ):
        add_number(field, number)
    if page.quote is not None:
        add_number(fields.QUOTE, page.quote)
    for field, stored in ((fields.OWN, page.own), (fields.SECTIONS, page.sections)):
        if stored:
            document.add_bytes(field, stored.encode("utf-8", "replace"))
    return document


def _as_written(page: Page, title: str, main: str) -> list[str]:
    """What words don't say; ``title`` and ``main`` are the page's as the index has them."""
    signs = [span.word for span in symbols(f"{page.title}\n{page.text}")]
    return [*signs, *accented(title), *accented(main), *defined(main)]


def _rewind(index: tantivy.Index, writer: tantivy.IndexWriter, generation: int) -> None:
    later = tantivy.Query.range_query(
        index.schema, fields.GENERATION, tantivy.FieldType.Unsigned, lower_bound=generation, include_lower=False
    )
    index.reload()
    if schema.total(index.searcher().search(later, limit=1)):
        writer.delete_documents_by_query(later)
        writer.commit()


def key_of(normalised: str) -> str:
    """What a page is known by in `fields.KEY`."""
    if len(normalised) <= _LONGEST_KEY:
        return normalised
    return "sha256:" + hashlib.sha256(normalised.encode("utf-8", "replace")).hexdigest()

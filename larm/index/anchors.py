"""Anchors: a small second index of the texts of links to each page (YIOOP-21), in ``anchors/``.

What others call a page is often the best that there is to know of it, but it is known late: when the pages with the links have
been read. So these texts are no part of a page's document. The storage of the link graph makes the whole index anew at its
end; searches join the two by the fingerprint of the page. Each text is a document of its own: a page that is called ``vacuum``
is a better answer to that than one that is called ``vacuum_freeze_table_age``, by whatever other names it goes. Searches are a
matter of `larm.index.names`.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Sequence
from pathlib import Path

import tantivy

from larm.errors import StorageError
from larm.index.analysis import WORDS, AnyScript, new_analyzer
from larm.index.failure import IndexFailure
from larm.index.integrity import check_files
from larm.kit.disk_failure import disk_failure

ANCHORS = "anchors"
"""The folder of the index, in the directory of a crawl."""
PAGE, TEXT = "page", "anchors"
"""Its fields."""
ADVICE = "the next run of larm crawl makes it again"
_OF = "snapshot"
"""A file in it: of which snapshot of the graph it is."""
_MEMORY = 15_000_000  # tantivy's least; twice as much is no faster


def write_anchors(path: Path, pages: Iterable[tuple[int, Sequence[str]]], generation: int = 0) -> None:
    """Make the index in ``path`` anew: fingerprints of pages, each with the different texts of links to it.

    ``generation``: that of the graph's snapshot, for `made_of`. Readers see the old one or the new one. Raises StorageError.
    """
    fresh, old = path.with_name(path.name + ".new"), path.with_name(path.name + ".old")
    try:
        for left in (fresh, old):  # by a process that was killed
            shutil.rmtree(left, ignore_errors=True)
        fresh.mkdir(parents=True)
        _fill(fresh, pages)
        (fresh / _OF).write_text(f"{generation}\n")
        if path.exists():
            path.rename(old)
        fresh.rename(path)
        shutil.rmtree(old, ignore_errors=True)
    except OSError as error:
        raise disk_failure(path, error) from error


def made_of(path: Path) -> int | None:
    """The generation of the graph that the index in ``path`` was made of; None where there is none that is whole."""
    try:
        generation = int((path / _OF).read_text())
        check_files(path)
        opened(path)  # of the right version
        return generation
    except (OSError, ValueError, StorageError):
        return None


def disown(path: Path) -> None:
    """What the index in ``path`` was made of is no more: `made_of` knows of nothing. Raises StorageError."""
    try:
        (path / _OF).unlink(missing_ok=True)
    except OSError as error:
        raise disk_failure(path, error) from error


def _fill(path: Path, pages: Iterable[tuple[int, Sequence[str]]]) -> None:
    with IndexFailure(path, ADVICE):
        writer = _index(path).writer(heap_size=_MEMORY, num_threads=1)
        words = AnyScript()
        for page, texts in pages:
            for text in texts:
                document = tantivy.Document()
                document.add_unsigned(PAGE, page)
                words.add(document, TEXT, text)
                writer.add_document(document)
        writer.commit()
        writer.wait_merging_threads()


def opened(path: Path) -> tantivy.Index:
    """The index in ``path``, with all that was committed. Raises StorageError."""
    with IndexFailure(path, ADVICE):
        index = _index(path)
        index.reload()
        return index


def _index(path: Path) -> tantivy.Index:
    builder = tantivy.SchemaBuilder()
    builder.add_unsigned_field(PAGE, fast=True)
    builder.add_text_field(TEXT, tokenizer_name=WORDS)  # by way of AnyScript
    index = tantivy.Index(builder.build(), path=str(path))
    index.register_tokenizer(WORDS, new_analyzer(WORDS))
    index.config_reader("manual")
    return index

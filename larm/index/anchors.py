"""Anchors: a small second index of the texts of links to each page (YIOOP-21), in ``anchors/``.

What others call a page is often the best that there is to know of it, but it is known late: when the pages with the links have
been read. So these texts are no part of a page's document. The storage of the link graph brings the index up to date at its
end, by those pages of which the texts are others than in the snapshot that it is of. Where it can't, it makes the whole index
anew, page by page in the order of their fingerprints, and keeps what is done now and then: who is ended while he makes it
leaves ``anchors.new/``, with which the next one goes on. Searches join the two by the fingerprint of the page. Each text is a
document of its own: a page that is called ``vacuum`` is a better answer to that than one that is called
``vacuum_freeze_table_age``, by whatever other names it goes. Searches are a matter of `larm.index.names`.

A text that only asks to be clicked says nothing of its target, and is left out.
"""

import json
import re
import shutil
import zlib
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TypeAlias

import tantivy

from larm.errors import StorageError
from larm.index.analysis import WORDS, AnyScript, new_analyzer
from larm.index.failure import IndexFailure
from larm.index.integrity import META, check_files
from larm.index.readable import as_the_others, openable
from larm.kit.disk.atomic import write_atomically
from larm.kit.disk.disk_failure import disk_failures
from larm.kit.disk.files import sync_directory
from larm.kit.disk.seal import NO_SEAL, Seal
from larm.kit.threads.progress import Progress

_EMPTY = frozenset(
    (
        *(
            "click",
            "here",
            "click here",
            "this",
            "this page",
            "this link",
            "link",
            "more",
            "read more",
            "learn more",
            "see more",
        ),
        *("more info", "more information", "details", "next", "previous", "prev", "back", "continue"),
        *("continue reading", "go"),
        *("hier", "hier klicken", "mehr", "weiterlesen", "mehr lesen", "weiter", "zurück"),
        *("ici", "cliquez ici", "lire la suite", "en savoir plus", "suite", "suivant", "précédent", "retour"),
        *("aquí", "haga clic aquí", "leer más", "más", "siguiente", "anterior", "volver"),
        *("qui", "clicca qui", "leggi tutto", "avanti", "indietro", "aqui", "clique aqui", "leia mais", "saiba mais", "voltar"),
    )
)
_ASKING = re.compile(r"(?:please )?click\b *(?:on |here\b *)?(?:to (?:see|read|view|open|get|go to) |for )?", re.IGNORECASE)
_EDGES = " \t\n.,:;!?…»«<>→←›‹()[]-–—\u00b6"


def said(text: str) -> str:
    """The text without what asks to be clicked; empty where it says no more."""
    text = text.strip(_EDGES)
    asking = _ASKING.match(text)
    rest = text[asking.end() :].strip(_EDGES) if asking else text
    return "" if rest.casefold() in _EMPTY else rest


ANCHORS = "anchors"
"""The folder of the index, in the directory of a crawl."""
PAGE, TEXT = "page", "anchors"
"""Its fields."""
ADVICE = "the next run makes it again"
MARK = "snapshot"
"""A file in it: of which snapshot of the graph it is, with a checksum."""
_MEMORY = 15_000_000  # tantivy's least; twice as much is no faster
_KEPT = 20_000
"""Pages after which what is done is made durable: two seconds of work, and a commit takes a twentieth of one."""
_TOLD = 200
"""Pages after which progress is told."""
_BITS = 63  # of a fingerprint
Pages: TypeAlias = Callable[[int], Iterable[tuple[int, Sequence[str]]]]
"""``pages(after)``: fingerprints of pages, each with the different texts of links to it, by fingerprint, from the next after
``after`` on."""


def write_anchors(path: Path, pages: Pages, generation: int = 0, progress: Progress | None = None, total: int = 0) -> None:
    """Make the index in ``path`` anew, or go on where a process that did so was ended. Raises StorageError.

    ``total``: of how many pages, to be told to ``progress``. ``generation``: that of the graph's snapshot, for `made_of`.
    Readers see the old index or the new one.
    """
    fresh, old = path.with_name(path.name + ".new"), path.with_name(path.name + ".old")
    with disk_failures(path):
        shutil.rmtree(old, ignore_errors=True)
        if not _can_go_on(fresh, generation):
            shutil.rmtree(fresh, ignore_errors=True)
            fresh.mkdir(parents=True)
            write_atomically(fresh / MARK, _mark(generation))
        _fill(fresh, pages, progress or Progress(), total)
        as_the_others(fresh)
        sync_directory(fresh)  # before it takes the place of the old one; tantivy syncs meta.json, but not its new name
        if path.exists():
            path.rename(old)
        fresh.rename(path)
        sync_directory(path.parent)
        shutil.rmtree(old, ignore_errors=True)


def renew_anchors(path: Path, changes: Iterable[tuple[int, Sequence[str]]], generation: int, progress: Progress) -> bool:
    """Bring the index in ``path`` up to date, in one commit: ``changes`` are pages with all texts of links to each.

    False: it is to be made anew, as most of it is of texts that are no more. Who is ended
    leaves the index without the mark of this ``generation``. Raises StorageError.
    """
    if not _can_change(path):
        return False
    with IndexFailure(path, ADVICE):
        index, words = _index(path), AnyScript()
        writer = index.writer(heap_size=_MEMORY, num_threads=1)
        progress.begin("texts of links that are new")
        for page, texts in changes:
            writer.delete_documents_by_query(tantivy.Query.term_query(index.schema, PAGE, page))  # by_term means signed ones
            _add(writer, words, page, texts)
        writer.commit()
        writer.wait_merging_threads()
    with disk_failures(path):
        as_the_others(path)
        write_atomically(path / MARK, _mark(generation))
    return True


def _can_change(path: Path) -> bool:
    meta = json.loads((path / META).read_text())
    sizes = [(each["max_doc"], (each["deletes"] or {}).get("num_deleted_docs", 0)) for each in meta["segments"]]
    return bool(2 * sum(gone for _, gone in sizes) <= sum(size for size, _ in sizes))


def _add(writer: tantivy.IndexWriter, words: AnyScript, page: int, texts: Iterable[str]) -> None:
    for text in dict.fromkeys(filter(None, map(said, texts))):
        document = tantivy.Document()
        document.add_unsigned(PAGE, page)
        words.add(document, TEXT, text)
        writer.add_document(document)


def mark_of(path: Path) -> int | None:
    """The generation of the graph that the index in ``path`` was made of; None where there is none, or nobody knows."""
    try:
        data = (path / MARK).read_bytes()
        generation = int(data.partition(b" ")[0])
    except (OSError, ValueError):
        return None
    return generation if data == _mark(generation) else None


def _mark(generation: int) -> bytes:
    return b"%d %08x\n" % (generation, zlib.crc32(b"%d" % generation))


def made_of(path: Path, seal: Seal = NO_SEAL) -> int | None:
    """The same, of an index of which each file is whole; ``seal``: files that need not be looked at."""
    try:
        generation = mark_of(path)
        check_files(path, seal)
        opened(path)  # of the right version
        return generation
    except (OSError, ValueError, StorageError):
        return None


def disown(path: Path) -> None:
    """What the index in ``path`` was made of is no more: `made_of` knows of nothing, and none that was begun is gone on with.

    Raises StorageError.
    """
    with disk_failures(path):
        for folder in (path, path.with_name(path.name + ".new")):
            (folder / MARK).unlink(missing_ok=True)


def _fill(path: Path, pages: Pages, progress: Progress, total: int) -> None:
    """All pages that are not in it yet, by fingerprint, so that the last one says which these are. Raises StorageError."""
    with IndexFailure(path, ADVICE):
        index = _index(path)
        writer = index.writer(heap_size=_MEMORY, num_threads=1)
        words = AnyScript()
        progress.begin("texts of links", total, "pages")
        for number, (page, texts) in enumerate(pages(_last_page(index)), 1):
            _add(writer, words, page, texts)
            if not number % _TOLD:
                progress.to(total * page >> _BITS)  # they are hashes: so many are behind us, give or take a few
            if not number % _KEPT:
                writer.commit()
        progress.begin("texts of links (merging)")
        writer.commit()
        writer.wait_merging_threads()


def _last_page(index: tantivy.Index) -> int:
    """The highest fingerprint in it; -1 where there is none."""
    index.reload()
    searcher = index.searcher()
    last = searcher.search(tantivy.Query.all_query(), limit=1, order_by_field=PAGE).hits if searcher.num_docs else []
    pages = searcher.fast_field_values(PAGE, [address for _, address in last])
    return max([int(page) for page in pages if page is not None], default=-1)


def _can_go_on(fresh: Path, generation: int) -> bool:
    """A process that was ended has begun this one, and all that it committed is whole."""
    if mark_of(fresh) != generation:
        return False
    try:
        if (fresh / META).exists():  # else it had come no farther
            check_files(fresh)
            opened(fresh)
        return True
    except StorageError:
        return False


def opened(path: Path) -> tantivy.Index:
    """The index in ``path``, with all that was committed. Raises StorageError."""
    with IndexFailure(path, ADVICE), openable(path) as folder:
        index = _index(folder)
        index.reload()
        index.searcher()
        return index


def _index(path: Path) -> tantivy.Index:
    builder = tantivy.SchemaBuilder()
    builder.add_unsigned_field(PAGE, fast=True, indexed=True)
    builder.add_text_field(TEXT, tokenizer_name=WORDS)  # by way of AnyScript
    index = tantivy.Index(builder.build(), path=str(path))
    index.register_tokenizer(WORDS, new_analyzer(WORDS))
    index.config_reader("manual")
    return index

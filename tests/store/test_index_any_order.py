"""Whatever is fetched in whatever order, and whenever the process dies: each page is in the index, or the alias of one that is.

The index storage, its table of aliases and the page book are real; the rest of a crawl is played: fetches, checkpoints,
revisits, and a web that changes. ``LARM_SEED`` chooses other stories; `tox -e crash` tells many.
"""

from __future__ import annotations

import os
import random
import shutil
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any, NamedTuple
from unittest.mock import patch

import msgspec
import pytest
import tantivy

from larm import config
from larm.engine.recrawl.revisit import Demand, Recrawl
from larm.index import fields, kept, schema
from larm.index.duplicates import aliases
from larm.index.duplicates.aliases import Aliases
from larm.index.duplicates.row import decode_row
from larm.index.writer import IndexWriter
from larm.kit.disk.table import Table
from larm.model.crawl_hash import digest
from larm.model.document import Document, Visit
from larm.model.message import Known
from larm.model.url import Url, URLNormalizer
from larm.store.index import IndexStorage
from larm.store.pages.page_book import PageBook
from larm.store.pending import Pending, read_pending
from larm.testing.clock import FakeClock
from tests.support.webs.words import prose

SEED = int(os.environ.get("LARM_SEED", "1"))
PARSE = URLNormalizer().parse
TEXTS = [prose(60, number) for number in range(5)]


@pytest.fixture(autouse=True)
def _commits_are_frequent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("larm.store.index.COMMIT_PAGES", 5)


PLACES: list[tuple[Any, str]] = [
    (IndexWriter, "open"),
    (IndexWriter, "commit"),
    (Pending, "open"),
    (Pending, "write"),
    (Pending, "committed"),
    (Aliases, "open"),
    (Aliases, "commit"),
    (PageBook, "open"),
    (PageBook, "commit"),
    (os, "link"),
    (kept, "write_atomically"),
]
"""The process may die before and after each of these."""


@pytest.fixture(autouse=True)
def short_tails(monkeypatch: pytest.MonkeyPatch) -> None:
    """So that tables become runs, and these others, within a story."""
    monkeypatch.setattr("larm.kit.disk.table.TAIL", 3)


class Killed(BaseException):
    """The process is no more."""


class Answer(msgspec.Struct, frozen=True):
    """What a page answers."""

    text: int
    canonical: str = ""
    index: bool = True
    status: int = 200

    @property
    def body(self) -> bytes:
        return msgspec.json.encode(self)


class Kind(NamedTuple):
    """Of a story."""

    canonicals: bool
    """Pages name others as their canonical ones."""
    revisits: int
    """Before each of them, and while the process is dead, pages change, vanish, fail and come back."""


class Saved(NamedTuple):
    """A checkpoint."""

    index: Mapping[str, Any] | None = None
    book: Mapping[str, Any] | None = None
    due: Mapping[str, Known | None] = {}
    """The frontier."""
    held: Mapping[str, Answer] = {}
    """What each page said last, as far as it is not forgotten."""
    cycle: int = 0
    finished: bool = False
    left: object = None
    """What is on the disk."""


@pytest.mark.parametrize("kind", [Kind(False, 0), Kind(True, 0), Kind(False, 2), Kind(True, 2)], ids=str)
def test_some_stories(tmp_path: Path, kind: Kind) -> None:
    tell_many(tmp_path, kind, 6)


@pytest.mark.slow
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("kind", [Kind(False, 0), Kind(True, 0), Kind(False, 2), Kind(True, 2)], ids=str)
def test_many_stories(tmp_path: Path, kind: Kind) -> None:
    tell_many(tmp_path, kind, 500)


def tell_many(directory: Path, kind: Kind, count: int) -> None:
    killed: Counter[str] = Counter()
    for number in range(count):
        story = Story(SEED * 1_000_000 + number, directory / str(number), kind)
        try:
            story.tell()
        except BaseException as error:
            error.add_note(f"story {number} of seed {SEED}:\n" + "\n".join(story.told))
            raise
        killed += story.killed
        shutil.rmtree(directory / str(number), ignore_errors=True)  # threads of tantivy may still tidy up there
    print(f"seed {SEED}: {count} stories, {killed.total()} kills: {dict(killed)}")
    assert killed.total() > count / 2


class Story:
    """A crawl, and all that happens to it."""

    def __init__(self, seed: int, directory: Path, kind: Kind) -> None:
        self.chance = random.Random(seed)
        self.directory = directory
        self.kind = kind
        self.names = [f"p{number}" for number in range(self.chance.randint(2, 14))]
        self.texts = self.chance.randint(1, len(TEXTS))
        self.web = {name: self.answer() for name in self.names}
        self.kills = self.chance.randint(1, 6)
        self.killed: Counter[str] = Counter()
        self.told: list[str] = []
        self.saved = Saved(due=dict.fromkeys(self.names))
        (directory / "cachingqueue").mkdir(parents=True)

    def answer(self, statuses: tuple[int, ...] = (200,)) -> Answer:
        chance = self.chance
        canonical = chance.choice(self.names) if self.kind.canonicals and chance.random() < 0.3 else ""
        shown = not self.kind.revisits or chance.random() > 0.05
        return Answer(chance.randrange(self.texts), canonical, shown, chance.choice(statuses))

    def change(self) -> None:
        """The web."""
        for name in self.names:
            if self.chance.random() < 0.35:
                self.web[name] = self.answer((200, 200, 200, 404, 503))
                self.told.append(f"{name} changes: {self.web[name]}")

    def tell(self) -> None:
        """To its end, with as many processes as it takes."""
        over = False
        with ExitStack() as undo:
            undo.enter_context(patch.object(aliases, "_TOGETHER", self.chance.choice([1, 2, 5, 64])))
            for owner, name in PLACES:
                undo.enter_context(patch.object(owner, name, self.deadly(f"{owner.__name__}.{name}", getattr(owner, name))))
            while not over:
                process = Process(self)
                try:
                    over = process.run()
                except Killed:
                    if self.kind.revisits and self.chance.random() < 0.5:
                        self.change()
                finally:
                    process.drop()
        check(self.directory, self.saved.held, self.kind)

    def deadly(self, name: str, call: Callable[..., Any]) -> Callable[..., Any]:
        def guarded(*given: Any, **more: Any) -> Any:
            self.may_die(f"before {name}")
            result = call(*given, **more)
            self.may_die(f"after {name}")
            return result

        return guarded

    def may_die(self, place: str) -> None:
        if self.kills and self.chance.random() < 0.04:
            self.kills -= 1
            self.killed[place] += 1
            self.told.append(f"killed {place}")
            raise Killed


class Process:
    """One run of a story."""

    def __init__(self, story: Story) -> None:
        self.story = story
        saved = story.saved
        self.due, self.held = dict(saved.due), dict(saved.held)
        self.cycle, self.finished = saved.cycle, saved.finished
        self.table = story.directory / "cachingqueue" / "aliases.db"
        self.pages = story.directory / "cachingqueue" / "pages.db"
        self.aliases = Aliases(self.table)
        self.clock = FakeClock()
        self.index = IndexStorage(story.directory, config.IndexSettings(), self.clock, lambda: self.aliases)
        self.book = PageBook(self.pages)

    def run(self) -> bool:
        """True: the story is over."""
        story = self.story
        self.index.open(story.saved.index)
        if story.saved.index is not None:
            there = left(story.directory, story.saved.index)
            assert there == story.saved.left, "what is there is not what the checkpoint had"
        self.book.open(story.saved.book)
        story.told.append(f"run from {story.saved.index}, {len(self.due)} pages are due")
        if self.finished:
            if self.cycle == story.kind.revisits:
                return True
            self.begin_revisit()
        while self.due:
            name = story.chance.choice(sorted(self.due))
            self.fetch(name, self.due.pop(name))
            if story.chance.random() < 0.2:
                self.save()
            story.may_die("between pages")
        if self.cycle:
            self.save()
            gone = self.recrawl().gone()
            for visit in gone:
                self.held.pop(visit.page[14:], None)
            self.store(*gone)
        self.finished = True
        self.save()
        return False

    def begin_revisit(self) -> None:
        self.story.change()
        self.cycle, self.finished = self.cycle + 1, False
        self.due = {message.url.access[14:]: message.known for batch, _ in self.recrawl().more() for message in batch}
        self.save()

    def recrawl(self) -> Recrawl:
        return Recrawl(self.pages, [], Demand(), lambda _: None, PARSE)

    def fetch(self, name: str, known: Known | None) -> None:
        answer, address = self.story.web[name], url(name)
        self.story.told.append(f"{name}: {answer}")
        if answer.status != 200:
            self.store(Visit(address.access, url=address, status=answer.status))
        elif known is None or known.digest != digest(answer.body):
            self.held[name] = answer
            canonical = url(answer.canonical) if answer.canonical else None
            document = Document("text/html", "", TEXTS[answer.text], index=answer.index, canonical=canonical)
            visit = Visit(address.access, url=address, status=200, body=answer.body, document=document)
            self.store(msgspec.structs.replace(visit, revisited=known is not None))

    def store(self, *visits: Visit) -> None:
        self.index.store(visits)
        self.book.store(visits)

    def save(self) -> None:
        """A checkpoint; the storages commit in any order."""
        due, held = dict(self.due), dict(self.held)
        self.clock.advance(self.story.chance.choice([5.0, 30.0]))
        commit = self.index.commit if self.finished else self.index.checkpoint
        if self.story.chance.random() < 0.5:
            index, book = commit(), self.book.commit()
        else:
            book, index = self.book.commit(), commit()
        self.story.may_die("before the checkpoint")
        self.story.saved = Saved(index, book, due, held, self.cycle, self.finished, left(self.story.directory, index))
        self.story.told.append(f"saved {dict(index)}")
        self.story.may_die("after the checkpoint")

    def drop(self) -> None:
        """The process ends: what was not committed is lost. Merges end with it, so here they are waited for."""
        writer = self.index._writer._writer
        if writer is not None:
            writer.wait_merging_threads()
        self.index.close()
        self.aliases.close()
        self.book.close()


def check(directory: Path, held: Mapping[str, Answer], kind: Kind) -> None:
    """Each page that may be in the index is there once, or the alias of one that is; and nothing else."""
    found, rows, marked = left(directory, {})
    pages = Counter(page for page, _ in found)
    assert max(pages.values(), default=1) == 1, "a page is there twice"
    names = {key: decode_row(data[4:]).access[14:] for key, _, data in rows}
    leads = {names[key] for key, first, _ in rows if first == key}
    following = {names[key]: names.get(first) for key, first, _ in rows if first != key}
    assert pages.keys() == leads, "the table and the index do not agree on who leads"
    assert leads | following.keys() == {name for name, answer in held.items() if answer.index}
    assert set(following.values()) <= leads
    assert {key for _, key in marked} <= {key for key, first, _ in rows if first == key}
    assert dict(found) == {name: TEXTS[held[name].text] for name in leads}
    if not kind.canonicals:
        assert len(leads) == len({held[name].text for name in leads}), "a text is there twice"
        assert all(first and held[name].text == held[first].text for name, first in following.items())


def left(
    directory: Path, position: Mapping[str, Any]
) -> tuple[list[tuple[str, str]], list[tuple[int, int, bytes]], list[tuple[int, int]]]:
    """Pages of the index with their texts, once it has committed; who follows whom; and the marks of those who lead."""
    index = schema.open_index(directory / "index")
    index.reload()
    searcher = index.searcher()
    hits = searcher.search(tantivy.Query.all_query(), limit=searcher.num_docs).hits if searcher.num_docs else []
    pages = [searcher.doc(address) for _, address in hits]
    found = sorted((str(page.get_first(fields.URL))[14:], str(page.get_first(fields.MAIN))) for page in pages)
    for told in read_pending(directory / "cachingqueue", position.get("generation", 0), position.get("pending", 0)):
        name = (told if isinstance(told, str) else told.url.normalised)[14:]
        found = [(page, text) for page, text in found if page != name]
        if not isinstance(told, str):
            found = sorted([*found, (name, told.text)])
    with closing(Table(directory / "cachingqueue" / "aliases.db")) as table:
        rows = sorted(table._all(table._rows, "SELECT key, parent, data FROM {0}"))
        return found, rows, sorted(table._all(table._prints, "SELECT fingerprint, key FROM {0}"))


def url(name: str) -> Url:
    return PARSE(f"http://a.test/{name}")

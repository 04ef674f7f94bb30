"""Eight bytes of any file of a crawl are changed: ``larm check --state`` finds it, or it is harmless.

Harmless is what no command reads as the crawl's state. Of databases all rows have to be the same. Some places always, many by
``tox -e crash``; ``LARM_SEED`` chooses others.
"""

from __future__ import annotations

import os
import random
import re
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from functools import partial
from pathlib import Path

import pytest

from larm.crawldir.state import known_header
from larm.kit.disk import table
from larm.ops.state_check import find_damage
from larm.store.pending import read_pending
from tests.stories.crawls import ALL_HOSTS, run_crawl
from tests.support.random_web import random_web
from tests.torn.bases import SETTINGS, Bases

SEED = int(os.environ.get("LARM_SEED", "1"))
KINDS = ["finished", "stopped", "killed", "revisited", "plain"]
SIZE = 8
TEXTS = re.compile(r"lock|stats\.json(\.new)?|logs/(?!store|links|pagefile).*|cachingqueue/(inflight|crash)")
"""For people, or notes from which at worst a page is taken for a suspect."""
WHOLE_ONLY = re.compile(r"larm\.json|.*/(meta|\.managed|suspects)\.json")
"""After a kill there is no seal with the checksums of these: what is no JSON any more is found, or what is not in the files."""
MADE_AGAIN = re.compile(r".*-shm|anchors/snapshot")
"""SQLite makes the first anew where nobody has it open. The second names a snapshot; another one's texts are made again."""
HARMLESS = {
    *(("tail", "number"), ("letters_size", "spent"), ("letters_size", "last"), ("letters_done", "last")),
    *(("Cache", name) for name in ("access_time", "access_count", "expire_time", "tag", "size")),
    ("Settings", "value"),
}
"""An order that nobody asks for; when to merge; numbers from which to go on, if they are higher than needed; columns that only
diskcache uses, and its settings, which each start writes again."""


@pytest.fixture(scope="module")
def bases(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    with random_web(3, hosts=3, pages=45, delay=0.001) as web, pytest.MonkeyPatch.context() as patch:
        patch.setattr(table, "TAIL", 20)  # many runs, and merges that are open
        patch.setitem(SETTINGS, "storage.chain", ["log", "index", "graph", "warc"])
        made = Bases(tmp_path_factory.mktemp("flips"), web)
        folder = made["finished"].parent
        shutil.copytree(made["finished"], folder / "revisited", ignore=shutil.ignore_patterns("control.sock"))
        run_crawl(folder / "revisited", web.start_urls, ALL_HOSTS | SETTINGS)
        plain = {"storage.log.compress": False, "storage.chain": ["log", "index"]}
        run_crawl(folder / "plain", web.start_urls, ALL_HOSTS | SETTINGS | plain)
        yield folder


@pytest.mark.parametrize("kind", KINDS)
def test_some_changed_bytes_are_found_or_harmless(bases: Path, tmp_path: Path, kind: str) -> None:
    flip_all(bases / kind, tmp_path / "copy", 1)


@pytest.mark.slow
@pytest.mark.timeout(1200)
@pytest.mark.parametrize("kind", KINDS)
def test_many_changed_bytes_are_found_or_harmless(bases: Path, tmp_path: Path, kind: str) -> None:
    flip_all(bases / kind, tmp_path / "copy", 40)


def flip_all(base: Path, copy: Path, times: int) -> None:
    """Change each file of a copy some times, and put it back."""
    shutil.copytree(base, copy, ignore=shutil.ignore_patterns("control.sock"))
    assert not list(find_damage(copy))
    index = known_header(copy).storages["index"]
    waits = index.get("pending", 0) and f"pending-{index['generation']}"
    for path in sorted(path for path in copy.rglob("*") if path.is_file() and path.stat().st_size):
        name, found = path.relative_to(copy).as_posix(), path.stat()
        if TEXTS.fullmatch(name) or MADE_AGAIN.fullmatch(name) or is_left_over(copy, path, waits):
            continue
        told = partial(read_pending, path.parent, index["generation"], index["pending"]) if path.name == waits else None
        read = told or partial(rows_of, path.with_name(path.name.removesuffix("-wal")))
        whole, right, choose = path.read_bytes(), read(), random.Random(f"{SEED} {base.name} {name}")
        for _ in range(times if found.st_size < 4096 else 3 * times):
            at = choose.randrange(len(whole))
            one_bit = base.name != "killed" or not WHOLE_ONLY.fullmatch(name)
            path.write_bytes(changed(whole, at, choose, one_bit=one_bit))
            os.utime(path, ns=(found.st_atime_ns, found.st_mtime_ns))  # as a disk that forgets
            if not list(find_damage(copy)):
                assert right is not None, f"seed {SEED}: {base.name}/{name}: byte {at} is not found"
                assert right == read(), f"seed {SEED}: {base.name}/{name}: byte {at} is not found"
        path.write_bytes(whole)
        os.utime(path, ns=(found.st_atime_ns, found.st_mtime_ns))
    shutil.rmtree(copy)


def changed(data: bytes, at: int, choose: random.Random, *, one_bit: bool) -> bytes:
    """Zeros, other bytes, or one bit of each."""
    part = data[at : at + SIZE]
    kinds: list[Callable[[int], int]] = [lambda _: 0, lambda byte: byte ^ choose.randrange(1, 256), lambda byte: byte ^ 1][
        : 2 + one_bit
    ]
    new = bytes(map(choose.choice(kinds), part))
    return data[:at] + (new if new != part else bytes(byte ^ 0x55 for byte in part)) + data[at + SIZE :]


def is_left_over(directory: Path, path: Path, waits: str | int) -> bool:
    """It is of a commit that is no more, or was none yet: the next run removes it."""
    if path.name.startswith("pending-"):
        return path.name != waits
    if path.name.startswith(".") and path.name != ".managed.json":
        return True
    known = (directory / "index" / "meta.json").read_text().replace("-", "")
    return path.parent.name == "index" and path.suffix != ".json" and path.name.partition(".")[0] not in known


def rows_of(path: Path) -> dict[str, list[tuple[object, ...]]] | None:
    """All that is in a database; None for what is none, or none any more."""
    if path.suffix != ".db":
        return None
    try:
        with closing(sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True)) as database:
            found = {}
            for (name,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall():
                columns = [each[1] for each in database.execute(f"PRAGMA table_info({name})")]
                chosen = ", ".join(each for each in columns if (name, each) not in HARMLESS)
                found[name] = database.execute(f"SELECT {chosen} FROM {name} ORDER BY 1").fetchall()
            return found
    except sqlite3.Error:
        return None

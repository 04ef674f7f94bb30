"""State files that were cut or overwritten: the crawl goes on and ends right, or it is refused by name. Never a third thing.

Some positions of each file always, many by ``tox -e crash``; ``LARM_SEED`` chooses others.
"""

from __future__ import annotations

import os
import random
import shutil
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.stories.crawls import ALL_HOSTS
from tests.stories.processes import crawl_arguments, larm_says
from tests.support.random_web import random_web
from tests.torn.bases import HOSTS, PAGES, SETTINGS, Bases

SEED = int(os.environ.get("LARM_SEED", "1"))
SECTOR = 512
FILES = [
    ("stopped", "cachingqueue/cache.db"),
    ("stopped", "cachingqueue/visited.db"),
    ("stopped", "cachingqueue/pages.db"),
    ("stopped", "cachingqueue/suspects.json"),
    ("stopped", "cachingqueue/journal"),
    ("stopped", "index/*.*"),
    ("stopped", "graph/*"),
    ("stopped", "logs/*.*"),
    ("stopped", "larm.json"),
    ("killed", "cachingqueue/*.db"),
    ("killed", "cachingqueue/*-shm"),
    ("killed", "cachingqueue/cache.db-wal"),
    ("killed", "cachingqueue/visited.db-wal"),
    ("killed", "cachingqueue/pages.db-wal"),
    ("killed", "cachingqueue/inflight"),
    ("killed", "cachingqueue/pending-*"),
    ("killed", "index/*.*"),
    ("killed", "index/.kept/*"),
    ("killed", "graph/*"),
    ("killed", "logs/*.*"),
    ("finished", "cachingqueue/*.db"),  # the next run is a revisit
    ("finished", "index/*.*"),
    ("finished", "graph/*"),
]


@pytest.fixture(scope="module")
def bases(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bases]:
    with random_web(3, hosts=HOSTS, pages=PAGES, delay=0.001) as web:
        yield Bases(tmp_path_factory.mktemp("torn"), web)


@pytest.mark.parametrize(("base", "pattern"), FILES)
def test_some_positions(bases: Bases, base: str, pattern: str) -> None:
    damage_all(bases, base, pattern, 10)


@pytest.mark.slow
@pytest.mark.timeout(1200)
@pytest.mark.parametrize(("base", "pattern"), FILES)
def test_many_positions(bases: Bases, base: str, pattern: str) -> None:
    damage_all(bases, base, pattern, 400)


@pytest.mark.parametrize("base", ["stopped", "killed", "finished"])
def test_nothing_is_wrong_without_damage(bases: Bases, base: str) -> None:
    assert bases.resume(bases.copy(base)) is None


@pytest.mark.parametrize(
    "file", ["cachingqueue/cache.db", "cachingqueue/visited.db", "cachingqueue/pages.db", "logs/links.log"]
)
def test_the_command_says_which_file_and_leaves_with_3(bases: Bases, file: str) -> None:
    copy = bases.copy("stopped")
    os.truncate(copy / file, 100)
    said = larm_says(*crawl_arguments(copy, bases.web.start_urls, SETTINGS | ALL_HOSTS))
    assert said.status == 3
    assert said.last.startswith("larm: ")
    assert file in said.last
    assert "Traceback" not in said.err


@pytest.mark.parametrize("name", ["cache.db", "visited.db", "pages.db"])
def test_a_file_of_an_older_checkpoint_is_refused(bases: Bases, name: str) -> None:
    """A backup that was put back in part: each file is whole, but they don't belong together."""
    copy = bases.copy("stopped")
    for _ in range(2):  # to the end, and a revisit: several checkpoints later
        assert bases.resume(copy) is None
    shutil.copy(bases["stopped"] / "cachingqueue" / name, copy / "cachingqueue" / name)
    refused = bases.resume(copy)
    assert refused is not None
    assert name in str(refused)


def damage_all(bases: Bases, base: str, pattern: str, times: int) -> None:
    """So many damages, spread over the files; what became of them is printed."""
    choose = random.Random(f"{SEED} {base} {pattern}")
    files = bases.files(base, pattern)
    assert files, pattern
    ends: Counter[str] = Counter()
    for number in range(times):
        file = files[number % len(files)] if times > len(files) else choose.choice(files)
        copy = bases.copy(base)
        what = damage(copy / file, choose, bases.noted(base, file) if file.parent.name == "logs" else 0)
        try:
            refused = bases.resume(copy)
        except BaseException as error:
            error.add_note(f"{base} {file}: {what}")
            raise
        if refused is not None:
            named = file.name.removesuffix("-wal")
            assert named in str(refused) or f"{copy / 'index'}: " in str(refused), f"{file}: {what}: {refused}"
        ends["right" if refused is None else "refused"] += 1
        shutil.rmtree(copy, ignore_errors=True)
    print(f"seed {SEED}: {base} {pattern}: {dict(ends)}")


def damage(path: Path, choose: random.Random, first: int) -> str:
    """Cut it anywhere, or write over it from ``first`` on: logs are not read again, so only their ends can be state."""
    data = bytearray(path.read_bytes())
    kind = choose.choice(["cut", "remove", "grow", "zeros", "garbage", "flip"])
    position = choose.randrange(first, len(data)) if first < len(data) else None
    if kind == "remove":
        path.unlink()
    elif kind == "cut" and data:
        position = choose.randrange(len(data))
        os.truncate(path, position)
    elif position is None or kind == "grow":
        position = len(data)
        path.write_bytes(data + choose.randbytes(SECTOR))
    elif kind == "flip":
        data[position] ^= 1 << choose.randrange(8)
        path.write_bytes(data)
    else:
        size = min(SECTOR, len(data) - position)
        data[position : position + size] = choose.randbytes(size) if kind == "garbage" else bytes(size)
        path.write_bytes(data)
    return f"{kind} at {position}"

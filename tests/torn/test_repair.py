"""Bytes flipped in any file: ``larm check --state`` finds them or they change nothing; ``larm repair`` and a run mend the rest.

Some places always, many by ``tox -e crash``; ``LARM_SEED`` chooses others.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.torn.flipped_crawls import KINDS, STATES, Crawls, Place, content, examine, flip
from tests.torn.observations import differences, larm

SEED = os.environ.get("LARM_SEED", "1")
DIRECTORIES = [f"{kind}-{state}" for kind in KINDS for state in STATES]


@pytest.fixture(scope="module")
def crawls(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Crawls]:
    with Crawls(tmp_path_factory.mktemp("flips"), 3, hosts=3, pages=12) as made:
        yield made


@pytest.mark.parametrize("name", ["indexed-finished", "archived-stopped", "revisited-finished"])
def test_flipped_bytes_are_found_or_harmless_and_repaired(crawls: Crawls, name: str) -> None:
    examine_all(crawls, name, crawls.places(name, 3, SEED))


@pytest.mark.slow
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("name", DIRECTORIES)
def test_flipped_bytes_of_each_kind_of_file_are_found_or_harmless_and_repaired(crawls: Crawls, name: str) -> None:
    examine_all(crawls, name, crawls.places(name, 60, f"{SEED} many"))


@pytest.mark.parametrize("name", ["archived-finished", "revisited-stopped"])
def test_repair_of_an_undamaged_directory_changes_nothing(crawls: Crawls, name: str) -> None:
    copy = crawls.copy(name)
    before = content(copy)
    repaired = larm("repair", "--dir", copy)
    assert repaired.status == 0
    assert content(copy) == before
    assert "nothing" in repaired.err


@pytest.mark.parametrize("command", [("check", "--state"), ("repair",)])
def test_a_folder_without_crawl_is_refused_and_left_as_it_is(tmp_path: Path, command: tuple[str, ...]) -> None:
    (tmp_path / "logs").mkdir()
    (tmp_path / "logs" / "store.log").write_text("mine")
    said = larm(*command, "--dir", tmp_path)
    assert (said.status, said.err) == (2, f"larm: no crawl in {tmp_path}; --dir names another directory\n")
    assert [path.name for path in tmp_path.rglob("*")] == ["logs", "store.log"]


def test_a_report_leaves_out_damaged_lines_and_counts_them(crawls: Crawls) -> None:
    copy = crawls.copy("indexed-finished")
    end = (copy / "logs" / "store.log").read_bytes().index(b"\n")
    flip(copy, Place("logs/store.log", end, b"\x01"))
    said = larm("report", "--dir", copy)
    assert said.status == 3
    assert said.out.rstrip().endswith(b"</html>")
    assert said.err.startswith("larm: 1 damaged record left out, the first: ")


@pytest.mark.parametrize("database", ["cache.db", "visited.db", "pages.db"])
def test_a_removed_database_is_found_and_repaired(crawls: Crawls, database: str) -> None:
    copy = crawls.copy("indexed-finished")
    (copy / "cachingqueue" / database).unlink()
    assert examine(crawls, "indexed-finished", copy, f"cachingqueue/{database}") == []


@pytest.mark.slow
@pytest.mark.parametrize("name", DIRECTORIES)
def test_copies_without_damage_are_alike_after_a_run(crawls: Crawls, name: str) -> None:
    """The comparison itself says nothing of two good crawls."""
    copy = crawls.copy(name)
    assert crawls.run(name, copy)[0] == "finished"
    assert differences(crawls.observe(name, copy), crawls.right(name, after=True)[0]) == []


def examine_all(crawls: Crawls, name: str, places: Iterator[Place]) -> None:
    """Each in a copy of its own; all that is wrong is in the one error."""
    wrong = []
    for place in places:
        copy = crawls.copy(name)
        flip(copy, place)
        found = examine(crawls, name, copy, place.file)
        wrong += [f"{place.file} at {place.offset}: {line}" for line in found[:10]]
        shutil.rmtree(copy)
    assert not wrong, "\n".join(wrong)

"""Peers of one group are searched as one index; of others the places count, and no member decides alone what is rare."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from larm.model.findings import WordStatistics
from larm.peers.yousearch.bounded_sum import bounded_sum
from tests.peers.yousearch.groups import group, known, until


def test_members_are_ranked_as_one_index_and_strangers_by_places(tmp_path: Path) -> None:
    strong, weak = tmp_path / "strong", tmp_path / "weak"
    for folder in (strong, weak):
        folder.mkdir()
    for n in range(6):
        (strong / f"eel {n}.txt").write_text("An eel. " + " ".join(f"word{n}x{at}" for at in range(20)))
    (weak / "long.txt").write_text(" ".join(f"tide{at}" for at in range(900)) + " One eel.")
    with group(tmp_path) as made:
        registrar = made.start("", registrar=True)
        told = {"registrars": (registrar.url,)}
        peers = [made.start(f"of-{each.name}", share=(str(each),), **told) for each in (strong, weak)]
        keys = tuple(each.peering.card.key for each in peers)
        member = made.start("member", groups={"all": keys}, **told)
        stranger = made.start("stranger", **told)
        known(registrar, "of-strong", "of-weak", "member", "stranger")

        def places() -> list[int]:
            found = [[hit["title"] for hit in each.search("eel")["hits"]] for each in (member, stranger)]
            return [titles.index("long.txt") if len(titles) == 7 else -1 for titles in found]

        until(lambda: places()[0] == 6 and 0 <= places()[1] <= 1)


@pytest.mark.parametrize(
    ("told", "expected"),
    [
        ([], None),
        ([(100, 30), (200, 0)], (300, 30)),
        ([(100, 100), (100, 0), (100, 1)], (300, 101)),
        ([(10**12, 10**12), (100, 1), (100, 2)], (1_200, 103)),
        ([(-5, -5), (100, 100)], (100, 50)),
        ([(100, 10**9), (100, 0)], (200, 100)),
    ],
)
def test_no_peer_decides_alone_how_rare_a_word_is(told: list[tuple[int, int]], expected: tuple[int, int] | None) -> None:
    found = bounded_sum([WordStatistics(pages, {"eel": count}) for pages, count in told])
    assert (None if found is None else (found.pages, found.words["eel"])) == expected


def test_statistics_of_a_liar_neither_stop_a_search_nor_fill_its_questions() -> None:
    lies = WordStatistics(10**400, {"x" * n: 10**400 for n in range(1, 2_000)} | {"\0" * 50_000: 1})
    found = bounded_sum([lies, WordStatistics(100, {"eel": 3}), WordStatistics(100, {"eel": 5})])
    assert found is not None
    assert found.words["eel"] == 8
    assert len(msgspec.json.encode(found)) < 65_536

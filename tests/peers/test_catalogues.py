"""What YouSearch and YaCy have, where it is here, and which test shows it: catalogue.txt beside the tests of each."""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]
LARM = TESTS.parent / "larm"


@pytest.mark.parametrize(("name", "last"), [("yousearch", 40), ("yacy", 53)])
def test_a_catalogue_is_whole_and_names_what_there_is(name: str, last: int) -> None:
    here, code = TESTS / "peers" / name, LARM / "peers" / name
    lines = (here / "catalogue.txt").read_text().splitlines()
    rows = [line.split() for line in lines if re.match(r"\d", line)]
    assert [int(row[0]) for row in rows] == list(range(1, last + 1))
    for number, file, *tests in rows:
        assert file == "none" or (code / file).exists() or (LARM / file).exists(), number
        assert tests or file == "none", number
        for each in tests:
            module, _, function = each.partition("::")
            (found,) = [folder / module for folder in (here, TESTS) if (folder / module).exists()]
            assert f"def {function}(" in found.read_text(), f"{number}: {each}"
    reasons = [before.split()[0] for before, line in pairwise(lines) if line.startswith(" ")]
    assert {row[0] for row in rows if row[1] == "none"} <= set(reasons), "why not"

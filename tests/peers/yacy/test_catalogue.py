"""What YaCy has, where it is here, and which test shows it: catalogue.txt."""

from __future__ import annotations

import re
from pathlib import Path

HERE = Path(__file__).parent
CODE = HERE.parents[2] / "larm" / "peers" / "yacy"
ROWS = [line.split() for line in (HERE / "catalogue.txt").read_text().splitlines() if re.match(r"\d", line)]


def test_the_catalogue_is_whole_and_names_what_there_is() -> None:
    assert [int(row[0]) for row in ROWS] == list(range(1, 54))
    for number, file, *tests in ROWS:
        assert file == "none" or (CODE / file).exists(), number
        for each in tests:
            name, _, function = each.partition("::")
            assert f"def {function}(" in (HERE / name).read_text(), f"YACY-{number}: {each}"

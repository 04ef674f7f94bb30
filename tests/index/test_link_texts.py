from __future__ import annotations

import pytest

from larm.index.anchors import said


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("click here", ""),
        ("Click here!", ""),
        ("» Read more …", ""),
        ("hier", ""),
        ("Click here to read the manual", "the manual"),
        ("click on vacuum", "vacuum"),
        ("Clickstream", "Clickstream"),
        ("Next steps", "Next steps"),
        ("Vacuum\u00b6", "Vacuum"),
        ("", ""),
    ],
)
def test_what_a_link_says_of_its_target(text: str, expected: str) -> None:
    assert said(text) == expected

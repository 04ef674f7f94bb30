from __future__ import annotations

import pytest

from larm.parse.apart.sheet import date_of, date_styles
from larm.parse.xml_tokens import XmlTokens


@pytest.mark.parametrize(
    ("value", "since_1904", "shown"),
    [
        ("45293", False, "2024-01-02"),
        ("43831", True, "2024-01-02"),
        ("45293.5", False, "2024-01-02 12:00"),
        ("0.75", False, "18:00"),
        ("-1", False, "-1"),
        ("1e300", False, "1e300"),
        ("nan", False, "nan"),
        ("x", False, "x"),
    ],
)
def test_a_number_as_a_date(value: str, since_1904: bool, shown: str) -> None:
    assert date_of(value, since_1904) == shown


def test_which_styles_show_dates() -> None:
    styles = (
        "<styleSheet><numFmts><numFmt numFmtId='164' formatCode='yyyy\\-mm'/><numFmt numFmtId='165' formatCode='0.0\"days\"'/>"
        "<numFmt numFmtId='166' formatCode='[Red]0'/></numFmts><cellStyleXfs><xf numFmtId='14'/></cellStyleXfs>"
        "<cellXfs><xf numFmtId='0'/><xf numFmtId='164'/><xf numFmtId='165'/><xf numFmtId='166'/><xf numFmtId='22'/></cellXfs>"
        "<dxfs><xf numFmtId='14'/></dxfs></styleSheet>"
    )
    assert date_styles(XmlTokens(styles)) == {"1", "4"}

"""Values of fields that users have named, and how they are found."""

import pytest

from larm.config import Field
from larm.index.own_fields import field_query, field_words
from larm.index.terms import composed
from larm.index.tree import Meta


@pytest.mark.parametrize(
    "value",
    ["Jane", "Jose\u0301", "\u05e9\u05b8\u05dc\u05d5\u05b9\u05dd", "\uff76\uff9e\uff72\uff84\uff9e"],
    ids=["plain", "accent apart", "pointed", "half width"],
)
def test_a_value_is_found_by_itself_however_it_is_written(value: str) -> None:
    """A query is composed as a whole, before anybody looks for fields in it."""
    query = field_query("author", composed(value))
    assert isinstance(query, Meta)
    for flag in (Field(), Field(tokenise=True)):
        assert f"author:{query.value}" in field_words({"author": [value]}, {"author": flag}).split()

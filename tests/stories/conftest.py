"""What all stories need: a web to build hosts in."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from larm.testing.web import SyntheticWeb
from tests.stories.crawls import watch


@pytest.fixture
def web() -> Iterator[SyntheticWeb]:
    """An empty web."""
    with SyntheticWeb() as served:
        watch(served)
        yield served

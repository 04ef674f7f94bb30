"""Two indexes, and a client."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from larm.fetch.http_client import HttpClient
from tests.index.search.test_several import two

__all__ = ["http", "two"]


@pytest.fixture
def http() -> Iterator[HttpClient]:
    client = HttpClient()
    yield client
    client.close()

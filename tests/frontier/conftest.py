"""A store for each test, without the cost of making one."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from larm.kit.block_store import BlockStore


@pytest.fixture(scope="session")
def shared_store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[BlockStore]:
    store = BlockStore(tmp_path_factory.mktemp("frontier"))
    yield store
    store.close()


@pytest.fixture
def store(shared_store: BlockStore) -> BlockStore:
    """Empty, on the disk."""
    shared_store.transaction({}, shared_store.keys())
    shared_store.retired()
    return shared_store

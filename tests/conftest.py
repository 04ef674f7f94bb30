"""What tests of all parts need."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, settings

from larm.kit.disk.block_store import BlockStore
from larm.kit.disk.database import Database

settings.register_profile("any speed", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("any speed")  # how long an example takes is up to what else the machine does


@pytest.fixture(scope="session", autouse=True)
def bytecode(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Where none may be written beside the sources, each of some hundred processes would compile all of larm again."""
    if os.environ.pop("PYTHONDONTWRITEBYTECODE", ""):
        os.environ["PYTHONPYCACHEPREFIX"] = str(tmp_path_factory.mktemp("bytecode"))


@pytest.fixture
def hangups_heard() -> Iterator[None]:
    """SIGHUP as a process has it by default, also where the tests run under nohup; processes inherit it."""
    before = signal.signal(signal.SIGHUP, signal.SIG_DFL)
    yield
    signal.signal(signal.SIGHUP, before)


@pytest.fixture(scope="session")
def shared_store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[BlockStore]:
    """One for all tests that need a real one, as making it is slow; `store` is it, emptied."""
    store = BlockStore(tmp_path_factory.mktemp("frontier-queues"))
    yield store
    store.close()


@pytest.fixture
def store(shared_store: BlockStore) -> BlockStore:
    """Empty, on the disk."""
    empty(shared_store)
    return shared_store


def empty(store: BlockStore) -> None:
    """Of all that was written, also of letters."""
    store.transaction({}, store.keys(), _without_letters)
    store.retired()


def _without_letters(database: Database) -> None:
    for (name,) in database.rows("SELECT name FROM sqlite_master WHERE type = 'table' AND name LIKE 'letters%'"):
        database.write(f"DROP TABLE {name}")

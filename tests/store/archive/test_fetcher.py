"""The fetcher of archives waits where it has nothing to do: nobody else in its thread does."""

from __future__ import annotations

from pathlib import Path

import pytest

from larm.config import FetchSettings
from larm.kit.clock import SystemClock
from larm.model.outcome import Failed
from larm.store.archive.catalogue import Catalogue
from larm.store.archive.fetcher import ArchiveFetcher
from larm.testing.fakes import lease, url


@pytest.fixture
def fetcher(tmp_path: Path) -> ArchiveFetcher:
    catalogue = Catalogue(tmp_path, url, lambda _name, _n: None, lambda _line: None, lambda _note: None)
    return ArchiveFetcher(FetchSettings(), catalogue, SystemClock())


def test_it_waits_as_long_as_it_is_told(fetcher: ArchiveFetcher) -> None:
    began = SystemClock().monotonic()
    assert fetcher.wait(0.05) == []
    assert SystemClock().monotonic() - began >= 0.05


def test_who_was_woken_does_not_wait(fetcher: ArchiveFetcher) -> None:
    fetcher.wake()
    assert fetcher.wait(3_600) == []


def test_who_has_something_to_do_does_not_wait(fetcher: ArchiveFetcher) -> None:
    asked = lease("http://a.localhost/")
    fetcher.start(asked)
    ((answered, outcome),) = fetcher.wait(3_600)
    assert answered is asked
    assert isinstance(outcome, Failed)
    assert outcome.detail == "not in the archive"

"""What tests of all parts need."""

from __future__ import annotations

import signal
from collections.abc import Iterator

import pytest


@pytest.fixture
def hangups_heard() -> Iterator[None]:
    """SIGHUP as a process has it by default, also where the tests run under nohup; processes inherit it."""
    before = signal.signal(signal.SIGHUP, signal.SIG_DFL)
    yield
    signal.signal(signal.SIGHUP, before)

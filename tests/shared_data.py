"""Where the public suites lie: in a folder beside the project; of those that may be copied there is a part in tests/data."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

ROOT = Path(os.environ.get("LARM_TESTDATA", Path(__file__).parents[2] / "shared" / "testdata"))
DATA = Path(__file__).with_name("data")


def shared(*parts: str) -> Path:
    """A path in the shared test data, else in tests/data; the calling test is skipped where it is in neither."""
    for folder in (ROOT, DATA):
        path = folder.joinpath(*parts)
        if path.exists():
            return path
    pytest.skip(f"no {ROOT.joinpath(*parts)}")

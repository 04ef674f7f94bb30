"""Where the public suites lie that are too large, or not licensed, to be copied into tests/data."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

ROOT = Path(os.environ.get("LARM_TESTDATA", Path(__file__).parents[2] / "shared" / "testdata"))


def shared(*parts: str) -> Path:
    """A path in the shared test data; the calling test is skipped where it is absent."""
    path = ROOT.joinpath(*parts)
    if not path.exists():
        pytest.skip(f"no {path}")
    return path

"""The two modules that do what `larm.graph.columns` says, and a refresh with one of them."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from larm.graph import numpy_columns
from larm.graph.block import BlockBuilder
from larm.graph.files import JOURNAL, SNAPSHOT
from larm.graph.refresh import Refresh
from larm.graph.snapshot import Snapshot
from larm.model.document import Visit

COMPILED = find_spec("larm.graph.quick_columns") is not None
needs_it = pytest.mark.skipif(not COMPILED, reason="there was no C compiler")
quick: Any = import_module("larm.graph.quick_columns") if COMPILED else None
TWINS = [numpy_columns, pytest.param(quick, marks=needs_it)]


def journal(directory: Path, *blocks: list[Visit]) -> int:
    """Blocks appended to the journal; how long it is now."""
    builder = BlockBuilder()
    with (directory / JOURNAL).open("ab") as file:
        for visits in blocks:
            for visit in visits:
                builder.add(visit)
            file.write(builder.encode())
        return file.tell()


def refreshed(directory: Path, end: int, module: Any, snapshot: str = SNAPSHOT, **constants: int) -> Snapshot:
    """The snapshot that a refresh with these kernels makes; ``constants`` of `larm.graph.refresh` and tables are others."""
    with pytest.MonkeyPatch.context() as patch:
        for name in ("refresh", "ranks", "tables"):
            patch.setattr(f"larm.graph.{name}.columns", module)
        for name, number in constants.items():
            patch.setattr(f"larm.graph.{'refresh' if name == '_PART' else 'tables'}.{name}", number)
        for _ in Refresh(directory / JOURNAL, end, directory / snapshot).steps():
            pass
    return Snapshot(directory / snapshot)

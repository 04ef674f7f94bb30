"""Journals of a few blocks, and the snapshots that are made of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from larm.graph.block import BlockBuilder
from larm.graph.files import JOURNAL, SNAPSHOT
from larm.graph.refresh import Refresh
from larm.graph.small import write_small
from larm.graph.snapshot import Snapshot
from larm.model.document import Visit


def journal(directory: Path, *blocks: list[Visit]) -> int:
    """Blocks appended to the journal; how long it is now."""
    builder = BlockBuilder()
    with (directory / JOURNAL).open("ab") as file:
        for visits in blocks:
            for visit in visits:
                builder.add(visit)
            file.write(builder.encode())
        return file.tell()


def refreshed(directory: Path, end: int, snapshot: str = SNAPSHOT, **constants: int) -> Snapshot:
    """The snapshot that a refresh makes; ``constants`` of `larm.graph.refresh` and tables are others."""
    with pytest.MonkeyPatch.context() as patch:
        for name, number in constants.items():
            patch.setattr(f"larm.graph.{'refresh' if name == '_PART' else 'tables'}.{name}", number)
        for _ in Refresh(directory / JOURNAL, end, directory / snapshot).steps():
            pass
    return Snapshot(directory / snapshot)


def made_small(directory: Path, end: int, snapshot: str = SNAPSHOT) -> Snapshot:
    """The snapshot that is made of a short journal."""
    write_small(directory / JOURNAL, end, directory / snapshot)
    return Snapshot(directory / snapshot)

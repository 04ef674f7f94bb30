"""Filters, storages and processors of a user's own, most of them bad ones. Named in the configuration of some stories."""

from __future__ import annotations

import os
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from larm.filters.chain import MessageFilter
from larm.model.document import Document, Visit
from larm.model.message import URLMessage
from larm.model.outcome import Fetched
from larm.seams import Drop
from larm.storage.base import DocumentStorage

HERE = __name__


class StuckStorage(DocumentStorage):
    """Never comes back from a commit once the file ``flag`` is there."""

    def __init__(self, flag: str) -> None:
        self._flag = Path(flag)

    def store(self, visits: Sequence[Visit]) -> None:
        pass

    def commit(self) -> Mapping[str, Any]:
        if self._flag.exists():
            threading.Event().wait()
        return {}

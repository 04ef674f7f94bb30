"""MemoryQueue: a `larm.cluster.courier.Queue` in memory."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

from larm.cluster.courier import Row


class MemoryQueue:
    """A queue of rows."""

    def __init__(self, rows: Sequence[Row] = ()) -> None:
        self.rows = deque(rows)

    def put_many(self, items: Sequence[Row]) -> None:
        self.rows.extend(items)

    def put_front(self, items: Sequence[Row]) -> None:
        self.rows.extendleft(reversed(items))

    def take(self, count: int) -> list[Row]:
        return [self.rows.popleft() for _ in range(min(count, len(self.rows)))]

    def __len__(self) -> int:
        return len(self.rows)

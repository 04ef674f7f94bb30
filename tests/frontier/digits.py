"""An order for tests."""

from __future__ import annotations

from collections.abc import Sequence

from larm.model.message import URLMessage


class Digits:
    """The band is the last digit of the address, plus what was agreed on since."""

    def __init__(self, *, fair: bool = False) -> None:
        self.fair = fair
        self.generation = 0
        self.shift = 0

    def change(self, shift: int) -> None:
        self.shift = shift
        self.generation += 1

    def found(self, _: URLMessage, links: Sequence[URLMessage]) -> Sequence[URLMessage]:
        return links

    def file(self, messages: Sequence[URLMessage]) -> list[tuple[int, URLMessage]]:
        return [(self.file_again(each, 0), each) for each in messages]

    def file_again(self, each: URLMessage, _: int) -> int:
        return (int(each.url.access[-1]) + self.shift) % 10

    def close(self) -> None:
        pass

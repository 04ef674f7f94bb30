"""One connection of the server with a transport that the test holds in its hands."""

from __future__ import annotations

import asyncio
from typing import Any, cast

from larm.testing.replies import Reply
from larm.testing.server import Connection
from tests.support.bad_replies import endless_body


class SlowReader:
    """A transport whose client has had enough after three writes."""

    def __init__(self, connection: Connection) -> None:
        self.connection = connection
        self.writes = 0

    def write(self, data: bytes) -> None:
        self.writes += 1
        if self.writes % 3 == 0:
            self.connection.pause_writing()

    def is_closing(self) -> bool:
        return False


async def turns() -> None:
    for _ in range(20):
        await asyncio.sleep(0)


def test_an_endless_answer_waits_for_the_client_instead_of_filling_memory() -> None:
    async def story() -> list[int]:
        reply: Reply = endless_body()
        connection = Connection(1, lambda _: (reply, 0.0), lambda: 0.0, set())
        reader = SlowReader(connection)
        connection.connection_made(cast("Any", reader))
        connection.data_received(b"GET / HTTP/1.1\r\nHost: a.localhost\r\n\r\n")
        seen = []
        for _ in range(3):
            await turns()
            seen.append(reader.writes)
            connection.resume_writing()
        connection.connection_lost(None)
        return seen

    assert asyncio.run(story()) == [3, 6, 9]

"""The end of a server, told by what its event loop does."""

from __future__ import annotations

import asyncio
import socket

import pytest
import uvicorn
from starlette.applications import Starlette

from larm.web.app import Application
from larm.web.server import listen, make_server


def test_who_is_accepted_while_it_ends_is_not_waited_for(caplog: pytest.LogCaptureFixture) -> None:
    """Between accept() and the first call of a connection's protocol the loop goes round twice, and the end may come there: it
    waited for the connection till its patience was at an end, and said so on stderr."""
    server = make_server(Application(Starlette(), open=lambda: None, close=lambda: None))
    ours, theirs = socket.socketpair()
    ours.settimeout(30)
    with listen("127.0.0.1", 0) as listening, ours, theirs:
        asyncio.run(ends(server, listening, theirs))
        assert ours.recv(1) == b""
    assert caplog.text == ""


async def ends(server: uvicorn.Server, listening: socket.socket, accepted: socket.socket) -> None:
    config = server.config
    server.lifespan = config.lifespan_class(config)
    await server.startup([listening])
    ending = asyncio.create_task(server.shutdown([listening]))
    await asyncio.sleep(0)  # all connections have been told
    await asyncio.get_running_loop().connect_accepted_socket(
        lambda: config.http_protocol_class(config=config, server_state=server.server_state, app_state={}),  # type: ignore[call-arg]
        accepted,
    )
    await ending

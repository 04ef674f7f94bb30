"""A plain HTTP client for the tests of the synthetic web: bytes over a socket, so that nothing is put right on the way."""

from __future__ import annotations

import http.client
import socket
from types import TracebackType
from typing import Self

from larm.testing.web import SyntheticWeb


class Client:
    """One connection to the web."""

    def __init__(self, web: SyntheticWeb) -> None:
        self.socket = socket.create_connection(("127.0.0.1", web.port), timeout=10)
        self.http = http.client.HTTPConnection("127.0.0.1", web.port, timeout=10)
        self.http.sock = self.socket

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.http.close()
        self.socket.close()

    def get(self, host: str, path: str = "/", method: str = "GET", **headers: str) -> tuple[int, dict[str, str], bytes]:
        """Status, headers (lower-case names), body."""
        fields = {"Host": f"{host}:1"} | {name.replace("_", "-"): value for name, value in headers.items()}
        self.http.request(method, path, headers=fields)
        response = self.http.getresponse()
        return response.status, {name.lower(): value for name, value in response.getheaders()}, response.read()

    def send(self, *requests: tuple[str, str]) -> None:
        """Send requests for (host, path) in one piece."""
        self.socket.sendall(b"".join(f"GET {path} HTTP/1.1\r\nHost: {host}\r\n\r\n".encode() for host, path in requests))

    def read(self, size: int) -> bytes:
        """So many bytes of answers; fewer only at their end."""
        data = b""
        while len(data) < size and (more := self.socket.recv(size - len(data))):
            data += more
        return data

    def read_all(self) -> bytes:
        """Until the server closes."""
        return self.read(1_000_000_000)


def get(
    web: SyntheticWeb, host: str, path: str = "/", method: str = "GET", **headers: str
) -> tuple[int, dict[str, str], bytes]:
    """One request on a connection of its own."""
    with Client(web) as client:
        return client.get(host, path, method, **headers)

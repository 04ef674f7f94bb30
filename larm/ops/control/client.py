"""Control: how to talk to a crawl that runs in a directory, from any process of its owner's.

    with Control(directory) as crawl:
        report = crawl.ask(Status())
        crawl.ask(Do(Add(("https://example.org/new",))))
        for report in crawl.stream(Watch()):
            ...

Used by ``larm ctl`` and by servers. An object is one connection, for one thread; make as many as you like.
"""

import socket
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Self, TypeVar

import msgspec

from larm.crawldir.control_socket import socket_of
from larm.errors import StageError, UsageError
from larm.ops.control.requests import ANSWERS, VERSION, Reply, Request, encode_request

A = TypeVar("A")
_MOST = 64_000_000
"""Bytes of an answer: whoever sends more is no crawl."""


class NotRunning(UsageError):  # noqa: N818
    """No crawl runs in the directory, or it has just ended."""


class Control:
    """A connection to the crawl of a directory."""

    def __init__(self, directory: Path, *, timeout: float = 30.0) -> None:
        """``timeout``: seconds to wait for each answer. Raises NotRunning; StorageError where the directory can't be read."""
        # constant after construction
        self.directory = directory
        path = socket_of(directory)
        if path is None:
            raise NotRunning(f"no crawl runs in {directory}; --dir names another directory, 'larm crawl' starts one")
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            self._socket.settimeout(timeout)
            self._socket.connect(str(path))
        except OSError as error:
            self._socket.close()
            raise NotRunning(f"no crawl runs in {directory} that can be asked ({error.strerror or error})") from error
        except BaseException:
            self._socket.close()
            raise
        self._file = self._socket.makefile("rb")

    def ask(self, request: Request[A]) -> A:
        """The answer. Raises UsageError where the crawl refuses, NotRunning where it ends meanwhile."""
        self._send(request)
        return self._answer(request)

    def stream(self, request: Request[A]) -> Iterator[A]:
        """Answers, until the crawl ends; the connection is good for nothing else then. Raises as `ask`, but for the end."""
        self._send(request)
        while True:
            try:
                yield self._answer(request)
            except NotRunning:
                return

    def close(self) -> None:
        """A second call does nothing."""
        self._file.close()
        self._socket.close()

    def _send(self, request: object) -> None:
        try:
            self._socket.sendall(encode_request(request))
        except OSError as error:
            raise NotRunning(f"the crawl in {self.directory} has ended ({error.strerror or error})") from error

    def _answer(self, request: Request[A]) -> A:
        try:
            line = self._file.readline(_MOST)
        except TimeoutError as error:
            raise StageError(f"the crawl in {self.directory} has not answered in {self._socket.gettimeout():g} s") from error
        except OSError as error:
            raise NotRunning(f"the crawl in {self.directory} has ended ({error.strerror or error})") from error
        if not line.endswith(b"\n"):
            raise NotRunning(f"the crawl in {self.directory} has ended")
        try:
            reply = msgspec.json.decode(line, type=Reply)
            if not reply.ok:
                raise UsageError(reply.error)
            answer: A = msgspec.json.decode(reply.answer, type=ANSWERS[type(request)])
        except msgspec.MsgspecError as error:
            raise StageError(
                f"the crawl in {self.directory} answers in a way that this larm does not know (version {VERSION}: {error})"
            ) from error
        return answer

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<Control {self.directory}>"

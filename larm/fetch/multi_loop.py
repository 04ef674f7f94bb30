"""MultiLoop: drives the transfers of one libcurl multi handle, and can be woken up.

libcurl tells which sockets it waits for, and until when; a selector of our own waits. Unlike ``CurlMulti.select`` that knows no
limit of 1,024 descriptors, and another thread can end it. Made by `larm.fetch.curl_fetcher`, driven on its fetcher thread.
"""

import ctypes
import selectors
import socket
import threading
from typing import Any

import pycurl

from larm.fetch.fence import Fence
from larm.seams import Clock

Done = tuple[Any, int, str]
"""An easy handle, its libcurl error (0: none) and libcurl's words for it."""


class MultiLoop:
    """`add` easy handles, then `turn` until they come back. All but `wake` are for one thread."""

    def __init__(self, clock: Clock, connections: int, per_host: int = 0, fence: Fence | None = None) -> None:
        """``connections``: the number kept open; ``per_host``: connections to one host at a time, 0: without a limit.

        ``fence``: of an agent of a cluster.
        """
        # constant after construction
        self._clock = clock
        self._fence = fence
        self._multi = pycurl.CurlMulti()
        self._multi.setopt(pycurl.M_MAXCONNECTS, connections)
        self._multi.setopt(pycurl.M_MAX_HOST_CONNECTIONS, per_host)
        self._multi.setopt(pycurl.M_PIPELINING, pycurl.PIPE_MULTIPLEX)
        self._multi.setopt(pycurl.M_SOCKETFUNCTION, self._watch)
        self._multi.setopt(pycurl.M_TIMERFUNCTION, self._set_timer)
        self._selector = selectors.DefaultSelector()
        self._wake_receiver, self._wake_sender = socket.socketpair()
        self._wake_receiver.setblocking(False)
        self._wake_key = self._selector.register(self._wake_receiver, selectors.EVENT_READ)
        self._wake_lock = threading.Lock()
        # guarded by self._wake_lock
        self._wake_sent = False
        self._closed = False
        # only the fetcher thread
        self._due: float | None = None  # when libcurl wants to be called for a time-out of its own
        self._running = 0
        self._watched: set[int] = set()  # descriptors in the selector

    def add(self, handle: Any) -> None:
        """Begin the transfer of an easy handle that is ready for it."""
        self._multi.add_handle(handle)
        self._running += 1

    def remove(self, handle: Any) -> None:
        """Cut a transfer off."""
        self._multi.remove_handle(handle)
        self._running -= 1

    def turn(self, seconds: float) -> tuple[list[Done], bool]:
        """Wait once, ``seconds`` at most; the handles that are done, no longer in here, and whether `wake` was called.

        Where transfers are in here when the fence has passed, libcurl does not run, and it is as if `wake` had been called.
        """
        fence = self._fence if self._running else None
        if fence is not None:
            seconds = min(seconds, fence.left())
        if self._due is not None:
            seconds = min(seconds, self._due - self._clock.monotonic())
        ready = self._selector.select(max(0.0, seconds))
        if fence is not None and fence.left() <= 0:
            return [], True
        act, running, woken = self._multi.socket_action, self._running, False
        for key, events in ready:
            if key is self._wake_key:
                self._take_wake()
                woken = True
            else:
                _, running = act(key.fd, events)  # libcurl and selectors have the same numbers for these
        if self._due is not None and self._clock.monotonic() >= self._due:
            self._due = None
            _, running = act(pycurl.SOCKET_TIMEOUT, 0)
        return (self._done() if running < self._running else []), woken

    def wake(self) -> None:
        """End a running (or the next) `turn` early. Any thread; after `close` it does nothing."""
        with self._wake_lock:
            if not self._wake_sent and not self._closed:
                self._wake_sent = True
                self._wake_sender.send(b"\0")

    def close(self, leave_resolver: bool = False) -> None:
        """Close all connections; no handle may be in here any more.

        libcurl would wait for look-ups that are under way, with a dead resolver for half a minute: ``leave_resolver`` leaves
        the multi handle to the end of the process instead.
        """
        with self._wake_lock:
            if self._closed:
                return
            self._closed = True
        if leave_resolver:
            self._multi.setopt(pycurl.M_SOCKETFUNCTION, _ignore)
            self._multi.setopt(pycurl.M_TIMERFUNCTION, _ignore)
            ctypes.pythonapi.Py_IncRef(ctypes.py_object(self._multi))  # or the interpreter's end would close it, and wait
        else:
            self._multi.close()
        self._selector.close()
        self._wake_receiver.close()
        self._wake_sender.close()

    def _take_wake(self) -> None:
        with self._wake_lock:
            self._wake_receiver.recv(1)
            self._wake_sent = False

    def _done(self) -> list[Done]:
        done: list[Done] = []
        more = True
        while more:
            more, good, bad = self._multi.info_read()
            done += ((handle, pycurl.E_OK, "") for handle in good)
            done += bad
        for handle, _, _ in done:
            self.remove(handle)
        return done

    def _watch(self, what: int, descriptor: int, _multi: Any, _data: Any) -> None:
        """libcurl's socket callback."""
        watched = descriptor in self._watched
        if not what & pycurl.POLL_INOUT:
            if watched:
                self._watched.remove(descriptor)
                self._selector.unregister(descriptor)
        elif watched:
            self._selector.modify(descriptor, what)
        else:
            self._watched.add(descriptor)
            self._selector.register(descriptor, what)

    def _set_timer(self, milliseconds: int) -> None:
        """libcurl's timer callback; -1: no time-out."""
        self._due = None if milliseconds < 0 else self._clock.monotonic() + milliseconds / 1000


def _ignore(*_arguments: Any) -> None:
    """A callback for a multi handle that nobody drives any more."""

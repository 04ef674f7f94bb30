"""Events: how a crawl stands, live, to any number of windows. On the event loop.

A crawl is asked once a second as long as anybody looks, however many do; who looks gets what has changed. So an idle stream
costs a connection, and nothing else.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable

Render = Callable[[], Awaitable[str]]
_PERIOD = 1.0
_ALIVE = 15.0
"""Seconds until a line is sent that says nothing, or a window that is gone would never be noticed."""
MOST = 500
"""Streams at a time."""


class Events:
    """`stream` for each window; `close` at the end of the server."""

    def __init__(self) -> None:
        # only the event loop
        self._watches: dict[str, _Watch] = {}
        self._closing = asyncio.Event()
        self.streams = 0

    async def stream(self, name: str, render: Render) -> AsyncIterator[bytes]:
        """Events of the crawl called ``name``; ``render`` makes the text of one. Until the window or the server is closed."""
        watch = self._watches.get(name)
        if watch is None:
            watch = self._watches[name] = _Watch(render, self._closing)
        self.streams += 1
        watch.enter()
        try:
            yield b"retry: 2000\n\n"
            seen = 0
            while not self._closing.is_set():
                changed = await watch.changed(seen)
                if self._closing.is_set():
                    return
                seen = watch.version
                yield event(watch.text) if changed else b": still here\n\n"
        finally:
            self.streams -= 1
            if watch.leave() and self._watches.get(name) is watch:
                del self._watches[name]

    def close(self) -> None:
        """All streams end."""
        self._closing.set()
        for watch in self._watches.values():
            watch.wake()


class _Watch:
    """One crawl that is looked at."""

    def __init__(self, render: Render, closing: asyncio.Event) -> None:
        self._render = render
        self._closing = closing
        self._lookers = 0
        self._task: asyncio.Task[None] | None = None
        self._news = asyncio.Condition()
        self.text = ""
        self.version = 0

    def enter(self) -> None:
        self._lookers += 1
        if self._task is None:
            self._task = asyncio.create_task(self._look())

    def leave(self) -> bool:
        """Whether nobody looks any more."""
        self._lookers -= 1
        if not self._lookers and self._task is not None:
            self._task.cancel()
            self._task = None
        return not self._lookers

    def wake(self) -> None:
        asyncio.ensure_future(self._notify())  # noqa: RUF006 - it ends at once

    async def changed(self, seen: int) -> bool:
        """Wait for another text than that of version ``seen``; False where there is none for a while."""
        try:
            async with asyncio.timeout(_ALIVE), self._news:
                await self._news.wait_for(lambda: self.version != seen or self._closing.is_set())
        except TimeoutError:
            if self._task is not None and self._task.done():
                self._task.result()  # it ends by a mistake of ours alone
            return False
        return True

    async def _look(self) -> None:
        while True:
            text = await self._render()
            if text != self.text:
                self.text = text
                self.version += 1
                await self._notify()
            await asyncio.sleep(_PERIOD)

    async def _notify(self) -> None:
        async with self._news:
            self._news.notify_all()


def event(text: str, kind: str = "figures") -> bytes:
    """One, whose data is the text."""
    lines = "".join(f"data: {line}\n" for line in text.splitlines() if line.strip())
    return f"event: {kind}\n{lines}\n".encode("utf-8", "replace")

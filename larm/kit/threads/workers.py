"""Workers: the only place that makes threads.

Each thread has a name and one owner, is joined in the end, and never dies in silence: what it raised goes to ``on_death``,
which ends the crawl. Called on the main thread; `alive` on any.
"""

import threading
from collections.abc import Callable

from larm.kit.clock import SystemClock
from larm.kit.threads.thread_cpu import ThreadCpu

_clock = SystemClock()


class Workers:
    """A set of named threads.

    They are daemons: the process never waits for them by itself, so that a second Ctrl-C can leave at once. Whoever wants an
    orderly end calls `join`.
    """

    def __init__(self, on_death: Callable[[str, BaseException], None], cpu: ThreadCpu | None = None) -> None:
        """``cpu`` learns what each thread costs."""
        # constant after construction
        self._cpu = cpu or ThreadCpu()
        self._on_death = on_death
        self._lock = threading.Lock()
        # guarded by self._lock
        self._threads: list[threading.Thread] = []  # noqa: TID251

    def start(self, name: str, target: Callable[[], None]) -> None:
        """Run ``target`` on a new thread called ``name`` (``larm-handler``).

        If it raises, ``on_death(name, error)`` is called, on that thread. A target that returns has simply done its work.
        """
        thread = threading.Thread(target=self._run, args=(name, target), name=name, daemon=True)  # noqa: TID251
        with self._lock:
            self._threads = [other for other in self._threads if other.is_alive()]
            thread.start()
            self._threads.append(thread)

    def join(self, deadline_seconds: float) -> list[str]:
        """Wait for all threads, at most so long in all; returns the names of those that still run.

        Called on one of the threads, it does not wait for this one (and names it).
        """
        end = _clock.monotonic() + deadline_seconds
        with self._lock:
            threads = list(self._threads)
        for thread in threads:
            if thread is not threading.current_thread():
                thread.join(max(0.0, end - _clock.monotonic()))
        return [thread.name for thread in threads if thread.is_alive()]

    def alive(self) -> list[str]:
        """Names of the threads that run now, in the order of their start."""
        with self._lock:
            return [thread.name for thread in self._threads if thread.is_alive()]

    def _run(self, name: str, target: Callable[[], None]) -> None:
        self._cpu.begin(name)
        try:
            target()
        except BaseException as error:  # noqa: BLE001  a thread has no caller: this is the last place where it can be told
            self._on_death(name, error)
        finally:
            self._cpu.end(name)

    def __repr__(self) -> str:
        return f"<Workers {', '.join(self.alive()) or 'none'}>"

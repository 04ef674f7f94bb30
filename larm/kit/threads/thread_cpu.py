"""ThreadCpu: how much processor time each thread has taken so far, those that have ended included.

`begin` and `end` are called by `larm.kit.threads.workers` on the thread itself, `seconds` by the monitor on any.
"""

import threading
import time


class ThreadCpu:
    """Seconds by the name of the thread."""

    def __init__(self) -> None:
        # constant after construction
        self._lock = threading.Lock()
        # guarded by self._lock
        self._clocks: dict[str, int] = {}  # of the threads that run
        self._ended: dict[str, float] = {}

    def begin(self, name: str) -> None:
        """The calling thread goes by this name from now on."""
        if hasattr(time, "pthread_getcpuclockid"):  # not on macOS and Windows: there each thread counts when it has ended
            with self._lock:
                self._clocks[name] = time.pthread_getcpuclockid(threading.get_ident())

    def end(self, name: str) -> None:
        """The calling thread ends; its clock ends with it."""
        with self._lock:
            self._clocks.pop(name, None)
            self._ended[name] = self._ended.get(name, 0.0) + time.thread_time()

    def seconds(self) -> dict[str, float]:
        """All that were seen, in the order of their end or start."""
        with self._lock:  # a thread whose clock is read can't end meanwhile
            running = {name: time.clock_gettime(clock) for name, clock in self._clocks.items()}
            return self._ended | {name: seconds + self._ended.get(name, 0.0) for name, seconds in running.items()}

    def __repr__(self) -> str:
        return f"<ThreadCpu {self.seconds()}>"

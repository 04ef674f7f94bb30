"""Ticker: when the tick thread wakes: at its interval, or sooner if somebody asks. Used by that thread and whoever asks."""

import threading

from larm.kit.threads.progress import Pulse


class Ticker:
    """`wait` on the tick thread; `hurry` and `stop` on any other, but not in a signal handler."""

    def __init__(self, seconds: float) -> None:
        # constant after construction
        self.seconds = seconds
        self._changed = threading.Condition()
        # guarded by self._changed
        self._hurried = False
        self._stopped = False
        # only the tick thread
        self.pulse = Pulse()

    def wait(self) -> bool:
        """Wait for the next tick; False: there is none, it is over."""
        self.pulse.rest()
        with self._changed:
            self._changed.wait_for(lambda: self._hurried or self._stopped, self.seconds)
            self._hurried = False
            self.pulse.beat()
            return not self._stopped

    def hurry(self) -> None:
        """The next tick shall come now; asking many times before it has come makes one."""
        with self._changed:
            self._hurried = True
            self._changed.notify()

    def stop(self) -> None:
        """No tick comes any more."""
        with self._changed:
            self._stopped = True
            self._changed.notify()

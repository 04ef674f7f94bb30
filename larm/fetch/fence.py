"""Fence: the instant after which this process sends nothing to a web server and ends what is under way.

An agent of a cluster has one: after it, other agents may ask its hosts (`larm.cluster.view_state`). Written by ``larm-etcd``;
read by fetcher threads right before libcurl runs, so that a process that was stopped sends nothing when it wakes up.
"""

from larm.kit.clock import boot_time


class Fence:
    """``until``: on the clock that runs on while the machine sleeps."""

    def __init__(self) -> None:
        # written by larm-etcd
        self.until = 0.0

    def left(self) -> float:
        """Return the seconds until then; negative: it has passed."""
        return self.until - boot_time()

"""Limits: the settings of a run, and the one place that knows which of them may change while it runs.

`Config` stays frozen: a change makes another one, which takes the place of the one before as a whole. Who needs more than a
look at `now` is told. `larm.engine.steering` makes the changes, one at a time, in a step of the gate; `now` is read on any
thread.
"""

from collections.abc import Callable

from larm.config import Config, changed
from larm.errors import UsageError

CHANGEABLE = (
    "crawl.max_pages",
    "crawl.max_depth",
    "crawl.max_time",
    "crawl.on_idle",
    "frontier.delay",
    "frontier.per_host",
    "frontier.per_address",
    "frontier.per_minute",
    "frontier.per_hour",
    "frontier.bytes_per_hour",
    "frontier.delay_factor",
    "frontier.longest_wait",
    "limits.bytes",
)
"""What nothing was built by, so that another value is as good as if it had been there from the start."""


class Limits:
    """`now` is what holds."""

    def __init__(self, settings: Config) -> None:
        self.now = settings
        """Replaced as a whole."""
        self.tell: Callable[[Config], object] = lambda _: None
        """Called with what holds after each change."""
        # by one thread at a time
        self.changes: dict[str, str] = {}
        """What was changed, as it was written."""

    def check(self, key: str, value: str) -> Config:
        """The settings with this change; ``value`` is YAML. Raises UsageError, and ConfigError, for what can't be."""
        if key not in CHANGEABLE:
            raise UsageError(f"{key} can't be changed while the crawl runs; these can: {', '.join(CHANGEABLE)}")
        return changed(self.now, key, value)

    def check_in_cluster(self, key: str, value: str) -> None:
        """Raise UsageError for a change that can't be made while several agents crawl."""
        if key == "crawl.max_pages":
            stop = "'larm cluster stop'"
            raise UsageError(f"crawl.max_pages is that of all agents: end them ({stop}), and start each with another")
        self.check(key, value)

    def set(self, key: str, value: str) -> None:
        """Raises as `check`."""
        self.now = self.check(key, value)
        self.changes[key] = value
        self.tell(self.now)

    def __repr__(self) -> str:
        return f"<Limits {', '.join(f'{key}={value}' for key, value in self.changes.items()) or 'as configured'}>"

"""Every: how often something is to happen, as people write it: ``1d``, or a line of crontab such as ``0 3 * * *``.

Pure. Times of a cron expression are those of this machine's time zone, as cron has them; cronsim reads it.
"""

from __future__ import annotations

from datetime import UTC, datetime

from larm.kit.units import Seconds

_LEAST = 60
"""Seconds; whoever asks looks twice a minute."""
_FIELDS = 5
"""Of a cron expression: minute, hour, day of the month, month, day of the week."""
_EXPECTED = "expected a duration such as 1d, or a cron expression such as '0 3 * * *'"


class Every(str):
    """As it was written."""

    __slots__ = ()

    @classmethod
    def parse(cls, text: object) -> Every:
        """Raises ValueError saying what was expected."""
        written = str(text).strip()
        if len(written.split()) == _FIELDS:
            _next(written, 0.0)
            return cls(written)
        try:
            seconds = Seconds.parse(text)
        except (ValueError, OverflowError):
            raise ValueError(_EXPECTED) from None
        if not _LEAST <= seconds <= 10**9:
            raise ValueError("expected a minute or more, and at most 31 years")
        return cls(written)

    @property
    def is_clock_time(self) -> bool:
        """A cron expression: at certain times, and not so long after the last one."""
        return len(self.split()) == _FIELDS

    def after(self, last: float) -> float:
        """When it is due next; both in seconds since 1970."""
        return _next(self, last) if self.is_clock_time else last + Seconds.parse(str(self))


def _next(expression: str, last: float) -> float:
    from cronsim import CronSim, CronSimError  # here, as most crawls have none

    here = datetime.fromtimestamp(last, UTC).astimezone().replace(tzinfo=None)
    try:
        due = next(CronSim(expression, here))
    except CronSimError as error:
        raise ValueError(f"{_EXPECTED}; {str(error).lower()}") from None
    except StopIteration:
        raise ValueError("it names a day that does not come within fifty years") from None
    moment = (
        due.timestamp()
    )  # of an hour that comes twice, as when summer time ends, the first one; ``last`` may be in the second
    return moment if moment > last else due.replace(fold=1).timestamp()

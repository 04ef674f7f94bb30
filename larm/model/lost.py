"""Lost: why a page that was fetched was not read, or not as a whole. Made by who reads pages, see `larm.parse.reading`."""

import enum
from typing import Final


class Lost(enum.Enum):
    """All but the last are set aside: the page is not read by this run."""

    DEADLY = enum.auto()
    """It ended the process, more than once."""
    TOO_LARGE = enum.auto()
    """Its process needed more memory than it was granted."""
    TOO_SLOW = enum.auto()
    """Its process took too long, more than once."""
    UNREAD = enum.auto()
    """A document of which there is no text, or not all of it, as the process that read it was ended."""

    @property
    def counter(self) -> str:
        """The statistic."""
        return _COUNTERS[self]

    @property
    def why(self) -> str:
        """For the log of the thread, and so for ``larm why``."""
        return _WHY[self]


_COUNTERS: Final = {
    Lost.DEADLY: "larm/set_aside",
    Lost.TOO_LARGE: "larm/set_aside_for_memory",
    Lost.TOO_SLOW: "larm/set_aside_for_time",
}
_WHY: Final = {
    Lost.DEADLY: "set aside: the process ended while it was read, more than once; the next visit tries again, alone",
    Lost.TOO_LARGE: "set aside: to read it takes more memory than limits.memory leaves; the next visit tries again",
    Lost.TOO_SLOW: "set aside: it takes too long to be read; the next visit tries again",
}

"""Contact: when an agent last heard of each other one, and when they last heard of it. Pure; under the lock of who owns it.

Two things follow. Others are *suspected* after the lease, and *lost* after ``adopt_after``. The agent itself is *fenced* as
soon as ``adopt_after / 2`` have passed since a majority has heard of it: it must not ask anybody for anything then, as those
may have given its hosts to others. That is a comparison of times when it is asked, not a timer: a process that was suspended
finds itself fenced. So the clock must be one that runs on while a machine sleeps (CLOCK_BOOTTIME).
"""

from larm.cluster.beat import Beat, Stamp, View

NEVER = float("inf")


class Contact:
    """Of the agent ``me``, whose process has the number ``boot``; times are seconds."""

    def __init__(self, me: str, boot: int, lease: float, adopt_after: float) -> None:
        # constant after construction
        self.me = me
        self.boot = boot
        self._lease = lease
        self.adopt_after = adopt_after
        # only who owns it
        self.beats: dict[str, Beat] = {}
        """The last one of each agent."""
        self._heard: dict[str, float] = {}
        self._echoed: dict[str, float] = {}

    def hear(self, beat: Beat, now: float) -> bool:
        """Take a beat in; False: it is refused, as it is of a process that is not, or not any more, the agent it says it is."""
        last = self.beats.get(beat.sender)
        if beat.sender == self.me:
            return False
        if last is not None and beat.stamp.boot != last.stamp.boot:
            newer = beat.stamp.boot >> 32 > last.stamp.boot >> 32
            older = beat.stamp.boot >> 32 < last.stamp.boot >> 32
            if older or self.silent(beat.sender, now) < (self._lease if newer else self.adopt_after):
                return False  # the other one lives: this is a copy of its directory, or has come back before anybody missed it
            self._echoed.pop(beat.sender, None)
        elif last is not None and beat.stamp.at < last.stamp.at:
            return True  # overtaken by a later one
        self.beats[beat.sender] = beat
        self._heard[beat.sender] = now
        if beat.echo is not None and beat.echo.boot == self.boot:
            self._echoed[beat.sender] = max(beat.echo.at, self._echoed.get(beat.sender, -NEVER))
        return True

    def stamp_of(self, other: str) -> Stamp | None:
        """Of the last beat from there."""
        beat = self.beats.get(other)
        return None if beat is None else beat.stamp

    def echoed(self, other: str) -> float:
        """The last time of ours of which that agent is known to have heard us."""
        return self._echoed.get(other, -NEVER)

    def silent(self, other: str, now: float) -> float:
        """Seconds since it was heard; `NEVER` where it never was."""
        return now - self._heard.get(other, -NEVER)

    def waiting_since(self, other: str, now: float) -> None:
        """It is a member, and was not heard yet: it has as long as all others to show itself."""
        self._heard.setdefault(other, now)

    def fresh(self, other: str, now: float) -> bool:
        """It was heard within the lease: worth sending to."""
        return self.silent(other, now) < self._lease

    def lost(self, other: str, now: float) -> bool:
        """Nothing was heard of it for so long that its hosts should go to others."""
        return self.silent(other, now) >= self.adopt_after

    def fenced_at(self, view: View, now: float) -> float:
        """When no majority of the view will have heard of us lately, if nothing more is heard; it may have been."""
        last = sorted((now if name == self.me else self.echoed(name) for name in view.members), reverse=True)
        return last[view.majority - 1] + self.adopt_after / 2

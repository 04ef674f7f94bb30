"""Search: what agents that have died had, as far as this crawl knows of it. On ``larm-agents``.

That is links to their hosts, in what was found here so far; and pages of our hosts that they had fetched before these came
here, which are nowhere now. With them the pages of all who are no members any more, also of those who left as planned: the
links that they found are in their directories, and the dead agent may have been the only other one that knew of them. A log
of links may be large, so it is read some lines at a time: all else must go on. What was found before others knew of the
death may be in memory still, so it begins after a checkpoint.
"""

from collections.abc import Callable, Container, Iterator, Mapping

from larm.cluster.agent import Gone
from larm.cluster.placement import Placement
from larm.model.message import URLMessage

_LINKS = 2_000
"""That are looked at in one step: some ten milliseconds."""


class Search:
    """``links``: all that there are; ``fetched``: the pages here that others than these agents have fetched; ``key``: by which
    the owner of one is known; ``members``: those who are in.
    """

    def __init__(
        self,
        links: Callable[[], Iterator[URLMessage]],
        fetched: Callable[[Container[str]], Iterator[list[URLMessage]]],
        key: Callable[[URLMessage], str],
        placement: Callable[[Mapping[str, float]], Placement],
        members: Callable[[], Container[str]],
    ) -> None:
        # constant after construction
        self._links = links
        self._fetched = fetched
        self._key = key
        self._placement = placement
        self._members = members
        # only larm-agents; others may look whether there is anything
        self._wanted: list[tuple[Gone, int]] = []
        self._found: Iterator[list[URLMessage]] | None = None

    @property
    def pending(self) -> bool:
        """There is something to be found still."""
        return bool(self._wanted)

    def begin(self, gone: Gone, checkpoint: int) -> None:
        """Look for what that agent had, when so many checkpoints have been made."""
        self._wanted.append((gone, checkpoint))

    def step(self, checkpoints: int) -> list[URLMessage]:
        """What the next lines have."""
        if self._found is None and self._wanted and checkpoints >= self._wanted[0][1]:
            self._found = self._all_of(self._wanted[0][0])
        if self._found is None:
            return []
        found = next(self._found, None)
        if found is None:
            self._found = None
            self._wanted.pop(0)
        return found or []

    def _all_of(self, gone: Gone) -> Iterator[list[URLMessage]]:
        owner = self._placement(gone.weights).owner if gone.name else None
        found: list[URLMessage] = []
        for number, message in enumerate(self._links(), 1):
            if owner is None or owner(self._key(message)) == gone.name:
                found.append(message)
            if number % _LINKS == 0:
                yield found
                found = []
        yield found
        if gone.name:
            yield from self._fetched(self._members())

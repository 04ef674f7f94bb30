"""ClusterSearchers: the other agents of a crawl that several do, as searchers. Any thread.

Each directory has a roster of all agents (`larm.cluster.roster`), which grows while they crawl: it is read for each search. An
agent of this machine is searched in its directory, one of another machine by its ``larm serve`` (``cluster.serve``); where
neither is known, that is what it answers. A directory whose agent has begun anew (``--fresh``) has pages of the new one only.
"""

import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from larm.building.searching import opener
from larm.cluster.card import Card
from larm.cluster.roster import Roster, agent_of, read_roster
from larm.config import SearchSettings
from larm.crawldir.state import QUEUES
from larm.errors import StorageError, UsageError
from larm.index.search.shared import SharedSearcher
from larm.model.findings import Asked, Findings, WordStatistics
from larm.seams import Searcher


class Unreachable:
    """An agent whose pages can't be searched. Implements `larm.seams.Searcher`; constant after construction."""

    def __init__(self, name: str, why: str) -> None:
        self.name = name
        self._why = why

    def statistics(self, asked: Asked) -> WordStatistics | None:  # noqa: ARG002  the protocol has it
        """It has none."""
        return None

    def search(self, asked: Asked) -> Iterator[Findings]:  # noqa: ARG002
        """Why there is nothing."""
        yield Findings(searcher=self.name, exact=False, failure=self._why)


class ClusterSearchers:
    """``searchers`` for the directories that are searched here; what was opened once stays open."""

    def __init__(self, settings: SearchSettings, remote: Callable[[str], Searcher]) -> None:
        """``remote``: of the address of a ``larm serve``. Raises ConfigError."""
        # constant after construction
        self._opener = opener(settings)
        self._remote = remote
        self._lock = threading.Lock()
        # guarded by self._lock
        self._known: dict[str, Searcher] = {}

    def of(self, directories: Sequence[Path]) -> list[Searcher]:
        """All agents of these directories' crawls but those whose directories these are; each place once."""
        here = {directory.resolve() for directory in directories}
        found: dict[str, Searcher] = {}
        for directory in directories:
            try:
                roster = read_roster(directory / QUEUES)
            except StorageError as error:
                found[str(directory)] = Unreachable(f"the agents of {directory}", str(error))
                continue
            for name, card in roster.others.items() if roster is not None else ():
                place = self._place(roster, name, card)
                if place is not None and not (isinstance(place, Path) and place in here):
                    found[str(place)] = self._searcher(place, name, card)
        return list(found.values())

    def _place(self, roster: Roster | None, name: str, card: Card) -> Path | str | None:
        """Its directory, or the address of its ``larm serve``, or its name alone; None: it has begun anew as another one."""
        path = Path(card.directory)
        there = agent_of(path / QUEUES) if card.directory else ""
        if there == name:
            return path.resolve()
        if roster is not None and there in roster.cards and name not in roster.members:
            return None
        return card.serve or name

    def _searcher(self, place: Path | str, name: str, card: Card) -> Searcher:
        key = str(place)
        with self._lock:
            if key not in self._known:
                self._known[key] = self._new(place, name, card)
            return self._known[key]

    def _new(self, place: Path | str, name: str, card: Card) -> Searcher:
        if isinstance(place, Path):
            return SharedSearcher(str(place), self._opener(place))
        if place == name:
            where = f" at {card.address}" if card.address else ""
            return Unreachable(
                f"the agent {name}{where}", "it is on another machine, and cluster.serve does not say where its larm serve is"
            )
        try:
            return self._remote(place)
        except UsageError as error:  # it says of itself where it is
            return Unreachable(f"the agent {name}", str(error))


def roster_of(directory: Path) -> Roster | None:
    """Of a crawl's directory; None: it is alone. Raises StorageError."""
    return read_roster(directory / QUEUES)

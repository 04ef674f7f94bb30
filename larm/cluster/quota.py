"""Quota: ``--max-pages`` of all agents together, and never one too many. Pure; under the lock of who owns it.

One member, the first by its name, hands pages out: it grants others so many, and no more than there are. Who has nothing to do
gives back what it was granted; who has some while others have none gives back half. What was granted and given back are numbers
that only rise, so everybody tells everybody all that it knows of them, and the larger number is the truth. That is how the next
one who hands out knows them: it hands out nothing before all members have told it theirs in the same view.

An agent that dies keeps what it was granted: those pages may have been fetched.
"""

from collections.abc import Mapping, Sequence

from larm.cluster.beat import MOST
from larm.cluster.card import Pages


class Quota:
    """Of the agent ``me``."""

    def __init__(self, me: str) -> None:
        # constant after construction
        self.me = me
        # only who owns it
        self.known: dict[str, Pages] = {}
        """Of each agent that there ever was."""
        self.short = False
        """Somebody wants pages, and there are none to hand out."""

    def learn(self, pages: Mapping[str, Pages]) -> None:
        """What another agent knows."""
        for name, told in pages.items():
            if name not in self.known and len(self.known) >= MOST:
                continue  # names can be made up without end
            mine = self.known.get(name, Pages())
            spent = mine.spent if name == self.me else max(told.spent, mine.spent)
            self.known[name] = Pages(spent, max(told.granted, mine.granted), max(told.returned, mine.returned))

    def spend(self, spent: int) -> None:
        """So many pages were fetched here, in all runs."""
        mine = self.known.get(self.me, Pages())
        self.known[self.me] = Pages(spent, max(mine.granted, mine.returned + spent), mine.returned)

    @property
    def most(self) -> int:
        """Pages that may be fetched here, in all."""
        mine = self.known.get(self.me, Pages())
        return mine.granted - mine.returned

    @property
    def spent(self) -> int:
        """By all."""
        return sum(each.spent for each in self.known.values())

    def give_back(self, count: int) -> None:
        """Pages that are not needed here; nobody may be about to fetch them."""
        mine = self.known[self.me]
        self.known[self.me] = Pages(mine.spent, mine.granted, mine.returned + count)

    def hand_out(self, limit: int, hungry: Sequence[str], *, alone: bool = False) -> None:
        """``limit``: of all; ``hungry``: members that have work, and as good as no pages left; ``alone``: there are no others.

        Never all at once: who has many hosts that may be asked will want more soon."""
        left = limit - sum(each.granted - each.returned for each in self.known.values())
        self.short = bool(hungry) and left <= 0
        if left <= 0 or not hungry:
            return
        part = left if alone else max(1, left // (len(hungry) + 1))
        for name in hungry:
            some = min(part, left)
            has = self.known.get(name, Pages())
            self.known[name] = Pages(has.spent, has.granted + some, has.returned)
            left -= some

"""Votes: how the members of one view agree on the next one. Pure; under the lock of who owns it.

Paxos for a single decision, told as state: each agent says in its beats what it has promised and accepted, and what it bids.
Two decisions for one epoch are impossible whatever is lost, late or restarted, as long as an agent's `Vote` is on its disk
before the agent says it. A majority of the view must be there; that is what keeps a part that was cut off from deciding.
"""

from collections.abc import Mapping

from larm.cluster.beat import NO_BALLOT, Ballot, Bid, View, Vote

PATIENCE = 4.0
"""Seconds until a bid that came to nothing is followed by a higher one; times the place of the agent among the living ones, so
that two don't outbid each other for ever."""


class Votes:
    """Of the agent ``me`` for the view that follows ``view``."""

    def __init__(self, me: str, view: View, vote: Vote | None = None) -> None:
        """``vote``: as it was saved; that for another epoch does not count."""
        # constant after construction
        self._me = me
        self._view = view
        self._epoch = view.epoch + 1
        # only who owns it
        self.vote = vote if vote is not None and vote.epoch == self._epoch else Vote(self._epoch)
        self.bid: Bid | None = None
        self._since = 0.0
        self._wish: View | None = None
        self._highest = max(self.vote.promised[0], self.vote.accepted[0])
        self._others: dict[str, Vote] = {}
        self._news = True
        """Since `decided` was asked last somebody has voted."""

    def hear(self, sender: str, vote: Vote, bid: Bid | None) -> None:
        """What another member says."""
        if sender not in self._view.members:
            return
        if vote.epoch == self._epoch and vote != self._others.get(sender):
            self._news = True
            self._others[sender] = vote
            self._highest = max(self._highest, vote.promised[0])
        if bid is not None and bid.epoch == self._epoch:
            self._answer(bid)

    def propose(self, value: View, place: int, now: float) -> None:
        """Bid for this value, or for what others may have decided already; again where the last bid came to nothing."""
        if self.bid is not None and now - self._since < PATIENCE * (place + 1):
            return
        self._highest += 1
        self._wish = value
        self._since = now
        self.bid = Bid(self._epoch, (self._highest, self._me))
        self._answer(self.bid)

    def half_way(self) -> View | None:
        """What somebody has accepted, and may thus be decided."""
        accepted = [vote for vote in self._all().values() if vote.value is not None]
        return max(accepted, key=lambda vote: vote.accepted).value if accepted else None

    def decided(self) -> View | None:
        """The next view, as soon as a majority has accepted it; moves our own bid on."""
        if not self._news:
            return None
        self._news = False
        votes = self._all()
        if self.bid is not None and self.bid.value is None:
            promised = [vote for vote in votes.values() if vote.promised == self.bid.ballot]
            if len(promised) >= self._view.majority:
                last = max(promised, key=lambda vote: vote.accepted)
                self.bid = Bid(self._epoch, self.bid.ballot, self._wish if last.value is None else last.value)
                self._answer(self.bid)
                votes = self._all()
        return _chosen(votes, self._view.majority)

    @property
    def accepted(self) -> bool:
        """We have accepted a next view: we stand by nobody in this one any more."""
        return self.vote.value is not None

    def _answer(self, bid: Bid) -> None:
        self._highest, self._news = max(self._highest, bid.ballot[0]), True
        if bid.value is None and bid.ballot > self.vote.promised:
            self.vote = Vote(self._epoch, bid.ballot, self.vote.accepted, self.vote.value)
        elif bid.value is not None and bid.ballot >= self.vote.promised:
            self.vote = Vote(self._epoch, bid.ballot, bid.ballot, bid.value)

    def _all(self) -> Mapping[str, Vote]:
        return {**self._others, self._me: self.vote} if self._me in self._view.members else self._others


def _chosen(votes: Mapping[str, Vote], majority: int) -> View | None:
    counts: dict[Ballot, int] = {}
    for vote in votes.values():
        if vote.accepted != NO_BALLOT:
            counts[vote.accepted] = counts.get(vote.accepted, 0) + 1
            if counts[vote.accepted] >= majority:
                return vote.value
    return None

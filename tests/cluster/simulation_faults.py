"""Faults to be planted into agents. The simulation must find each."""

from tests.cluster.session_faults import (
    AlwaysCalm,
    CertainOutcome,
    ConfirmedByKeepalive,
    FenceFromAnswer,
    NoRelease,
    SettledEarly,
    ShortAdoption,
    WaitFromLastSight,
)
from tests.cluster.sim_node import SimNode
from tests.cluster.simulation import Faulty


class ClaimKept(SimNode):
    """A batch is taken while etcd has the claim to be idle."""

    def _busy(self):
        super()._busy()
        return True


class NoSearch(SimNode):
    """What lost agents had is not searched."""

    def __init__(self, *args):
        super().__init__(*args)
        orphaned = self.agent.orphaned
        self.agent.orphaned = lambda: orphaned()[:0]


class LastViewSearched(SimNode):
    """Only hosts that a lost agent owned in its last view are searched."""

    def __init__(self, *args):
        super().__init__(*args)
        orphaned = self.agent.orphaned
        self.agent.orphaned = lambda: list({gone.name: gone for gone in orphaned()}.values())


class ReleasedAlways(SimNode):
    """A new agent says that it has released each view that is to come."""

    def __init__(self, *args):
        super().__init__(*args)
        if not self._identity.inside:
            self.agent.let_go = 1 << 62


class TakenTwice(SimNode):
    """A batch that comes again is taken again."""

    def __init__(self, *args):
        super().__init__(*args)
        self.agent.inbox.knows = lambda *_: "new"


class StaleReceiver(SimNode):
    """A batch of a newer view is taken before that view is known."""

    def __init__(self, *args):
        super().__init__(*args)
        closed = self.agent.closed_to
        self.agent.closed_to = lambda epoch, now: closed(0, now)


class OpenedUnasked(SimNode):
    """URLs of a host are queued though another agent may still ask it."""

    def __init__(self, *args):
        super().__init__(*args)
        self.agent.state.opened = lambda host, now: True


class ForgetsOutbox(SimNode):
    """A checkpoint does not have the batches that are on their way."""

    def cut(self, *, last):
        out, self.agent.courier.out = self.agent.courier.out, dict
        try:
            return super().cut(last=last)
        finally:
            self.agent.courier.out = out


class LeavesEarly(SimNode):
    """An agent that leaves does not wait until others have its URLs."""

    def _hand_over(self):
        super()._hand_over()
        state = self.agent.state
        if self._leaving and not state.inside and not self.crawl.moving:
            self.agent.released(state.view.epoch)


class NotHandedIn(SimNode):
    """An agent that was lost keeps its hosts."""

    def _hand_over(self):
        state = self.agent.state
        if state.view.epoch and not state.inside and not self._leaving:
            self.agent.released(state.view.epoch)
        super()._hand_over()


PLANTED = {
    "no_release": (Faulty(state=NoRelease), 1),
    "settled_early": (Faulty(state=SettledEarly), 2),
    "always_calm": (Faulty(session=AlwaysCalm), 0),
    "claim_kept": (Faulty(node=ClaimKept), 0),
    "no_search": (Faulty(node=NoSearch), 0),
    "released_always": (Faulty(node=ReleasedAlways), 1),
    "taken_twice": (Faulty(node=TakenTwice), 0),
    "opened_unasked": (Faulty(node=OpenedUnasked), 1),
    "not_handed_in": (Faulty(node=NotHandedIn), 5),
}
"""Faults by name, each with a seed that finds it."""
RARE = {
    "fence_from_answer": Faulty(state=FenceFromAnswer),
    "confirmed_by_keepalive": Faulty(session=ConfirmedByKeepalive),
    "release_in_flight": Faulty(switch="release_in_flight"),
    "transfers_kept": Faulty(switch="transfers_kept"),
    "wait_from_last_sight": Faulty(state=WaitFromLastSight),
    "adoption_without_request": Faulty(state=ShortAdoption),
    "certain_outcome": Faulty(session=CertainOutcome),
    "last_view_searched": Faulty(node=LastViewSearched),
    "stale_receiver": Faulty(node=StaleReceiver),
    "forgets_outbox": Faulty(node=ForgetsOutbox),
    "leaves_early": Faulty(node=LeavesEarly),
}
"""Faults that take hundreds of seeds, by hand."""

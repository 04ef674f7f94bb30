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
EVERYBODY = ("a0", "a1", "a2")
SCRIPTED = {
    # a renewal's answer is slow; the agent hangs before the fence that it believes in, and its requests go on at the servers
    "fence_from_answer": (Faulty(state=FenceFromAnswer), 0, "long", (25, "a1", "slow", 12.0), (56.5, "a1", "pause", 60)),
    "confirmed_by_keepalive": (Faulty(session=ConfirmedByKeepalive), 0, "long", (25, "a1", "mute", 100)),
    "release_in_flight": (Faulty(switch="release_in_flight"), 0, "long"),
    # requests that have not left the machine when it hangs leave it when it wakes
    "transfers_kept": (Faulty(switch="transfers_kept"), 6, "long", (25, "a1", "pause", 75)),
    # one sees nothing of the last 30 s of another, then joins again
    "wait_from_last_sight": (
        Faulty(state=WaitFromLastSight),
        5,
        "long",
        (25, "a2", "cut", 53),
        (55, "a1", "cut", 100),
        (74, "a1", "pause", 60),
    ),
    "adoption_without_request": (Faulty(state=ShortAdoption), 0, "long", (25, "a1", "pause", 58)),
    "certain_outcome": (Faulty(session=CertainOutcome), 9, "chain", *((8, name, "tardy", 80) for name in EVERYBODY)),
    # an agent is lost before it has handed over what it owned in the view before
    "last_view_searched": (Faulty(node=LastViewSearched), 8, "plain", (15, "a0", "join", 0), (17, "a1", "gone", 0)),
    "forgets_outbox": (
        Faulty(node=ForgetsOutbox),
        0,
        "chain",
        *((15, name, "apart", 40) for name in EVERYBODY),
        *((21 + number, name, "crash", 5) for number, name in enumerate(EVERYBODY)),
    ),
    # an agent that leaves dies with URLs for one that it does not reach
    "leaves_early": (
        Faulty(node=LeavesEarly),
        8,
        "chain",
        (14, "a1", "apart", 60),
        (15, "a1", "leave", 0),
        (35, "a1", "gone", 0),
    ),
}
"""Faults that need a certain course of events: a seed that finds each, the shape of the web, and what happens (`Script`).

One fault is not among them, as it breaks nothing: an agent that takes a batch of a view that it does not know yet. Rows that it
takes so are found again by the search that follows its loss.
"""

"""Faults to be planted into the protocol. The simulation must find each."""

from larm.cluster.session import Session
from larm.cluster.view_state import GUARD, ViewState
from tests.cluster.session_world import RULES, Faulty


class FenceFromAnswer(ViewState):
    """The lease counts from the answer to a renewal."""

    def confirm(self, t0):
        super().confirm(max(t0, self._last))


class ConfirmedByKeepalive(Session):
    """A keepalive of the lease confirms that this agent is a member."""

    def _poll(self, mine):
        if self._lease and self._etcd.keep(self._lease) is True:
            self.state.confirm(self._now())
        return super()._poll(mine)


class ShortAdoption(ViewState):
    """Adoption waits for the fence, and not for the longest request."""

    def _let_go(self, known, name, epoch, now):
        return super()._let_go(known, name, epoch, now + RULES.request - GUARD)


class NoRelease(ViewState):
    """A new owner does not wait for the release of an owner that is alive."""

    def _let_go(self, known, name, epoch, now):
        return name in known.agents or super()._let_go(known, name, epoch, now)


class WaitFromLastSight(ViewState):
    """A new owner waits from the last renewal that it saw, though the lost agent may have renewed later."""

    def see(self, view, modified, agents, revision, now):
        old = self._known.records
        super().see(view, modified, agents, revision, now)
        records = {
            name: record._replace(first=old[name].first)
            if name in view.lost and name not in view.members and name in old
            else record
            for name, record in self._known.records.items()
        }
        self._known = self._known._replace(records=records)


class SettledEarly(ViewState):
    """Past views are forgotten before each host is released or waited for."""

    def may_settle(self, now):
        return True


class AlwaysCalm(Session):
    """An idle agent takes a batch before it has withdrawn its claim."""

    def busy(self):
        super().busy()
        return True


class CertainOutcome(Session):
    """A transaction without an answer is taken as one that did not happen."""

    def _fail(self, answer, at):
        super()._fail(answer, at)
        self._doubt = False


PLANTED = {
    "fence_from_answer": (Faulty(state=FenceFromAnswer), 166),
    "confirmed_by_keepalive": (Faulty(session=ConfirmedByKeepalive), 36),
    "no_release": (Faulty(state=NoRelease), 2),
    "release_in_flight": (Faulty(switch="release_in_flight"), 2),
    "settled_early": (Faulty(state=SettledEarly), 2),
    "no_search": (Faulty(switch="no_search"), 4),
    "last_view_searched": (Faulty(switch="last_view_searched"), 237),
    "transfers_kept": (Faulty(switch="transfers_kept"), 166),
    "idle_kept": (Faulty(session=AlwaysCalm), 16),
    "adoption_without_request": (Faulty(state=ShortAdoption), 43),
    "certain_outcome": (Faulty(session=CertainOutcome), 98),
}
"""Faults by name, each with a seed that finds it. Those without a class are planted into the crawl of the simulation."""

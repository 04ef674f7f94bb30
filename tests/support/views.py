"""Views of a cluster, as an agent of a test sees them."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from larm.cluster.agent import Agent, Gone
from larm.cluster.courier import Courier, Queue
from larm.cluster.inbox import Inbox
from larm.cluster.keys import AgentState, Lost, Member, PastView, Run, SeenAgent, View
from larm.cluster.view_state import Rules, ViewState
from tests.support.memory_queue import MemoryQueue

RULES = Rules(lease=3.0, request=5.0)


def view(epoch: int, *names: str, past: Sequence[tuple[int, str]] = (), lost: dict[str, int] | None = None) -> View:
    """``past``: epochs, and names of one letter each; ``lost``: the first epoch without each."""
    return View(
        epoch,
        {name: Member(1.0, 1) for name in names},
        tuple(PastView(each, dict.fromkeys(some, 1.0)) for each, some in past),
        {name: Lost(each, 1) for name, each in (lost or {}).items()},
    )


def may_ask(state: ViewState, host: str, now: float) -> bool:
    """Return True if this agent may send a request to the host now."""
    return state.owner(host) == state.me and not state.fenced(now) and state.opened(host, now)


def see(state: ViewState, seen: View, now: float, *, released: int | None = None) -> None:
    """A poll finds this view; its members have just renewed."""
    let_go = seen.epoch if released is None else released
    renewed = int(now * 10) + 1
    agents = {name: SeenAgent(AgentState(1, 1, f"{name}:1", released=let_go), renewed) for name in seen.members}
    state.see(seen, seen.epoch, agents, renewed, now)
    state.confirm(now)


def state_of(me: str, seen: View, now: float = 0.0) -> ViewState:
    state = ViewState(me, RULES)
    see(state, seen, now)
    return state


class FakeSession:
    """What `Agent` needs of one."""

    def __init__(self, state: ViewState) -> None:
        self.state, self.trouble, self.run = state, "", Run(1, "running")


def agent_of(
    me: str,
    seen: View,
    *,
    idle: Callable[[], bool] = lambda: True,
    busy: Callable[[], bool] = lambda: True,
    epoch: int = 0,
    gone: Sequence[Gone] = (),
) -> Agent:
    """An agent whose run has begun."""
    state = state_of(me, seen)
    queues: dict[str, Queue] = {}
    courier = Courier(state, lambda name: queues.setdefault(name, MemoryQueue()), linger=0.0)
    session = FakeSession(state)
    agent = Agent(session, courier, Inbox(), idle, busy, epoch=epoch, gone=gone)  # type: ignore[arg-type]
    agent.begun = True
    return agent


def host_of(state: ViewState, owner: str) -> str:
    """A host that this agent owns."""
    return next(host for number in range(999) if state.owner(host := f"h{number}.example") == owner)

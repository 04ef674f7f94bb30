"""Owner filter: URLs of hosts that other agents have go to them (LARM-118), and are remembered: links that were sent before
never become messages.

It stands behind the filters that would drop a URL whoever owns it, and before ``visited``, which only knows our own. The
handler thread brings URLs, in a step of the gate; any thread may ask.
"""

from collections.abc import Callable, Sequence

from larm.cluster.agent import Agent
from larm.cluster.courier import Row
from larm.kit.counters import Counters
from larm.model.message import URLMessage
from larm.seams import Drop

_KNOWN = 100_000
"""URLs that were sent, remembered twice over: some 20 MB. What was forgotten is sent again, and dropped over there."""


class OwnerFilter:
    """Implements `larm.seams.Recalling`. ``key``: of a host, by which its owner is known; ``now``: the clock of the agents."""

    name = "owner"
    log_name = "OwnerFilter"

    def __init__(self, agent: Agent, key: Callable[[str], str], counters: Counters, now: Callable[[], float]) -> None:
        # constant after construction
        self._agent = agent
        self._key_of = key
        self._counters = counters
        self._now = now
        # single operations on a dictionary or a set
        self._keys: dict[str, str] = {}
        self._sent: tuple[set[int], set[int]] = (set(), set())

    def sift(self, batch: Sequence[URLMessage], drop: Drop) -> list[URLMessage]:
        """See `larm.seams.Filter`. What goes to others is neither dropped nor passes."""
        key, sent, agent = self.key, self._sent, self._agent
        ours: list[URLMessage] = []
        known: list[URLMessage] = []
        foreign: list[URLMessage] = []
        with agent.lock:
            state, view = agent.state, agent.state.view
            if agent.begun and state.view.members.keys() == {state.me} and state.settled:
                ours += batch
            elif agent.begun and state.settled and state.view.members:
                for message in batch:
                    fingerprint = message.url.fingerprint
                    if state.owner(key(message)) == state.me:
                        ours.append(message)
                    elif message.known is None and (fingerprint in sent[0] or fingerprint in sent[1]):
                        known.append(message)
                    else:
                        sent[0].add(fingerprint)
                        foreign.append(message)
            else:
                foreign = list(batch)
            if state.view is not view:  # another one was read meanwhile, in which a host of ours may not be open yet
                ours, known, foreign = [], [], list(batch)
            rows = [Row(key(message), message) for message in foreign]
            ours += [row.item for row in agent.put(rows, self._now())] if rows else []
        if len(sent[0]) > _KNOWN:
            self._sent = (set(), sent[0])
        if starts := sum(message.depth == 0 for message in foreign):
            self._counters.add("start/elsewhere", starts)
        if known:
            drop(known, "sent to its agent before")
        return ours

    def recall(self, fingerprints: Sequence[int]) -> set[int]:
        """See `larm.seams.Recalling`. Any thread."""
        new, old = self._sent
        return new.intersection(fingerprints) | old.intersection(fingerprints) if new or old else set()

    def explain(self, message: URLMessage) -> str | None:
        """See `larm.seams.Filter`."""
        owner = self.owner(message.url.host)
        return f"its host belongs to the agent {owner}" if owner not in ("", self._agent.state.me) else None

    def forget(self) -> None:
        """What was sent, as hosts have other owners now. Any thread."""
        self._sent = (set(), set())

    def owner(self, host: str) -> str:
        """The agent that has this host, by name; empty: nobody yet. Any thread."""
        state = self._agent.state
        members = state.view.members
        if len(members) < 2:  # no list of public suffixes is read for that
            return next(iter(members), "")
        return state.owner(self._key_of(host))

    def key(self, message: URLMessage) -> str:
        """By which the owner of its host is known."""
        host = message.url.host
        found = self._keys.get(host)
        if found is None:
            if len(self._keys) >= _KNOWN:
                self._keys.clear()
            found = self._keys[host] = self._key_of(host)
        return found

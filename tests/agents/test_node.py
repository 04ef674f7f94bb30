"""The thread of a node: what it does first."""

from __future__ import annotations

import queue
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from larm.agents.bus import Question
from larm.agents.identity import Identity, read_identity
from larm.agents.membership import Rules
from larm.agents.node import Node
from larm.agents.terms import Doors, Rule
from larm.kit.clock import SystemClock, boot_time
from larm.kit.counters import Counters
from larm.kit.disk.block_store import BlockStore
from larm.kit.threads.bell import Bell
from larm.kit.threads.gate import Gate
from larm.kit.threads.tally import Tally
from larm.kit.threads.ticker import Ticker
from larm.kit.threads.workers import Workers
from larm.testing.local_bus import Hub, LocalBus


def test_beats_are_sent_however_many_events_come_in(tmp_path: Path) -> None:
    hub, beats = Hub(), queue.SimpleQueue[Question]()
    hub.listening["seed"] = beats.put
    shared: Any = SimpleNamespace(
        clock=SystemClock(), counters=Counters(), gate=Gate(), tally=Tally(lambda: None), bell=Bell(), ticker=Ticker(5.0)
    )
    steering: Any = SimpleNamespace(recipients={}, pending=False, paused=False, ask_again=lambda: None)
    store = BlockStore(tmp_path)
    doors = Doors(shared, steering, store, str, lambda: iter(()), boot_time, lambda _: None)
    rule = Rule("demo", "me", ("seed",), "", Rules())
    node = Node(rule, Identity("demo", "me"), tmp_path / "agent.json", LocalBus(hub, "me"), doors)
    died: list[BaseException] = []
    workers = Workers(lambda _, error: died.append(error))

    def flood() -> None:
        node._line.put(flood)

    flood()
    try:
        workers.start("larm-agents", node.run)
        assert [beats.get(timeout=30).kind for _ in range(2)] == ["beat", "beat"]
    finally:
        node.stop()
        assert workers.join(30) == []
        store.close()
    assert died == []
    assert read_identity(tmp_path / "agent.json", "demo").boots == 1

"""Page recovery (UBI-21): what an agent has from before is not fetched again, whoever has the host now."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from types import SimpleNamespace as Stub
from typing import Any

import msgspec
import pytest

from larm.cluster.copies import Copies
from larm.cluster.outboxes import Outboxes
from larm.config import ClusterSettings
from larm.kit.counters import Counters
from larm.kit.disk.block_store import BlockStore
from larm.kit.threads.gate import Gate
from larm.model.message import UNKNOWN, URLMessage
from larm.model.url import URLNormalizer
from larm.store.pages.page_row import PageRow, encode_row
from tests.cluster.test_cluster import cluster, until, until_has, urls
from tests.support.etcd import needs_etcd
from tests.support.views import agent_of, view


def message(number: int, *, depth: int = 1) -> URLMessage:
    return URLMessage(URLNormalizer().parse(f"http://h12/{number}"), "", 0, depth)


def row(number: int) -> PageRow:
    url = message(number).url
    return PageRow(url.access, url.normalised, url.host, "", 0, 1, UNKNOWN, stored=True)


class Desk:
    """Copies of an agent whose crawl and line are made of lists; it owns ``h12``, which b would have next, then c."""

    def __init__(
        self, folder: Path, others: dict[str, list[int] | None], *, here: Sequence[int] = (), recover: int = 1
    ) -> None:
        """``others``: pages that each has; None: it does not answer."""
        self.put: list[URLMessage] = []
        self.forgotten: list[int] = []
        self.noted: dict[int, PageRow] = {}
        self.asked: list[str] = []
        self.counters = Counters()
        self.told: dict[int, bytes] | None = None
        """What is answered instead."""
        self._others = others
        frontier: Any = Stub(
            handler=Stub(put=self.put.extend),
            seen=Stub(discard=self.forgotten.extend),
            changes=Stub(alter=lambda host, change: None),
        )
        self.moves: Any = Stub(note=self.noted.update, on_waiting=None)
        own = {message(each).url.fingerprint: row(each) for each in here}
        rule: Any = Stub(own=ClusterSettings(recover=recover), answer=5.0)
        doors: Any = Stub(
            key=str,
            kept=lambda keys: {key: own[key] for key in keys if key in own},
            shared=Stub(gate=Gate(), counters=self.counters),
            directory=folder,
        )
        self.store = BlockStore(folder)
        self.outboxes = Outboxes(self.store, None)
        self.agent = agent_of("a", view(1, "a", *others), epoch=1)
        line: Any = Stub(ask=self._ask)
        self.copies = Copies(self.agent, rule, doors, line, self.outboxes)
        self.copies.take(frontier, self.moves)

    def _ask(self, name: str, kind: str, payload: bytes, on_answer: Callable[[bytes | None], object]) -> None:
        assert kind == "copies"
        self.asked.append(name)
        has = self._others[name]
        keys = msgspec.msgpack.decode(payload)
        rows = {message(each).url.fingerprint: encode_row(row(each)) for each in has or ()}
        told = {key: rows[key] for key in keys if key in rows} if self.told is None else self.told
        on_answer(None if has is None else msgspec.msgpack.encode(told))

    def look(self, *messages: URLMessage) -> list[URLMessage]:
        """What passes at once; all else is looked for."""
        passes = self.copies.hold_back(messages)
        self.copies.step(0.5)
        return passes


def test_only_the_next_agents_are_asked(tmp_path: Path) -> None:
    desk = Desk(tmp_path, {"b": [1], "c": [2]})
    assert desk.look(message(1), message(2), message(3)) == []
    assert desk.asked == ["b"]
    assert {page.access: page.by for page in desk.noted.values()} == {message(1).url.access: "b"}
    assert desk.put == [message(2), message(3)]
    assert desk.forgotten == [each.url.fingerprint for each in desk.put], "or they would be dropped as seen"
    assert desk.look(*desk.put) == desk.put, "nobody has them: they pass now"
    assert not desk.copies.pending
    assert desk.counters.snapshot()["agents/recovered"] == 1


def test_two_are_asked_about_what_is_not_here(tmp_path: Path) -> None:
    desk = Desk(tmp_path, {"b": [], "c": [2]}, here=[1], recover=2)
    desk.look(message(1), message(2))
    assert sorted(desk.asked) == ["b", "c"]
    assert {page.access: page.by for page in desk.noted.values()} == {message(1).url.access: "", message(2).url.access: "c"}
    assert desk.put == []


def test_who_does_not_answer_has_nothing(tmp_path: Path) -> None:
    desk = Desk(tmp_path, {"b": None, "c": []})
    desk.look(message(1))
    assert desk.put == [message(1)]


def test_known_page_passes_and_start_url_is_looked_for(tmp_path: Path) -> None:
    desk = Desk(tmp_path, {"b": [1, 2], "c": []})
    known = msgspec.structs.replace(message(1), known=UNKNOWN)
    assert desk.look(known, message(2, depth=0)) == [known]
    assert desk.noted.keys() == {message(2).url.fingerprint}
    assert desk.put == []


def test_revisit_looks_for_no_page(tmp_path: Path) -> None:
    """Those that others have may be of the cycle before."""
    desk = Desk(tmp_path, {"b": [1, 2]})
    desk.copies.take(desk.copies._frontier, desk.moves, revisits=True)
    assert desk.look(message(1)) == [message(1)]


def test_what_is_looked_for_is_in_the_cut(tmp_path: Path) -> None:
    """Before the question, and while it is asked."""
    desk = Desk(tmp_path, {"b": [], "c": []})
    desk.copies.hold_back([message(1), message(2)])
    desk.outboxes.asked = desk.outboxes.looked_for.take(1)
    cut = desk.outboxes.cut(desk.agent.courier, None)
    again = Outboxes(desk.store, cut)
    again.restore(desk.agent.courier)
    assert [each.item for each in again.looked_for.take(5)] == [message(1), message(2)]


def test_an_answer_for_another_page_is_none(tmp_path: Path) -> None:
    desk = Desk(tmp_path, {"b": [], "c": []})
    desk.told = {message(1).url.fingerprint: encode_row(row(2))}
    desk.look(message(1))
    assert desk.noted == {}
    assert desk.put == [message(1)]


@needs_etcd
@pytest.mark.slow
@pytest.mark.parametrize("recover", [1, 0])
def test_what_others_had_before_is_not_fetched_again(tmp_path: Path, recover: int) -> None:
    """An agent comes, gets hosts, and dies with its disk: what the others have fetched of these hosts is not fetched again."""
    with cluster(tmp_path, 30, 60, f"cluster.recover={recover}") as (web, some, expected):
        some.agents = 2
        some.start(0)
        some.start(1)
        until(web, 200)
        some.start(2)
        until_has(some.directory(2), 20)
        some.kill(2)
        had = {short(url, web.port) for number in range(2) for url in urls(some.directory(number))}
        some.wait()
        fetched = web.fetched()
    left = [short(url, web.port) for number in range(2) for url in urls(some.directory(number))]
    again = {page for page, times in fetched.items() if times > 1}
    figures = [json.loads((some.directory(number) / "stats.json").read_bytes())["figures"]["cluster"] for number in range(2)]
    recovered = max(each["recovered"] for each in figures)
    assert set(left) == expected
    if recover:
        assert not again & had
        assert recovered > 10
        assert len(left) == len(expected), "each page is at one agent"
    else:
        assert again & had, "the setting is what keeps them from being fetched again"
        assert recovered == 0


def short(url: str, port: int) -> str:
    """As `SyntheticWeb.fetched` names it."""
    return url.partition("//")[2].replace(f":{port}", "")

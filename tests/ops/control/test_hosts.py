"""The table of hosts: what each waits for, sorted and in pages."""

from __future__ import annotations

from pathlib import Path

import pytest

from larm.kit.disk.block_store import BlockStore
from larm.kit.units import Seconds
from larm.ops.control import hosts
from larm.ops.control.hosts import HostLister
from larm.ops.control.requests import HostLine, Hosts
from tests.frontier.rig import CONNECT, Rig, drained, of, status


@pytest.fixture
def rig(store: BlockStore) -> Rig:
    return Rig(store, of(delay=Seconds(10), delay_factor=0, backoff=Seconds(60)))


def lister(rig: Rig) -> HostLister:
    return HostLister(rig.book, lambda: rig.settings, rig.clock, rig.addresses)


def states(rig: Rig) -> dict[str, str]:
    return {line.host: line.state for line in lister(rig).table(Hosts(sort="host")).hosts}


def test_what_each_host_waits_for(rig: Rig) -> None:
    rig.put("a/1", "a/2", "b/1", "c/1", "d/1", "e/1", "e/2")
    leases = {lease.host: lease for lease in rig.queues.lease(9)}
    assert set(states(rig).values()) == {"fetching"}
    rig.end(leases["a"])
    rig.end(leases["b"])
    rig.end(leases["c"], CONNECT)
    rig.end(leases["d"], status(429))
    rig.changes.block("e")
    rig.end(leases["e"])
    rig.screen("f/1")
    assert states(rig) == {
        "a": "waiting",
        "b": "done",
        "c": "given up",
        "d": "left alone",
        "e": "blocked",
        "f": "robots.txt",
    }
    rig.fake.advance(10)
    assert states(rig)["a"] == "ready"


def test_sorted_and_in_pages(rig: Rig) -> None:
    rig.put("a/1", "b/1", "b/2", "b/3", "c/1", "c/2")
    table = lister(rig).table
    assert [line.host for line in table(Hosts()).hosts] == ["b", "c", "a"]
    assert [line.host for line in table(Hosts(sort="state")).hosts] == ["a", "b", "c"]
    second = table(Hosts(page=2, size=2))
    assert [line.host for line in second.hosts] == ["a"]
    assert (second.known, second.found, second.page, second.pages) == (3, 3, 2, 2)
    assert [line.host for line in table(Hosts(having="c")).hosts] == ["c"]


def test_hosts_that_rest_on_the_disk_are_found_by_name(store: BlockStore) -> None:
    rig = Rig(store, of(hosts_in_memory=1))
    rig.put("aha/1", "b/1", "c/1", "host/1")
    rig.save()
    lines = lister(rig)
    assert [line.host for line in lines.table(Hosts()).hosts] == ["host"]
    assert lines.table(Hosts()).resting == 3
    for text, found in (("h", ["aha", "host"]), ("host", ["host"]), ("nobody", [])):
        table = lines.table(Hosts(sort="host", having=text))
        assert ([line.host for line in table.hosts], table.found, table.resting) == (found, len(found), 0), text
    assert sorted(drained(rig)) == ["aha/1", "b/1", "c/1", "host/1"]


def test_of_more_than_a_page_that_rest_the_others_are_counted(store: BlockStore, monkeypatch: pytest.MonkeyPatch) -> None:
    """Those in memory take no place of theirs, so each time that somebody asks there are fewer."""
    monkeypatch.setattr(hosts, "_MOST", 2)
    rig = Rig(store, of(hosts_in_memory=1))
    rig.put("h1/1", "h2/1", "h3/1", "h4/1", "h5/1", "h6/1")
    rig.save()
    lines, seen = lister(rig), []
    for _ in range(3):
        table = lines.table(Hosts(sort="host", having="h", size=2))
        seen.append((table.found, table.resting))
    assert seen == [(3, 3), (5, 1), (6, 0)]


def test_it_looks_once_a_second_unless_something_was_ordered(rig: Rig) -> None:
    rig.put("a/1")
    lines = lister(rig)

    def queued() -> int:
        return lines.table(Hosts()).hosts[0].queued

    assert queued() == 1
    rig.put("a/2")
    assert queued() == 1
    rig.fake.advance(1)
    assert queued() == 2
    rig.put("a/3")
    lines.forget()
    assert queued() == 3


def test_every_field_can_be_sorted_by(rig: Rig) -> None:
    rig.put("a/1", "b/1")
    for name in HostLine.__struct_fields__:
        if name != "closed":
            assert len(lister(rig).table(Hosts(sort=name)).hosts) == 2


def test_looking_at_hosts_does_not_make_them(rig: Rig, tmp_path: Path) -> None:
    assert lister(rig).table(Hosts(having="nobody")).hosts == ()
    assert len(rig.book) == 0

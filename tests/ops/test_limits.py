"""What limits the crawl: each row of the table, and which row wins where two hold."""

from __future__ import annotations

from typing import Any

import pytest

from larm.engine.figures.limits import advice, limiting_factor
from larm.engine.figures.snapshot import ClusterFigures, Snapshot, Stalled, StorageFigures

FULL = StorageFigures("index", 31_000_000, 32_000_000)
HALF = StorageFigures("log", 16_000_000, 32_000_000)
BUSY: dict[str, Any] = {"waiting": 50, "transfers": 64}


def cluster(paused: int = 0, holds: str = "") -> ClusterFigures:
    return ClusterFigures(3, 3, paused, 0, 0, 0.0, 0.0, 0.0, holds)


def limit(cpu: float = 0.1, before: dict[str, Any] | None = None, **now: Any) -> str:
    first = Snapshot(elapsed=10.0, **(before if before is not None else now))
    return limiting_factor(first, Snapshot(elapsed=20.0, **now), cpu * 10)


@pytest.mark.parametrize(
    ("figures", "cpu", "expected"),
    [
        ({}, 0.0, "nothing: there is nothing left to fetch"),
        ({"paused": True}, 0.0, "a pause: 'larm ctl resume' goes on"),
        ({"paused": True, "cluster": cluster(paused=3)}, 0.0, "a pause: 'larm cluster resume' goes on"),
        ({"cluster": cluster(holds="it waits")}, 0.0, "the other agents: it waits"),
        ({**BUSY, "idle": True}, 0.0, "nothing: what is left waits at hosts that were given up or are blocked"),
        (
            {**BUSY, "storages": (FULL,), "stalled": (Stalled("larm-store-index", "commits", 170.0),)},
            0.0,
            "a thread that makes no progress: larm-store-index (commits)",
        ),
        ({**BUSY, "storages": (HALF, FULL)}, 0.5, "the storage index: it can't write as fast as pages come"),
        ({**BUSY, "hosts_ready": 9}, 0.97, "the CPU (97% of a core)"),
        ({**BUSY, "in_flight": 60}, 0.5, "the network or the servers (60 of 64 transfers are in the air)"),
        ({**BUSY, "hosts_waiting": 1}, 0.0, "politeness: 1 host is waiting for a delay to pass"),
        (
            {**BUSY, "hosts_waiting": 1200, "hosts_blocked": 3},
            0.0,
            "politeness: 1,200 hosts are waiting for a delay to pass, 3 left alone for a while",
        ),
        (
            {**BUSY, "hosts_ready": 9, "in_flight": 90, "look_ups": 32, "look_ups_waiting": 56},
            0.97,
            "DNS: 32 names are looked up, 56 more wait for that",
        ),
        ({**BUSY, "in_flight": 1, "look_ups": 1}, 0.1, "DNS: 1 name is looked up, no other host is ready"),
        (
            {**BUSY, "hosts_ready": 9, "in_flight": 70, "look_ups": 60},
            0.1,
            "the fetcher threads (9 hosts are ready, 10 of 64 transfers are in the air)",
        ),
        ({**BUSY, "in_flight": 2}, 0.1, "the servers: 2 requests are in the air, no other host is ready"),
        ({"incoming": 70_000, "handler_busy": True}, 0.3, "the handler (70,000 messages wait for the filters)"),
        (
            {**BUSY, "hosts_blocked": 1},
            0.0,
            "back-off: 1 host is left alone for a while (failed, 429 or 503); 'larm ctl hosts' names them",
        ),
        (
            {**BUSY, "hosts_blocked": 2, "next_in": 598.2},
            0.0,
            "back-off: 2 hosts are left alone for a while (failed, 429 or 503); it goes on in 9:58, and so does a later run; "
            "'larm ctl hosts' names them",
        ),
        ({**BUSY, "hosts_given_up": 4}, 0.0, "hosts that do not answer"),
        (BUSY, 0.0, "reading: what was fetched is being read, and no host is ready"),
        (
            {**BUSY, "hosts_ready": 30, "in_flight": 5},
            0.4,
            "the fetcher threads (30 hosts are ready, 5 of 64 transfers are in the air)",
        ),
    ],
)
def test_each_row_of_the_table(figures: dict[str, Any], cpu: float, expected: str) -> None:
    assert limit(cpu, **figures) == expected
    assert bool(advice(expected)) == (not expected.startswith("nothing"))


def test_a_full_storage_is_named_before_what_it_holds_up() -> None:
    assert limit(0.99, **BUSY, in_flight=64, storages=(FULL,)).startswith("the storage index")


def test_the_cpu_is_named_before_transfers_that_wait_for_it() -> None:
    assert limit(1.4, **BUSY, in_flight=64).startswith("the CPU (140%")


def test_a_host_whose_request_is_in_the_air_at_this_moment_still_counts_as_politeness() -> None:
    """One host, one request at a time: at some moments it waits, at others its request is out."""
    assert limit(0.0, before={**BUSY, "hosts_waiting": 1}, **BUSY, in_flight=1).startswith("politeness: 1 host")


def test_two_snapshots_of_one_moment_do_not_divide_by_zero() -> None:
    same = Snapshot(elapsed=5.0, waiting=1, hosts_waiting=1)
    assert limiting_factor(same, same, 0.0).startswith("politeness")


@pytest.mark.parametrize("figures", [{"in_flight": 64}, {"hosts_ready": 9, "in_flight": 5}])
def test_where_no_core_is_left_it_is_not_the_network(figures: dict[str, Any]) -> None:
    """Answers wait for somebody who takes them, also where this process had half of a core only."""
    first, now = Snapshot(elapsed=10.0), Snapshot(elapsed=20.0, **BUSY, **figures)
    assert limiting_factor(first, now, 5.0, 0.97) == "the CPU (all cores are busy, 50% of one in this process)"
    assert not limiting_factor(first, now, 5.0, 0.6).startswith("the CPU")


def test_who_waits_for_a_delay_does_not_care_for_the_cores() -> None:
    first, now = Snapshot(elapsed=10.0), Snapshot(elapsed=20.0, **BUSY, hosts_waiting=3)
    assert limiting_factor(first, now, 0.1, 1.0).startswith("politeness")


def test_nothing_is_asked_for_until_the_handler_has_caught_up() -> None:
    found = limit(0.5, **BUSY, hosts_ready=9, in_flight=60, incoming=120_000, held_up=True)
    assert found == "the handler (120,000 messages wait for the filters)"

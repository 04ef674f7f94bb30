"""How a run ended: which notes there are, and their numbers."""

from __future__ import annotations

from typing import Any

import pytest

from larm.engine.figures.notes import Note
from larm.engine.figures.snapshot import ClusterFigures, Snapshot
from larm.ops.outcome import next_step, outcome


def notes(reason: str = "finished", slowest: float = 0.0, **figures: Any) -> dict[str, dict[str, Any]]:
    now = Snapshot(**({"pages": 5} | figures))
    return {each.key: each.numbers for each in [*outcome(now, reason, "site", slowest), *next_step(now, reason)]}


def keys(hosts: list[Note]) -> list[str]:
    return [each.key for each in hosts]


def test_run_without_events_has_pages_and_a_next_step() -> None:
    assert list(notes()) == ["ended", "next"]
    assert notes(pages_run=1)["ended"] == {"how": "finished", "run": 1, "pages": 5, "directory": "site", "seconds": 0}
    assert list(notes("failed")) == ["ended"]
    assert notes(elapsed=61.0)["ended"]["seconds"] == 61.0


def test_limit_of_all_runs_is_to_be_raised() -> None:
    assert notes("closespider_pagecount", waiting=1)["ended"]["how"] == "stopped at --max-pages"
    assert notes("closespider_pagecount", waiting=1)["waits"]["limit"] == "raise --max-pages"
    assert notes("bytes_spent", waiting=1)["ended"]["how"] == "stopped at --max-bytes"
    assert notes("bytes_spent", waiting=1)["waits"]["limit"] == "raise --max-bytes (limits.bytes)"
    assert notes("shutdown", waiting=1)["waits"]["limit"] == ""


def test_revisited_pages_are_counted_by_what_became_of_them() -> None:
    none = {"changed": 0, "same_text": 0, "unchanged": 0, "gone": 0, "redirected": 0}
    changed = notes(counters={"revisit/changed": 2, "revisit/gone": 1})["revisited"]
    assert changed == {**none, "changed": 2, "gone": 1, "news": True}
    kept = notes(counters={"revisit/unchanged": 2, "revisit/redirected": 3})["revisited"]
    assert kept == {**none, "unchanged": 2, "redirected": 3, "news": False}


def test_errors_are_counted_by_kind_the_most_frequent_first() -> None:
    counters = {
        "downloader/response_status_count/404": 7,
        "downloader/response_status_count/200": 9,
        "downloader/response_status_count/204": 3,
        "downloader/exception_type_count/timeout": 8,
    }
    assert notes(counters=counters)["errors"] == {"kinds": "8 x timeout, 7 x 404, 3 x 204", "pages": True}
    many = {f"downloader/response_status_count/{status}": 1 for status in range(400, 410)}
    assert notes(counters=many)["errors"]["kinds"].endswith(" and 4 more kinds")


def test_urls_at_given_up_and_blocked_hosts_wait() -> None:
    waits = notes(waiting=3, hosts_given_up=1)["waits"]
    assert (waits["urls"], keys(waits["hosts"]), waits["again"]) == (3, ["hosts_given_up"], False)
    mixed = notes(waiting=5, idle=True, hosts_given_up=1, hosts_shut=2)["waits"]
    assert keys(mixed["hosts"]) == ["hosts_given_up", "hosts_shut"]
    assert notes(waiting=2, idle=True)["waits_blocked"] == {"urls": 2}


def test_figures_of_all_agents_are_told() -> None:
    everywhere = notes(cluster=ClusterFigures(3, 3, 0, 320, 0, 1.0, 0.0, 1.5), pages_run=5)
    assert everywhere["agents"]["figures"].startswith("3 agents: 320 pages, 0 URLs to go; coverage 100.0%")
    assert everywhere["next"] == {"everywhere": True}


@pytest.mark.parametrize(("pages", "everywhere"), [(5, False), (9, True)])
def test_next_search_is_one_of_all_agents_where_others_have_pages(pages: int, everywhere: bool) -> None:
    """One agent is left; those that have left keep their pages."""
    assert notes(cluster=ClusterFigures(1, 1, 0, pages, 0, 1.0, 0.0, 1.5))["next"] == {"everywhere": everywhere}


def test_urls_that_wait_are_told_with_the_time_that_they_take() -> None:
    waits = notes("shutdown", elapsed=40, pages=24, pages_run=24, waiting=49_979)["waits"]
    assert (round(waits["pace"]), waits["slowest"]) == (83_298, 0)


def test_slow_host_takes_as_long_as_its_delay_says() -> None:
    run = {"elapsed": 40, "pages": 1_000, "pages_run": 1_000, "waiting": 56}
    slow, fast = notes("shutdown", 112.0, **run)["waits"], notes("shutdown", 1.0, **run)["waits"]
    assert (slow["pace"], slow["slowest"]) == (0, 112.0)
    assert (fast["pace"], fast["slowest"]) == (2.24, 0)


def test_next_run_is_another_try_where_nothing_was_ever_fetched() -> None:
    assert notes(pages=0, waiting=1, hosts_given_up=1)["waits"]["again"]

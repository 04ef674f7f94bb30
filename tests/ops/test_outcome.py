"""How a run ended, for a person."""

from __future__ import annotations

from larm.engine.figures.snapshot import ClusterFigures, Snapshot
from larm.ops.outcome import next_step, outcome


def said(reason: str = "finished", **figures: object) -> list[str]:
    now = Snapshot(pages=5, **figures)  # type: ignore[arg-type]
    return [*outcome(now, reason, "site"), next_step(now, reason)]


def test_each_sentence_is_there_where_there_is_something_to_say() -> None:
    assert said(pages_run=1)[0] == "finished: 1 page in this run, 5 in site"
    assert len(said()) == 2
    counters = {
        "revisit/changed": 2,
        "revisit/gone": 1,
        "downloader/response_status_count/404": 7,
        "downloader/response_status_count/200": 9,
        "downloader/response_status_count/204": 3,
        "downloader/exception_type_count/timeout": 8,
    }
    every = said("closespider_pagecount", counters=counters, waiting=3, hosts_given_up=1, elapsed=61.0)
    assert every[0] == "stopped at --max-pages: 0 pages in this run, 5 in site, 1:01"
    assert every[1] == "revisited: 2 changed, 1 gone; 'larm report --changes' lists them"
    assert every[2].startswith("errors: 8 x timeout, 7 x 404, 3 x 204; ")
    why = "'larm links --broken' says why"
    assert every[3].startswith(
        f"3 URLs wait for the next run (1 host was given up; {why}): raise --max-pages, and the same command"
    )
    assert len(every) == 5
    first, second, _ = said("bytes_spent", waiting=1)
    assert first.startswith("stopped at --max-bytes: ")
    assert second.endswith(": raise --max-bytes (limits.bytes), and the same command goes on")
    assert said("shutdown", waiting=1)[1].endswith("for the next run: the same command goes on")
    mixed = said(waiting=5, idle=True, hosts_given_up=1, hosts_shut=2)[1]
    assert (
        f"(1 host was given up; {why}; what 2 blocked hosts have waits for 'larm ctl unblock HOST'): the same command" in mixed
    )
    assert said(waiting=2, idle=True)[1].startswith("2 URLs wait at hosts that are blocked: 'larm ctl unblock HOST'")


def test_pages_that_redirect_for_now_are_told_where_nothing_else_has_happened_to_them() -> None:
    kept = said(counters={"revisit/unchanged": 2, "revisit/redirected": 3})[1]
    assert kept == "revisited: 2 unchanged, 3 redirecting for now ('larm why URL' says where to)"


def test_of_several_agents_the_figures_of_all_are_told() -> None:
    all_of_them = ClusterFigures(3, 3, 0, 320, 0, 1.0, 0.0, 1.5)
    first, second, last = said(cluster=all_of_them, pages_run=5)
    assert first == "finished: 5 pages in this run, 5 in site"
    assert second.startswith("all agents: 3 agents: 320 pages, 0 URLs to go; coverage 100.0%")
    assert last.startswith("next: 'larm search --cluster WORDS'; ")


def test_many_kinds_of_errors_are_counted() -> None:
    counters = {f"downloader/response_status_count/{status}": 1 for status in range(400, 410)}
    assert " and 4 more kinds; " in said(counters=counters)[1]


def test_what_waits_is_told_with_the_time_that_it_takes() -> None:
    now = Snapshot(elapsed=40, pages=24, pages_run=24, waiting=49_979)
    assert "49,979 URLs wait for the next run, 23:08:18 at this pace: the same command" in " ".join(
        outcome(now, "shutdown", "d")
    )


def test_a_slow_host_takes_as_long_as_its_delay_says() -> None:
    now = Snapshot(elapsed=40, pages=1_000, pages_run=1_000, waiting=56)
    assert "56 URLs wait for the next run, 1:52 by the pace of one host: the" in " ".join(outcome(now, "shutdown", "d", 112.0))
    assert "0:02 at this pace" in " ".join(outcome(now, "shutdown", "d", 1.0))


def test_where_nothing_was_ever_fetched_it_is_another_try() -> None:
    now = Snapshot(waiting=1, hosts_given_up=1)
    assert "1 URL waits for the next run (1 host was given up): the same command tries again" in outcome(now, "finished", "d")

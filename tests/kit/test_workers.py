"""Threads have names, are joined with a deadline, and don't die in silence."""

from __future__ import annotations

import threading

from larm.kit.threads.workers import Workers


def no_death(name: str, error: BaseException) -> None:
    raise AssertionError(f"{name} died") from error


def test_a_worker_runs_under_its_name_as_a_daemon() -> None:
    seen: list[tuple[str, bool]] = []
    workers = Workers(no_death)
    workers.start("larm-handler", lambda: seen.append((threading.current_thread().name, threading.current_thread().daemon)))
    assert workers.join(10) == []
    assert seen == [("larm-handler", True)]


def test_join_names_those_that_still_run() -> None:
    go = threading.Event()
    workers = Workers(no_death)
    workers.start("larm-quick", lambda: None)
    workers.start("larm-slow", lambda: (go.wait(10), None)[1])
    workers.start("larm-slower", lambda: (go.wait(10), None)[1])
    assert [name for name in workers.join(0.01) if name != "larm-quick"] == ["larm-slow", "larm-slower"]
    assert set(workers.alive()) >= {"larm-slow", "larm-slower"}
    go.set()
    assert workers.join(10) == []
    assert workers.alive() == []
    assert repr(workers) == "<Workers none>"


def test_what_a_worker_raises_goes_to_on_death() -> None:
    deaths: list[tuple[str, BaseException, str]] = []
    workers = Workers(lambda name, error: deaths.append((name, error, threading.current_thread().name)))
    error = SystemExit(3)

    def die() -> None:
        raise error

    workers.start("larm-fetch-3", die)
    assert workers.join(10) == []
    assert deaths == [("larm-fetch-3", error, "larm-fetch-3")]


def test_a_worker_may_join_the_others_without_waiting_for_itself() -> None:
    result: list[list[str]] = []
    workers = Workers(no_death)
    workers.start("larm-self", lambda: result.append(workers.join(10)))
    assert workers.join(10) == []
    assert result == [["larm-self"]]


def test_finished_threads_are_forgotten() -> None:
    workers = Workers(no_death)
    for number in range(5):
        workers.start(f"larm-{number}", lambda: None)
        workers.join(10)
    assert len(workers._threads) == 1

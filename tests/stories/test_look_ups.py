"""Story: a crawl with names of which DNS says nothing."""

from __future__ import annotations

import socket
import threading
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import pytest

from larm.building import fetchers
from larm.fetch.look_ups import LookUps
from larm.ops.observers import build_crawl
from larm.testing.web import SyntheticWeb
from tests.stories.crawls import config_of, once, watch

LIVE, HANG = [f"live{number}.test" for number in range(12)], [f"hang{number}.test" for number in range(6)]


def test_hosts_whose_look_up_hangs_hold_up_no_others(
    tmp_path: Path, web: SyntheticWeb, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Three times as many as there may be requests at a time, and before all others."""
    let_go = threading.Event()

    def dns(host: str, _: int) -> Sequence[str]:
        if host in HANG:
            let_go.wait(60)
            raise socket.gaierror(socket.EAI_AGAIN, "Temporary failure in name resolution")
        return ["127.0.0.1"]

    monkeypatch.setattr(fetchers, "LookUps", partial(LookUps, resolve=dns))
    for name in LIVE:
        web.host(name).page("/")
    settings = {"crawl.private_networks": "all", "fetch.threads": 1, "fetch.transfers": 2, "frontier.retries": 0}
    crawl = build_crawl(config_of([web.url(name) for name in (*HANG, *LIVE)], settings), tmp_path)
    look_ups: list[int] = []

    def all_have_come() -> None:
        look_ups.append(crawl.snapshot().look_ups)
        let_go.set()

    watch(web).at(2 * len(LIVE), all_have_come)
    assert crawl.run().reason == "finished"
    assert web.fetched() == once(*(f"{name}/" for name in LIVE))
    assert crawl.snapshot().counters["robotstxt/exception_count/unresolved"] == len(HANG)
    assert look_ups == [len(HANG)]

"""Answers of HTTP servers, right and wrong, from the suites of curl and llhttp, played as raw bytes.

Nothing may hang; what is broken must not become a page; what is good must arrive whole.
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from larm.config import Fetch, Robots
from larm.kit.units import Seconds
from larm.model.outcome import Fetched, Outcome
from tests.fetching.driving import drain, lease, make_fetcher
from tests.fetching.raw_server import RawServer
from tests.shared_data import shared

# curl's errors that come from the answer; the others come from options that larm has no use for
FROM_THE_ANSWER = {1, 8, 16, 18, 52, 56, 61}
# where libcurl reads on, or reads otherwise, and says so in its own tests; llhttp is strict
BODY_OF_ANOTHER_OPINION: set[str] = set()


def play(answers: Mapping[str, bytes]) -> dict[str, Outcome]:
    """The outcome of each answer. The server closes after it, so what misses its end is not waited for."""
    with RawServer(lambda request: answers[request.split(b" ")[1].decode().removeprefix("/")]) as server:
        fetcher = make_fetcher(Fetch(timeout=Seconds(3)), Robots())
        try:
            waiting, ended = list(answers), []
            while waiting or fetcher.in_flight:
                while waiting and fetcher.in_flight < 16:
                    fetcher.start(lease(server.url("/" + waiting.pop())))
                ended += fetcher.wait(5.0)
            return {one.message.url.access.partition("/")[2].rpartition("/")[2]: outcome for one, outcome in ended}
        finally:
            fetcher.close()


def test_curl_replies() -> None:
    cases = [json.loads(line) for line in (shared("http-curl-replies", "given", "replies.jsonl")).read_text().splitlines()]
    outcomes = play({f"{case['id']}-{key}": reply(case, key) for case in cases for key in case["replies"]})
    assert len(outcomes) == sum(len(case["replies"]) for case in cases) > 300
    for name, outcome in outcomes.items():
        print(name, type(outcome).__name__)


def reply(case: dict[str, Any], key: str) -> bytes:
    raw = base64.b64decode(case["replies"][key])
    return raw.replace(b"%TESTNUMBER", str(case["id"]).encode())

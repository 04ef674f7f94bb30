"""The HTTP cache tests, as far as they are for a crawler: what it asks a server that it has asked before.

larm keeps no cache: nothing is ever fresh, so each revisit asks whether the page has changed. Of the suite that leaves the
tests in which a server sends something to ask with.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from email.utils import formatdate
from typing import Any

from larm.config import FetchSettings, RobotsSettings
from larm.model.outcome import Fetched, NotModified
from tests.fetch.driving import drain, lease, make_fetcher
from tests.fetch.raw_server import RawServer, page
from tests.shared_data import shared

DIFFERENCES = {
    "conditional-etag-strong-generate-unquoted": "asks with quotes around a tag that came without: larm sends what the server "
    "sent, for a server that forgets them there compares texts",
}
NOW = 1_700_000_000
VALIDATORS = {"if-none-match": "etag", "if-modified-since": "last-modified"}


def cases() -> Iterator[tuple[str, list[tuple[str, str]], dict[str, str]]]:
    """(name, what the server sent, what must be asked with)."""
    for suite in json.loads(shared("http-cache-tests", "given", "tests.json").read_text(encoding="utf-8")):
        for test in suite["tests"]:
            first, *rest = test["requests"]
            sent = [(name, text(name, value)) for name, value, *_ in first.get("response_headers", [])]
            if not rest or not any(name.lower() in VALIDATORS.values() for name, _ in sent):
                continue
            if "response_status" in first and first["response_status"][0] != 200:
                continue
            expected = {name.lower(): text(name, value) for name, value, *_ in rest[-1].get("expected_request_headers", [])}
            for asked, given in VALIDATORS.items():
                for name, value in sent:
                    if name.lower() == given:
                        expected.setdefault(asked, value)
            yield test["id"], sent, {name: value for name, value in expected.items() if name in VALIDATORS}


def text(name: str, value: Any) -> str:
    """Numbers are seconds from now, of dates."""
    return formatdate(NOW + value, usegmt=True) if isinstance(value, int) and name.lower() != "age" else str(value)


def test_a_page_that_is_known_is_asked_for_with_what_its_server_sent() -> None:
    right, wrong = 0, []
    for name, sent, expected in cases():
        fields = [f"{field}: {value}".encode("latin-1") for field, value in sent]
        answers = iter([page(b"body", *fields), b"HTTP/1.1 304 Not Modified\r\n\r\n"])
        with RawServer(lambda request, answers=answers: next(answers)) as server:  # type: ignore[misc]
            fetcher = make_fetcher(FetchSettings(), RobotsSettings())
            fetcher.start(lease(server.url()))
            [(_, first)] = drain(fetcher)
            assert isinstance(first, Fetched), name
            etag, modified = first.headers.get("etag", ""), first.headers.get("last-modified", "")
            fetcher.start(lease(server.url(), etag=etag, last_modified=modified))
            [(_, again)] = drain(fetcher)
            fetcher.close()
        lines = server.requests[1].decode("latin-1").split("\r\n")
        asked = {line.partition(": ")[0].lower(): line.partition(": ")[2] for line in lines[1:]}
        good = isinstance(again, NotModified) and all(asked.get(field) == value for field, value in expected.items())
        if good or name in DIFFERENCES:
            right += good
        else:
            wrong.append((name, expected, asked))
    print(f"http-cache-tests: {right} of {right + len(wrong) + len(DIFFERENCES)} right, {len(DIFFERENCES)} argued")
    assert not wrong
    assert right >= 15

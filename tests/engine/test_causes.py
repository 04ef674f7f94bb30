"""What happened, in words."""

from __future__ import annotations

from datetime import datetime

import pytest

from larm.engine.causes import cause_of
from larm.model.outcome import Failed, FailReason, Fetched, Moved, NotModified, Outcome, Refused, Timing

NOW = datetime(2026, 11, 22, 7, 8, 30).timestamp()


def refused(status: int, after: float | None = None) -> Refused:
    return Refused(status, {}, Timing(), after)


def failed(reason: FailReason, detail: str = "detail") -> Failed:
    return Failed(reason, detail, Timing())


@pytest.mark.parametrize(
    ("outcome", "sentence"),
    [
        (Fetched(200, {}, b"", Timing()), ""),
        (NotModified({}, Timing()), ""),
        (Moved(301, "/x", Timing()), "301: moved to /x"),
        (refused(204), "204: an answer without a page"),
        (refused(302), "302: a redirect that does not say where to"),
        (refused(401), "401: it wants a login, or another than it was given (larm help sites)"),
        (refused(403), "403: the site refuses larm"),
        (refused(404), "404: no such page"),
        (refused(410), "410: the page is gone for good"),
        (refused(418), "418: I'm a Teapot"),
        (refused(429), "429: the site asks to be left alone"),
        (refused(429, 30), "429: the site asks to be left alone, and to come back at 07:09"),
        (refused(429, 86_400), "429: the site asks to be left alone, and to come back at 2026-11-23 07:08"),
        (refused(429, 1e13), "429: the site asks to be left alone, and to come back at some far day"),
        (refused(403, 60), "403: the site refuses larm, and asks to come back at 07:09"),
        (refused(500), "500: the server failed (Internal Server Error)"),
        (refused(503, 60), "503: the server failed (Service Unavailable), and asks to come back at 07:09"),
        (refused(599), "599: the server failed"),
        (refused(799), "799: a status that nobody knows"),
        (failed(FailReason.UNRESOLVED), "no such host (DNS)"),
        (failed(FailReason.CONNECT, "failed (Connection refused)"), "nothing listens there (Connection refused)"),
        (failed(FailReason.CONNECT, "failed (No route to host)"), "no way there: failed (No route to host)"),
        (failed(FailReason.TIMEOUT), "no answer in time: detail; --timeout allows more"),
        (failed(FailReason.TLS), "no safe connection: detail"),
        (failed(FailReason.PRIVATE), "detail"),
    ],
)
def test_sentences(outcome: Outcome, sentence: str) -> None:
    assert cause_of(outcome, NOW) == sentence


@pytest.mark.parametrize("reason", FailReason)
def test_every_failure_has_one(reason: FailReason) -> None:
    assert cause_of(failed(reason), NOW)

"""What answers to a request for robots.txt mean."""

from __future__ import annotations

import pytest

from larm.config import RobotsSettings
from larm.frontier.robots.landing import GiveUp, NotYet, Redirect, RobotsAnswer, RobotsPolicy
from larm.frontier.robots.rules import ALLOW_ALL, RobotsRules
from larm.model.message import URLMessage
from larm.model.outcome import FailReason, Fetched, Moved, NotModified, Outcome
from larm.model.url import Url
from tests.frontier.test_politeness import SETTINGS, TIMING, even, failed, refused

BODY = b"User-agent: *\nDisallow: /a\n"
RULES = RobotsRules.parse(BODY, "larm")
OLD = RobotsRules.parse(b"User-agent: *\nDisallow: /old\n", "larm")


def answer(
    outcome: Outcome,
    *,
    tries: int = 0,
    redirects: int = 0,
    blocks: int = 0,
    known: RobotsRules | None = None,
    at_once: bool = False,
) -> RobotsAnswer:
    asked = URLMessage(Url("", "", "", 0), tries=tries, redirects=redirects)
    ours = RobotsPolicy("larm", RobotsSettings(), SETTINGS, even)
    return ours.answer(outcome, asked, blocks=blocks, known=known, at_once=at_once)


@pytest.mark.parametrize("status", [400, 401, 403, 404, 408, 410, 451, 499, 204, 205, 300, 302])
def test_no_robots_txt_allows_all(status: int) -> None:
    """RFC 9309 2.3.1.3, also for 401 and 403; a redirect that leads nowhere is no robots.txt either."""
    assert answer(refused(status)) == ALLOW_ALL
    assert answer(refused(status), known=OLD) == ALLOW_ALL


def test_rules_are_those_of_the_body() -> None:
    assert answer(Fetched(200, {}, BODY, TIMING)) == RULES
    assert answer(Fetched(203, {}, b"<html>not found</html>", TIMING)) == ALLOW_ALL


@pytest.mark.parametrize("end", [b"\n", b"\r", b"\r\n"])
def test_the_last_line_of_a_file_that_was_cut_off_does_not_count(end: bytes) -> None:
    body = end.join([b"User-agent: *", b"Disallow: /a", b"Disallow: /"])
    assert answer(Fetched(200, {}, body, TIMING, truncated=True)) == RobotsRules(RULES.rules, cut=512_000)


def test_one_endless_line_is_read() -> None:
    assert answer(Fetched(200, {}, b"User-agent: *", TIMING, truncated=True)) == RobotsRules(cut=512_000)


def test_redirects_are_followed_five_times() -> None:
    """RFC 9309 2.3.1.2."""
    moved = Moved(301, "https://elsewhere/robots.txt", TIMING)
    assert [answer(moved, redirects=redirects) for redirects in (0, 4)] == [Redirect("https://elsewhere/robots.txt")] * 2
    assert answer(moved, redirects=5) == ALLOW_ALL


def test_not_modified_keeps_the_rules() -> None:
    assert answer(NotModified({}, TIMING), known=OLD) == OLD
    assert answer(NotModified({}, TIMING)) == ALLOW_ALL


@pytest.mark.parametrize(
    ("outcome", "waits"),
    [
        (refused(500), [5.0, 10.0]),
        (refused(520), [5.0, 10.0]),
        (refused(429), [60.0] * 10),
        (refused(503), [60.0, 60.0]),
        (refused(503, 300.0), [300.0] * 10),
        (failed(FailReason.TIMEOUT), [5.0, 10.0]),
        (failed(FailReason.DROPPED), [5.0, 10.0]),
        (failed(FailReason.CONNECT), [5.0, 10.0]),
        (failed(FailReason.UNRESOLVED), []),  # asking again at once finds no name
        (failed(FailReason.TLS), []),
        (failed(FailReason.PROTOCOL), []),
        (failed(FailReason.CONTENT), []),
        (failed(FailReason.PRIVATE), []),
        (failed(FailReason.URL), []),
        (refused(501), []),
    ],
)
def test_what_is_no_answer_is_no_consent(outcome: Outcome, waits: list[float]) -> None:
    """RFC 9309 2.3.1.4: tried again, then the host is given up, unless its rules of yesterday are known (2.4)."""
    for tries, wait in enumerate(waits):
        assert answer(outcome, tries=tries, known=OLD) == NotYet(wait)
    last = answer(outcome, tries=len(waits))
    assert isinstance(last, GiveUp)
    assert f"try {len(waits) + 1}" in last.why
    assert answer(outcome, tries=len(waits), known=OLD) == OLD


@pytest.mark.parametrize(
    ("reason", "retried"), [(FailReason.CONNECT, False), (FailReason.TIMEOUT, True), (FailReason.DROPPED, True)]
)
def test_where_somebody_waits_for_the_first_answer_and_nobody_listens(reason: FailReason, retried: bool) -> None:
    assert isinstance(answer(failed(reason), at_once=True), NotYet) == retried
    assert answer(failed(reason), tries=5, at_once=True, known=OLD) == OLD


def test_a_host_that_keeps_refusing_robots_txt_is_asked_less_often() -> None:
    assert answer(refused(503), tries=1, blocks=2) == NotYet(240.0)

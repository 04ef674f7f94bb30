"""Failing pages: which responses count, and from when on a page is over."""

from __future__ import annotations

import pytest

from larm.store.pages.page_row import FORBIDDEN, LEAST_RUNS, MOVED, REFUSED, REMOVED, UNREACHED, Failing, kind_of

DAY = 86_400


def failed(*kinds: int, since: int = 1_000) -> Failing:
    """Return failures of these kinds in a row."""
    found = Failing(since, kinds[0])
    for kind in kinds:
        found = found.again(kind)
    return found


def is_over(failing: Failing, *, days: float = 0, leads_to_page: bool = False) -> bool:
    return failing.is_over(failing.since + days * DAY, 30 * DAY, leads_to_page=leads_to_page)


@pytest.mark.parametrize(
    ("status", "why", "kind"),
    [
        (451, "", REMOVED),
        *((status, "", REFUSED) for status in (400, 401, 402, 403, 405, 406, 418, 204, 205)),
        (0, FORBIDDEN, REFUSED),
        *((status, "", MOVED) for status in (300, 302, 303, 307)),
        (302, "redirects, more than 20 in a row", MOVED),
        *((status, "", UNREACHED) for status in (408, 425, 429, 500, 502, 503, 599)),
        (304, "HTTP status 304", UNREACHED),
        (0, "timeout: nothing came for 30 s", UNREACHED),
        (0, "set aside: it takes too long to be read; the next visit tries again", None),
        (0, "it was dropped by the filter mine", None),
    ],
)
def test_kind_of_a_response_without_the_page(status: int, why: str, kind: int | None) -> None:
    assert kind_of(status, why) == kind


@pytest.mark.parametrize(("kind", "runs"), [(REMOVED, 1), (REFUSED, 2), (MOVED, 2)])
def test_page_is_over_when_its_kind_repeats(kind: int, runs: int) -> None:
    assert [is_over(failed(*[kind] * count)) for count in (1, 2)] == [runs <= 1, True]


def test_redirect_to_a_stored_page_is_over_at_once() -> None:
    assert is_over(failed(MOVED), leads_to_page=True)


def test_refusals_that_a_failing_server_parts_are_not_in_a_row() -> None:
    assert not is_over(failed(REFUSED, UNREACHED, REFUSED))
    assert is_over(failed(REFUSED, UNREACHED, REFUSED, REFUSED))


def test_unreached_page_is_over_after_both_the_time_and_the_runs() -> None:
    assert not is_over(failed(*[UNREACHED] * (LEAST_RUNS - 1)), days=400)
    assert not is_over(failed(*[UNREACHED] * 1_000), days=29.9)
    assert is_over(failed(*[UNREACHED] * LEAST_RUNS), days=30)

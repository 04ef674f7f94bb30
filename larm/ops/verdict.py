"""What became of a URL, in one sentence: how ``larm why`` begins. Pure; of what others have looked up.

The first that is true is said: it was forgotten; it was fetched; it was asked for in vain; it is another agent's; it waits, and
for what; a filter refuses it; nobody has heard of it.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from larm.engine.causes import cause_of_status
from larm.engine.figures.notes import Note, note
from larm.filters.forgotten import ForgottenFilter
from larm.filters.scope import ScopeFilter
from larm.filters.visited import VisitedFilter
from larm.frontier.robots.desk import RobotsDesk
from larm.frontier.traps.desk import TrapDesk
from larm.model.cuts import PROCESSOR, larger
from larm.store.pages.page_row import Answer, PageRow

_REFUSALS = {ScopeFilter.name: "why_scope", RobotsDesk.name: "why_robots", TrapDesk.name: "why_traps"}
"""Keys of notes, by the filter that refuses; others are named."""


class Waits(msgspec.Struct, frozen=True):
    """How a URL waits at its host."""

    place: int = 0
    """From 1 in the host's queue, as far as its ends tell."""
    tries: int = 0
    """That failed, where it is to be tried again."""
    robots: str = ""
    """Why there is no robots.txt yet; empty where there is one, or none is needed."""
    given_up: str = ""
    """Why the host was given up; empty where it was not."""
    until: float = 0.0
    """Wall time of the next request to the host; 0: as soon as it is its turn."""


class Facts(msgspec.Struct, frozen=True):
    """What is known of a URL."""

    page: PageRow | None
    """None: no request for it has come to an end."""
    searchable: str
    """``yes``, or why it is not."""
    refusals: dict[str, str]
    """By the name of the filter why it would not let it pass now."""
    waits: Waits
    linked: bool
    """Some page that was read links to it, so that it may be followed."""
    now: float
    """Wall time."""
    elsewhere: str = ""
    """Of a crawl by several agents: who has its host, and how to ask; empty: we have."""
    cut: int = 0
    """Pages that may have lost links, as they were not read whole; looked up where nothing else is known of it."""
    asked: str = ""
    """Its access form, as somebody has asked; that of the page may be another one."""
    undo: str = ""
    """The command that undoes it, where it is forgotten."""
    redirects: int = 0
    """``frontier.redirects``, where a redirect that was one too many leads here."""
    circle: bool = False
    """The redirect that it answers with leads to itself in the end."""
    unfiltered: int = 0
    """Its place, from 1, among the URLs that the filters have not seen yet."""
    noted: bool = False
    """Links to it are in links.log, be they followed or not; looked up where nothing else is known of it."""


def verdict(facts: Facts) -> Note:
    """The first note of those that hold, without a full stop."""
    page, waits, unread = facts.page, facts.waits, VisitedFilter.name
    if forgotten := facts.refusals.get(ForgottenFilter.name):
        return note("why_forgotten", when=forgotten, undo=facts.undo)
    name, reason = next((each for each in facts.refusals.items() if each[0] != unread), ("", ""))
    if page is not None and not (page.only_forbidden and name):
        return _fetched(page, facts) if page.stored and not page.gone else _in_vain(page, facts)
    later = waits.until if waits.until > facts.now + 60 else 0.0
    known = unread in facts.refusals or waits.place or waits.tries
    rules: Sequence[tuple[object, str, Mapping[str, Any]]] = (
        (facts.elsewhere and not name, "why_elsewhere", {"agent": facts.elsewhere}),
        (waits.robots and not name, "why_no_robots", {"reason": waits.robots, "later": later}),
        (name, _REFUSALS.get(name, "why_filter"), {"reason": reason, "filter": name}),
        (known and waits.given_up, "why_given_up", {"reason": waits.given_up, "later": later}),
        (known and waits.tries, "why_failed", {"tries": waits.tries, "later": later}),
        (known and waits.place, "why_queued", {"place": waits.place, "later": later}),
        (known, "why_waits", {}),
        (facts.unfiltered, "why_unfiltered", {"place": facts.unfiltered}),
        (facts.redirects, "why_redirects", {"most": facts.redirects, "enough": larger(20, facts.redirects)}),
        (facts.linked, "why_linked", {}),
        (facts.noted, "why_noted", {}),
        (facts.cut, "why_cut", {"pages": facts.cut}),
        (True, "why_unknown", {}),
    )
    return next(note(key, **numbers) for holds, key, numbers in rules if holds)


def _fetched(page: PageRow, facts: Facts) -> Note:
    if page.index:
        bare = facts.searchable == "yes" and page.stored and not page.known.text
        searchable = "by title, address and links alone, as no text was read of it" if bare else facts.searchable
    elif PROCESSOR in page.cuts:
        searchable = "no, a processor failed on it"
    else:
        is_sitemap = page.past is not None and page.past.sitemap
        searchable = "no, it is a sitemap" if is_sitemap else "no, it asks not to be indexed (noindex)"
    failed, failing = _failed(page.last), page.failing
    return note(
        "why_fetched",
        address=page.access if _is_other(page, facts) else "",
        came=page.came,
        searchable=searchable,
        again=page.last.asked if failed else 0,
        failed=failed,
        since=failing.since if failed and failing is not None else 0,
        runs=failing.runs if failing is not None else 0,
        asked=facts.asked,
    )


def _failed(last: Answer) -> str:
    """Why the last request was in vain; empty: it was not. A 300 that leads nowhere is a page (`larm.fetch.classify`)."""
    if last.why or last.status <= 300 or last.status == 304:
        return last.why
    return f"{last.status}: moved to {last.moved}" if last.moved else cause_of_status(last.status)


def _is_other(page: PageRow, facts: Facts) -> bool:
    return facts.asked not in ("", page.access)


def _in_vain(page: PageRow, facts: Facts) -> Note:
    last, gone, failing = page.last, page.gone or page.forgotten, page.failing
    rules = (
        (page.only_forbidden, "why_forbidden"),
        (gone and not last.moved and failing is None, "why_gone"),
        (failing is not None, "why_not_found"),
        (last.moved and facts.circle, "why_circle"),
        (last.moved, "why_moved"),
        (not last.status and not last.why, "why_in_vain"),
        (True, "why_not_fetched"),
    )
    numbers = {
        "reason": _failed(last) if failing is not None else last.why or (cause_of_status(last.status) if last.status else ""),
        "since": last.since,
        "gone": gone,
        "moved": last.moved,
        "status": last.status,
        "kept": bool(page.gone and facts.searchable == "yes"),
        "address": page.access if _is_other(page, facts) else "",
        "asked": facts.asked,
    }
    return note(next(key for holds, key in rules if holds), **numbers)

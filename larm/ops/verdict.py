"""What became of a URL, in one sentence: how ``larm why`` begins. Pure; of what others have looked up.

The first that is true is said: it was forgotten; it was fetched; it was asked for in vain; it is another agent's; it waits, and
for what; a filter refuses it; nobody has heard of it.
"""

import msgspec

from larm.engine.causes import cause_of_status
from larm.engine.figures.rates import minute
from larm.filters.forgotten import ForgottenFilter
from larm.filters.scope import ScopeFilter
from larm.filters.visited import VisitedFilter
from larm.frontier.robots.desk import RobotsDesk
from larm.frontier.traps.desk import TrapDesk
from larm.kit.counted import counted
from larm.model.cuts import PROCESSOR, larger
from larm.store.pages.page_row import Answer, PageRow

_REFUSALS = {
    ScopeFilter.name: "Not fetched: out of scope: {}",
    RobotsDesk.name: "Not fetched: forbidden by {}",
    TrapDesk.name: "Not fetched: {}",
}


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


_KEPT = "; still searchable: pages that are gone leave at the end of a revisit, unless recrawl.most_gone keeps them"


def verdict(facts: Facts) -> str:
    """A sentence without a full stop."""
    page = facts.page
    if forgotten := facts.refusals.get(ForgottenFilter.name):
        return f"Forgotten {forgotten}; to have it fetched again: {facts.undo}"
    refusals = {name: reason for name, reason in facts.refusals.items() if name != VisitedFilter.name}
    if page is not None and not (page.only_forbidden and refusals):
        said = _fetched(page, facts) if page.stored and not page.gone else _in_vain(page, circle=facts.circle)
        kept = _KEPT if page.gone and facts.searchable == "yes" else ""
        return said + kept + _alike(page, facts)
    if facts.elsewhere and not refusals:
        return f"Its host belongs to {facts.elsewhere}"
    known = VisitedFilter.name in facts.refusals or facts.waits.place or facts.waits.tries
    if facts.waits.robots and not refusals:
        return f"Not fetched: {facts.waits.robots}{_next(facts)}"
    if refusals:
        name, reason = next(iter(refusals.items()))
        return _REFUSALS.get(name, f"Not fetched: dropped by the filter {name}: {{}}").format(reason)
    return _waiting(facts) if known else _unseen(facts)


def _fetched(page: PageRow, facts: Facts) -> str:
    when = f" {minute(page.came)}" if page.came else ""
    if page.index:
        bare = facts.searchable == "yes" and page.stored and not page.known.text
        searchable = "by title, address and links alone, as no text was read of it" if bare else facts.searchable
    elif PROCESSOR in page.cuts:
        searchable = "no, a processor failed on it"
    else:
        is_sitemap = page.past is not None and page.past.sitemap
        searchable = "no, it is a sitemap" if is_sitemap else "no, it asks not to be indexed (noindex)"
    other = f" as {page.access}" if _is_other(page, facts) else ""
    said = f"Fetched{other}{when}, searchable: {searchable}"
    failed = _failed(page.last)
    if failed:
        said += f"; asked again {minute(page.last.asked)}, in vain: {failed}"
    if failed and page.failing is not None:
        said += f"; not reached since {minute(page.failing.since)}, in {counted(page.failing.runs, 'revisit')}"
    return said


def _failed(last: Answer) -> str:
    """Why the last request was in vain; empty: it was not. A 300 that leads nowhere is a page (`larm.fetch.classify`)."""
    if last.why or last.status <= 300 or last.status == 304:
        return last.why
    return f"{last.status}: moved to {last.moved}" if last.moved else cause_of_status(last.status)


def _is_other(page: PageRow, facts: Facts) -> bool:
    return facts.asked not in ("", page.access)


def _alike(page: PageRow, facts: Facts) -> str:
    if not _is_other(page, facts):
        return ""
    return f". Normalised, {facts.asked} is the same address as {page.access}, and is known as that one"


def _in_vain(page: PageRow, *, circle: bool) -> str:
    last = page.last
    if page.only_forbidden:
        return f"Not fetched: {last.why}{_since(page)}; each run asks again"
    gone = page.gone or page.forgotten
    if gone and not last.moved and page.failing is None:
        return f"Gone{_since(page)} ({gone})"
    if page.failing is not None:
        return f"Found no more{_since(page)}: {_failed(last)}; each revisit asks again, and finds it when it is back"
    if last.moved:
        said = f"Redirects to {last.moved} ({last.status})"
        return f"Not fetched: {said[0].lower()}{said[1:]}, and from there on in a circle" if circle else said
    if not last.status and not last.why:
        return "Not fetched: it was asked for, in vain"
    return f"Not fetched: {last.why or cause_of_status(last.status)}{_since(page)}"


def _since(page: PageRow) -> str:
    return f" since {minute(page.last.since)}" if page.last.since else ""


def _waiting(facts: Facts) -> str:
    waits = facts.waits
    if waits.given_up:
        return f"Not fetched: its host was given up ({waits.given_up}){_next(facts)}"
    if waits.tries:
        return f"Not fetched: failed {counted(waits.tries, 'time')}{_next(facts)}"
    if waits.place:
        return f"Not fetched yet: number {waits.place} of its host's queue{_next(facts)}"
    return "Not fetched yet: it waits, or was set aside"


def _unseen(facts: Facts) -> str:
    if facts.unfiltered:
        return f"Not fetched yet: number {facts.unfiltered:,} of the URLs that wait for the filters"
    if facts.redirects:
        remedy = f"'larm crawl --set frontier.redirects={larger(20, facts.redirects)}' follows them"
        return f"Not fetched: it is behind more than {facts.redirects} redirects in a row; {remedy}"
    if facts.linked:
        deeper = "they lead deeper than crawl.max_depth, or an earlier run's settings left them"
        return f"Not fetched: links to it were not followed: {deeper}; the same command with a larger --max-depth follows them"
    if facts.noted:
        say = "they say nofollow (-s processing.nofollow=false follows them)"
        embed = "embed it (-s processing.follow_embedded=true) or, where there is no link graph, lead deeper than --max-depth"
        return f"Not fetched: links to it, in links.log, are not followed: {say}, {embed}"
    if facts.cut:
        pages = "1 page was" if facts.cut == 1 else f"{facts.cut:,} pages were"
        whole = f"no page, of those that were read whole, links to it; {pages} cut ('larm search cut:all' names them)"
        return f"Not known to this crawl: {whole}; it would be fetched"
    return "Not known to this crawl: no page that was read links to it; it would be fetched"


def _next(facts: Facts) -> str:
    return f", next try {minute(facts.waits.until)}" if facts.waits.until > facts.now + 60 else ""

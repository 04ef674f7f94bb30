"""Note: what larm says of a crawl: a key, its numbers, and the sentence that `SENTENCES` has for them. Pure; any thread.

The end of a run, ``larm stats``, ``larm why`` and the monitor show the text of notes; ``stats.json`` keeps them whole.

In a sentence ``{urls}`` is a number, ``{urls:URL}`` a number of URLs, ``{urls:was|were}`` a word that depends on it. A list is
joined by what follows the colon. A part in brackets is left out where one of its numbers is 0 or one of its names empty.
"""

import re
from collections.abc import Callable, Mapping
from typing import Any, Final

import msgspec

from larm.engine.figures.rates import duration, minute, size
from larm.kit.counted import counted

_ALIKE = "[. Normalised, {asked} is the same address as {address}, and is known as that one]"
_KEPT = (
    "{kept:; still searchable: pages that are gone leave at the end of a revisit, unless recrawl.most_gone keeps them}" + _ALIKE
)
_LATER = "[, next try {later:minute}]"
SENTENCES: Final[Mapping[str, str]] = {
    # how a run ended
    "ended": "{how}: {run:page} in this run, {pages} in {directory}[, {seconds:duration}]",
    "agents": "all agents: {figures}",
    "revisited": "revisited: [, {changed} changed][, {same_text} with the same text as before][, {unchanged} unchanged]"
    "[, {gone} gone][, {redirected} redirecting for now ('larm why URL' says where to)]"
    "{news:; 'larm report --changes' lists them}",
    "errors": "errors: {kinds}{pages:; 'larm links --broken' says where links to these are}",
    "waits_blocked": "{urls:URL} {urls:waits|wait} at hosts that are blocked: 'larm ctl unblock HOST' asks for them while the "
    "crawl runs",
    "waits": "{urls:URL} {urls:waits|wait} for the next run[ ({hosts:; })][, {pace:duration} at this pace]"
    "[, {slowest:duration} by the pace of one host]: [{limit}, and ]the same command {again:tries again|goes on}",
    "hosts_given_up": "{hosts:host} {hosts:was|were} given up{pages:; 'larm links --broken' says why}",
    "hosts_shut": "what {hosts:blocked host} {hosts:has|have} waits for 'larm ctl unblock HOST'",
    "next": "next: 'larm search{everywhere: --cluster} WORDS'; all figures: 'larm stats'",
    # what a run has left out, and how to get it
    "cut": "words or links are missing of pages that were cut: {cuts}; the same command[ with {settings: }] reads them again; "
    "'larm search cut:all' finds them",
    "too_long": "{links:link} to URLs of more than {most} characters not followed; "
    "'larm crawl -start @{log} -s filters.length.max={enough:d}' does",
    "aliases": "{pages:page} found by searches under another address, which says the same or is named there as the right one: "
    "{some}; 'larm why' with one of these says which, storage.index.merge_duplicates: false indexes all",
    "redirects": "{pages:page} behind more than {most:d} redirects in a row not fetched; "
    "the same command with --set frontier.redirects={enough:d} does",
    "robots_truncated": "{hosts:host} with a robots.txt that is longer than robots.size: rules and sitemaps behind that are "
    "not known; the same command with --set robots.size={enough:d}MB reads more",
    "sitemaps_unwanted": "{hosts:host} with sitemaps in its robots.txt that are not fetched, as --max-depth is given; "
    "the same command with -s crawl.max_depth=null in place of it fetches them, and what they list",
    "uncompiled": "{pages:page} read by html5lib, some sixty times as slowly, as larm was installed without a C compiler; "
    "installing one, and larm again, makes it fast ('larm version -v' says whether it is compiled)",
    "nofollow": "{pages:page} with links that are not followed, as they say nofollow; "
    "the same command with --set processing.nofollow=false follows them",
    "too_deep": "{pages:page} with links that are not followed, as they lead deeper than --max-depth {depth:d}; the same "
    "command with --max-depth {deeper:d} follows them, without (-s crawl.max_depth=null) all that is in scope",
    "circle": "{pages:page} not fetched, redirecting in a circle, as sites do that want a cookie; the same command with the "
    "cookies of a browser, or keep_cookies, under sites in config.yaml (larm help sites) asks again",
    "hollow": "{only:the only page has}[{found} of {pages:page} {found:has|have}] nothing to search: "
    "[; {scripts} {scripts:is|are} built by scripts, and larm runs none]"
    "[; {challenge} {challenge:asks|ask} whether larm is a browser][; {login} {login:is a login form|are login forms}]"
    "[; {noindex} {noindex:asks|ask} not to be indexed (noindex)][; {empty} {empty:has|have} no text]"
    "[; {unread} {unread:is of a type|are of types} that larm does not read][; {document} {document:is a document|are "
    "documents} of which no text could be read (damaged, locked, or pictures of pages)]",
    "private": "[{hosts:host}][{urls:URL}] at private addresses not asked for anything; the logs of robots.txt and of errors "
    "in logs/ name them, crawl.private_networks allows them",
    "all_outside": "[all {links} links][{only:the only link}] of {pages} {only:leads|lead} to other hosts; "
    "-restrictto REGEX sets a scope that has them, '.*' one that has all",
    "all_outside_scope": "[all {links} links][{only:the only link}] of {pages} {only:leads|lead} out of the scope; "
    "'larm why --scope URL' says why",
    "all_outside_pattern": "-restrictto {pattern} has none of the {count} links of {pages}; it must match a URL as a whole"
    "[: '{pattern}.*' would have {inside} of them]",
    "some_outside": "all links of {pages:named} are out of scope; 'larm why --scope URL' says why",
    "too_slow": "{urls:URL} dropped, such as {example}: matching with -restrictto {pattern} takes too long; write it {simpler}",
    "sitemaps_beyond": "{sitemaps:sitemap} not fetched[, such as {example}]: at most {most:d} on other hosts for each host; "
    "a start URL there (--add) has it",
    "excluded": "{urls:URL} not fetched, as --exclude and --include leave them out; 'larm why URL' names the pattern, "
    "-s crawl.scope=host without them takes the whole hosts again",
    "raised": "{links:link} not followed, as a filter raised, which {log} shows; "
    "mend it, then 'cut -f3 {log} | larm crawl -start @-' asks for them",
    "forbidden": "{urls:URL} not fetched, as robots.txt forbids that; 'larm why URL' names the line, {log} has them, "
    "each run asks the rules again",
    "known_paths": "{urls:URL} not fetched, as filters.known_paths has an entry for {urls:it|them}; "
    "'larm why URL' says which, {log} has them",
    "own_filter": "{links:link} not followed, as the filter {filter} drops them; 'larm why URL' says why, {log} has them, "
    "a run without it in filters.order asks for them",
    "cookies": "cookies of {hosts:host} were kept during this run, as a browser keeps them, since links there have sessions; "
    "keep_cookies: false under sites in config.yaml (larm help sites) keeps none",
    "slowed": "{hosts:host} with nearly nothing but errors asked {times} times more slowly; "
    "the same command with -s frontier.error_delay=1 asks as fast as others",
    "left_trap": "{urls:URL} of {host} {urls:was|were} left, {urls:it looks|they look} like a trap: {patterns}",
    "left_same": "{urls:URL} of {host} {urls:was|were} left, {urls:it says|they say} what others say that have other "
    "parameters: {patterns}",
    "sessions": "{links:link} followed without a visitor's session in the address; the same command with "
    "-s filters.traps.repetition=false follows links as they are, once their pages are read again",
    "left_noindex": "{urls:URL} of {host} {urls:was|were} left, as pages like {urls:it|them} ask not to be indexed or are "
    "login forms, and lead to nothing new: {patterns}",
    "left_limit": "{urls:URL} of {host} {urls:was|were} left, {urls:it is|they are} beyond a limit: {patterns}",
    "left_closed": "{urls:URL} of {host} {urls:was|were} left, as pages like {urls:it|them} said nothing new: {patterns}",
    "left_open": "{urls:URL} of {host} {urls:was|were} left, {urls:it waits|they wait} for the next run: {patterns}",
    "left_lost": "{urls:more URL} of {host} {urls:was|were} not kept: too many wait already",
    "left_others": "{urls:URL} of other hosts {urls:was|were} left, too; stats.json names them under figures.left",
    "left_parked": "'larm crawl --parked' fetches what was left",
    "growing": "{hosts:named} brought tens of thousands of pages and {count:grows|grow} as fast as ever; "
    "--max-pages and filters.traps.pages bound it",
    "logs": "the oldest {bytes:size} of lines left logs/: monitor.log_size lets each have {limit:size}",
    # what became of a URL
    "why_forgotten": "Forgotten {when}; to have it fetched again: {undo}",
    "why_fetched": "Fetched[ as {address}][ {came:minute}], searchable: {searchable}[; asked again {again:minute}, in vain: "
    "{failed}][; not reached since {since:minute}, in {runs:revisit}]" + _ALIKE,
    "why_forbidden": "Not fetched: {reason}[ since {since:minute}]; each run asks again" + _KEPT,
    "why_gone": "Gone[ since {since:minute}] ({gone})" + _KEPT,
    "why_not_found": "Found no more[ since {since:minute}]: {reason}; each revisit asks again, and finds it when it is back"
    + _KEPT,
    "why_moved": "Redirects to {moved} ({status:d})" + _KEPT,
    "why_circle": "Not fetched: redirects to {moved} ({status:d}), and from there on in a circle" + _KEPT,
    "why_in_vain": "Not fetched: it was asked for, in vain" + _KEPT,
    "why_not_fetched": "Not fetched: {reason}[ since {since:minute}]" + _KEPT,
    "why_elsewhere": "Its host belongs to {agent}",
    "why_no_robots": "Not fetched: {reason}" + _LATER,
    "why_scope": "Not fetched: out of scope: {reason}",
    "why_robots": "Not fetched: forbidden by {reason}",
    "why_traps": "Not fetched: {reason}",
    "why_filter": "Not fetched: dropped by the filter {filter}: {reason}",
    "why_given_up": "Not fetched: its host was given up ({reason})" + _LATER,
    "why_failed": "Not fetched: failed {tries:time}" + _LATER,
    "why_queued": "Not fetched yet: number {place:d} of its host's queue" + _LATER,
    "why_waits": "Not fetched yet: it waits, or was set aside",
    "why_unfiltered": "Not fetched yet: number {place} of the URLs that wait for the filters",
    "why_redirects": "Not fetched: it is behind more than {most:d} redirects in a row; "
    "'larm crawl --set frontier.redirects={enough:d}' follows them",
    "why_linked": "Not fetched: links to it were not followed: they lead deeper than crawl.max_depth, or an earlier run's "
    "settings left them; the same command with a larger --max-depth follows them",
    "why_noted": "Not fetched: links to it, in links.log, are not followed: they say nofollow (-s "
    "processing.nofollow=false follows them), embed it or describe a search for browsers (-s "
    "processing.follow_embedded=true) or, where there is no link graph, lead deeper than --max-depth",
    "why_cut": "Not known to this crawl: no page, of those that were read whole, links to it; {pages:page} {pages:was|were} "
    "cut ('larm search cut:all' names them); it would be fetched",
    "why_unknown": "Not known to this crawl: no page that was read links to it; it would be fetched",
}

_NAMED = 3
"""Names that a sentence has of a list."""
_PART = re.compile(r"\[([^][]*)\]")
_VALUE = re.compile(r"\{(\w+)(?::([^{}]*))?\}")


class Note(msgspec.Struct, frozen=True):
    """One thing that is said."""

    key: str
    """A key of `SENTENCES`; empty: a sentence that only the moment has, such as what an error says."""
    numbers: dict[str, Any]
    text: str

    def __str__(self) -> str:
        return self.text


def note(key: str, **numbers: Any) -> Note:
    """Return the note with this key."""

    def part(found: re.Match[str]) -> str:
        return found[1] if all(numbers.get(name) for name, _ in _VALUE.findall(found[1])) else ""

    sentence = re.sub(r"(?<=: )[,;] ", "", _PART.sub(part, SENTENCES[key]))
    return Note(key, numbers, _VALUE.sub(lambda found: _words(numbers[found[1]], found[2] or ""), sentence))


def plain(text: str) -> Note:
    """Return the note of a sentence that has no key."""
    return Note("", {}, text)


def _words(value: Any, form: str) -> str:
    """Return a number as a sentence has it."""
    one, either, many = form.partition("|")
    if form in _FORMS:
        return _FORMS[form](value)
    if isinstance(value, bool):
        return one if value else many
    if either:
        return one if value == 1 else many
    if isinstance(value, int):
        return counted(value, form) if form else f"{value:,}"
    return (form or ", ").join(map(str, value)) if isinstance(value, list) else str(value)


def _named(names: list[str]) -> str:
    more = len(names) - _NAMED
    return ", ".join(names[:_NAMED]) + (f" and {more} more" if more > 0 else "")


_FORMS: Mapping[str, Callable[[Any], str]] = {"duration": duration, "minute": minute, "size": size, "named": _named, "d": str}

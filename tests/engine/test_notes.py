"""What larm says at the end of a run and of a URL: the sentence of each key, as a person reads it."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from larm.engine.figures.notes import SENTENCES, Note, note, plain
from larm.engine.figures.rates import minute

NOON = 1_700_000_000
SINCE = minute(NOON)
BLOCKED = [note("hosts_given_up", hosts=1, pages=True), note("hosts_shut", hosts=2)]
REVISITED = {"changed": 0, "same_text": 0, "unchanged": 0, "gone": 0, "redirected": 0, "news": False}
HOLLOW = dict.fromkeys(("scripts", "challenge", "login", "noindex", "empty", "unread", "document"), 0)
LEFT: dict[str, Any] = {"host": "a.test", "patterns": ["/a", "/b"]}
FETCHED = {"address": "", "came": NOON, "searchable": "yes", "again": 0, "failed": "", "since": 0, "runs": 0, "asked": ""}
GONE = {"since": NOON, "kept": False, "address": "", "asked": "", "reason": "404: no such page", "moved": "http://b/"}

EXPECTED: list[tuple[str, dict[str, Any], str]] = [
    (
        "ended",
        {"how": "stopped", "run": 1, "pages": 5_000, "directory": "site", "seconds": 61.0},
        "stopped: 1 page in this run, 5,000 in site, 1:01",
    ),
    (
        "ended",
        {"how": "finished", "run": 0, "pages": 5, "directory": "[a], b", "seconds": 0},
        "finished: 0 pages in this run, 5 in [a], b",
    ),
    ("agents", {"figures": "3 agents: 320 pages"}, "all agents: 3 agents: 320 pages"),
    (
        "revisited",
        {**REVISITED, "changed": 2, "gone": 1_000, "news": True},
        "revisited: 2 changed, 1,000 gone; 'larm report --changes' lists them",
    ),
    (
        "revisited",
        {**REVISITED, "same_text": 4, "unchanged": 2, "redirected": 3},
        "revisited: 4 with the same text as before, 2 unchanged, 3 redirecting for now ('larm why URL' says where to)",
    ),
    (
        "errors",
        {"kinds": "8 x timeout, 7 x 404", "pages": True},
        "errors: 8 x timeout, 7 x 404; 'larm links --broken' says where links to these are",
    ),
    ("errors", {"kinds": "1 x 404", "pages": False}, "errors: 1 x 404"),
    (
        "waits_blocked",
        {"urls": 2},
        "2 URLs wait at hosts that are blocked: 'larm ctl unblock HOST' asks for them while the crawl runs",
    ),
    (
        "waits",
        {"urls": 3, "hosts": BLOCKED, "pace": 83_298.0, "slowest": 0, "limit": "raise --max-pages", "again": False},
        "3 URLs wait for the next run (1 host was given up; 'larm links --broken' says why; what 2 blocked hosts have waits "
        "for 'larm ctl unblock HOST'), 23:08:18 at this pace: raise --max-pages, and the same command goes on",
    ),
    (
        "waits",
        {"urls": 1, "hosts": [], "pace": 0, "slowest": 112.0, "limit": "", "again": True},
        "1 URL waits for the next run, 1:52 by the pace of one host: the same command tries again",
    ),
    ("hosts_given_up", {"hosts": 2_000, "pages": False}, "2,000 hosts were given up"),
    ("hosts_shut", {"hosts": 1}, "what 1 blocked host has waits for 'larm ctl unblock HOST'"),
    ("next", {"everywhere": False}, "next: 'larm search WORDS'; all figures: 'larm stats'"),
    ("next", {"everywhere": True}, "next: 'larm search --cluster WORDS'; all figures: 'larm stats'"),
    (
        "cut",
        {"cuts": ["2 longer than fetch.page_size"], "settings": ["--set fetch.page_size=100MB", "--set x=1"]},
        "words or links are missing of pages that were cut: 2 longer than fetch.page_size; the same command with "
        "--set fetch.page_size=100MB --set x=1 reads them again; 'larm search cut:all' finds them",
    ),
    (
        "cut",
        {"cuts": ["1 that came in part"], "settings": []},
        "words or links are missing of pages that were cut: 1 that came in part; the same command reads them again; "
        "'larm search cut:all' finds them",
    ),
    (
        "too_long",
        {"links": 1, "most": 2_048, "log": "logs/x.log", "enough": 2_107},
        "1 link to URLs of more than 2,048 characters not followed; "
        "'larm crawl -start @logs/x.log -s filters.length.max=2107' does",
    ),
    (
        "aliases",
        {"pages": 2, "some": ["http://a/", "..."]},
        "2 pages found by searches under another address, which says the same or is named there as the right one: http://a/, "
        "...; 'larm why' with one of these says which, storage.index.merge_duplicates: false indexes all",
    ),
    (
        "redirects",
        {"pages": 1, "most": 3, "enough": 2_560},
        "1 page behind more than 3 redirects in a row not fetched; the same command with --set frontier.redirects=2560 does",
    ),
    (
        "robots_truncated",
        {"hosts": 2, "enough": 5},
        "2 hosts with a robots.txt that is longer than robots.size: rules and sitemaps behind that are not known; "
        "the same command with --set robots.size=5MB reads more",
    ),
    (
        "sitemaps_unwanted",
        {"hosts": 1},
        "1 host with sitemaps in its robots.txt that are not fetched, as --max-depth is given; the same command with "
        "-s crawl.max_depth=null in place of it fetches them, and what they list",
    ),
    (
        "uncompiled",
        {"pages": 2},
        "2 pages read by html5lib, some sixty times as slowly, as larm was installed without a C compiler; "
        "installing one, and larm again, makes it fast ('larm version -v' says whether it is compiled)",
    ),
    (
        "nofollow",
        {"pages": 1},
        "1 page with links that are not followed, as they say nofollow; the same command with "
        "--set processing.nofollow=false follows them",
    ),
    (
        "too_deep",
        {"pages": 2, "depth": 1, "deeper": 2},
        "2 pages with links that are not followed, as they lead deeper than --max-depth 1; the same command with "
        "--max-depth 2 follows them, without (-s crawl.max_depth=null) all that is in scope",
    ),
    (
        "circle",
        {"pages": 1},
        "1 page not fetched, redirecting in a circle, as sites do that want a cookie; the same command with the cookies of a "
        "browser, or keep_cookies, under sites in config.yaml (larm help sites) asks again",
    ),
    (
        "hollow",
        {**HOLLOW, "only": True, "found": 0, "pages": 1, "scripts": 1},
        "the only page has nothing to search: 1 is built by scripts, and larm runs none",
    ),
    (
        "hollow",
        {**HOLLOW, "only": False, "found": 2_009, "pages": 5_000, "scripts": 8, "login": 1, "noindex": 2_000},
        "2,009 of 5,000 pages have nothing to search: 8 are built by scripts, and larm runs none; 1 is a login form; "
        "2,000 ask not to be indexed (noindex)",
    ),
    (
        "hollow",
        {**HOLLOW, "only": False, "found": 1, "pages": 2, "challenge": 1, "empty": 2, "unread": 1, "document": 2},
        "1 of 2 pages has nothing to search: 1 asks whether larm is a browser; 2 have no text; 1 is of a type that larm does "
        "not read; 2 are documents of which no text could be read (damaged, locked, or pictures of pages)",
    ),
    (
        "private",
        {"hosts": 1, "urls": 0},
        "1 host at private addresses not asked for anything; the logs of robots.txt and of errors in logs/ name them, "
        "crawl.private_networks allows them",
    ),
    (
        "all_outside",
        {"links": 0, "only": True, "pages": "the start pages"},
        "the only link of the start pages leads to other hosts; "
        "-restrictto REGEX sets a scope that has them, '.*' one that has all",
    ),
    (
        "all_outside_scope",
        {"links": 3_000, "only": False, "pages": "the start pages and sitemaps"},
        "all 3,000 links of the start pages and sitemaps lead out of the scope; 'larm why --scope URL' says why",
    ),
    (
        "all_outside_pattern",
        {"pattern": "http://a/", "count": 3, "pages": "the start pages", "inside": 2},
        "-restrictto http://a/ has none of the 3 links of the start pages; it must match a URL as a whole: "
        "'http://a/.*' would have 2 of them",
    ),
    (
        "all_outside_pattern",
        {"pattern": "[a]", "count": 3, "pages": "the start pages", "inside": 0},
        "-restrictto [a] has none of the 3 links of the start pages; it must match a URL as a whole",
    ),
    (
        "some_outside",
        {"pages": list("abcde")},
        "all links of a, b, c and 2 more are out of scope; 'larm why --scope URL' says why",
    ),
    (
        "too_slow",
        {"urls": 2, "example": "http://a/", "pattern": "(x|xx)+", "simpler": "without repetitions"},
        "2 URLs dropped, such as http://a/: matching with -restrictto (x|xx)+ takes too long; write it without repetitions",
    ),
    (
        "sitemaps_beyond",
        {"sitemaps": 2, "example": "http://c/map.xml, which files of a name", "most": 3},
        "2 sitemaps not fetched, such as http://c/map.xml, which files of a name: at most 3 on other hosts for each host; "
        "a start URL there (--add) has it",
    ),
    (
        "excluded",
        {"urls": 2},
        "2 URLs not fetched, as --exclude and --include leave them out; 'larm why URL' names the pattern, "
        "-s crawl.scope=host without them takes the whole hosts again",
    ),
    (
        "raised",
        {"links": 1, "log": "logs/filter_errors.log"},
        "1 link not followed, as a filter raised, which logs/filter_errors.log shows; mend it, then "
        "'cut -f3 logs/filter_errors.log | larm crawl -start @-' asks for them",
    ),
    (
        "forbidden",
        {"urls": 2, "log": "logs/x.log"},
        "2 URLs not fetched, as robots.txt forbids that; 'larm why URL' names the line, logs/x.log has them, "
        "each run asks the rules again",
    ),
    (
        "known_paths",
        {"urls": 1, "log": "logs/x.log"},
        "1 URL not fetched, as filters.known_paths has an entry for it; 'larm why URL' says which, logs/x.log has them",
    ),
    (
        "own_filter",
        {"links": 1, "filter": "NoWilderness", "log": "logs/NoWilderness.log"},
        "1 link not followed, as the filter NoWilderness drops them; 'larm why URL' says why, logs/NoWilderness.log has them, "
        "a run without it in filters.order asks for them",
    ),
    (
        "cookies",
        {"hosts": 1},
        "cookies of 1 host were kept during this run, as a browser keeps them, since links there have sessions; "
        "keep_cookies: false under sites in config.yaml (larm help sites) keeps none",
    ),
    (
        "slowed",
        {"hosts": 1, "times": "5"},
        "1 host with nearly nothing but errors asked 5 times more slowly; "
        "the same command with -s frontier.error_delay=1 asks as fast as others",
    ),
    ("left_trap", {**LEFT, "urls": 12_849}, "12,849 URLs of a.test were left, they look like a trap: /a, /b"),
    (
        "left_same",
        {**LEFT, "urls": 1},
        "1 URL of a.test was left, it says what others say that have other parameters: /a, /b",
    ),
    (
        "sessions",
        {"links": 2},
        "2 links followed without a visitor's session in the address; the same command with -s filters.traps.repetition=false "
        "follows links as they are, once their pages are read again",
    ),
    (
        "left_noindex",
        {**LEFT, "urls": 2},
        "2 URLs of a.test were left, as pages like them ask not to be indexed or are login forms, and lead to nothing new: "
        "/a, /b",
    ),
    ("left_limit", {**LEFT, "urls": 2}, "2 URLs of a.test were left, they are beyond a limit: /a, /b"),
    ("left_closed", {**LEFT, "urls": 1}, "1 URL of a.test was left, as pages like it said nothing new: /a, /b"),
    ("left_open", {**LEFT, "urls": 2}, "2 URLs of a.test were left, they wait for the next run: /a, /b"),
    ("left_lost", {"urls": 7, "host": "a.test"}, "7 more URLs of a.test were not kept: too many wait already"),
    ("left_others", {"urls": 49}, "49 URLs of other hosts were left, too; stats.json names them under figures.left"),
    ("left_parked", {}, "'larm crawl --parked' fetches what was left"),
    (
        "growing",
        {"hosts": ["a.test"], "count": 1},
        "a.test brought tens of thousands of pages and grows as fast as ever; --max-pages and filters.traps.pages bound it",
    ),
    (
        "growing",
        {"hosts": list("abcde"), "count": 5},
        "a, b, c and 2 more brought tens of thousands of pages and grow as fast as ever; "
        "--max-pages and filters.traps.pages bound it",
    ),
    (
        "logs",
        {"bytes": 2_048, "limit": 1_048_576},
        "the oldest 2.00 KB of lines left logs/: monitor.log_size lets each have 1.00 MB",
    ),
    ("why_forgotten", {"when": "today", "undo": "'larm x'"}, "Forgotten today; to have it fetched again: 'larm x'"),
    ("why_fetched", FETCHED, f"Fetched {SINCE}, searchable: yes"),
    (
        "why_fetched",
        {
            **FETCHED,
            "again": NOON,
            "failed": "500: no",
            "since": NOON,
            "runs": 2,
            "address": "http://a/",
            "asked": "http://A/x",
        },
        f"Fetched as http://a/ {SINCE}, searchable: yes; asked again {SINCE}, in vain: 500: no; not reached since {SINCE}, in "
        "2 revisits. Normalised, http://A/x is the same address as http://a/, and is known as that one",
    ),
    ("why_forbidden", {**GONE, "reason": "no"}, f"Not fetched: no since {SINCE}; each run asks again"),
    ("why_gone", {**GONE, "gone": 404}, f"Gone since {SINCE} (404)"),
    (
        "why_gone",
        {**GONE, "gone": 404, "since": 0, "kept": True},
        "Gone (404); still searchable: pages that are gone leave at the end of a revisit, unless recrawl.most_gone keeps them",
    ),
    (
        "why_not_found",
        GONE,
        f"Found no more since {SINCE}: 404: no such page; each revisit asks again, and finds it when it is back",
    ),
    ("why_moved", {**GONE, "status": 301}, "Redirects to http://b/ (301)"),
    ("why_circle", {**GONE, "status": 302}, "Not fetched: redirects to http://b/ (302), and from there on in a circle"),
    ("why_in_vain", GONE, "Not fetched: it was asked for, in vain"),
    ("why_not_fetched", GONE, f"Not fetched: 404: no such page since {SINCE}"),
    ("why_elsewhere", {"agent": "the agent b"}, "Its host belongs to the agent b"),
    ("why_no_robots", {"reason": "no robots.txt", "later": NOON}, f"Not fetched: no robots.txt, next try {SINCE}"),
    ("why_scope", {"reason": "b"}, "Not fetched: out of scope: b"),
    ("why_robots", {"reason": "line 2"}, "Not fetched: forbidden by line 2"),
    ("why_traps", {"reason": "held back"}, "Not fetched: held back"),
    ("why_filter", {"filter": "length", "reason": "long"}, "Not fetched: dropped by the filter length: long"),
    ("why_given_up", {"reason": "timeout", "later": 0}, "Not fetched: its host was given up (timeout)"),
    ("why_failed", {"tries": 1, "later": NOON}, f"Not fetched: failed 1 time, next try {SINCE}"),
    ("why_queued", {"place": 3_000, "later": 0}, "Not fetched yet: number 3000 of its host's queue"),
    ("why_waits", {}, "Not fetched yet: it waits, or was set aside"),
    ("why_unfiltered", {"place": 3_000}, "Not fetched yet: number 3,000 of the URLs that wait for the filters"),
    (
        "why_redirects",
        {"most": 3, "enough": 20},
        "Not fetched: it is behind more than 3 redirects in a row; 'larm crawl --set frontier.redirects=20' follows them",
    ),
    (
        "why_linked",
        {},
        "Not fetched: links to it were not followed: they lead deeper than crawl.max_depth, or an earlier run's settings left "
        "them; the same command with a larger --max-depth follows them",
    ),
    (
        "why_noted",
        {},
        "Not fetched: links to it, in links.log, are not followed: they say nofollow (-s processing.nofollow=false follows "
        "them), embed it or describe a search for browsers (-s processing.follow_embedded=true) or, where there is no link "
        "graph, lead deeper than --max-depth",
    ),
    (
        "why_cut",
        {"pages": 1},
        "Not known to this crawl: no page, of those that were read whole, links to it; 1 page was cut "
        "('larm search cut:all' names them); it would be fetched",
    ),
    ("why_unknown", {}, "Not known to this crawl: no page that was read links to it; it would be fetched"),
]


@pytest.mark.parametrize(("key", "numbers", "text"), EXPECTED)
def test_sentence_of_a_key_has_its_numbers(key: str, numbers: dict[str, Any], text: str) -> None:
    assert note(key, **numbers) == Note(key, numbers, text)


def test_each_key_has_an_expected_sentence() -> None:
    assert {key for key, _, _ in EXPECTED} == SENTENCES.keys()


def test_note_that_was_written_is_read_again() -> None:
    notes = (note("waits", urls=1, hosts=[], pace=0, slowest=0, limit="", again=False), plain("{no} [template]"))
    assert msgspec.json.decode(msgspec.json.encode(notes), type=tuple[Note, ...]) == notes
    assert str(notes[1]) == "{no} [template]"

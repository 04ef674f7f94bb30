"""The sentence with which ``larm why`` begins."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest

from larm.cluster.card import Card
from larm.cluster.files import IDENTITY
from larm.cluster.identity import Identity, write_identity
from larm.cluster.roster import Roster, write_roster
from larm.crawldir.state import QUEUES
from larm.model.message import UNKNOWN, Known
from larm.ops import afterwards
from larm.ops.afterwards import explain_url
from larm.ops.verdict import Facts, Waits, verdict
from larm.store.pages.page_row import Answer, PageRow
from larm.testing.web import SyntheticWeb
from tests.stories.crawls import asked, config_of, run_crawl

NOON = 1_700_000_000.0
CAME = Answer(200, int(NOON), int(NOON))
STORED = PageRow("http://a/", "http://a/", "a", "<start>", 0, 0, Known("", "", 1, 1), stored=True, last=CAME)
STORED = msgspec.structs.replace(STORED, fetched=int(NOON), came=int(NOON))
NOTHING = Facts(None, "yes", {}, Waits(), linked=False, now=NOON)


def key(**changes: object) -> str:
    return verdict(msgspec.structs.replace(NOTHING, **changes)).key


def numbers(**changes: object) -> dict[str, Any]:
    return verdict(msgspec.structs.replace(NOTHING, **changes)).numbers


def page(**changes: object) -> PageRow:
    return msgspec.structs.replace(STORED, **changes)


def test_fetched_page_says_when_it_came_and_whether_it_is_searchable() -> None:
    there = verdict(msgspec.structs.replace(NOTHING, page=STORED))
    assert (there.key, there.numbers["came"], there.numbers["searchable"]) == ("why_fetched", NOON, "yes")
    later = int(NOON) + 3_600
    unchanged = page(last=Answer(304, later, int(NOON)), fetched=later)
    assert numbers(page=unchanged) == there.numbers, "unchanged is not fetched"
    assert key(page=STORED, refusals={"visited": "seen before", "scope": "out"}) == "why_fetched"
    assert numbers(page=page(index=False), searchable="no")["searchable"] == "no, it asks not to be indexed (noindex)"
    bare = numbers(page=page(known=UNKNOWN))
    assert bare["searchable"] == "by title, address and links alone, as no text was read of it"
    broken = numbers(page=page(last=Answer(500, int(NOON), int(NOON))))
    assert (broken["again"], broken["failed"]) == (NOON, "500: the server failed (Internal Server Error)")
    login = numbers(page=page(last=Answer(302, int(NOON), int(NOON), moved="http://a/login")))
    assert (login["again"], login["failed"]) == (NOON, "302: moved to http://a/login")
    assert numbers(page=page(last=Answer(300, int(NOON), int(NOON)))) == there.numbers, "a page of choices is a page"


@pytest.mark.parametrize(
    ("row", "expected", "some"),
    [
        (page(gone=404, last=Answer(404, 9, int(NOON))), "why_gone", {"gone": 404, "since": NOON}),
        (page(stored=False, forgotten=410, last=Answer(410, 9, int(NOON))), "why_gone", {"gone": 410, "since": NOON}),
        (page(stored=False, last=Answer(404, 9, int(NOON))), "why_not_fetched", {"reason": "404: no such page", "since": NOON}),
        (page(stored=False, last=Answer(why="no such host (DNS)")), "why_not_fetched", {"reason": "no such host (DNS)"}),
        (page(stored=False, last=Answer(301, moved="http://b/")), "why_moved", {"moved": "http://b/", "status": 301}),
        (page(stored=False, last=Answer()), "why_in_vain", {}),
    ],
)
def test_page_that_is_not_there_has_a_reason(row: PageRow, expected: str, some: dict[str, Any]) -> None:
    assert key(page=row, searchable="no") == expected
    assert some.items() <= numbers(page=row, searchable="no").items()
    assert not numbers(page=row, searchable="no")["kept"]


def test_page_that_is_gone_and_kept_in_the_index_says_so() -> None:
    assert numbers(page=page(gone=404, last=Answer(404, 9, int(NOON))))["kept"]


@pytest.mark.parametrize(
    ("waits", "expected", "some"),
    [
        (Waits(robots="no robots.txt", until=NOON + 99), "why_no_robots", {"reason": "no robots.txt", "later": NOON + 99}),
        (Waits(place=3), "why_queued", {"place": 3, "later": 0}),
        (Waits(tries=1, until=NOON + 99), "why_failed", {"tries": 1, "later": NOON + 99}),
        (Waits(given_up="timeout"), "why_given_up", {"reason": "timeout", "later": 0}),
        (Waits(), "why_waits", {}),
    ],
)
def test_page_that_waits_says_for_what(waits: Waits, expected: str, some: dict[str, Any]) -> None:
    assert key(waits=waits, refusals={"visited": "seen before"}) == expected
    assert numbers(waits=waits, refusals={"visited": "seen before"}) == some


def test_what_is_behind_too_many_redirects_says_so(web: SyntheticWeb, tmp_path: Path) -> None:
    host = web.host("a.localhost")
    for number in range(4):
        host.redirect(f"/{number}", f"/{number + 1}", 302)
    host.page("/", links=["/0"])
    start, settings = web.url("a.localhost"), {"frontier.redirects": 3}
    run_crawl(tmp_path, start, settings)
    said = explain_url(config_of(start, settings), tmp_path, web.url("a.localhost", "/4")).note
    assert (said.key, said.numbers) == ("why_redirects", {"most": 3, "enough": 20})


def test_of_pages_that_were_cut_nobody_knows_where_they_lead(web: SyntheticWeb, tmp_path: Path) -> None:
    web.host("a.localhost").page("/", links=[f"/{number}" for number in range(9)])
    start = web.url("a.localhost")
    run_crawl(tmp_path, start, {"processing.links": 5})
    said = explain_url(config_of(start), tmp_path, web.url("a.localhost", "/8")).note
    assert (said.key, said.numbers) == ("why_cut", {"pages": 1})


def test_where_no_page_was_cut_nobody_looks_through_all_of_them(
    web: SyntheticWeb, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    web.host("a.localhost").page("/", links=["/1"])
    start = web.url("a.localhost")
    run_crawl(tmp_path, start)
    monkeypatch.setattr(afterwards, "page_rows", None)
    assert explain_url(config_of(start), tmp_path, web.url("a.localhost", "/8")).note.key == "why_unknown"


def test_hosts_of_another_agent(web: SyntheticWeb, tmp_path: Path) -> None:
    """Of a crawl by several: who has it, and how to ask. Pages that are here, and filters that hold anywhere, come first."""
    web.host("a.localhost").page("/", "Home", "text")
    start = web.url("a.localhost")
    settings = config_of(start)
    run_crawl(tmp_path / "one", start)
    run_crawl(tmp_path / "two", start)
    cards = {"a": Card("tcp/127.0.0.1:1", "", str(tmp_path / "one")), "b": Card("tcp/127.0.0.1:2", "", str(tmp_path / "two"))}
    write_identity(tmp_path / "two" / QUEUES / IDENTITY, Identity("demo", "b"))
    write_roster(tmp_path / "one" / QUEUES, Roster("demo", "a", members={"b": 1.0}, cards=cards))
    there = web.url("a.localhost", "/new")
    ask = f"'larm why --dir {tmp_path / 'two'} {there}' says more"
    said = explain_url(settings, tmp_path / "one", there).note
    assert (said.key, said.numbers) == ("why_elsewhere", {"agent": f"the agent b at tcp/127.0.0.1:2: {ask}"})
    assert explain_url(settings, tmp_path / "one", start).note.key == "why_fetched"
    outside = explain_url(settings, tmp_path / "one", "http://other.example/").note
    assert outside.key == "why_scope"
    assert outside.numbers["reason"].startswith("other.example is not")
    write_roster(tmp_path / "one" / QUEUES, Roster("demo", "a", members={"b": 1.0}, cards={"b": Card("tcp/192.0.2.2:7441")}))
    said = explain_url(settings, tmp_path / "one", there).note
    ask = f"'larm why {there}' on its machine says more"
    assert (said.key, said.numbers) == ("why_elsewhere", {"agent": f"the agent b at tcp/192.0.2.2:7441: {ask}"})


@pytest.mark.parametrize(
    ("name", "expected"), [("robots", "why_robots"), ("traps", "why_traps"), ("length", "why_filter"), ("scope", "why_scope")]
)
def test_filter_that_refuses_is_said(name: str, expected: str) -> None:
    assert key(refusals={name: "no"}) == expected
    assert numbers(refusals={name: "no"}) == {"filter": name, "reason": "no"}


def test_url_that_no_queue_has_is_not_known_or_its_links_were_not_followed() -> None:
    assert key(linked=True) == "why_linked"
    assert key() == "why_unknown"


def test_a_crawl_tells_of_each_of_its_addresses(web: SyntheticWeb, tmp_path: Path) -> None:
    site = web.host("a.localhost")
    site.page("/", links=["/page", "/gone", "/moved", "/quiet", "/private", "/to-ring", "http://b.localhost:{port}/"])
    site.page("/page", text="first")
    site.page("/quiet", head='<meta name="robots" content="noindex">')
    site.redirect("/moved", "/page", 302)
    for page, to in ("to-ring", "ring1"), ("ring1", "ring2"), ("ring2", "ring3"), ("ring3", "ring1"):
        site.redirect(f"/{page}", f"/{to}", 302)
    site.robots("User-agent: *\nDisallow: /private\n")
    start = web.url("a.localhost")
    run_crawl(tmp_path, start)

    def why(path: str, *names: str) -> tuple[Any, ...]:
        note = explain_url(config_of(start), tmp_path, web.url("a.localhost", path)).note
        return (note.key, *(note.numbers[name] for name in names))

    assert why("/page", "searchable") == ("why_fetched", "yes")
    assert why("/quiet", "searchable") == ("why_fetched", "no, it asks not to be indexed (noindex)")
    assert why("/gone", "reason") == ("why_not_fetched", "404: no such page")
    assert why("/moved", "moved", "status") == ("why_moved", f"{start}page", 302)
    for page, to in ("to-ring", "ring1"), ("ring3", "ring1"):
        assert why(f"/{page}", "moved", "status") == ("why_circle", f"{start}{to}", 302)
    assert why("/private", "reason")[1].startswith("line 2 of ")
    assert why("/never") == ("why_unknown",)
    outside = explain_url(config_of(start), tmp_path, web.url("b.localhost"))
    assert outside.note.key == "why_scope"
    assert outside.note.numbers["reason"].startswith("b.localhost")
    assert ("linked from", start) in outside.rows
    web.log.clear()
    site.remove("/page")
    run_crawl(tmp_path, start)
    assert why("/page") == ("why_gone",)
    assert asked(web)["a.localhost/moved"] == 0, "an address that only redirects is not asked for again"
    topics = dict(explain_url(config_of(start), tmp_path, start).rows)
    assert topics["last asked"] == topics["last fetch"][:16]


def test_a_robots_txt_that_cant_be_read_is_the_reason(web: SyntheticWeb, tmp_path: Path) -> None:
    site = web.host("a.localhost")
    site.status("/robots.txt", 503)
    start = web.url("a.localhost")
    run_crawl(tmp_path, start, {"frontier.backoff": "2h"})
    said = explain_url(config_of(start), tmp_path, start).note
    assert (said.key, said.numbers["reason"]) == ("why_no_robots", "robots.txt could not be read (503)")
    assert said.numbers["later"] > 0

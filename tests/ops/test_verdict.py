"""The sentence with which ``larm why`` begins."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from larm.cluster.card import Card
from larm.cluster.files import IDENTITY
from larm.cluster.identity import Identity, write_identity
from larm.cluster.roster import Roster, write_roster
from larm.crawldir.state import QUEUES
from larm.engine.figures.rates import minute
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


def said(**changes: object) -> str:
    return verdict(msgspec.structs.replace(NOTHING, **changes))


def page(**changes: object) -> PageRow:
    return msgspec.structs.replace(STORED, **changes)


def test_pages_that_are_there() -> None:
    assert said(page=STORED) == f"Fetched {minute(NOON)}, searchable: yes"
    later = int(NOON) + 3_600
    assert said(page=page(last=Answer(304, later, int(NOON)), fetched=later)) == said(page=STORED), "unchanged is not fetched"
    assert said(page=STORED, refusals={"visited": "seen before", "scope": "out"}).startswith("Fetched ")
    assert said(page=page(index=False), searchable="no").endswith("searchable: no, it asks not to be indexed (noindex)")
    assert said(page=page(known=UNKNOWN)).endswith("searchable: by title, address and links alone, as no text was read of it")
    broken = said(page=page(last=Answer(500, int(NOON), int(NOON))))
    assert broken.endswith(f"; asked again {minute(NOON)}, in vain: 500: the server failed (Internal Server Error)")
    login = said(page=page(last=Answer(302, int(NOON), int(NOON), moved="http://a/login")))
    assert login.endswith(f"; asked again {minute(NOON)}, in vain: 302: moved to http://a/login")
    assert said(page=page(last=Answer(300, int(NOON), int(NOON)))) == said(page=STORED), "a page of choices is a page"


@pytest.mark.parametrize(
    ("row", "sentence"),
    [
        (page(gone=404, last=Answer(404, 9, int(NOON))), f"Gone since {minute(NOON)} (404)"),
        (page(stored=False, forgotten=410, last=Answer(410, 9, int(NOON))), f"Gone since {minute(NOON)} (410)"),
        (page(stored=False, last=Answer(404, 9, int(NOON))), f"Not fetched: 404: no such page since {minute(NOON)}"),
        (page(stored=False, last=Answer(why="no such host (DNS)")), "Not fetched: no such host (DNS)"),
        (page(stored=False, last=Answer(301, moved="http://b/")), "Redirects to http://b/ (301)"),
        (page(stored=False, last=Answer()), "Not fetched: it was asked for, in vain"),
    ],
)
def test_pages_that_are_not(row: PageRow, sentence: str) -> None:
    assert said(page=row, searchable="no") == sentence


def test_page_that_is_gone_and_kept_in_the_index_says_so() -> None:
    row = page(gone=404, last=Answer(404, 9, int(NOON)))
    assert said(page=row).startswith(f"Gone since {minute(NOON)} (404); still searchable: ")


@pytest.mark.parametrize(
    ("waits", "sentence"),
    [
        (Waits(robots="robots.txt could not be read (503)", until=NOON + 99), f"(503), next try {minute(NOON + 99)}"),
        (Waits(place=3), "Not fetched yet: number 3 of its host's queue"),
        (Waits(tries=1, until=NOON + 99), f"Not fetched: failed 1 time, next try {minute(NOON + 99)}"),
        (Waits(given_up="timeout"), "Not fetched: its host was given up (timeout)"),
        (Waits(), "Not fetched yet: it waits, or was set aside"),
    ],
)
def test_pages_that_wait(waits: Waits, sentence: str) -> None:
    assert said(waits=waits, refusals={"visited": "seen before"}).endswith(sentence)


def test_what_is_behind_too_many_redirects_says_so(web: SyntheticWeb, tmp_path: Path) -> None:
    host = web.host("a.localhost")
    for number in range(4):
        host.redirect(f"/{number}", f"/{number + 1}", 302)
    host.page("/", links=["/0"])
    start, settings = web.url("a.localhost"), {"frontier.redirects": 3}
    run_crawl(tmp_path, start, settings)
    said = explain_url(config_of(start, settings), tmp_path, web.url("a.localhost", "/4")).verdict
    assert said.startswith("Not fetched: it is behind more than 3 redirects in a row; 'larm crawl --set frontier.redirects=20'")


def test_of_pages_that_were_cut_nobody_knows_where_they_lead(web: SyntheticWeb, tmp_path: Path) -> None:
    web.host("a.localhost").page("/", links=[f"/{number}" for number in range(9)])
    start = web.url("a.localhost")
    run_crawl(tmp_path, start, {"processing.links": 5})
    said = explain_url(config_of(start), tmp_path, web.url("a.localhost", "/8")).verdict
    assert said.startswith("Not known to this crawl: no page, of those that were read whole, links to it; 1 page was cut")


def test_where_no_page_was_cut_nobody_looks_through_all_of_them(
    web: SyntheticWeb, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    web.host("a.localhost").page("/", links=["/1"])
    start = web.url("a.localhost")
    run_crawl(tmp_path, start)
    monkeypatch.setattr(afterwards, "page_rows", None)
    said = explain_url(config_of(start), tmp_path, web.url("a.localhost", "/8")).verdict
    assert said.startswith("Not known to this crawl: no page that was read links to it")


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
    assert (
        explain_url(settings, tmp_path / "one", there).verdict
        == f"Its host belongs to the agent b at tcp/127.0.0.1:2: 'larm why --dir {tmp_path / 'two'} {there}' says more"
    )
    assert explain_url(settings, tmp_path / "one", start).verdict.startswith("Fetched ")
    assert explain_url(settings, tmp_path / "one", "http://other.example/").verdict.startswith(
        "Not fetched: out of scope: other.example is not"
    )
    write_roster(tmp_path / "one" / QUEUES, Roster("demo", "a", members={"b": 1.0}, cards={"b": Card("tcp/192.0.2.2:7441")}))
    said = explain_url(settings, tmp_path / "one", there).verdict
    assert said == f"Its host belongs to the agent b at tcp/192.0.2.2:7441: 'larm why {there}' on its machine says more"


def test_what_refuses_is_said_in_its_own_words() -> None:
    assert (
        said(refusals={"robots": "line 2 of http://a/robots.txt"}) == "Not fetched: forbidden by line 2 of http://a/robots.txt"
    )
    assert said(refusals={"traps": "held back: pattern /a"}) == "Not fetched: held back: pattern /a"
    assert said(refusals={"length": "too long"}) == "Not fetched: dropped by the filter length: too long"
    assert said(linked=True).startswith("Not fetched: links to it were not followed")
    assert said().startswith("Not known to this crawl")


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

    def why(path: str) -> str:
        return explain_url(config_of(start), tmp_path, web.url("a.localhost", path)).verdict

    assert why("/page").endswith(", searchable: yes")
    assert why("/quiet").endswith("(noindex)")
    assert why("/gone").startswith("Not fetched: 404: no such page since 2")
    assert why("/moved") == f"Redirects to {start}page (302)"
    for page, to in ("to-ring", "ring1"), ("ring3", "ring1"):
        assert why(f"/{page}") == f"Not fetched: redirects to {start}{to} (302), and from there on in a circle"
    assert why("/private").startswith("Not fetched: forbidden by line 2 of ")
    assert why("/never").startswith("Not known to this crawl")
    outside = explain_url(config_of(start), tmp_path, web.url("b.localhost"))
    assert outside.verdict.startswith("Not fetched: out of scope: b.localhost")
    assert ("linked from", start) in outside.rows
    web.log.clear()
    site.remove("/page")
    run_crawl(tmp_path, start)
    assert why("/page").startswith("Gone since 2")
    assert asked(web)["a.localhost/moved"] == 0, "an address that only redirects is not asked for again"
    topics = dict(explain_url(config_of(start), tmp_path, start).rows)
    assert topics["last asked"] == topics["last fetch"][:16]


def test_a_robots_txt_that_cant_be_read_is_the_reason(web: SyntheticWeb, tmp_path: Path) -> None:
    site = web.host("a.localhost")
    site.status("/robots.txt", 503)
    start = web.url("a.localhost")
    run_crawl(tmp_path, start, {"frontier.backoff": "2h"})
    said = explain_url(config_of(start), tmp_path, start).verdict
    assert said.startswith("Not fetched: robots.txt could not be read (503), next try 2")

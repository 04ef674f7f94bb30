"""A search of peers in a real browser: what comes late is added below, and nothing moves; what is hostile does nothing."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

pytest.importorskip("playwright")

from playwright.sync_api import expect

from larm.model.findings import Asked, Findings
from larm.model.hit import Hit
from larm.peers.door import Call
from tests.index.search.test_several import index
from tests.peers.yousearch.groups import group, known, until
from tests.web.browser import Complaints, chromium, needs_chromium


@needs_chromium
def test_late_results_move_nothing(tmp_path: Path) -> None:
    let_go = threading.Event()

    def slow(_: Call, __: Asked) -> Findings:
        let_go.wait(60)
        hostile = Hit(
            title="<img src=x onerror=alert(1)> eel",
            url="http://slow.org/eel",
            parts=(("<script>alert(2)</script>", True),),
        )
        return Findings(searcher="slow", hits=(hostile, Hit(title="y", url="javascript:alert(3)")), total=2)

    complaints = Complaints()
    with group(tmp_path) as made, chromium() as browser:
        registrar = made.start("", registrar=True)
        pages = {"http://quick.org/eel": "An eel.", "http://quick.org/pond": "A pond with an eel, and with much else in it."}
        made.start("quick", index(tmp_path / "of-quick", pages), registrars=(registrar.url,))
        asker = made.start("asker", registrars=(registrar.url,))
        made.bad(registrar, ["eel"], slow, "slow")
        known(registrar, "quick", "slow", "asker")
        page = browser.new_page()
        complaints.watch(page)
        page.goto(f"{asker.url}/search?q=eel")
        rows = page.locator("ol.results > li")
        expect(rows).to_have_count(2)
        expect(page.get_by_text("Other machines are still being asked")).to_be_visible()
        row = rows.first.element_handle()
        assert row is not None
        before = row.bounding_box()
        let_go.set()
        expect(rows).to_have_count(3, timeout=60_000)
        expect(page.get_by_role("status")).to_contain_text("1 to 3 of")
        expect(page.get_by_text("Other machines are still being asked")).to_have_count(0)
        assert row.evaluate("row => row === document.querySelector('ol.results > li')"), "what was shown is where it was"
        assert row.bounding_box() == before
        expect(rows.nth(2)).to_contain_text("<img src=x onerror=alert(1)> eel")
        expect(page.get_by_text("1 of these came late and belong further up.")).to_be_visible()
        page.get_by_role("button", name="Sort all by rank").click()
        expect(rows).to_have_count(3)
        expect(rows.nth(1)).to_contain_text("<img src=x onerror=alert(1)> eel")
        expect(page.get_by_text("Sorted by rank.")).to_be_visible()
        page.goto(f"{asker.url}/peers")
        expect(page.get_by_role("heading", name="What you share")).to_be_visible()
    assert complaints == []


@pytest.mark.slow
@needs_chromium
def test_recommend_see_it_elsewhere_and_stop_sharing(tmp_path: Path) -> None:
    docs = tmp_path / "docs"
    docs.mkdir()
    (docs / "pond.html").write_text("<title>The pond</title><p>Eels live in ponds.")
    complaints = Complaints()
    with group(tmp_path) as made, chromium() as browser:
        registrar = made.start("", registrar=True)
        anna = made.start("anna", share=(str(docs),), registrars=(registrar.url,), public=True, closed=True)
        berta = made.start("berta", registrars=(registrar.url,), public=True, closed=True)
        known(registrar, "anna", "berta")
        until(lambda: berta.titles("eels") == {"The pond"})
        hers, other = browser.new_page(), browser.new_page()
        for page in (hers, other):
            complaints.watch(page)

        def at_bertas(text: str, number: int) -> bool:
            other.goto(f"{berta.url}/search?q=eels&wait=1")
            return other.locator("ol.results > li", has_text=text).count() == number

        hers.goto(f"{anna.url}/search?q=eels&wait=1")
        expect(hers.get_by_text("The pond")).to_be_visible()
        expect(hers.get_by_role("button", name="Recommend")).to_have_count(0)
        hers.goto(f"{anna.url}/login")
        hers.get_by_label("Token").fill((tmp_path / "anna" / "token").read_text().strip())
        hers.get_by_role("button", name="Sign in").click()
        hers.goto(f"{anna.url}/search?q=eels&wait=1")
        hers.get_by_role("button", name="Recommend result 1").click()
        expect(hers.get_by_text("your recommendations")).to_be_visible()
        until(lambda: at_bertas("recommendations of anna", 1))
        link = other.get_by_role("link", name="The pond").first
        assert link.get_attribute("href") == f"{anna.url}/files/docs/pond.html"
        shown = browser.new_page()  # not watched: a browser may ask for an icon, which a sealed page can't have
        shown.goto(f"{anna.url}/files/docs/pond.html")
        expect(shown.get_by_text("Eels live in ponds.")).to_be_visible()

        hers.goto(f"{anna.url}/peers")
        hers.get_by_role("button", name="Take it back").click()
        expect(hers.get_by_text("Who is signed in can recommend")).to_be_visible()
        until(lambda: at_bertas("recommendations of", 0))
        hers.get_by_role("button", name="Stop sharing docs").click()
        expect(hers.get_by_role("button", name="Share again docs")).to_be_visible()
        until(lambda: at_bertas("The pond", 0))
        assert complaints == []
        answer = shown.goto(f"{anna.url}/files/docs/pond.html")
        assert answer is not None
        assert answer.status == 404

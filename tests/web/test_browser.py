"""The search page as people use it: with a mouse, with a keyboard, without scripts, on a phone, in the dark, read aloud."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlencode

import pytest

pytest.importorskip("playwright")

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, expect

from larm.ops.observers import build_crawl
from larm.testing.web import SyntheticWeb
from tests.stories.crawls import config_of
from tests.web.browser import Complaints, needs_chromium
from tests.web.conftest import Served, Start, crawled

pytestmark = needs_chromium


@pytest.fixture
def page(browser: Browser, server: Served) -> Iterator[Page]:
    """Of which nothing may complain."""
    complaints = Complaints()
    with browser.new_context(base_url=server.address) as context:
        page = context.new_page()
        complaints.watch(page)
        yield page
    assert complaints == []


def test_search_a_page_a_copy(page: Page) -> None:
    page.goto("/")
    page.get_by_role("combobox").fill("cart")
    page.get_by_role("button", name="Search").click()
    expect(page.get_by_role("status")).to_contain_text("1 to 10 of 25 pages")
    page.get_by_role("link", name="Page 3").click()
    expect(page.get_by_role("status")).to_contain_text("21 to 25")
    expect(page.get_by_role("list").get_by_role("listitem")).to_have_count(5)
    page.get_by_role("link", name="stored copy of result 21").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("Cart")
    page.get_by_text("The original, without scripts").click()
    frame = page.frame_locator("iframe")
    expect(frame.locator("body")).to_contain_text("crosses the causeway")


def test_one_of_two_crawls(page: Page) -> None:
    page.goto("/")
    page.get_by_label("library").check()
    page.get_by_role("combobox").fill("tide")
    page.keyboard.press("Enter")
    expect(page.get_by_role("listitem")).to_have_count(1)
    expect(page.get_by_label("library")).to_be_checked()
    expect(page.get_by_label("harbour")).not_to_be_checked()


def test_with_the_keyboard_alone(page: Page) -> None:
    page.goto("/search?q=eels")
    page.keyboard.press("Tab")
    expect(page.get_by_text("Skip to the content")).to_be_focused()
    page.keyboard.press("Enter")
    page.keyboard.press("/")
    expect(page.get_by_role("combobox")).to_be_focused()
    page.keyboard.type("tide tables")
    page.keyboard.press("Enter")
    expect(page).to_have_title("tide tables – larm")
    for _ in range(20):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.textContent") == "Tide tables":
            break
    expect(page.get_by_role("link", name="Tide tables", exact=True)).to_be_focused()


def test_suggestions_while_typing(page: Page) -> None:
    """Those of the crawls that are ticked, shown by the browser in a list of the field; nothing is found for nonsense."""
    page.goto("/search?q=tide&in=library")
    page.get_by_role("combobox").fill("")
    page.keyboard.type("caus")
    expect(page.locator("#suggestions option")).to_have_count(1)
    assert page.locator("#suggestions option").first.get_attribute("value") == "causeway"
    page.keyboard.type("zzz")
    expect(page.locator("#suggestions option")).to_have_count(0)


def test_narrowed_down_by_keyboard_without_scripts(browser: Browser, start: Start, tmp_path: Path) -> None:
    """To one of two languages, then by date, and back; other words keep what was chosen."""
    text = "The ferry to the island leaves in the morning and comes back at night, when the tide is high. " * 3
    german = "Die Ferry, also die Fähre zur Insel, fährt am Morgen ab und kommt am Abend bei Flut zurück. " * 3
    (tmp_path / "mixed").mkdir()
    crawled(tmp_path / "mixed", {"/": ("Ferry", text), "/de": ("Fähre", german)})
    served = start(tmp_path / "mixed")
    with browser.new_context(base_url=served.address, java_script_enabled=False) as context:
        page = context.new_page()
        page.goto("/search?q=ferry")
        page.get_by_role("link", name="de", exact=True).focus()
        page.keyboard.press("Enter")
        expect(page.get_by_role("heading", level=2)).to_have_text(["Fähre"])
        page.get_by_role("link", name="date", exact=True).click()
        page.get_by_role("searchbox").fill("insel")
        page.keyboard.press("Enter")
        expect(page).to_have_url(f"{served.address}/search?q=insel&language=de&sort=date")
        page.get_by_role("link", name="any Language").click()
        expect(page).to_have_url(f"{served.address}/search?q=insel&sort=date")


def test_a_link_to_the_passage(browser: Browser, start: Start, tmp_path: Path) -> None:
    """The browser scrolls there."""
    filler = "".join(f"<p>The {number}th stone of the quay, and nothing of interest about it.</p>" for number in range(300))
    (tmp_path / "long").mkdir()
    with SyntheticWeb() as web:
        web.host("a.localhost").page("/", "Quay", "", body=f"{filler}<p>Below the last stone an otter lives.</p>")
        build_crawl(config_of(web.url("a.localhost"), {}), tmp_path / "long").run()
        with browser.new_context(base_url=start(tmp_path / "long").address) as context:
            page = context.new_page()
            page.goto("/search?q=otter")
            page.get_by_role("link", name="to this passage of result 1").click()
            expect(page.get_by_text("an otter lives")).to_be_in_viewport()


def test_without_scripts(browser: Browser, server: Served) -> None:
    with browser.new_context(base_url=server.address, java_script_enabled=False) as context:
        page = context.new_page()
        page.goto("/")
        page.get_by_role("searchbox").fill("tide tables")
        page.keyboard.press("Enter")
        expect(page.get_by_role("link", name="Tide tables", exact=True)).to_be_visible()


@pytest.mark.parametrize(("width", "scheme"), [(360, "dark"), pytest.param(1400, "light", marks=pytest.mark.slow)])
def test_axe_finds_nothing_and_nothing_runs_out_of_the_window(
    browser: Browser, server: Served, width: int, scheme: str
) -> None:
    with browser.new_context(
        base_url=server.address, viewport={"width": width, "height": 800}, color_scheme="dark" if scheme == "dark" else "light"
    ) as context:
        page = context.new_page()
        url = server.get("/api/v1/search", params={"q": "tide"}).json()["hits"][0]["url"]
        copy = "/copy?" + urlencode({"in": "harbour", "url": url})
        for path in (
            "/search?q=cart&explain=1&page=2",
            "/search?q=tide&language=en&sort=date",
            copy,
            "/",
            "/search?q=zzzz",
            "/login",
        ):
            page.goto(path)
            found = Axe().run(page).response["violations"]
            assert [(each["id"], each["nodes"][0]["html"]) for each in found] == [], path
            assert page.evaluate("document.documentElement.scrollWidth") <= width, path


def test_a_stored_page_that_means_ill(browser: Browser, start: Start, tmp_path: Path) -> None:
    """Its scripts do not run, neither in our frame nor where its copy is opened by itself; and it goes nowhere."""
    (tmp_path / "evil").mkdir()
    body = (
        "evil <script>document.title='ran'; top.document.title='ran'; alert(1)</script>"
        "<img src=x onerror=\"document.title='ran'\"><svg onload=\"document.title='ran'\"></svg>"
        "<meta http-equiv=refresh content='0;url=/healthz'><form action=/logout method=post><button>go</button></form>"
        "<iframe src=\"javascript:top.document.title='ran'\"></iframe><a href=\"javascript:document.title='ran'\">click</a>"
    )
    address = crawled(tmp_path / "evil", {"/": ("Quiet", "evil", body)}, **{"crawl.max_pages": 5})
    served = start(tmp_path / "evil")
    complaints = Complaints()
    with browser.new_context(base_url=served.address) as context:
        page = context.new_page()
        complaints.watch(page)
        page.goto("/copy?" + urlencode({"in": "evil", "url": f"{address}/" if not address.endswith("/") else address}))
        page.get_by_text("The original, without scripts").click()
        frame = page.frame_locator("iframe")
        frame.get_by_role("link", name="click").click()
        frame.get_by_role("button", name="go").click()
        expect(frame.get_by_role("link", name="click")).to_be_visible()
        expect(page).to_have_title("Quiet – stored copy")
        page.goto(page.locator("iframe").get_attribute("src") or "")
        page.get_by_role("link", name="click").click()
        expect(page).to_have_title("Quiet")
        assert "/copy/original" in page.url
    assert not [text for text in complaints if text.startswith("dialog")]

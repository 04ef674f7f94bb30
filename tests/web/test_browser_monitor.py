"""The monitor in a real browser: a crawl is watched, steered and started, in one window and in two."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

pytest.importorskip("playwright")

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, expect

from larm.testing.web import SyntheticWeb
from tests.ops.control.running import Running, running
from tests.web.browser import Complaints, needs_chromium
from tests.web.conftest import Served, Start, serving

pytestmark = needs_chromium
WAIT = 60_000  # milliseconds, for a machine that has more to do


@pytest.fixture
def crawl(tmp_path: Path) -> Iterator[Running]:
    directory = tmp_path / "moving"
    directory.mkdir()
    with running(directory) as crawl:
        crawl.until("idle")
        yield crawl


def window(stack: ExitStack, browser: Browser, served: Served, complaints: Complaints, **options: object) -> Page:
    """Of somebody who has signed in."""
    context = stack.enter_context(browser.new_context(base_url=served.address, **options))  # type: ignore[arg-type]
    page = context.new_page()
    complaints.watch(page)
    page.goto("/login?next=/crawls")
    page.get_by_label("Token").fill(served.secret)
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Crawls")
    return page


def test_a_crawl_is_watched_paused_fed_and_stopped_in_two_windows(browser: Browser, start: Start, crawl: Running) -> None:
    served, complaints = start(crawl.directory), Complaints()
    with ExitStack() as stack:
        page = window(stack, browser, served, complaints)
        page.get_by_role("link", name="moving").click()
        expect(page.locator("#figures")).to_contain_text("idle")
        other = page.context.new_page()
        complaints.watch(other)
        other.goto("/crawls/moving")
        page.get_by_role("button", name="Pause").click()
        expect(page.get_by_role("button", name="Resume")).to_be_visible()
        expect(other.locator("#figures strong")).to_have_text("paused", timeout=WAIT)
        page.get_by_label("Addresses to add").fill(crawl.web.url("a.localhost", "/lonely"))
        page.get_by_role("button", name="Add").click()
        page.get_by_role("button", name="Resume").click()
        expect(other.locator("#figures")).to_contain_text("/lonely", timeout=WAIT)
        page.get_by_role("link", name="hosts").click()
        expect(page.get_by_role("row")).to_have_count(2)
        page.go_back()
        page.get_by_role("button", name="Stop").click()
        expect(other.locator("#figures strong")).not_to_have_text("idle", timeout=WAIT)
    assert complaints == []


def test_the_server_goes_and_comes_again_while_a_crawl_runs(browser: Browser, tmp_path: Path, crawl: Running) -> None:
    """The window that was open goes on by itself, still signed in, with the same crawl."""
    token = tmp_path / "token"
    with ExitStack() as stack:
        with serving([crawl.directory], token) as served:
            page = window(stack, browser, served, Complaints())
            page.goto("/crawls/moving")
            expect(page.locator("#figures")).to_contain_text("idle")
            port = int(served.address.rpartition(":")[2])
        with serving([crawl.directory], token, port=port):
            page.get_by_role("button", name="Pause").click()
            expect(page.get_by_role("button", name="Resume")).to_be_visible()
            expect(page.locator("#figures strong")).to_have_text("paused", timeout=WAIT)


def test_a_crawl_is_started_from_the_form(browser: Browser, start: Start, tmp_path: Path) -> None:
    served, complaints = start(root=tmp_path), Complaints()
    with SyntheticWeb() as web, ExitStack() as stack:
        web.host("a.localhost").page("/", "Quay", "A quay of stone.")
        page = window(stack, browser, served, complaints)
        page.get_by_role("link", name="Start a new crawl").click()
        page.get_by_label("Name of its directory").fill("quays")
        page.get_by_label("Addresses to start from").fill(web.url("a.localhost"))
        page.get_by_label("At most so long").fill("soon")
        page.get_by_role("button", name="Start").click()
        expect(page.get_by_role("alert")).to_contain_text("duration")
        page.get_by_label("At most so long").fill("1min")
        page.get_by_role("button", name="Start").click()
        expect(page.get_by_role("status")).to_have_text("The crawl has begun.", timeout=WAIT)
        expect(page.locator("#figures strong")).to_have_text("finished", timeout=WAIT)
        page.get_by_role("link", name="search it").click()
        page.get_by_label("Words to search for").fill("quay")
        page.keyboard.press("Enter")
        expect(page.get_by_role("link", name="Quay", exact=True)).to_be_visible()
    assert [text for text in complaints if "400" not in text] == []  # the form that came back


@pytest.mark.parametrize(("width", "scheme"), [(360, "dark"), pytest.param(1400, "light", marks=pytest.mark.slow)])
def test_axe_finds_nothing(browser: Browser, start: Start, crawl: Running, tmp_path: Path, width: int, scheme: str) -> None:
    served = start(crawl.directory, root=tmp_path)
    with ExitStack() as stack:
        size = {"width": width, "height": 800}
        page = window(stack, browser, served, Complaints(), viewport=size, color_scheme=scheme)
        for path in ("/crawls", "/crawls/moving", "/crawls/moving/hosts", "/crawls/moving/log?log=thread0", "/start"):
            page.goto(path)
            found = Axe().run(page).response["violations"]
            assert [(each["id"], each["nodes"][0]["html"]) for each in found] == [], path
            assert page.evaluate("document.documentElement.scrollWidth") <= width, path

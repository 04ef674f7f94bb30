"""A real browser, where there is one: Chromium of the system, driven by Playwright."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")

needs_chromium = pytest.mark.skipif(CHROMIUM is None, reason="no Chromium is installed")


@contextmanager
def chromium() -> Iterator[Browser]:
    """One for many tests: it takes a second to start."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        try:
            yield browser
        finally:
            browser.close()


class Complaints(list[str]):
    """What a page complains about in the browser's console; what it tries to do that it must not is among that."""

    def watch(self, page: Page) -> None:
        page.on("console", lambda message: self.append(message.text) if message.type in {"error", "warning"} else None)
        page.on("pageerror", lambda error: self.append(str(error)))
        page.on("dialog", lambda dialog: (self.append(f"dialog: {dialog.message}"), dialog.dismiss()))

"""The same command with ``recrawl.share``: it asks for those pages that have most likely changed."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from larm.kit.clock import SystemClock
from larm.ops.observers import build_crawl
from larm.testing.replies import Reply, html
from larm.testing.request_log import Request
from larm.testing.site import Site
from larm.testing.web import SyntheticWeb
from tests.stories.crawls import asked, config_of, run_crawl

PATHS = [f"/{number}" for number in range(100)]
CHANGED = PATHS[50:55]
SHARE = {"recrawl.share": "10%"}


class NextDay(SystemClock):
    """Pages came yesterday."""

    def wall(self) -> float:
        return super().wall() + 86_400


def revisit(directory: Path, start: str) -> list[str]:
    """Its notes."""
    crawl = build_crawl(config_of(start, SHARE), directory, clock=NextDay())
    assert crawl.run().reason == "finished"
    return crawl.notes


def publish(site: Site, changed: Iterable[str] = ()) -> None:
    """A sitemap that says since when its pages are as they are."""
    lines = [f"<url><loc>{path}</loc><lastmod>{2999 if path in changed else 2001}-01-01</lastmod></url>" for path in PATHS]
    body = f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{"".join(lines)}</urlset>'.encode()
    site.add("/sitemap.xml", Reply(200, {"Content-Type": "application/xml"}, body))


def crawled(directory: Path, web: SyntheticWeb) -> tuple[Site, str]:
    """A site with a hundred pages, five of which changed after they were crawled."""
    site = web.host("a.localhost")
    site.page("/", text="start")
    for path in PATHS:
        site.page(path, text=f"first version of {path}")
    site.robots(f"Sitemap: {web.url('a.localhost', '/sitemap.xml')}\n")
    publish(site)
    start = web.url("a.localhost")
    assert run_crawl(directory, start).counters["item_scraped_count"] == 102
    for path in CHANGED:
        site.change(path, text=f"second version of {path}")
    publish(site, CHANGED)
    web.log.clear()
    return site, start


def paths(web: SyntheticWeb) -> list[str]:
    return sorted(key.removeprefix("a.localhost") for key in asked(web).elements())


def test_a_tenth_is_asked_for_and_has_what_changed(tmp_path: Path, web: SyntheticWeb) -> None:
    _, start = crawled(tmp_path, web)
    notes = revisit(tmp_path, start)
    found = paths(web)
    assert len(found) == len(set(found)) == 11  # of 102
    assert set(found) > {"/", "/sitemap.xml", *CHANGED}
    assert "91 pages were not asked for: recrawl.share is 0.1 (-s recrawl.share=1 asks for all)" in notes
    web.log.clear()
    run_crawl(tmp_path, start)
    assert len(paths(web)) == 102


def test_a_run_that_is_stopped_goes_on_with_its_round(tmp_path: Path, web: SyntheticWeb) -> None:
    """When the sitemap is read, and nothing else was asked for."""
    site, start = crawled(tmp_path, web)
    crawl = build_crawl(config_of(start, SHARE), tmp_path, clock=NextDay())

    def sitemap(_: Request) -> Reply:
        crawl.stop()
        return html("later", status=500)

    site.add("/sitemap.xml", sitemap)
    assert crawl.run().reason == "shutdown"
    publish(site, CHANGED)
    first = paths(web)
    assert set(first) <= {"/", "/sitemap.xml"}
    web.log.clear()
    revisit(tmp_path, start)
    assert set(CHANGED) < set(paths(web))
    assert len(set(first) | set(paths(web))) == 11

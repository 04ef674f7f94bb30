"""A whole crawl of the crawler maze, served as its own server does. What is not followed is argued in `maze_differences`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from larm.testing.replies import Reply
from larm.testing.site import Site
from larm.testing.web import SyntheticWeb
from tests.conformance.maze_differences import EMBEDDED, NOT_FOLLOWED, SRCSET
from tests.shared_data import shared
from tests.stories.crawls import asked, run_crawl

HTML = {"Content-Type": "text/html; charset=utf-8"}


def _page(html: str, status: int = 200, **headers: str) -> Reply:
    return Reply(status, HTML | {name.replace("_", "-"): value for name, value in headers.items()}, html.encode())


def _serve(site: Site, root: Path, origin: str) -> None:
    """Folders list what is in them; some pages are made by the server."""
    children: dict[str, set[str]] = {}
    for file in root.rglob("*"):
        if file.is_dir() or "javascript" in file.parts:
            continue
        path = f"/test/{file.relative_to(root).as_posix()}"
        site.add(path, Reply(200, HTML, file.read_bytes()))
        while path != "/test":
            parent = path.rpartition("/")[0]
            children.setdefault(parent, set()).add(path + "/" * (path in children))
            path = parent
    for folder, paths in children.items():
        site.add(folder + "/", _page("".join(f'<a href="{path}">x</a>' for path in sorted(paths))))
    for name in ("Content-Location", "Link", "Refresh"):
        target = f"/test/headers/{name.lower()}.found"
        value = {"Link": f"<{target}>; rel=next", "Refresh": f"0; url={target}"}.get(name, target)
        site.add(f"/test/headers/{name.lower()}", Reply(200, HTML | {name: value}, b"x"))
    site.add("/test/headers/location", _page("", 302, Location="/test/headers/location.found"))
    here, url = "/test/html/misc/url/", "test/html/misc/url/"
    hrefs = {
        "full-url": f"{origin}/{url}",
        "protocol-relative-url": f"//{origin.partition('//')[2]}/{url}",
        "path-relative-url": "",
    }
    for name, start in hrefs.items():
        site.add(here + name, _page(f'<a href="{start}{name}.found"></a>'))
    site.add("/test/html/misc/string/url-string", _page(f"{origin}/test/html/misc/string/url-string.found"))
    font = b"@font-face { font-family: x; src: url(/test/css/font-face.found) }"
    site.add("/css/font-face.css", Reply(200, {"Content-Type": "text/css"}, font))
    site.robots("User-agent: *\nDisallow: /test/misc/known-files/robots.txt.found\nSitemap: /sitemap.xml")
    sitemap = f"<urlset><url><loc>{origin}/test/misc/known-files/sitemap.xml.found</loc></url></urlset>"
    site.add("/sitemap.xml", Reply(200, {"Content-Type": "application/xml"}, sitemap.encode()))
    site.otherwise(lambda request: _page("found") if request.path.endswith(".found") else Reply(404))


@pytest.mark.parametrize("embedded", [False, True])
def test_crawl_maze(tmp_path: Path, embedded: bool) -> None:
    """All targets that need no JavaScript but those that larm does not follow on purpose."""
    root = shared("crawl-maze", "given", "test-cases")
    expected = json.loads((root.parent / "expected-results.json").read_text())
    targets = {path for path in expected if path.startswith("/test/") and not path.startswith("/test/javascript/")}
    with SyntheticWeb() as web:
        _serve(web.host("a.localhost"), root, web.url("a.localhost", "").rstrip("/"))
        settings = {"processing.follow_embedded": embedded, "processing.srcset": embedded}
        run = run_crawl(tmp_path, web.url("a.localhost", "/test/"), settings)
        found = {key.removeprefix("a.localhost") for key in asked(web)}
    assert run.reason == "finished"
    left_out = {*NOT_FOLLOWED, *(() if embedded else (*EMBEDDED, *SRCSET))}
    argued = {f"/test/{name}.found" for name in left_out} | {"/test/html/misc/string/string-known-extension.pdf"}
    kind = "with" if embedded else "without"
    print(f"crawl-maze {kind} embedded files: {len(found & targets)} of {len(targets)}, {len(argued & targets)} argued")
    assert len(targets) == 64
    assert targets - argued - found == set()
    assert argued & found == set(), "followed after all: remove it from maze_differences"

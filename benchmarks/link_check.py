"""How many pages of a site can be reached by ``<a href>`` from its start: counted on its files, independently of any crawler.

``python -m benchmarks.link_check [PACKAGE ...]`` prints a line for each site and compares with what the list says.
"""

from __future__ import annotations

import argparse
import html
import re
import sys
from pathlib import Path
from urllib.parse import unquote, urljoin, urlsplit

from benchmarks.sites import CACHE, Site, known_sites, unpack

_SKIPPED = re.compile(r"<!--.*?-->|<(script|style|textarea|title)\b.*?</\1\s*>", re.DOTALL | re.IGNORECASE)
_TAG = re.compile(r"<(a|area|frame|iframe|base)\s((?:[^>\"']|\"[^\"]*\"|'[^']*')*)>", re.IGNORECASE)
_ADDRESS = re.compile(r"(?:^|\s)(?:href|src)\s*=\s*(?:\"([^\"]*)\"|'([^']*)'|([^\s>]+))", re.IGNORECASE)
_PAGE = re.compile(r"\.html?$|\.html\.[a-z-]+(\.[a-z0-9-]+)?$", re.IGNORECASE)


def reachable(site: Site) -> set[str]:
    """Paths of the HTML pages that a crawler following links finds; each counts by its path, without query."""
    found: set[str] = set()
    waiting = site.start_paths()
    seen = set(waiting)
    while waiting:
        path = waiting.pop()
        file = _file(site, path)
        if file is None:
            continue
        if file.is_dir():  # the server redirects to the folder's own page
            links = [path + "/"]
        else:
            if not _PAGE.search(file.name):
                continue
            found.add(path)
            links = [link for link in _links(file, path) if link.startswith("/")]
        for link in links:
            if link not in seen:
                seen.add(link)
                waiting.append(link)
    return found


def _links(file: Path, path: str) -> list[str]:
    """Paths on the same host that the page links to."""
    here = base = f"http://site{path}"
    paths = []
    markup = _SKIPPED.sub(" ", file.read_text(encoding="utf-8", errors="replace"))
    for tag, attributes in _TAG.findall(markup):
        match = _ADDRESS.search(attributes)
        if match is None:
            continue
        address = html.unescape(match[1] or match[2] or match[3] or "").strip()
        if tag.lower() == "base":
            base = urljoin(here, address)
            continue
        try:
            target = urlsplit(urljoin(base, address))
        except ValueError:
            continue
        if (target.scheme, target.netloc) == ("http", "site"):
            paths.append(unquote(target.path) or "/")
    return paths


def _file(site: Site, path: str) -> Path | None:
    """What the server would serve; a folder stands for its redirect."""
    if not path.startswith(site.prefix):
        return None
    file = site.folder / path.removeprefix(site.prefix)
    candidates = [file / "index.html", file / "index.html.en"] if path.endswith("/") else [file, Path(f"{file}.en")]
    try:
        return next((each for each in candidates if each.exists()), None)
    except OSError:  # a name too long for a file
        return None


def main() -> None:
    """Check the sites named on the command line, or all."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.link_check", description=__doc__)
    parser.add_argument("packages", nargs="*")
    parser.add_argument("--cache", type=Path, default=CACHE)
    parser.add_argument("--debs", type=Path, action="append", default=[], help="a folder that has .deb files already")
    options = parser.parse_args()
    sites = known_sites()
    for package in options.packages or sites:
        if package not in sites:
            sys.exit(f"{package}: not in the list; known are {', '.join(sites)}")
        site = unpack(sites[package], options.cache, options.debs)
        listed = f"listed {site.reachable}" if site.reachable else "not listed"
        print(f"{package:24} {len(reachable(site)):6} pages reachable, {listed}")


if __name__ == "__main__":
    main()

"""How many changed pages a revisit finds that asks for a tenth of all: ``python -m benchmarks.recrawl OLD.deb NEW.deb ...``.

Of each pair of packages with documentation, two releases as ``apt-get download PACKAGE=VERSION`` brings them, all HTML files
are served at one address, the older ones first. A page has changed where what its reader sees has, as a revisit of all of them
finds. Then a tenth of them is asked for: those that come first in the page book (``in order``); by ``recrawl.share``, without
and with a sitemap whose lastmod is right, and with one that calls all pages changed; and, after a revisit of all, when the
older release is there again, by how often pages have changed (``rates``). Two releases have no history of more than one change.
Where both are the same file, a tenth of its pages, chosen by chance, gets a new paragraph.
"""

from __future__ import annotations

import argparse
import hashlib
import random
import shutil
import subprocess
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path

from larm.config import load
from larm.kit.clock import SystemClock
from larm.ops.observers import build_crawl
from larm.store.pages.page_rows import page_rows
from larm.testing.replies import Reply
from larm.testing.web import SyntheticWeb

HOST = "docs.localhost"
SHARE = 0.1
DAY = 86_400

Pages = Mapping[str, bytes]


class Later(SystemClock):
    """So many days after now."""

    def __init__(self, days: int) -> None:
        self._days = days

    def wall(self) -> float:
        """See `larm.kit.clock.Clock`."""
        return super().wall() + self._days * DAY


def pages_of(package: Path, folder: Path) -> Pages:
    """HTML files by path."""
    subprocess.run(["dpkg-deb", "-x", str(package), str(folder)], check=True)
    return {f"/{path.relative_to(folder)}": path.read_bytes() for path in sorted(folder.rglob("*.htm*")) if path.is_file()}


def serve(web: SyntheticWeb, pages: Pages, changed: Iterable[str] = (), *, lastmod: bool = True) -> None:
    """In place of what was there; the sitemap calls these changed, in some days."""
    site, told = web.host(HOST), set(changed)
    for path, body in pages.items():
        etag = hashlib.md5(body, usedforsecurity=False).hexdigest()
        site.add(path, Reply(200, {"Content-Type": "text/html", "ETag": f'"{etag}"'}, body))
    entries = [
        f"<url><loc>{web.url(HOST, path)}</loc>"
        + f"<lastmod>{2999 if path in told else 2001}-01-01</lastmod>" * lastmod
        + "</url>"
        for path in pages
    ]
    site.add("/sitemap.xml", Reply(200, {"Content-Type": "application/xml"}, f"<urlset>{''.join(entries)}</urlset>".encode()))
    site.robots(f"Sitemap: {web.url(HOST, '/sitemap.xml')}\n")


def crawl(web: SyntheticWeb, directory: Path, days: int, share: float = 1.0) -> int:
    """One run; returns how many pages had changed."""
    web.log.clear()
    settings = {
        "crawl.start": [web.url(HOST, "/sitemap.xml")],
        "frontier.delay": 0,
        "storage.chain": ["log"],
        "filters.traps.repetition": False,
        "recrawl.share": share,
        "recrawl.current": 0,
        "recrawl.most_gone": 0,
    }
    run = build_crawl(load(None, (), settings), directory, clock=Later(days))
    before = run.snapshot().counters.get("revisit/changed", 0)
    ending = run.run()
    if ending.reason != "finished":
        raise SystemExit(f"{directory}: {ending}")
    return run.snapshot().counters.get("revisit/changed", 0) - before


def changes(directory: Path) -> dict[str, bool]:
    """By path, in the order of the page book."""
    found = {}
    for _, row in page_rows(directory / "cachingqueue" / "pages.db"):
        path = "/" + row.access.split("/", 3)[3]
        found[path] = bool(row.past and row.past.changes) and not path.startswith("/sitemap")
    return found


def measure(old: Pages, new: Pages, folder: Path) -> dict[str, int]:
    """Changed pages found, by way; and of how many."""
    with SyntheticWeb() as web:
        serve(web, old, lastmod=False)
        crawl(web, folder / "plain", 0)
        shutil.copytree(folder / "plain", folder / "all")
        serve(web, new, lastmod=False)
        found = {"share": crawl(web, folder / "plain", 1, SHARE)}
        crawl(web, folder / "all", 1)
        order = changes(folder / "all")
        changed = [path for path, has in order.items() if has]
        serve(web, old, lastmod=False)
        rates = crawl(web, folder / "all", 2, SHARE)
        for name, told in (("honest sitemap", changed), ("lying sitemap", list(new))):
            serve(web, old)
            crawl(web, folder / name, 0)
            serve(web, new, told)
            found[name] = crawl(web, folder / name, 1, SHARE)
    first = list(order)[: round(SHARE * len(order))]
    return {
        "pages": len(order),
        "changed": len(changed),
        "in order": sum(map(order.__getitem__, first)),
        "rates": rates,
    } | found


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("packages", nargs="+", type=Path, metavar="PACKAGE", help="pairs of them, the older one first")
    packages = parser.parse_args().packages
    for older, newer in zip(packages[::2], packages[1::2], strict=True):
        with tempfile.TemporaryDirectory() as folder:
            old, new = (pages_of(each, Path(folder) / name) for each, name in ((older, "old"), (newer, "new")))
            if older == newer:
                edited = set(random.Random(1).sample(sorted(new), len(new) // 10))
                new = {path: body + b"<p>Another paragraph.</p>" * (path in edited) for path, body in new.items()}
            figures = measure(old, new, Path(folder))
        print(older.name.partition("_")[0], ", ".join(f"{name} {figure:,}" for name, figure in figures.items()), flush=True)


if __name__ == "__main__":
    main()

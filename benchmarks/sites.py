"""Real web sites to crawl: the documentation in Debian packages, and where each is to be served.

The list is ``debian-web/sites.tsv`` of the shared test data, and OpenJDK's API. Packages come from ``apt-get download``; those
that lie in the given folder already are taken from there. Nothing is installed.
"""

from __future__ import annotations

import csv
import os
import re
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

TESTDATA = Path(os.environ.get("LARM_TESTDATA", Path(__file__).parents[2] / "shared" / "testdata"))
CACHE = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "larm-benchmarks"

_ROOT = re.compile(r"(\S+)(?: \(serve as (\S+)\)| \(union with (\S+)\))?")


@dataclass(frozen=True)
class Site:
    """One host of the test web."""

    package: str
    host: str
    root: str
    """Folder in the package that holds the pages."""
    start: str
    """First page, relative to the root; ``LANG`` stands for each language folder there is."""
    prefix: str = "/"
    """Path under which the root is served, with slashes on both ends."""
    union: str = ""
    """A second package whose files lie among those of the first."""
    folder: Path = Path()
    """The root on this disk, after `unpack`."""
    reachable: int = 0
    """Pages reachable from the start, as the list says; 0: not known."""

    def start_paths(self) -> list[str]:
        """Paths of the start URLs."""
        if "LANG" not in self.start:
            return [self.prefix + self.start]
        found = sorted(self.folder.glob(self.start.replace("LANG", "*")))
        return [self.prefix + path.relative_to(self.folder).as_posix() for path in found]


_OPENJDK = Site("openjdk-17-doc", "docs", "/usr/share/doc/openjdk-17-jre-headless/api", "index.html", "/javase/17/")


def known_sites(table: Path | None = None) -> dict[str, Site]:
    """All sites by package."""
    table = table or TESTDATA / "debian-web" / "sites.tsv"
    if not table.exists():
        raise SystemExit(f"{table}: no such file; LARM_TESTDATA names the folder of the shared test data")
    sites = {}
    with table.open(encoding="utf-8", newline="") as lines:
        for row in csv.DictReader(lines, delimiter="\t"):
            match = _ROOT.fullmatch(row["root"])
            if match is None:
                raise SystemExit(f"{table}: can't read the root {row['root']!r}")
            root, prefix, union = match.groups("")
            reachable = int(re.sub(r"\D", "", row["reachable_from_start"]) or 0)
            sites[row["package"]] = Site(
                row["package"], row["host"], root, row["start"].split(" (")[0], prefix or "/", union, reachable=reachable
            )
    return sites | {_OPENJDK.package: _OPENJDK}


def unpack(site: Site, cache: Path = CACHE, debs: Sequence[Path] = ()) -> Site:
    """The site with its pages on the disk, below ``cache``. ``debs``: folders that may have the package already."""
    folder = cache / "unpacked" / site.package
    if not (folder / ".complete").exists():
        folder.mkdir(parents=True, exist_ok=True)
        for package in filter(None, (site.package, site.union)):
            run("dpkg-deb", "-x", fetch_deb(package, cache, debs), folder)
        _mend_links(folder)
        (folder / ".complete").touch()
    root = folder / site.root.lstrip("/")
    if not root.is_dir():
        raise SystemExit(f"{site.package}: has no folder {site.root} (another version of the package?)")
    return replace(site, folder=root)


def fetch_deb(package: str, cache: Path = CACHE, debs: Sequence[Path] = ()) -> Path:
    """The package's .deb file, downloaded if need be."""
    store = cache / "debs"
    for folder in (*debs, store):
        found = sorted(folder.glob(f"{package}_*.deb"))
        if found:
            return found[-1]
    store.mkdir(parents=True, exist_ok=True)
    run("apt-get", "download", package, cwd=store)
    return max(store.glob(f"{package}_*.deb"))


def run(*command: str | Path, cwd: Path | None = None) -> str:
    """Run a command to its end; what it said, if that was good."""
    done = subprocess.run([str(word) for word in command], cwd=cwd, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(map(str, command))}: exit status {done.returncode}: {done.stderr.strip()[-500:]}")
    return done.stdout


def _mend_links(folder: Path) -> None:
    """Absolute links point into the package, or, where it has nothing there, nowhere: never into this machine's own /usr."""
    for path in folder.rglob("*"):
        if path.is_symlink():
            target = os.readlink(path)
            if target.startswith("/"):
                path.unlink()
                inside = folder / target.lstrip("/")
                if inside.exists():
                    path.symlink_to(os.path.relpath(inside, path.parent))

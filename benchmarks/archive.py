"""What an archive costs: a real documentation site crawled with and without WARC files, and its archive crawled again.

``python -m benchmarks.archive [--site postgresql-doc-15] [--rounds 3]``. nginx serves the site on loopback. In each round every
way runs once, in an empty folder; the table has medians of wall and CPU time, and the speed beside that of a crawl with index
and without an archive. On a machine that others use, the CPU time is the figure to look at.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
from pathlib import Path
from statistics import median

from benchmarks.measure import Usage, run
from benchmarks.nginx import Nginx
from benchmarks.sites import CACHE, known_sites, unpack

_WEB = ("--delay", "0", "--per-host", "32", "--allow-private")
_WAYS: dict[str, tuple[str, ...]] = {
    "without": _WEB,
    "gzip": (*_WEB, "--warc"),
    "zstd": (*_WEB, "--warc", "-s", "storage.warc.compression=zstd"),
}
_LIMIT = 900.0  # seconds of one crawl


def main() -> None:
    """Run all ways, in turns."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.archive", description=__doc__)
    parser.add_argument("--site", default="postgresql-doc-15", help="a package of the list, or openjdk-17-doc")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--cache", type=Path, default=CACHE, help="for packages")
    parser.add_argument("--debs", type=Path, action="append", default=[], help="a folder that has .deb files already")
    options = parser.parse_args()
    site = unpack(known_sites()[options.site], options.cache, options.debs)
    found: dict[str, list[Usage]] = {name: [] for name in (*_WAYS, "from gzip")}
    folder = Path(tempfile.mkdtemp(prefix="larm-archive-"))
    try:
        with Nginx([site]) as nginx:
            [url, *_] = nginx.start_urls(site, "127.0.0.1")
            for number in range(options.rounds):
                for name, arguments in _WAYS.items():
                    found[name].append(_crawl(folder / name, "-start", url, *arguments))
                found["from gzip"].append(_crawl(folder / "again", f"{folder / 'gzip' / 'warc'}/"))
                print(
                    f"round {number + 1}: " + ", ".join(f"{name} {uses[-1].cpu:.1f} s" for name, uses in found.items()),
                    flush=True,
                )
        sizes = {
            name: sum(file.stat().st_size for file in (folder / name / "warc").glob("*.warc.*")) for name in ("gzip", "zstd")
        }
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    base = {key: median(getattr(use, key) for use in found["without"]) for key in ("wall", "cpu")}
    for name, uses in found.items():
        wall, cpu = median(use.wall for use in uses), median(use.cpu for use in uses)
        size = f", {sizes[name] / 1e6:.1f} MB" if name in sizes else ""
        print(f"{name:10} wall {wall:6.2f} s ({base['wall'] / wall:.2f})  CPU {cpu:6.2f} s ({base['cpu'] / cpu:.2f}){size}")


def _size(folder: Path) -> int:
    return sum(file.stat().st_size for file in folder.glob("*.warc.*"))


def _crawl(folder: Path, *arguments: str) -> Usage:
    shutil.rmtree(folder, ignore_errors=True)
    command = [sys.executable, "-m", "larm", "crawl", "-q", "--dir", str(folder), *arguments]
    usage = run([command], Path.cwd(), {}, _LIMIT)
    if usage.status:
        sys.exit(f"{' '.join(command)}: exit status {usage.status}: {usage.said}")
    return usage


if __name__ == "__main__":
    main()

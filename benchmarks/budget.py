"""The budget of a page: what each stage of a crawl may take of the CPU, beside what it takes. Used by `benchmarks.hot_path`.

nginx serves a set of pages on loopback; larm crawls it without a delay, and its own figures say what each thread took.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Mapping
from itertools import zip_longest
from pathlib import Path
from statistics import median
from typing import NamedTuple

from benchmarks.nginx import Nginx
from benchmarks.sites import CACHE, Site, known_sites, unpack

LARGE = 1_000_000
"""Bytes: pages of the set ``large`` have more."""
_ELSEWHERE = b'<base href="http://elsewhere.localhost/">'
"""Saved pages get it: nobody has what their links lead to."""
_HEAD = re.compile(rb"<head[^>]*>", re.IGNORECASE)

_INDEX = "index, graph"
_STAGES: Mapping[str, tuple[str, ...]] = {
    "fetch": ("fetching",),
    "read, in other processes": ("processing, in other processes",),
    "pipe, unload, novelty, traps": ("processing",),
    "log": ("storage log",),
    "handler, page book, tick": ("filters and frontier", "storage pages", "checkpoints and figures"),
    _INDEX: ("storage index", "storage graph", "other"),
}
"""Each with its lines of ``larm stats -v``; threads of tantivy are among the others."""
BUDGETS: Mapping[str, tuple[int, ...]] = {
    "manual": (65, 170, 70, 45, 25, 385),
    "javadoc": (80, 330, 90, 65, 30, 600),
    "news": (130, 850, 120, 270, 40, 1_400),
}
"""Microseconds a page, for `_STAGES`."""
_START_AND_END = {False: 190, True: 230}
"""Milliseconds, without and with index."""


class Costs(NamedTuple):
    """Of one crawl."""

    pages: int
    stages: dict[str, float]
    """Seconds of CPU by lines of ``larm stats -v``."""


def site_of(name: str, news: Path | None, folder: Path) -> Site:
    """Return the set of that name; ``folder``: for files that are made for it."""
    known = {"manual": "postgresql-doc-15", "javadoc": "openjdk-17-doc", "large": "openjdk-17-doc"}
    if name == "news":
        if news is None:
            raise SystemExit("news: --news FOLDER names saved pages")
        return _saved(name, sorted(news.rglob("*.html")), folder)
    site = unpack(known_sites()[known[name]], CACHE)
    if name != "large":
        return site
    return _saved(name, [each for each in sorted(site.folder.rglob("*.html")) if each.stat().st_size > LARGE], folder)


def _saved(name: str, files: Iterable[Path], folder: Path) -> Site:
    """Copies of pages, and a page with a link to each."""
    links = []
    for number, file in enumerate(files):
        body = file.read_bytes()
        head = _HEAD.search(body)
        place = head.end() if head else 0
        (folder / f"{number}.html").write_bytes(body[:place] + _ELSEWHERE + body[place:])
        links.append(f'<a href="{number}.html">{number}</a>')
    if not links:
        raise SystemExit(f"{name}: no pages")
    (folder / "all.html").write_text(f"<title>All</title>{' '.join(links)}", encoding="utf-8")
    return Site(name, name, "", "all.html", folder=folder)


def measure(nginx: Nginx, site: Site, directory: Path, *options: str) -> Costs:
    """Crawl the site into the directory."""
    given = ["crawl", *nginx.start_urls(site), "--dir", str(directory), "-q", "--delay", "0", "--per-host", "16", *options]
    done = subprocess.run([sys.executable, "-m", "larm", *given], capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"larm {' '.join(given)}: exit status {done.returncode}: {done.stderr.strip()[-500:]}")
    figures = json.loads((directory / "stats.json").read_text(encoding="utf-8"))["figures"]
    return Costs(figures["pages_run"], figures["cpu"])


def print_table(name: str, site: Site, rounds: int, *, index: bool) -> None:
    """Print what the stages take, medians of several crawls, beside the budget."""
    options = () if index else ("--no-index",)
    with Nginx([site]) as nginx, tempfile.TemporaryDirectory(prefix="larm-budget-") as folder:
        whole = [measure(nginx, site, Path(folder, f"all-{number}"), *options) for number in range(rounds)]
        single = [measure(nginx, site, Path(folder, f"one-{number}"), "--max-pages", "1", *options) for number in range(rounds)]
    pages = whole[0].pages
    print(f"{name}, {'with' if index else 'without'} index: {pages} pages; us of CPU a further page, and the budget:")
    stages = [(stage, lines) for stage, lines in _STAGES.items() if index or stage != _INDEX]
    took = [1e6 * (_seconds(whole, lines) - _seconds(single, lines)) / (pages - 1) for _, lines in stages]
    budget = BUDGETS.get(name, ())[: len(stages)]
    for (stage, _), microseconds, most in zip_longest(stages, took, budget, fillvalue=""):
        print(f"  {stage:34}{microseconds:9.0f}{most:>9}")
    print(f"  {'together':34}{sum(took):9.0f}{sum(budget) or '':>9}")
    print(f"  {'one page alone, ms':34}{1e3 * _seconds(single, single[0].stages):9.0f}{_START_AND_END[index]:9}\n", flush=True)


def _seconds(crawls: Iterable[Costs], lines: Iterable[str]) -> float:
    return median(sum(costs.stages.get(line, 0.0) for line in lines) for costs in crawls)

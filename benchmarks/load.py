"""Many searches at a time, beside a running crawl: what the server takes, and what the crawl pays for it.

``python -m benchmarks.load CRAWL [--site openjdk-17-doc] [--visitors 50] [--seconds 60]``. CRAWL is the directory of a
finished crawl; ``larm serve`` searches it, and so many visitors ask for a page of results each, again and again, with pairs of
words that stand next to each other in some page. Beside it the site is crawled over and over, and alone before and after that.
"""

from __future__ import annotations

import argparse
import asyncio
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from random import Random
from statistics import median, quantiles

import httpx

from benchmarks.nginx import Nginx
from benchmarks.searches import pages_of, queries_of
from benchmarks.sites import CACHE, known_sites, unpack

_PORT = 17_070
_QUERIES = 1_000


def main() -> None:
    """Measure, and print."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.load", description=__doc__)
    parser.add_argument("crawl", type=Path)
    parser.add_argument("--site", default="openjdk-17-doc", help="what is crawled meanwhile")
    parser.add_argument("--visitors", type=int, default=50)
    parser.add_argument("--seconds", type=float, default=60.0)
    options = parser.parse_args()
    site = unpack(known_sites()[options.site], CACHE, [])
    pages = list(pages_of(options.crawl))
    queries = queries_of(pages, _QUERIES)["neighbours"]
    print(f"{len(pages):,} pages are searched", flush=True)
    del pages
    folder = Path(tempfile.mkdtemp(prefix="larm-load-"))
    server = subprocess.Popen(_larm("serve", str(options.crawl), "--port", str(_PORT)), stderr=subprocess.DEVNULL)
    try:
        with Nginx([site]) as nginx:
            [url, *_] = nginx.start_urls(site, "127.0.0.1")
            before = _crawl(folder, url)
            asyncio.run(_visit(queries, options.visitors, 5.0))  # to warm up
            memory = _memory(server.pid)
            crawling = subprocess.Popen(
                [sys.executable, "-c", _AGAIN, *_command(folder, url)], stdout=subprocess.PIPE, text=True
            )
            times, errors = asyncio.run(_visit(queries, options.visitors, options.seconds))
            crawling.send_signal(signal.SIGTERM)
            beside = sorted(map(float, (crawling.communicate()[0] or "").split()))
            grown = _memory(server.pid) - memory
            after = _crawl(folder, url)
    finally:
        server.send_signal(signal.SIGTERM)
        server.wait()
        shutil.rmtree(folder, ignore_errors=True)
    worst = quantiles(times, n=100)[98]
    print(f"{len(times):,} searches, {errors} errors: median {median(times):.3f} s, 99 % within {worst:.3f} s")
    print(f"the server's memory: {memory / 1e6:.0f} MB, then {grown / 1e6:+.0f} MB")
    alone, paid = (before + after) / 2, median(beside)
    print(f"the crawl alone: {before:.2f} and {after:.2f} s of CPU; beside the searches {paid:.2f} s: {paid / alone:.2f} x")


_AGAIN = """
import resource, subprocess, sys, signal
stop = []
signal.signal(signal.SIGTERM, lambda *_: stop.append(1))
while not stop:
    begin = resource.getrusage(resource.RUSAGE_CHILDREN)
    if subprocess.run(sys.argv[1:]).returncode:
        sys.exit(1)
    end = resource.getrusage(resource.RUSAGE_CHILDREN)
    print(end.ru_utime + end.ru_stime - begin.ru_utime - begin.ru_stime, flush=True)
"""
"""Crawls until it is told to stop, and prints what each crawl took; the last one is finished."""


def _larm(*words: str) -> list[str]:
    return [sys.executable, "-P", "-m", "larm", *words]


def _command(folder: Path, url: str) -> list[str]:
    return _larm("crawl", "-q", "--fresh", "--dir", str(folder / "crawl"), "-start", url, "--delay", "0", "--per-host", "16")


def _crawl(folder: Path, url: str) -> float:
    """Seconds of CPU."""
    begin = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(_command(folder, url), check=True)
    return _ended() - begin.ru_utime - begin.ru_stime


def _ended() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _memory(process: int) -> int:
    [line] = [line for line in Path(f"/proc/{process}/status").read_text().splitlines() if line.startswith("VmRSS:")]
    return int(line.split()[1]) * 1024


async def _visit(queries: Sequence[str], visitors: int, seconds: float) -> tuple[list[float], int]:
    """Seconds of each search, and how many failed."""
    end = time.perf_counter() + seconds
    times: list[float] = []
    errors = 0

    async def visitor(number: int, client: httpx.AsyncClient) -> None:
        nonlocal errors
        words = Random(number)
        while time.perf_counter() < end:
            begin = time.perf_counter()
            answer = await client.get("/search", params={"q": words.choice(queries)})
            times.append(time.perf_counter() - begin)
            errors += answer.status_code != 200

    limits = httpx.Limits(max_connections=visitors)
    async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{_PORT}", timeout=60, trust_env=False, limits=limits) as client:
        for _ in range(100):
            try:
                await client.get("/healthz")
                break
            except httpx.TransportError:
                await asyncio.sleep(0.1)
        await asyncio.gather(*(visitor(number, client) for number in range(visitors)))
    return times, errors


if __name__ == "__main__":
    main()

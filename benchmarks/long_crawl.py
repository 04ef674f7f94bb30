"""The end of a long crawl: many pages from a server on this machine, and what becomes of their links and the texts of these.

``python -m benchmarks.long_crawl [--pages 150000] [--links 20] [--words 350] [--hosts 4] [--more 0] [--again] [--dir DIR] [-s
KEY=VALUE]``. A process of its own serves pages of random words, each with links to its children (so that all are reachable),
its section, its neighbours and anywhere, which go by the title of their target, as on real sites. Then larm crawls them, as a
process of its own. Prints what the crawl took and what came after the last page (the end's work: the last snapshot of the link
graph, the index of the texts of links), the peak of memory of the crawl and of all its processes, and whether graph and texts
are complete, if there is a graph (there is none with ``-s storage.chain=[log]``); exit status 1 if they are not. With
``--more`` the same of a later run, of so many new pages, with ``--again`` of a revisit, whose pages are all as they were; where
``--dir`` has a crawl already (with the same ``--port``) of that run alone.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import select
import subprocess
import sys
import tempfile
import time
from itertools import accumulate
from pathlib import Path
from random import Random
from typing import Any

from larm.graph.reader import open_graph
from larm.index.search.coverage import coverage_of

SECTION = 500
"""Pages that have one menu."""
_SYLLABLES = ("ba", "ce", "di", "fo", "gu", "ha", "je", "ki", "lo", "mu", "na", "pe", "ri", "so", "tu", "va", "we", "xi", "zu")


def main() -> None:
    """Serve, crawl, look at what is there."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.long_crawl", description=__doc__)
    parser.add_argument("--pages", type=int, default=150_000)
    parser.add_argument("--links", type=int, default=20)
    parser.add_argument("--words", type=int, default=350, help="of a page")
    parser.add_argument("--hosts", type=int, default=4, help="sections are dealt to them, or pages where these are too few")
    parser.add_argument("--more", type=int, default=0, help="pages of a second run; with --dir and --port, of one that goes on")
    parser.add_argument("--again", action="store_true", help="revisit; with --dir and --port, only that where there is a crawl")
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--slice", type=int, default=10_000, help="pages of which a line tells what they cost")
    parser.add_argument("--dir", help="where to crawl to; it is kept")
    parser.add_argument("-s", action="append", default=[], metavar="KEY=VALUE", dest="settings")
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.serve:
        asyncio.run(serve(Web(options.pages, options.links, options.words, options.hosts, options.more), options.port))
        return
    with tempfile.TemporaryDirectory() as folder:
        server = subprocess.Popen(
            [sys.executable, "-m", "benchmarks.long_crawl", "--serve", *sys.argv[1:]], stdout=subprocess.PIPE, text=True
        )
        try:
            assert server.stdout is not None
            port = int(server.stdout.readline())
            directory = Path(options.dir or folder)
            home = f"http://h0.localhost:{port}/"
            there = (options.more or options.again) and (directory / "larm.json").exists()
            complete = there or crawl(home, port, directory, options.settings, options.slice)
            if options.more:
                complete &= crawl(f"{home}{options.pages}.html", port, directory, options.settings, options.slice)
            if options.again:
                complete &= crawl(home, port, directory, options.settings, options.slice)
        finally:
            server.terminate()
            server.wait()
    sys.exit(not complete)


def crawl(start: str, port: int, directory: Path, settings: list[str], pages_of_slice: int) -> bool:
    """Run larm, print what it took; whether graph and texts are of all pages."""
    command = [sys.executable, "-m", "larm", "crawl", "-start", start, "--dir", str(directory)]
    command += ["-restrictto", rf"http://h\d+\.localhost:{port}/.*", "--delay", "0", "--per-host", "16", "-q"]
    command += [f"-s{each}" for each in settings]
    began = time.perf_counter()
    process = subprocess.Popen(command)
    own = family = when = 0.0
    last, changed = -1, began
    log = directory / "logs" / "store.log"
    handle = os.pidfd_open(process.pid)
    slices = Slices(directory / "stats.json", process.pid, pages_of_slice)
    while not _ended(handle, 0.5):
        rss = _memory(process.pid)
        if (here := rss.get(process.pid, 0.0)) > own:
            own, when = here, time.perf_counter() - began
        family = max(family, sum(rss.values()))
        slices.look(process.pid)
        size = log.stat().st_size if log.exists() else -1
        if size != last:
            last, changed = size, time.perf_counter()
    _, status, used = os.wait4(process.pid, 0)
    ended = time.perf_counter()
    process.returncode = os.waitstatus_to_exitcode(status)
    graph = open_graph(directory / "graph")
    covered = coverage_of(directory)
    cpu = used.ru_utime + used.ru_stime
    has = f"a graph of {graph.pages:,} pages and {graph.links:,} links" if graph else "no graph"
    print(f"exit {process.returncode}, {_figures(directory / 'stats.json').get('pages', 0):,} pages, {has}")
    print(f"{ended - began:.0f} s in all, {ended - changed:.1f} s of them after the last page was written; {cpu:.0f} s CPU")
    print(f"memory at most: {own:.0f} MB the crawl (after {when:.0f} s), {family:.0f} MB with the processes beside it")
    print(f"load of the machine: {', '.join(f'{each:.1f}' for each in os.getloadavg())}")
    if graph:
        print(f"graph of {covered.graph:,}, texts of links of {covered.texts:,} of {covered.pages:,} pages")
    return process.returncode == 0 and covered.complete


class Slices:
    """What each slice of requests cost, in a line when it is over: the crawl's figures are five seconds old at most."""

    def __init__(self, stats: Path, pid: int, pages: int) -> None:
        self._stats, self._written, self._each = stats, Path(f"/proc/{pid}/io"), pages
        self._last: dict[str, float] = {}
        self._told = False
        self._before = _figures(stats)  # of an earlier run

    def look(self, pid: int) -> None:
        """Print a line if there is one to print. Its memory is that which is no file's: files are mapped as there is room."""
        if (figures := _figures(self._stats)) == self._before:
            return
        io = dict(line.split(": ") for line in _text(self._written).splitlines())
        now = {
            "pages": figures["requests"],
            "wall": figures["elapsed"],
            "KB": int(io.get("write_bytes", 0)) / 1e3,
            **figures["cpu"],
        }
        pages = now["pages"] - self._last.get("pages", 0)
        if pages < self._each or figures["elapsed"] == self._last.get("wall"):
            return
        parts = [name for name in now if name not in ("pages", "wall", "KB")]
        if not self._told:
            print("ms of CPU a page, of each part of the crawl:", *enumerate(parts, 1), flush=True)
            self._told = True
        cost = [1000 * (now[name] - self._last.get(name, 0)) / pages for name in parts]
        print(
            f"{now['pages']:9,} pages: {sum(cost):5.2f} ms,{(now['KB'] - self._last.get('KB', 0)) / pages:6.1f} KB written,"
            f" {_memory(pid, 'Pss_Anon:').get(pid, 0.0):4.0f} MB, {pages / (now['wall'] - self._last.get('wall', 0)):4.0f}/s:",
            *(f"{each:.3f}" for each in cost),
            flush=True,
        )
        self._last = now


def _figures(stats: Path) -> dict[str, Any]:
    try:
        return json.loads(stats.read_text())["figures"]
    except (OSError, ValueError, KeyError):
        return {}


def _ended(handle: int, seconds: float) -> bool:
    return bool(select.select([handle], [], [], seconds)[0])


def _memory(pid: int, kind: str = "Pss:") -> dict[int, float]:
    """Megabytes, resident, of a process and its children; what they share counts for each its part."""
    found = {}
    children = [int(each) for path in Path(f"/proc/{pid}/task").glob("*/children") for each in _text(path).split()]
    for number in (pid, *children):
        for line in _text(Path(f"/proc/{number}/smaps_rollup")).splitlines():
            if line.startswith(kind):
                found[number] = int(line.split()[1]) / 1000
    return found


def _text(path: Path) -> str:
    try:
        return path.read_text()
    except OSError:  # it has just ended
        return ""


class Web:
    """All pages are reachable: page n links to 3n + 1, 3n + 2, 3n + 3. The same page each time, from its number alone."""

    def __init__(self, pages: int, links: int, words: int, hosts: int, more: int) -> None:
        """``more``: pages to which only the first of them leads; they lead to all others."""
        choose = Random(1)
        known = ["".join(choose.choices(_SYLLABLES, k=choose.randrange(1, 5))) for _ in range(20_000)]
        often = list(accumulate(1 / (place + 10) for place in range(len(known))))  # as in any language
        self._bag = choose.choices(known, cum_weights=often, k=200_000)
        self._titles = [" ".join(choose.choices(known, k=choose.randrange(1, 4))) for _ in range(pages + more)]
        self._all = pages + more
        self._pages, self._links, self._words, self._hosts = pages, links, words, hosts
        self.port = 0

    def answer(self, path: str) -> bytes:
        """A whole response."""
        name = path.rpartition("/")[2].removesuffix(".html") or "0"
        if not name.isdigit() or int(name) >= self._all:
            return b"HTTP/1.1 404 Not Found\r\nContent-Type: text/plain\r\nContent-Length: 0\r\n\r\n"
        body = self._page(int(name)).encode()
        head = f"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\nContent-Length: {len(body)}\r\n\r\n"
        return head.encode() + body

    def _page(self, number: int) -> str:
        choose = Random(number)
        first = number - number % SECTION
        links = [(3 * number + each, "") for each in (1, 2, 3)]
        links += [(first, "section"), (0, "home"), (number - 1, "previous"), (number + 1, "next")]
        links += [(choose.randrange(self._pages), "") for _ in range(self._links - len(links))]
        most = self._pages if number < self._pages else self._all
        menu = [self._link(goal, text) for goal, text in links if 0 <= goal < most]
        if number == self._pages:
            menu += [self._link(goal, "") for goal in range(number + 1, self._all)]
        words = choose.choices(self._bag, k=self._words)
        parts = [" ".join(words[at : at + 40]) for at in range(0, len(words), 40)]
        title = self._titles[number]
        paragraphs = [f"<p>{part}. {link}</p>" for part, link in zip(parts, menu, strict=False)]
        return (
            f'<!DOCTYPE html><html lang="en"><head><title>{title}</title></head><body><h1>{title}</h1>'
            f"{''.join(paragraphs)}<ul>{''.join(f'<li>{link}</li>' for link in menu[len(paragraphs) :])}</ul></body></html>"
        )

    def _link(self, goal: int, text: str) -> str:
        part = goal // SECTION if self._hosts * SECTION <= self._all else goal * self._hosts // self._all
        host = f"http://h{part % self._hosts}.localhost:{self.port}"
        path = f"/s{goal // SECTION}/{goal}.html" if goal else "/"
        return f'<a href="{host}{path}">{text or self._titles[goal]}</a>'


class Connection(asyncio.Protocol):
    """Requests without bodies, answered in their order; a tenth of what asyncio's streams cost."""

    def __init__(self, web: Web) -> None:
        self._web = web
        self._came = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Somebody comes."""
        assert isinstance(transport, asyncio.WriteTransport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        """Some of a request, or several of them."""
        *requests, self._came = (self._came + data).split(b"\r\n\r\n")
        for request in requests:
            self._transport.write(self._web.answer(request.split(b" ", 2)[1].decode("ascii", "replace")))


async def serve(web: Web, port: int) -> None:
    """Print the port, and answer until killed."""
    server = await asyncio.get_running_loop().create_server(lambda: Connection(web), "127.0.0.1", port, backlog=1024)
    web.port = server.sockets[0].getsockname()[1]
    print(web.port, flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    main()

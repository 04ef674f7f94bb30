"""Are all real pages fetched, of large sites that repeat themselves and of hosts that never end? And for how many requests?

``python -m benchmarks.traps [--web NAME ...] [--delay 0,0.02] [--order given,reversed] [--no-index] [--busy 2] [--why 2]``. The
named webs of ``tests.support.webs`` are served over loopback, and crawled one by one with larm, as a user would start it. A row
for each crawl: the pages that are real, those of them that were fetched, all requests, and what larm says of the addresses that
it left. ``--sites`` and ``--traps`` take all of a kind; without any name, all webs of both are crawled.
"""

from __future__ import annotations

import argparse
import itertools
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from larm.testing.web import SyntheticWeb
from tests.support.webs.named import NamedWeb, fetched, serve, with_port
from tests.support.webs.table import SITES, TRAPS, WEBS

_COUNTER = re.compile(r"^  (?:(?:filter/)?traps\S*|\S*(?:parked|left)\S*): \d+$", re.MULTILINE)
_SENTENCE = re.compile(r"^larm: .*(?:trap|parked|were left|not decided).*$", re.MULTILINE)


def main() -> None:
    """Print the table; exit status 1 where a real page is missing, or a budget was passed."""
    options = _options()
    names = [*options.web, *(SITES if options.sites else ()), *(TRAPS if options.traps else ())] or list(WEBS)
    heads = f"{'web':20}{'delay':>6} {'order':9}{'real':>7}{'fetched':>8}{'missing':>8}"
    print(f"{heads}{'requests':>9}{'/real':>6}{'budget':>7}{'s':>7}  left")
    bad = False
    with burners(options.busy):
        for name, delay, order in itertools.product(names, options.delay.split(","), options.order.split(",")):
            made = WEBS[name](options.pages) if options.pages else WEBS[name]()
            bad = crawl(made, delay, order, options) or bad
    sys.exit(bad)


def crawl(named: NamedWeb, delay: str, order: str, options: argparse.Namespace) -> bool:
    """One crawl and its row; was it bad?"""
    with SyntheticWeb() as web, tempfile.TemporaryDirectory() as scratch:
        starts = serve(named, web)
        folder = Path(options.keep or scratch, f"{named.name}-{delay}-{order}")
        command = [sys.executable, "-m", "larm", "crawl", *(reversed(starts) if order == "reversed" else starts)]
        command += ["--dir", str(folder), "--delay", delay, "--per-host", str(options.per_host), "--max-time", options.max_time]
        command += ["--fresh", *(["--no-index"] if options.no_index else []), *(f"-s{each}" for each in options.settings)]
        command += ["--unrestricted"] if named.further else []
        began = time.perf_counter()
        done = subprocess.run(command, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)
        seconds = time.perf_counter() - began
        got, requests = fetched(named, web), len([each for each in web.requests if each.path != "/robots.txt"])
        missing = sorted(named.real - got)
        passed = named.budget is not None and requests > named.budget * 1.05
        counters = ", ".join(each.strip() for each in _COUNTER.findall(done.stderr))
        row = f"{named.name:20}{delay:>6} {order:9}{len(named.real):7}{len(got):8}{len(missing):8}{requests:9}"
        row += f"{requests / len(named.real):6.1f}{named.budget or 0:7}{seconds:7.1f}  {counters}"
        print(row + (f"; exit {done.returncode}" if done.returncode else "") + ("; OVER BUDGET" if passed else ""), flush=True)
        for sentence in _SENTENCE.findall(done.stderr):
            print(f"    {sentence}")
        for address in missing[:: max(1, len(missing) // options.why)][: options.why] if options.why else []:
            asked = [sys.executable, "-m", "larm", "why", with_port(address, web.port), "--dir", str(folder)]
            said = subprocess.run(asked, capture_output=True, text=True, check=False)
            print(f"    why {address}\n      " + (said.stdout + said.stderr).strip().replace("\n", "\n      "), flush=True)
    return bool(missing or passed or done.returncode)


@contextmanager
def burners(count: int) -> Iterator[None]:
    """Processes that keep a core busy each."""
    running = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(count)]
    try:
        yield
    finally:
        for each in running:
            each.kill()
            each.wait()


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.traps", description=__doc__)
    parser.add_argument("--web", nargs="+", default=[], choices=WEBS, metavar="NAME", help=", ".join(WEBS))
    parser.add_argument("--sites", action="store_true", help="all webs that end")
    parser.add_argument("--traps", action="store_true", help="all webs that don't")
    parser.add_argument("--pages", type=int, help="pages or articles of each web; default: its own")
    parser.add_argument("--delay", default="0", help="one or more, with commas")
    parser.add_argument("--order", default="given", help="of the start URLs: given, reversed or both, with a comma")
    parser.add_argument("--per-host", type=int, default=16)
    parser.add_argument("--no-index", action="store_true")
    parser.add_argument("--busy", type=int, default=0, metavar="N", help="processes beside it that burn a core each")
    parser.add_argument("--why", type=int, default=0, metavar="N", help="ask larm why so many pages are missing")
    parser.add_argument("--max-time", default="30m")
    parser.add_argument("--keep", help="folder where the crawls stay")
    parser.add_argument("-s", action="append", default=[], metavar="KEY=VALUE", dest="settings")
    return parser.parse_args()


if __name__ == "__main__":
    main()

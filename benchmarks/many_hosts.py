"""A thousand slow hosts: is larm as fast as politeness allows, at what cost, and polite to the letter?

``python -m benchmarks.many_hosts [--hosts 1000] [--pages 30] [--answer 0.05] [--delay 2]``. A server in this process answers
each request of ``*.localhost`` after a while; its log says how close the requests came. A host gives at most one page every
(delay + answer time), so ``hosts / (delay + answer)`` pages a second is the most that can be had; and with few transfers
``transfers / answer``.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from larm.testing.web import SyntheticWeb


def main() -> None:
    """Run it."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.many_hosts", description=__doc__)
    parser.add_argument("--hosts", type=int, default=1000)
    parser.add_argument("--pages", type=int, default=30)
    parser.add_argument("--answer", type=float, default=0.05, help="seconds until a host answers")
    parser.add_argument("--delay", type=float, default=2.0)
    parser.add_argument("-s", action="append", default=[], metavar="KEY=VALUE", dest="settings")
    options = parser.parse_args()
    names = [f"h{number}.localhost" for number in range(options.hosts)]
    with SyntheticWeb() as web, tempfile.TemporaryDirectory() as folder:
        for name in names:
            site = web.host(name)
            site.delay = options.answer
            for page in range(options.pages):
                site.page(f"/{page}" if page else "/", title=name, links=[f"/{other}" for other in range(1, options.pages)])
        starts = Path(folder, "starts")
        starts.write_text("".join(web.url(name, "/") + "\n" for name in names))
        command = [sys.executable, "-m", "larm", "crawl", "-start", f"@{starts}", "--dir", f"{folder}/crawl", "-q"]
        command += ["--delay", str(options.delay), "-sfrontier.delay_factor=0", "-sfrontier.per_address=0"]
        command += [f"-s{each}" for each in options.settings]
        began = time.perf_counter()
        process = subprocess.Popen(command)
        _, status, used = os.wait4(process.pid, 0)
        wall = time.perf_counter() - began
        process.returncode = os.waitstatus_to_exitcode(status)
        pages = sum(web.fetched().values())
        closest = min(web.closest(name) for name in names)
        overlaps = sum(web.overlaps(name) for name in names)
        starts_at = sorted(request.started for request in web.requests)
    span = starts_at[-1] - starts_at[0]
    requests = len(starts_at)
    polite = options.hosts / (options.delay + options.answer)
    cpu = used.ru_utime + used.ru_stime
    print(f"exit {process.returncode}, {pages} pages of {options.hosts * options.pages} in {wall:.1f} s")
    print(f"{requests / span:.0f} requests/s over {span:.1f} s; politeness allows {polite:.0f}: {requests / span / polite:.0%}")
    print(f"{requests / span * options.answer:.1f} transfers in the air on average")
    print(f"{cpu:.1f} s CPU, {cpu / wall:.2f} cores, {cpu / pages * 1000:.2f} ms a page, {used.ru_maxrss / 1000:.0f} MB")
    print(f"closest requests of a host {closest:.3f} s apart; {overlaps} overlaps")


if __name__ == "__main__":
    main()

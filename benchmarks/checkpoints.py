"""What checkpoints cost: the same crawl with one every few seconds and with none but the last, in turns.

``python -m benchmarks.checkpoints http://docs.localhost:8080/ [--rounds 5] [--tick 5s]``. Another process serves
the pages, on loopback. A crawl that is over before the second tick says little: take a larger site, several of them, or a
shorter tick; the number of ticks is printed. The table has medians and, in brackets, the extremes.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path
from statistics import median

from benchmarks.measure import Usage, run
from larm.store.reader import StoreLog

_OFF = "1h"
_LIMIT = 1800.0  # seconds for one crawl


def main() -> None:
    """Crawl in turns and print the ratio."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.checkpoints", description="What checkpoints cost.")
    parser.add_argument("urls", nargs="+", metavar="URL", help="where the crawls begin")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--tick", default="5s", help="monitor.tick of the crawls with checkpoints")
    parser.add_argument("--per-host", type=int, default=16, help="requests at a time to a host")
    options = parser.parse_args()
    results: dict[str, list[Usage]] = {options.tick: [], _OFF: []}
    for number in range(options.rounds):
        for tick in sorted(results, reverse=bool(number % 2)):
            usage, pages, ticks = _crawl(options.urls, tick, options.per_host)
            results[tick].append(usage)
            speed = pages / usage.wall
            print(
                f"round {number + 1}: tick {tick}: {pages} pages, {ticks} ticks, {usage.wall:.2f} s, {speed:.0f} pages/s",
                flush=True,
            )
    for tick, usages in results.items():
        walls, cpus = [each.wall for each in usages], [each.cpu for each in usages]
        print(f"tick {tick}: {median(walls):.2f} s [{min(walls):.2f} to {max(walls):.2f}], CPU {median(cpus):.2f} s")
    with_them, without = (median(each.wall for each in usages) for usages in results.values())
    print(f"with checkpoints / without: {with_them / without:.3f}")


def _crawl(urls: list[str], tick: str, per_host: int) -> tuple[Usage, int, int]:
    """One crawl in an empty folder: what it cost, pages stored, ticks."""
    with tempfile.TemporaryDirectory(prefix="larm-checkpoints-") as folder:
        settings = {"monitor.tick": tick, "frontier.delay": "0", "frontier.delay_factor": "0", "fetch.ip": "'4'"}
        command: list[str | Path] = [sys.executable, "-m", "larm", "crawl", "-q", "--dir", folder, "--per-host", str(per_host)]
        for url in urls:
            command += ["-start", url]
        for key, value in settings.items():
            command += ["-s", f"{key}={value}"]
        root = Path(__file__).parents[1]
        usage = run([command], Path(folder), {"PYTHONPATH": str(root)}, _LIMIT)
        if usage.status != 0:
            sys.exit(f"larm: exit status {usage.status}: {usage.said}")
        lines = (Path(folder) / "logs" / "ThreadMonitor.log").read_text().splitlines()
        ticks = max(sum(not line.startswith("#") for line in lines) - 2, 0)  # without the header, and the line at the end
        return usage, sum(1 for _ in StoreLog(Path(folder))), ticks


if __name__ == "__main__":
    main()

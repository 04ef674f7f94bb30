"""larm against Scrapy and wget2 on a real documentation site, in turns, on one machine.

``python -m benchmarks.versus [--site postgresql-doc-15] [--rounds 3]``. nginx serves the site on loopback; its log says what
each contestant fetched. In each round every contestant runs once, in another order each time, in an empty folder. The table has
medians and, in brackets, the extremes. A contestant whose number of pages differs by more than 1 % from what can be reached by
links, or that fails, is marked INVALID: its times mean nothing.
"""

from __future__ import annotations

import argparse
import json
import platform
import shutil
import subprocess
import sys
import tempfile
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks import contestants
from benchmarks.contestants import Contestant, Missing
from benchmarks.link_check import reachable
from benchmarks.measure import run
from benchmarks.nginx import Nginx
from benchmarks.sites import CACHE, Site, known_sites, unpack

_TOLERANCE = 0.01
Round = dict[str, Any]


def main() -> None:
    """Run the contest that the command line asks for."""
    options = _options()
    sites = known_sites()
    if options.site not in sites:
        sys.exit(f"{options.site}: not in the list; known are {', '.join(sites)}")
    site = unpack(sites[options.site], options.cache, options.debs)
    expected = len(reachable(site))
    present, missing = _line_up(options)
    print(f"{site.package}: {expected} pages reachable; {_machine()}")
    for absent in missing:
        print(f"missing: {absent.name}: {absent.why}")
    results: dict[str, list[Round]] = {each.name: [] for each in present}
    with Nginx([site]) as nginx:
        for number in range(options.rounds):
            turn = present[number % len(present) :] + present[: number % len(present)]
            for contestant in turn if number % 2 == 0 else reversed(turn):
                result = _contest(contestant, nginx, site, options)
                results[contestant.name].append(result)
                print(f"round {number + 1}: {_line(contestant.name, result)}", flush=True)
    print("\n" + _table(present, results, expected))
    for line in _stages(present, results):
        print(line)
    if options.json:
        report = {
            "site": site.package,
            "reachable": expected,
            "machine": _machine(),
            "time": datetime.now(UTC).isoformat(timespec="seconds"),
            "missing": [asdict(each) for each in missing],
            "contestants": [
                {"name": each.name, "version": each.version, "does": each.does, "rounds": results[each.name]}
                for each in present
            ],
        }
        options.json.write_text(json.dumps(report, indent=2) + "\n")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.versus", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--site", default="postgresql-doc-15", help="a package of the list, or openjdk-17-doc")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", action="append", metavar="NAME", help="only this contestant (may be repeated)")
    parser.add_argument("--limit", type=float, default=900.0, metavar="S", help="a command is killed after so many seconds")
    parser.add_argument(
        "--larm-python", default=sys.executable, metavar="FILE", help="interpreter that has larm's dependencies"
    )
    parser.add_argument("--cache", type=Path, default=CACHE, help="for packages and Scrapy's environment")
    parser.add_argument("--debs", type=Path, action="append", default=[], help="a folder that has .deb files already")
    parser.add_argument("--json", type=Path, help="write all figures there")
    return parser.parse_args()


def _line_up(options: argparse.Namespace) -> tuple[list[Contestant], list[Missing]]:
    everyone = [
        *contestants.larm(options.larm_python),
        contestants.scrapy(options.cache),
        contestants.wget2(),
        contestants.wget2_and_omega(options.cache),
    ]
    wanted = [each for each in everyone if options.only is None or each.name in options.only]
    present = [each for each in wanted if isinstance(each, Contestant)]
    if not present:
        sys.exit(f"nobody to run; there are {', '.join(each.name for each in everyone)}")
    return present, [each for each in wanted if isinstance(each, Missing)]


def _contest(contestant: Contestant, nginx: Nginx, site: Site, options: argparse.Namespace) -> Round:
    folder = Path(tempfile.mkdtemp(prefix="larm-versus-"))
    try:
        [url, *_] = nginx.start_urls(site, "127.0.0.1")
        begin = nginx.mark()
        usage = run(contestant.commands(url, folder), folder, contestant.environment, options.limit)
        access = nginx.accesses(begin, nginx.mark())
        stages = _stages_of(folder / "crawl" / "stats.json")
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return {"usage": asdict(usage), "access": asdict(access), "stages": stages}


def _stages_of(stats: Path) -> dict[str, float]:
    """Where larm's processor time went, in seconds; of the others only the sum is known."""
    return dict(json.loads(stats.read_bytes())["figures"]["cpu"]) if stats.exists() else {}


def _line(name: str, result: Round) -> str:
    usage, access = result["usage"], result["access"]
    said = f"  exit status {usage['status']}: {usage['said'][-300:]}" if usage["status"] else ""
    return (
        f"{name:16} {usage['wall']:7.2f} s wall {usage['cpu']:7.2f} s CPU {usage['rss']:6.0f} MB  "
        f"{access['pages']} pages, {access['requests']} requests, {access['statuses']}{said}"
    )


def _table(present: list[Contestant], results: dict[str, list[Round]], expected: int) -> str:
    """Medians; ratios are to the first contestant that is valid."""
    lines = [
        f"{'contestant':16} {'version':14} {'pages':>6} {'wall s':>20} {'CPU s':>20} {'pages/s':>8} {'ms CPU/page':>11} "
        f"{'MB':>5} {'wall x':>6} {'CPU x':>6}  does"
    ]
    base: tuple[float, float] | None = None
    for each in present:
        rounds = results[each.name]
        pages = [result["access"]["pages"] for result in rounds]
        walls = [result["usage"]["wall"] for result in rounds]
        cpus = [result["usage"]["cpu"] for result in rounds]
        wall, cpu, page = median(walls), median(cpus), median(pages)
        valid = all(abs(count - expected) <= _TOLERANCE * expected for count in pages)
        valid = valid and all(result["usage"]["status"] in each.good for result in rounds)
        if valid and base is None:
            base = (wall, cpu)
        ratio = f"{wall / base[0]:6.2f} {cpu / base[1]:6.2f}" if valid and base else f"{'-':>6} {'-':>6}"
        memory = median(result["usage"]["rss"] for result in rounds)
        lines.append(
            f"{each.name:16} {each.version[:14]:14} {page:6.0f} {_spread(walls):>20} {_spread(cpus):>20} {page / wall:8.0f} "
            f"{cpu / max(page, 1) * 1000:11.2f} {memory:5.0f} {ratio}  {each.does}{'' if valid else '  INVALID'}"
        )
    return "\n".join(lines)


def _stages(present: list[Contestant], results: dict[str, list[Round]]) -> list[str]:
    """A line for each contestant that says where its time goes: milliseconds of processor time a page, medians."""
    lines = []
    for each in present:
        rounds = [result for result in results[each.name] if result["stages"]]
        if rounds:
            pages = max(median(result["access"]["pages"] for result in rounds), 1)
            costs = {name: median(result["stages"][name] for result in rounds) / pages * 1000 for name in rounds[0]["stages"]}
            lines.append(f"{each.name}, ms CPU/page: " + ", ".join(f"{name} {cost:.2f}" for name, cost in costs.items()))
    return lines


def _spread(values: list[float]) -> str:
    return f"{median(values):.2f} ({min(values):.2f}-{max(values):.2f})"


def _machine() -> str:
    cpu = next((line.split(":", 1)[1].strip() for line in _cpuinfo() if line.startswith("model name")), platform.machine())
    count = sum(line.startswith("processor") for line in _cpuinfo())
    nginx = subprocess.run(["nginx", "-v"], capture_output=True, text=True, check=False).stderr
    return f"{count} x {cpu}, {platform.system()} {platform.release()}, Python {platform.python_version()}, {nginx.strip()}"


def _cpuinfo() -> list[str]:
    file = Path("/proc/cpuinfo")
    return file.read_text().splitlines() if file.exists() else []


if __name__ == "__main__":
    main()

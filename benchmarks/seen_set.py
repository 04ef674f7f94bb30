"""What the visited set costs as it grows: slices of a million URLs, in checkpoints of so many new ones as five seconds bring.

``python -m benchmarks.seen_set [--millions 5] [--each 5000]``. Processor time of this process, bytes written to the disk as the
kernel counts them, per new URL; and what a URL costs that nobody has seen before, which is looked for everywhere.
"""

from __future__ import annotations

import argparse
import random
import resource
import tempfile
import time
from pathlib import Path

from larm.config.filters import VisitedFilter
from larm.kit.disk.seen_set import DiskSeenSet

_SLICE = 1_000_000


def main() -> None:
    """Fill one, and print a line for each slice."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.seen_set", description="What the visited set costs.")
    parser.add_argument("--millions", type=int, default=5)
    parser.add_argument("--each", type=int, default=5_000, help="new URLs in a checkpoint")
    options = parser.parse_args()
    choose = random.Random(1)
    with tempfile.TemporaryDirectory(prefix="larm-seen-") as folder:
        path = Path(folder) / "visited.db"
        seen, epoch = DiskSeenSet(path, VisitedFilter().recent), 0
        print("millions  CPU/new  asked/new  written/new  on disk/URL      memory  longest write")
        for million in range(1, options.millions + 1):
            cpu, asked, longest, written = time.process_time(), 0.0, 0.0, _written()
            for _ in range(_SLICE // options.each):
                for _ in range(options.each // 1_000):
                    batch = [choose.getrandbits(63) for _ in range(1_000)]
                    began = time.process_time()
                    seen.add_new(batch)
                    asked += time.process_time() - began
                epoch, began = epoch + 1, time.perf_counter()
                seen.apply(seen.cut(), epoch)
                longest = max(longest, time.perf_counter() - began)
            cpu = time.process_time() - cpu
            size = sum(file.stat().st_size for file in Path(folder).iterdir())
            print(
                f"{million:8d} {cpu / _SLICE * 1e6:5.1f} us {asked / _SLICE * 1e6:7.1f} us"
                f" {(_written() - written) / _SLICE:10,.0f} B {size / million / _SLICE:10.1f} B"
                f" {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3:7.0f} MB {longest:11.2f} s",
                flush=True,
            )
        seen.close()


def _written() -> int:
    """Bytes that this process has had written to a disk."""
    lines = Path("/proc/self/io").read_text().splitlines()
    return int(next(line.partition(":")[2] for line in lines if line.startswith("wchar")))


if __name__ == "__main__":
    main()

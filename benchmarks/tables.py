"""What the tables of a crawl cost as they grow: slices of new rows, in checkpoints of so many as five seconds bring.

``python -m benchmarks.tables [seen|aliases|pages|index] [--slices 5] [--rows 1000000] [--each 5000]``. ``seen`` is the visited
set, ``aliases`` the table by which pages that say the same are found (seven marks and 250 bytes a page), ``pages`` the page
book; ``index`` is the full-text index, of pages of 2 KB of text, and ``index --rows 2000 --each 5`` a slow crawl. Processor
time of this process, bytes written to the disk as the kernel counts them, per new row; and what it costs to look for one that
nobody has seen before, which is looked for everywhere.
"""

from __future__ import annotations

import argparse
import random
import resource
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from larm.config import IndexStorage as IndexSettings
from larm.config.filters import VisitedFilter
from larm.kit.disk.record_table import RecordTable
from larm.kit.disk.seen_set import DiskSeenSet
from larm.kit.disk.twin_table import Entry, TwinTable
from larm.model.document import Document, Visit
from larm.model.url import Url
from larm.store.index import IndexStorage
from larm.testing.clock import FakeClock
from tests.support.webs.words import prose

_TOGETHER = {"seen": 1_000, "aliases": 64, "pages": 5_000, "index": 1_000}
"""Rows that are looked for at once."""
_HOSTS, _MARKS, _BYTES = 1_000, 7, 250
Steps = tuple[Callable[[Sequence[int]], object], Callable[[], object]]
"""For some new rows: look for them and add them; then the checkpoint."""


def seen_set(folder: Path) -> Steps:
    """The visited set."""
    seen, epochs = DiskSeenSet(folder / "visited.db", VisitedFilter().recent), iter(range(1, 1 << 30))
    return seen.add_new, lambda: seen.apply(seen.cut(), next(epochs))


def aliases(folder: Path) -> Steps:
    """As `larm.index.duplicates.aliases` uses its table for pages that are like no other."""
    table, choose = TwinTable(folder / "aliases.db"), random.Random(2)
    table.open_at(0)

    def add(keys: Sequence[int]) -> None:
        entries = [Entry(key, key, bytes(_BYTES), tuple([choose.getrandbits(62) for _ in range(_MARKS)])) for key in keys]
        table.find([mark for entry in entries for mark in entry.marks])
        table.get_many(keys)
        table.put(entries, new=True)

    return add, table.commit


def pages(folder: Path) -> Steps:
    """As `larm.store.pages.page_book` uses its table."""
    table, generations = RecordTable(folder / "pages.db"), iter(range(1, 1 << 30))
    return lambda keys: table.write_parts(
        next(generations), [(key, bytes(_BYTES), 1 + key % _HOSTS) for key in sorted(keys)]
    ), int


def index(folder: Path) -> Steps:
    """The index storage, without the table of aliases."""
    clock = FakeClock(1_000.0)
    storage, texts = IndexStorage(folder, IndexSettings(), clock), [prose(300, number) for number in range(500)]
    storage.open(None)

    def add(keys: Sequence[int]) -> None:
        addresses = [(key, f"http://a.test/{key}.html") for key in keys]
        urls = [Url(address, address, "a.test", key) for key, address in addresses]
        storage.store(
            [
                Visit(url.access, url=url, status=200, document=Document("text/html", url.access, texts[url.fingerprint % 500]))
                for url in urls
            ]
        )

    def checkpoint() -> None:
        storage.checkpoint()
        clock.advance(5.0)

    return add, checkpoint


def main() -> None:
    """Fill one, and print a line for each slice."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.tables", description="What a table of a crawl costs.")
    parser.add_argument("table", nargs="?", choices=[*_TOGETHER], default="seen")
    parser.add_argument("--slices", type=int, default=5)
    parser.add_argument("--rows", type=int, default=1_000_000, help="of a slice")
    parser.add_argument("--each", type=int, default=5_000, help="new rows in a checkpoint")
    options = parser.parse_args()
    choose, together = random.Random(1), min(_TOGETHER[options.table], options.each)
    with tempfile.TemporaryDirectory(prefix="larm-table-", ignore_cleanup_errors=True) as folder:
        add, checkpoint = {"seen": seen_set, "aliases": aliases, "pages": pages, "index": index}[options.table](Path(folder))
        print("     rows  CPU/new  asked/new  written/new  on disk/row      memory  longest write")
        for number in range(1, options.slices + 1):
            cpu, asked, longest, written = time.process_time(), 0.0, 0.0, _written()
            for _ in range(options.rows // options.each):
                for _ in range(options.each // together):
                    batch = [choose.getrandbits(63) for _ in range(together)]
                    began = time.process_time()
                    add(batch)
                    asked += time.process_time() - began
                began = time.perf_counter()
                checkpoint()
                longest = max(longest, time.perf_counter() - began)
            cpu = time.process_time() - cpu
            size = sum(file.stat().st_size for file in Path(folder).rglob("*"))
            print(
                f"{number * options.rows:9,d} {cpu / options.rows * 1e6:5.1f} us {asked / options.rows * 1e6:7.1f} us"
                f" {(_written() - written) / options.rows:10,.0f} B {size / number / options.rows:10.1f} B"
                f" {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3:7.0f} MB {longest:11.2f} s",
                flush=True,
            )


def _written() -> int:
    """Bytes that this process has had written to a disk."""
    lines = Path("/proc/self/io").read_text().splitlines()
    return int(next(line.partition(":")[2] for line in lines if line.startswith("wchar")))


if __name__ == "__main__":
    main()

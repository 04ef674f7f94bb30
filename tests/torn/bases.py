"""Crawls that ended in different ways, to be damaged: made once, copied for each damage."""

from __future__ import annotations

import shutil
import signal
import threading
from collections import Counter
from pathlib import Path

from larm.crawldir.control_socket import SOCKET
from larm.engine.crawl import Crawl
from larm.engine.orders import Block, Unblock
from larm.errors import LarmError, StorageError
from larm.frontier.checkpoint import CheckpointFile
from larm.kit.disk.block_store import BlockStore
from larm.ops.observers import build_crawl
from tests.stories.crawls import ALL_HOSTS, config_of, run_crawl, watch
from tests.stories.leftovers import Leftovers, leftovers
from tests.stories.processes import Process, crawl_arguments
from tests.support.random_web import RandomWeb

HOSTS, PAGES = 6, 90
SETTINGS: dict[str, object] = {
    "monitor.tick": "30ms",
    "frontier.message_block": 20,  # blocks and hosts go to the disk and come back
    "frontier.host_block": 3,
    "frontier.hosts_in_memory": 2,
    "frontier.messages_in_memory": 10,
    "storage.log.page_file_size": 20_000,
    "fetch.threads": 1,
}


class Bases:
    """One web, and what crawls of it left.

    ``finished``; ``stopped``: by a signal; ``killed``: with -9, so with its write-ahead logs, and longer than the checkpoint.
    """

    def __init__(self, folder: Path, web: RandomWeb) -> None:
        self.web = web
        self._folder = folder
        self._copies = 0
        self._noted: dict[str, dict[str, int]] = {}
        run_crawl(self["finished"], web.start_urls, ALL_HOSTS | SETTINGS)
        self._middle = len(web.requests) * 6 // 10
        self.right: Leftovers = leftovers(self["finished"])
        self._stop()
        self._kill()
        for name in ("stopped", "killed"):
            (self[name] / "cachingqueue" / "suspects.json").write_text('{"http://elsewhere/": {"points": 3}}')

    def __getitem__(self, name: str) -> Path:
        return self._folder / name

    def files(self, base: str, pattern: str) -> list[Path]:
        """Relative to the directory."""
        return sorted(path.relative_to(self[base]) for path in self[base].glob(pattern) if path.is_file())

    def copy(self, base: str) -> Path:
        """To be damaged, and thrown away."""
        self._copies += 1
        copy = self._folder / f"copy-{self._copies}"
        return Path(shutil.copytree(self[base], copy, ignore=shutil.ignore_patterns(SOCKET)))

    def noted(self, base: str, file: Path) -> int:
        """Length of a log or page file at the last checkpoint: what is behind it was written afterwards."""
        if base not in self._noted:
            self._noted[base] = self._lengths(base)
        return self._noted[base].get(file.name, 0)

    def _lengths(self, base: str) -> dict[str, int]:
        copy = self.copy(base)
        store = BlockStore(copy / "cachingqueue")
        found = CheckpointFile(store).read()
        store.close()
        shutil.rmtree(copy)
        assert found is not None
        lengths = {f"{name}.log": length for name, length in found[0].logs.items()}
        position = found[0].storages["log"]
        lengths |= {"store.log": position["store"], "links.log": position["links"]}
        for number in range(1, position["page_file"]):
            name = f"pagefile_{number}.pfl.zst"
            lengths[name] = (self[base] / "logs" / name).stat().st_size
        lengths[f"pagefile_{position['page_file']}.pfl.zst"] = position["offset"]
        return lengths

    def resume(self, directory: Path, *, again: bool = False) -> StorageError | None:
        """The same command again: None where it came to the right end, the error where it was refused.

        Anything else is an AssertionError, or what the crawl raised. ``again``: pages were fetched again, so lines of logs may
        be there twice.
        """
        watch(self.web)
        try:
            run = run_crawl(directory, self.web.start_urls, ALL_HOSTS | SETTINGS)
            failure: LarmError | None = run.ending.error
        except StorageError as error:
            failure = error
        if failure is not None:
            assert type(failure) is StorageError, repr(failure)
            assert "\n" not in str(failure)
            return failure
        assert run.reason == "finished"
        found = leftovers(directory)
        for name, left, right in zip(Leftovers._fields, found, self.right, strict=True):
            if again and name in {"pages", "links"}:
                assert set(left) == set(right), f"{name} is not as it should be: {sorted(set(left) ^ set(right))[:9]}"
            else:
                assert left == right, f"{name} is not as it should be: {_differing(left, right)}"
        return None

    def _stop(self) -> None:
        crawl = build_crawl(config_of(self.web.start_urls, ALL_HOSTS | SETTINGS), self["stopped"])
        watch(self.web).at(self._middle, lambda: (give_orders(crawl), crawl.stop()))
        assert crawl.run().reason == "shutdown"

    def _kill(self) -> None:
        log = watch(self.web)
        with Process(*crawl_arguments(self["killed"], self.web.start_urls, SETTINGS | ALL_HOSTS)) as process:
            log.at(self._middle // 2, lambda: _wait_for(self["killed"], "index/*.store"))
            log.at(self._middle, lambda: (_wait_for(self["killed"], "*/pending-*"), process.signal(signal.SIGKILL)))
            assert process.end().status == -signal.SIGKILL


def give_orders(crawl: Crawl) -> None:
    """Two that the checkpoint knows, and two that nobody has carried out."""
    for carry_out in (crawl.steering.carry_out, list):
        crawl.steering.order(Block("nobody"))
        crawl.steering.order(Unblock("nobody"))
        carry_out()


def _wait_for(directory: Path, pattern: str) -> None:
    """On a busy machine the requests may be quicker than the ticks. The server calls this, so nothing is fetched meanwhile.

    There is a checkpoint when the index has its first commit, and when pages wait for the second one.
    """
    never = threading.Event()
    for _ in range(3_000):
        if any(directory.glob(pattern)):
            return
        never.wait(0.01)
    raise AssertionError(f"{directory}: no {pattern} in half a minute")


def _differing(left: object, right: object) -> list[str]:
    """Return the beginnings of the rows that only one of two lists has, or has more often."""
    both = [Counter(map(str, rows)) if isinstance(rows, list) else Counter([str(rows)]) for rows in (left, right)]
    return [f"{sign} {row[:100]}" for sign, rows in (("+", both[0] - both[1]), ("-", both[1] - both[0])) for row in rows][:9]

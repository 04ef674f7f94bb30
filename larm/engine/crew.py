"""Crew: the threads that fetch pages, and those that read them, from the first lease to the last.

Started and stopped by `larm.engine.crawl` on the main thread. What a fetcher thread does all the time is in `_fetch`; what the
others do says `larm.engine.reading_pool`.
"""

from collections.abc import Sequence
from functools import partial

from larm.config import Config
from larm.engine.allowance import Allowance
from larm.engine.fetcher_record import FetcherRecord
from larm.engine.reading_pool import ReadingPool
from larm.engine.suspects import Suspects
from larm.engine.unloading import Unloader
from larm.fetch.fence import Fence
from larm.fetch.pool import FetcherPool
from larm.frontier.queues import HostQueues
from larm.kit.threads.workers import Workers
from larm.model.lost import Lost
from larm.model.outcome import Failed, FailReason, Outcome

LONGEST_WAIT = 60.0
"""Seconds a fetcher waits at most when it has nothing to do; it is woken when it has."""


class Crew:
    """``larm-fetch-<n>``, ``larm-document-<n>`` and ``larm-page-<n>``."""

    def __init__(
        self,
        *,
        settings: Config,
        queues: HostQueues,
        pool: FetcherPool,
        reading: ReadingPool,
        unloader: Unloader,
        allowance: Allowance,
        suspects: Suspects,
        records: Sequence[FetcherRecord],
        fence: Fence | None,
    ) -> None:
        """``records``: one for each thread, in the order of their numbers; the fetchers come first.

        ``fence``: of an agent of a cluster.
        """
        # constant after construction
        self._transfers = settings.fetch.transfers
        self._longest = min(LONGEST_WAIT, settings.monitor.stalled / 2)  # who waits for a slow transfer is not stalled
        self._queues = queues
        self._pool = pool
        self._reading = reading
        self._unloader = unloader
        self._allowance = allowance
        self._suspects = suspects
        self._records = records
        self._fence = fence
        # written by the main thread
        self._stopping = False

    # -- the main thread

    def begin(self) -> None:
        """As long as there is no other thread."""
        self._reading.begin()

    def start(self, workers: Workers) -> None:
        """All threads; if there may be no page, the run ends."""
        self._allowance.look()
        fetch = [partial(self._fetch, number) for number in range(len(self._pool))]
        read = [partial(each, number) for number, each in enumerate(self._reading.threads(), start=len(fetch))]
        for record, work in zip(self._records, [*fetch, *read], strict=True):
            workers.start(record.name, work)

    def stop(self) -> None:
        """They take no work any more, and give back what is in the air."""
        self._stopping = self._unloader.stopping = True
        self._pool.wake_all()
        self._reading.stop()

    def give_back(self) -> None:
        """What nobody has read, when all have ended."""
        self._queues.give_back(self._reading.rest())

    def left(self) -> list[str]:
        """Return sentences on the pages that were not read; those of suspects are in each run. Called once."""
        for url in self._suspects.lost:
            self._unloader.aside.put(Lost.DEADLY, url)
        return self._unloader.aside.sentences()

    # -- any thread

    def doing(self) -> dict[str, str]:
        """What each thread does, as far as it can be seen from outside."""
        return {record.name: record.doing() for record in self._records}

    def take_up_suspect(self) -> bool:
        """The next page that may have ended an earlier process is fetched; False: there is none left."""
        lease = self._suspects.next_held()
        if lease is not None:
            self._queues.take_up(lease)
        return lease is not None

    # -- larm-fetch-<n>

    def _fetch(self, number: int) -> None:
        """Lease, transfer, process, store, release: until the crawl stops; then give back what is in the air."""
        fetcher, budget = self._pool.fetchers[number], self._allowance.pages
        while not self._stopping:
            free = max(0, self._transfers + fetcher.aside - fetcher.in_flight)
            may = self._pool.may_lease(number)
            leases = budget.spend(free, self._queues.lease) if free and may else []
            if free and not may:
                self._pool.wake_one()  # the hosts of what has ended may be asked again
            for lease in leases:
                if self._suspects.hold(lease):
                    budget.settle(1, 0)
                    self._queues.put_off([lease])
                else:
                    fetcher.start(lease)
            wait = self._longest
            if len(leases) == free:
                self._pool.fed(number)
            elif self._pool.hunger(number) and budget.open:  # else no host is of use before a reservation comes free
                wait = min(wait, self._queues.seconds_to_next())
            self._records[number].now("getting" if fetcher.in_flight else "idle")
            ended = fetcher.wait(wait)
            self._pool.back(number)
            if self._fence is not None and self._fence.left() <= 0 and (cut := fetcher.abandon()):
                budget.settle(len(cut), 0)
                self._queues.give_back(cut)
            if early := [lease for lease, outcome in ended if _is_early(outcome)]:
                ended = [each for each in ended if not _is_early(each[1])]
                budget.settle(len(early), 0)
                self._queues.give_back(early, unsent=True)
            self._unloader.fetched(number, ended)
            mine = self._reading.sort(ended, full=lambda: self._pool.fed(number))  # for seconds it can't take any lease
            if mine:
                self._reading.spent(self._unloader.unload(number, mine))
        self._queues.give_back(fetcher.abandon())


def _is_early(outcome: Outcome) -> bool:
    """No request was sent, as other hosts of the same address are being asked."""
    return isinstance(outcome, Failed) and outcome.reason is FailReason.CROWDED

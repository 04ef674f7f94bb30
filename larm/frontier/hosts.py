"""HostBook: all host records, and the one lock that guards them.

Any number of hosts, in bounded memory (LARM-107): each record is a row of the store; the recently used ones are in memory, and
of their queues no more messages than ``frontier.messages_in_memory``. A record leaves the memory only when a checkpoint has
written it as it is; what is read back from its row is then the same.

`HostQueues` (leases) and `RobotsDesk` (robots.txt) work on the records under this lock. Nothing waits for the network while it
is held. Whoever is about to work on many hosts calls `warm` before it takes the lock, so that the disk is asked once.
"""

import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator
from itertools import islice

from larm.config import FrontierSettings, Site
from larm.errors import StorageError
from larm.frontier.host import Host
from larm.frontier.host_records import ROW, HostCut, HostRecords, HostRow, SavedHost, cut_host, fill_host
from larm.frontier.mail import Mail, Numbered
from larm.frontier.politeness import next_start
from larm.frontier.queue_row import EMPTY
from larm.kit.disk.block_store import BlockStore
from larm.kit.disk.caching_queue import QueueState
from larm.model.message import URLMessage
from larm.model.sites import SiteTable
from larm.seams import Clock, CrawlOrder

_CHUNK = 500
"""Hosts that are read or relieved at a time: a few milliseconds of the lock."""
_LEAST_BLOCK = 20
"""Messages: fewer cost more as a block of their own, one more row to write, read and delete, than as a part of their record."""


class HostBook:
    """Records by host key. Used by the handler and the fetcher threads, copied and trimmed by the tick thread."""

    def __init__(
        self,
        store: BlockStore,
        settings: FrontierSettings,
        clock: Clock,
        on_crowded: Callable[[], None] = lambda: None,
        *,
        clock_moved: float = 0.0,
        order: CrawlOrder | None = None,
        sites: SiteTable[Site] = SiteTable({}),  # noqa: B008  it is constant
    ) -> None:
        """``on_crowded`` is called, without the lock, when so many records wait to be written that it should be done soon.

        ``clock_moved`` is that of the last checkpoint. ``sites``: what config.yaml says of single hosts.
        """
        # constant after construction
        self.lock = threading.Lock()
        self._store = store
        self._settings = settings
        self._clock = clock
        self._on_crowded = on_crowded
        self.records = HostRecords(store, settings, clock, clock_moved=clock_moved, order=order, sites=sites)
        self._shift = self.records.shift
        self._crowd = max(settings.hosts_in_memory // 4, 1)  # changed records: a cut is as large as the records themselves
        # guarded by self.lock
        self._resumed = False
        self._hosts: OrderedDict[str, Host] = OrderedDict()  # in memory, least recently used first
        self._changed: dict[str, Host] = {}
        self._known = 0
        self._forgotten: set[str] = set()  # their rows are in the store until the next checkpoint is
        self._going: set[str] = set()  # the same, of the checkpoint that is being written
        self._trims = 0
        self._spilled: StorageError | None = None  # why messages that left the memory did not come to the disk
        self._surplus = 0  # messages that are to leave the memory with records
        self._messages = 0  # came into the memory since the queues were last looked at
        self.mail = Mail(store)
        self._shut = set[str]()  # not in memory, and asked for nothing: given up, blocked or on their way
        self._served: list[str] = []  # got mail, and nobody was told of it
        self._letters: dict[str, Numbered] | None = None  # at the start: mail of the hosts that are being read

    # -- one record

    def warm(self, keys: Iterable[str]) -> None:
        """Have these records in memory. Called without the lock; who then finds one missing reads it alone."""
        missing = [key for key in dict.fromkeys(keys) if key not in self._hosts]
        if not missing:
            return
        trims = self._trims
        rows, letters = self._store.get_many(ROW + key for key in missing), self.mail.read(missing)
        with self.lock:
            if trims != self._trims:  # a row may be older than the record that was written meanwhile
                return
            for key in missing:
                if key not in self._hosts:
                    self._enter_locked(key, rows.get(ROW + key), letters.get(key, {}))

    def get_locked(self, key: str) -> Host:
        """The record, made on first sight. Whoever changes it says so with `changed_locked`. Raises StorageError."""
        host = self._hosts.get(key)
        if host is None:
            return self._enter_locked(key, self._store.get(ROW + key), self.mail.read([key]).get(key, {}))
        self._hosts.move_to_end(key)
        return host

    def find_locked(self, key: str) -> Host | None:
        """The record, if there is one."""
        if key not in self._hosts and (self._is_forgotten_locked(key) or self._store.get(ROW + key) is None):
            return None
        return self.get_locked(key)

    def in_memory(self) -> list[str]:
        """Keys of the records that are in memory, least recently used first."""
        with self.lock:
            return list(self._hosts)

    def known(self) -> list[str]:
        """Keys of all records, on the disk or in memory. Reads all keys of the store."""
        rows = self._store.keys(ROW)
        with self.lock:
            found = dict.fromkeys(self._hosts) | dict.fromkeys(row.removeprefix(ROW) for row in rows)
            return [key for key in found if not self._is_forgotten_locked(key)]

    def resting(self, having: str) -> list[str]:
        """Keys that have this text, of records that are on the disk and not in memory. Reads all keys of the store."""
        rows = self._store.keys(ROW, having)
        with self.lock:
            keys = [row.removeprefix(ROW) for row in rows]
            return [key for key in keys if not (key in self._hosts or self._is_forgotten_locked(key))]

    def peek_locked(self, key: str) -> Host | None:
        """A record that is in memory; it counts as unused all the same."""
        return self._hosts.get(key)

    def changed_locked(self, host: Host) -> None:
        """The next checkpoint must write this host."""
        self._changed[host.key] = host

    @property
    def is_whole(self) -> bool:
        """All records are in memory."""
        return len(self._hosts) == self._known

    def counts_locked(self, key: str) -> bool:
        """What waits at this host, which is known and not frozen, keeps the crawl going; it is not read for that."""
        host = self._hosts.get(key)
        return key not in self._shut if host is None else host.counts

    def takes_mail_locked(self, key: str) -> bool:
        """It is known, and not in memory; and what waits there counts."""
        return not (key in self._hosts or key in self._shut)

    def served(self) -> list[str]:
        """Hosts that got mail since this was last asked: it is parked there, and has to be judged. Any thread."""
        if not self._served:
            return []
        with self.lock:
            served, self._served = self._served, []
        return served

    def waits(self, key: str) -> bool:
        """Whether anything waits at this host."""
        with self.lock:
            host = self.find_locked(key)
            return host is not None and host.waiting > 0

    def is_given_up(self, key: str) -> bool:
        """Return True for a host that does not answer."""
        with self.lock:
            host = self.find_locked(key)
            return host is not None and host.dormant

    def __len__(self) -> int:
        """All hosts that are known."""
        return self._known

    # -- the checkpoint

    def cut(self) -> list[HostCut]:
        """Copies of the hosts that changed since the last cut. Called inside the gate's cut, by the tick thread.

        Raises StorageError if messages were lost on their way to the disk.
        """
        with self.lock:
            if self._spilled is not None:
                raise self._spilled
            changed, self._changed = self._changed, {}
            self._going, self._forgotten = self._forgotten, set()
            self.mail.cut()
            wall = self._clock.monotonic() + self._shift
            return [cut_host(changed[key], self._shift, wall) for key in sorted(changed)]  # as they stand on the disk

    def has_room(self) -> bool:
        """Return False while twice the usual amount waits for a checkpoint and none comes: the directory is being copied."""
        return len(self._changed) <= 2 * self._crowd and self.mail.unwritten <= self._settings.messages_in_memory // 2

    @property
    def clock_moved(self) -> float:
        """Seconds by which the wall clock was set, ahead or back, since it last was what rows are written with."""
        return self._clock.wall() - self._clock.monotonic() - self._shift

    def wall(self, monotonic: float) -> float:
        """The wall time of a time in a record."""
        return monotonic + self._shift

    def trim(self) -> None:
        """The checkpoint is written: let go of records that were not used for long. Tick thread."""
        with self.lock:
            self._going = set()
            self.mail.written()
            self._trims += 1
            hosts, messages = len(self._hosts) - self._settings.hosts_in_memory, self._surplus
            self._surplus = 0
            gone: list[str] = []
            for key, host in self._hosts.items():
                if hosts <= 0 and messages <= 0:
                    break
                if not (key in self._changed or host.busy) and ((held := host.in_memory) or hosts > 0):
                    gone.append(key)
                    hosts, messages = hosts - 1, messages - held
            for key in gone:
                self._note_shut_locked(self._hosts.pop(key))

    # -- hosts that come and go, see `larm.engine.moves`

    def copy(self, key: str) -> HostCut:
        """Of a host that is frozen and has nothing in the air, as it is now."""
        with self.lock:
            return cut_host(self.get_locked(key), self._shift, self._clock.monotonic() + self._shift)

    def waiting(self, name: str, state: QueueState[URLMessage]) -> Iterator[URLMessage]:
        """What waits in a queue of a frozen host, of which this is the state. Raises StorageError."""
        return iter(self.records.queue(name, state))

    def adopt_locked(self, host: Host, row: HostRow) -> None:
        """A host comes from another crawl, where it was frozen; for it no time has passed since, whatever the clocks say.

        What it has here already stays. It may be asked after another delay.
        """
        now = self._clock.monotonic()
        later = host.next_start
        if host.traps is not None:
            for queue in list(host.traps.queues()):
                host.queue.write(host.queue.append(list(queue)))
        fill_host(host, SavedHost(host.key, row, EMPTY, EMPTY), row.saved, now)
        host.traps = self.records.traps(host.key, row.traps) if row.traps else None
        first = next_start(now, host.delay(self._settings), host.crawl_delay, 0.0, 0.0)
        host.next_start = max(host.next_start, later, first)
        host.frozen = True
        self.changed_locked(host)

    def forget_locked(self, host: Host) -> None:
        """It is not known any more; its queues are empty."""
        self._store.retire(ROW + host.key)
        self._forgotten.add(host.key)
        self._hosts.pop(host.key, None)
        self._changed.pop(host.key, None)
        self._known -= 1

    def _is_forgotten_locked(self, key: str) -> bool:
        return key in self._forgotten or key in self._going

    # -- the bounds

    def put_locked(self, messages: int) -> None:
        """So many messages came into the memory, by a put or with a block; see `relieve`."""
        self._messages += messages

    def relieve(self) -> None:
        """Keep the memory bounded. Whoever worked on hosts calls this afterwards, without the lock.

        Of messages, the longest ends of queues go to disk here. A few messages are no block: they go with their records, which
        can go with the next checkpoint, and that is asked for; unless there are so many that this would be too late.
        """
        bound = self._settings.messages_in_memory
        if len(self._changed) > self._crowd or self.mail.unwritten > bound // 4:
            self._on_crowded()
        if self._messages < bound // 8:
            return
        with self.lock:
            self._messages = 0
            held = {key: messages for key, host in self._hosts.items() if (messages := host.in_memory)}
        total = sum(held.values())
        least = _LEAST_BLOCK if total <= bound - bound // 4 else 1
        longest = iter(sorted([key for key in held if held[key] >= least], key=held.__getitem__, reverse=True))
        while total > bound // 2 and (keys := list(islice(longest, _CHUNK))):
            total -= sum(held[key] for key in keys)
            self._spill(keys)
        if total > bound // 2:
            with self.lock:
                self._surplus = total - bound // 2
            self._on_crowded()

    def _spill(self, keys: list[str]) -> None:
        sink: dict[str, bytes] = {}
        with self.lock:
            hosts = [self._hosts[key] for key in keys if key in self._hosts]
            queues = [queue for host in hosts for queue in host.queues()]
            for queue in queues:
                queue.spill(sink)
            for host in hosts:
                self.changed_locked(host)
            try:
                self._store.put_many(sink)  # before the lock is given back: who takes next must find the blocks
            except StorageError as error:
                self._spilled = error
                raise
            for queue in queues:
                queue.spilled(sink)

    # -- at the end, and at start

    def shut_locked(self) -> list[str]:
        """Hosts that ask for nothing."""
        return [*self._shut, *(key for key, host in self._hosts.items() if not host.counts or host.frozen)]

    def busy_locked(self) -> list[Host]:
        """Of which there is something in the air, or on its way to the handler: a checkpoint has it as waiting."""
        return [host for host in self._hosts.values() if host.busy]

    def go_on_locked(self, known: int, shut: Iterable[str]) -> None:
        """With what the last run ended with: no record is read before it is asked for."""
        self._resumed, self._known, self._shut = True, known, set(shut)

    def load(self, keys: Iterable[str]) -> Iterator[Host]:
        """Read the rows of the last checkpoint, one by one. Raises StorageError.

        Before any other thread runs. What the caller changes of a host it must declare with `changed_locked`; then it calls
        `keep_locked`.
        """
        names = iter(keys)
        while part := list(islice(names, _CHUNK)):
            self._resumed = True
            rows = self._store.get_many(part)
            has_room = len(self._hosts) < self._settings.hosts_in_memory
            self._letters = self.mail.read([name.removeprefix(ROW) for name in part]) if has_room else None
            for name in part:
                self._known += 1
                yield self.records.restore(name.removeprefix(ROW), rows.get(name, b""))
        self._letters = None

    def keep_locked(self, host: Host) -> None:
        """One that `load` has read, and that may have been changed: in memory, if it has to be, or there is room."""
        idle = not host.counts or host.frozen
        kept = host.key in self._changed or host.busy  # what is to be judged has no turn that would bring the record back
        if not (kept or self._has_room(host) or (idle and self.mail.waiting)):
            self._note_shut_locked(host)
            return
        letters = self.mail.read([host.key]) if self._letters is None else self._letters
        self._serve_locked(host, letters.get(host.key, {}))
        self._hosts[host.key] = host
        self._messages += host.in_memory

    def _has_room(self, host: Host) -> bool:
        messages = self._messages + host.in_memory
        return len(self._hosts) < self._settings.hosts_in_memory and messages <= self._settings.messages_in_memory // 2

    # -- making records

    def _enter_locked(self, key: str, row: bytes | None, letters: Numbered) -> Host:
        if row is None or self._is_forgotten_locked(key):
            host = self.records.new(key, met=self._resumed)
            self._known += 1
            self.changed_locked(host)
        else:
            host = self.records.restore(key, row)
            self._serve_locked(host, letters)
            self._messages += host.in_memory
        self._hosts[key] = host
        self._shut.discard(key)
        return host

    def _serve_locked(self, host: Host, letters: Numbered) -> None:
        """It gets its mail, parked as what waits for robots.txt; whoever looks after that is told by `served`."""
        messages = self.mail.take(host.key, letters)
        if messages:
            host.parked.put_many(messages)
            self.changed_locked(host)
        if host.parked and not host.robots_tasks:
            self._served.append(host.key)

    def _note_shut_locked(self, host: Host) -> None:
        """It leaves the memory."""
        if not host.counts or host.frozen:
            self._shut.add(host.key)

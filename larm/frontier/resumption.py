"""Standing: where all hosts stood when a run ended well, so that the next run begins without their records.

`standing_of` makes it, a row of the last checkpoint of a run; `go_on` begins with it. It counts only if the checkpoint was not
amended and hosts are resumed by the same rules. Otherwise, as after a kill, `load_all` reads all records. Called by
`larm.building.frontier`: at the start by the main thread, before there is any other, at the end by ``larm-last``.
"""

from collections.abc import Iterable
from heapq import heapify
from itertools import chain

import msgspec

from larm.errors import REPAIR, StorageError
from larm.frontier.guard import Guard
from larm.frontier.host import LONGEST_WAIT, Host
from larm.frontier.turns import Sums, Totals, Turns, sums_of
from larm.kit.squash import squash, zstd


class Standing(msgspec.Struct, frozen=True, array_like=True):
    """Keys of hosts, and sums."""

    rules: int
    """A number of the settings by which records of earlier runs are looked at."""
    known: int
    counted: int
    """Messages that wait at hosts and keep the crawl going."""
    totals: Totals
    ready: list[str]
    """In the order of their turns."""
    later: list[tuple[float, str]]
    """Wall time, and who may be asked then."""
    shut: list[str]
    """Given up, blocked or on their way."""
    special: list[str]
    """Whose records have to be read: something was in the air, or they hold something back, or have grown. Few."""
    saved: float
    """Wall time."""
    epoch: int = 0
    """Of the checkpoint."""

    def encode(self, epoch: int) -> bytes:
        """For the checkpoint of this number."""
        return squash(msgspec.msgpack.encode(msgspec.structs.replace(self, epoch=epoch)))


_decoder = msgspec.msgpack.Decoder(Standing)


def decode_standing(data: bytes, path: object) -> Standing:
    """Raises StorageError on damage."""
    try:
        return _decoder.decode(zstd.decompress(data))
    except (zstd.ZstdError, msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise StorageError(f"{path}: where hosts stood is damaged ({error}); {REPAIR}") from error


_BATCH = 1000
_APART = 1e-7
"""Seconds between hosts that are ready at the start, so that their order stays."""


def standing_of(turns: Turns, guard: Guard | None, rules: int, waiting: int) -> Standing | None:
    """Where all hosts stand; None where that can't be said without looking at all. ``waiting``: messages at hosts."""
    book, places, totals = turns.book, turns.places, turns.totals
    with book.lock:
        busy = book.busy_locked()
        if turns.ordered or not all(host.counts for host in busy):
            return None
        special = {host.key for host in busy}.union(guard.special_locked() if guard is not None else ())
        again = sum(not robots for host in busy for _, robots in (*host.running.values(), *host.pending.values()))
        return Standing(
            rules=rules,
            known=len(book),
            counted=waiting + totals.put_off,  # the next run asks for these, too
            totals=msgspec.structs.replace(
                totals, queued=totals.queued + again, slowed=set(totals.slowed), in_flight=0, put_off=0
            ),
            ready=places.ready_hosts(),
            later=[(book.wall(at), key) for at, key in places.waiting()],
            shut=book.shut_locked(),
            special=sorted(special),
            saved=book.wall(turns.clock.monotonic()),
        )


def go_on(turns: Turns, guard: Guard | None, standing: Standing, *, revive: bool = False) -> int:
    """With what `standing_of` said at the end of the last run; returns the messages that keep the crawl going.

    The last process may have asked any host just before its end, so none is asked before its delay is over. ``revive``: see
    `load_all`.
    """
    book, places, totals = turns.book, turns.places, turns.totals
    with book.lock:
        book.go_on_locked(standing.known, standing.shut)
        for name in Totals.__struct_fields__:
            setattr(totals, name, getattr(standing.totals, name))
        now = turns.clock.monotonic()
        wall = max(book.wall(now), standing.saved)
        first = now + turns.settings.delay
        if first == now:
            for key in standing.ready:
                places.ready(key, 0)
        ready = ((first - place * _APART, key) for place, key in enumerate(reversed(standing.ready)) if first > now)
        later = ((max(now + min(at - wall, LONGEST_WAIT), first), key) for at, key in standing.later)
        places.restore(chain(ready, later))
        waiting = standing.counted
        for key in dict.fromkeys((*standing.special, *(standing.shut if revive else ()))):
            host = book.get_locked(key)
            before = sums_of(host)
            if revive:
                _revive_locked(turns, host)
            if guard is not None:
                guard.resume_locked(host)
            waiting += totals.settle(before, sums_of(host))
            turns.place_locked(host, now)
        return waiting


def load_all(turns: Turns, guard: Guard | None, keys: Iterable[str], *, revive: bool = False) -> int:
    """Read all records, and put the hosts in their places; returns the messages that keep the crawl going.

    ``revive``: a revisit begins, and hosts that were given up get another chance. Raises StorageError.
    """
    book, waiting = turns.book, 0
    with book.lock:
        now = turns.clock.monotonic()
        for host in book.load(keys):
            if revive:
                _revive_locked(turns, host)
            if guard is not None:
                guard.resume_locked(host)
            turns.place_locked(host, now)
            turns.note_slowed_locked(host)
            book.keep_locked(host)
            waiting += turns.totals.settle(Sums(), sums_of(host))
        return waiting + book.mail.waiting


def _revive_locked(turns: Turns, host: Host) -> None:
    """Ask it again. The pages of the last revisit that wait there come with the one that begins, and must not come twice."""
    if host.dormant:
        for queue in (host.queue, host.parked):
            left = len(queue)
            while left:
                taken = queue.take(min(left, _BATCH))
                left -= len(taken)
                queue.write(queue.append([each for each in taken if each.known is None]))
        host.delayed = [each for each in host.delayed if each.message.known is None]
        heapify(host.delayed)
        host.dormant, host.next_start = False, 0.0
        turns.book.changed_locked(host)

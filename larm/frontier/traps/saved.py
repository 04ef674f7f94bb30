"""The row of a host's traps in the checkpoint, as bytes and back. Pure."""

import msgspec

from larm.frontier.queue_row import EMPTY, QueueRow
from larm.frontier.traps.host_traps import WARM, HostTraps, MakeQueue
from larm.frontier.traps.parameters import HostParameters

_SAVED = HostTraps.__struct_fields__.index("make_queue")
_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(HostTraps).decode


def decode_traps(row: bytes) -> HostTraps:
    """Return what a row has; its records hold nothing back yet.

    Raises msgspec.DecodeError, ValidationError or UnicodeDecodeError on damage.
    """
    if not row:
        return HostTraps()
    traps = _decode(row)
    known = traps.parameters
    traps.parameters = HostParameters(known.counts, known.claims, known.sessions)  # another crawl may send more
    for record in traps.records.values():
        record.parked, record.postponed = None, 0
    return HostTraps(*msgspec.structs.astuple(traps)[:_SAVED])


def row_of(traps: HostTraps) -> bytes:
    """Return the fields of a host's traps that are saved; empty if it has had no addresses."""
    if not (traps.limits.urls or traps.read or traps.records):
        return b""
    records = {key: record.saved() for key, record in traps.records.items()}
    parameters = traps.parameters.counts, traps.parameters.claims, traps.parameters.sessions
    return _encode((records, parameters, *msgspec.structs.astuple(traps)[2:_SAVED]))


def queues_of(row: bytes) -> dict[int, QueueRow]:
    """Return the queues of a row by pattern."""
    records = decode_traps(row).records
    return {key: record.queue for key, record in records.items() if record.queue is not None}


def without_queues(row: bytes) -> bytes:
    """Return the row of a host with the same patterns, whose queues are still empty."""
    if not row:
        return row
    saved = decode_traps(row)
    for record in saved.records.values():
        if record.queue is not None:
            record.queue = EMPTY
    return row_of(saved)


def traps_of(row: bytes, make_queue: MakeQueue, run: int = 0) -> HostTraps:
    """Return the traps of a row; empty: of a new host. ``run``: a number that no other process has.

    Raises msgspec.DecodeError, ValidationError or UnicodeDecodeError on damage.
    """
    traps = decode_traps(row)
    traps.make_queue = make_queue
    for key, record in traps.records.items():
        if record.queue is not None:
            record.parked, record.queue = make_queue(key, record.queue.state()), None
    traps.active = any(record.closed for record in traps.records.values()) or bool(
        traps.parameters.counts or traps.parameters.sessions
    )
    if row and traps.run != run:
        traps.warm = 0 if traps.read else WARM
    traps.run = run
    return traps

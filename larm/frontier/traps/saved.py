"""The row of a host's traps in the checkpoint, as bytes and back. Pure."""

import msgspec

from larm.frontier.queue_row import EMPTY, QueueRow
from larm.frontier.traps.choices import Choices
from larm.frontier.traps.host_traps import WARM, HostTraps, MakeQueue
from larm.frontier.traps.parameters import Count
from larm.frontier.traps.records import PathRecord, PatternRecord, Round, State


class SavedRecord(msgspec.Struct, array_like=True, frozen=True, gc=False):
    """One pattern; most have nothing behind ``tried``."""

    text: str
    breadth: int
    judged: int
    news: bytes
    state: int = 0
    tried: int = 0
    leaving: int = 0
    failures: int = 0
    queue: QueueRow | None = None
    """None: it never held anything back."""
    sifting: bool = False
    native: int = 0
    forced: bool = False
    rate: float = 0.0


class SavedTraps(msgspec.Struct, array_like=True, frozen=True, gc=False, tag="traps"):
    """One host's."""

    rule: int
    urls: int
    read: int
    records: dict[int, SavedRecord]
    paths: dict[int, PathRecord]
    parameters: dict[str, Count]
    claims: dict[int, int]
    newcomers: int
    choices: dict[str, list[int]]
    current: int
    round: Round | None
    pulled: list[int]
    linking: list[int]
    over: int
    start: bool
    grows: bool
    mark: int
    counted: bool
    rounds: int
    failed: int
    searched: int
    run: int
    warm: int


_PLAIN = ("rule", "read", "newcomers", "over", "current", "round", "counted", "rounds", "failed", "searched", "run", "warm")
"""What has the same name and form in `HostTraps`."""
_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(SavedTraps).decode


def decode_traps(row: bytes) -> SavedTraps:
    """Raises msgspec.DecodeError, ValidationError or UnicodeDecodeError on damage."""
    return _decode(row)


def row_of(traps: HostTraps) -> bytes:
    """All of it, for the host's row; empty where nothing has come in."""
    limits, parameters = traps.limits, traps.parameters
    if not (limits.urls or traps.read or traps.records):
        return b""
    return _encode(
        SavedTraps(
            **{name: getattr(traps, name) for name in _PLAIN},
            urls=limits.urls,
            paths=limits.paths,
            linking=list(limits.linking),
            start=limits.start,
            grows=limits.grows,
            mark=limits.mark,
            records={key: _saved(record) for key, record in traps.records.items()},
            parameters=parameters.counts,
            claims=parameters.claims,
            choices=traps.choices.values,
            pulled=sorted(traps.pulled),
        )
    )


def queues_of(row: bytes) -> dict[int, QueueRow]:
    """What a row holds back, by pattern."""
    records = decode_traps(row).records if row else {}
    return {key: record.queue for key, record in records.items() if record.queue is not None}


def without_queues(row: bytes) -> bytes:
    """The row of a host that holds the same things back, with nothing in it so far."""
    if not row:
        return row
    saved = decode_traps(row)
    emptied = {
        key: record if record.queue is None else msgspec.structs.replace(record, queue=EMPTY)
        for key, record in saved.records.items()
    }
    return _encode(msgspec.structs.replace(saved, records=emptied))


def traps_of(row: bytes, make_queue: MakeQueue, run: int = 0) -> HostTraps:
    """From its row. Raises msgspec.DecodeError, ValidationError or UnicodeDecodeError on damage."""
    made = HostTraps(make_queue, run)
    if not row:
        return made
    saved = decode_traps(row)
    for name in _PLAIN:
        setattr(made, name, getattr(saved, name))
    limits, parameters = made.limits, made.parameters
    limits.urls, limits.paths, limits.linking = saved.urls, saved.paths, dict.fromkeys(saved.linking)
    limits.start, limits.grows, limits.mark = saved.start, saved.grows, saved.mark
    parameters.counts, parameters.claims = saved.parameters, saved.claims
    made.choices, made.pulled = Choices(saved.choices), dict.fromkeys(saved.pulled)
    made.records = {key: _restored(key, each, make_queue) for key, each in saved.records.items()}
    made.active = any(each.closed for each in made.records.values()) or bool(parameters.counts)
    made.run = run
    if saved.run != run:
        made.warm = 0 if saved.read else WARM
    return made


def _saved(record: PatternRecord) -> SavedRecord:
    judged, news = record.saved()
    made = SavedRecord(record.text, record.breadth, judged, news, record.state, record.tried)
    if record.parked is None:
        return made
    return msgspec.structs.replace(
        made,
        leaving=record.leaving,
        failures=record.failures,
        queue=QueueRow.of(record.parked.snapshot()),
        sifting=record.sifting,
        native=record.native,
        forced=record.forced,
        rate=record.rate,
    )


def _restored(key: int, saved: SavedRecord, make_queue: MakeQueue) -> PatternRecord:
    record = PatternRecord(saved.text, saved.breadth)
    record.restore(saved.judged, saved.news)
    record.state, record.tried = State(saved.state), saved.tried
    record.leaving, record.failures, record.rate = saved.leaving, saved.failures, saved.rate
    record.sifting, record.native, record.forced = saved.sifting, saved.native, saved.forced
    if saved.queue is not None:
        record.parked = make_queue(key, saved.queue.state())
    return record

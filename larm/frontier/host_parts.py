"""A host on its way from one crawl to another, in numbered parts of some 100 KB. Versioned, and plain bytes.

`Begin` has the record: back-off, health, what is known of its addresses, robots.txt, and how long it has to be left alone.
`Waiting` has messages by the queue that they wait in, `Pages` the rows of the page book: their keys are the fingerprints of all
that was asked for. What was seen and is in neither (forbidden by robots.txt, say) would be refused again. `End` is the last.
"""

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import TypeVar

import msgspec

from larm.errors import UsageError
from larm.frontier.host import Host
from larm.frontier.host_records import HostCut, HostRow, band_name
from larm.frontier.hosts import HostBook
from larm.frontier.traps.saved import queues_of, without_queues
from larm.kit.disk.caching_queue import QueueState
from larm.model.message import URLMessage, decode_messages, encode_messages

FORMAT = 1
"""Rises when parts can't be read as before."""
MESSAGES, ROWS = 500, 500
"""In a part: some 100 KB."""
QUEUE, PARKED = 0, 1
"""Places; any other number is the key of a pattern that holds messages back."""

T = TypeVar("T")


class Part(msgspec.Struct, frozen=True, array_like=True, tag=True):
    """One of them."""

    host: str
    move: str
    """Which move it is of: the same however often the host has to be sent again till it has arrived."""
    number: int


class Begin(Part, frozen=True):
    """The record. Times are those of `HostRow`."""

    row: HostRow
    format: int = FORMAT


class Waiting(Part, frozen=True):
    """What waits in one place, in its order."""

    place: int
    messages: bytes
    """`larm.model.message.encode_messages`."""


class Pages(Part, frozen=True):
    """What has been asked for."""

    rows: list[tuple[int, bytes]]
    """Fingerprint, and `larm.store.pages.page_row.encode_row`."""


class End(Part, frozen=True):
    """That was all."""


AnyPart = Begin | Waiting | Pages | End
encode_part = msgspec.msgpack.Encoder().encode
_decoder: msgspec.msgpack.Decoder[AnyPart] = msgspec.msgpack.Decoder(AnyPart)


def decode_part(data: bytes) -> AnyPart:
    """Looks at all of it, as it may come from anybody. Raises UsageError for what is no part, or is of another form."""
    try:
        part: AnyPart = _decoder.decode(data)
        if isinstance(part, Begin):
            queues_of(part.row.traps)
        messages = messages_of(part)
        if any(each.url.host != part.host for each in messages):
            raise msgspec.ValidationError("it has URLs of another host")
        if not all(each.url.is_one for each in messages):
            raise msgspec.ValidationError("it has URLs that are none")
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise UsageError(f"this is no part of a host: {error}") from error
    if isinstance(part, Begin):
        if part.format != FORMAT:
            raise UsageError(f"{part.host}: it comes in format {part.format}, this larm reads {FORMAT}: use the same larm")
        return msgspec.structs.replace(part, row=msgspec.structs.replace(part.row, running=[], robots_tasks=[]))
    return part


def messages_of(part: AnyPart) -> list[URLMessage]:
    """That it has. Raises msgspec.DecodeError or UnicodeDecodeError on damage."""
    match part:
        case Begin(row=row):
            return [each for _, each in row.delayed]
        case Waiting(messages=messages):
            return decode_messages(messages)
        case _:
            return []


def parts_of(book: HostBook, host: str, move: str, pages: Iterable[list[tuple[int, bytes]]]) -> Iterator[AnyPart]:
    """Of a host that is frozen and has nothing in the air. As long as it stays so these are the same parts each time, but for
    the times in the first.

    ``pages``: rows of the page book. Raises StorageError.
    """
    cut = book.copy(host)
    known = {scheme: msgspec.structs.replace(origin, loading=False) for scheme, origin in cut.row.robots.items()}
    row = msgspec.structs.replace(cut.row, robots=known, robots_tasks=[], traps=without_queues(cut.row.traps))
    yield Begin(host, move, 0, row)
    number = 1
    for place, name, state in _queues(cut):
        waiting = book.waiting(name, state)
        while messages := list(islice(waiting, MESSAGES)):
            yield Waiting(host, move, number, place, encode_messages(messages))
            number += 1
    for rows in pages:
        for first in range(0, len(rows), ROWS):
            yield Pages(host, move, number, rows[first : first + ROWS])
            number += 1
    yield End(host, move, number)


def take_in_locked(host: Host, place: int, messages: list[URLMessage]) -> None:
    """Where they waited in the other crawl."""
    record = host.traps.records.get(place) if host.traps is not None and place not in (QUEUE, PARKED) else None
    if place == PARKED:
        host.parked.put_many(messages)
    elif record is not None and record.parked is not None:
        record.parked.put_many(messages)
    else:
        host.queue.write(host.queue.append(messages))


def take_out_locked(host: Host, most: int) -> list[URLMessage]:
    """Messages that wait at a frozen host, wherever; none: nothing is left."""
    if len(host.queue):
        return host.queue.take(most)
    if host.parked:
        return host.parked.take(most)
    if host.delayed:
        taken, host.delayed = [each.message for each in host.delayed], []
        return taken
    for queue in host.traps.queues() if host.traps is not None else ():
        if len(queue):
            return queue.take(most)
    if host.traps is not None:
        host.traps.counted = False
    return []


def _queues(cut: HostCut) -> Iterator[tuple[int, str, QueueState[URLMessage]]]:
    key = cut.key
    yield QUEUE, band_name(key, 0), cut.queue
    for band, state in cut.bands.items():
        yield QUEUE, band_name(key, band), state
    yield PARKED, f"robots-{key}", cut.parked
    for pattern, row in queues_of(cut.row.traps).items():
        yield pattern, f"trap{pattern}-{key}", row.state()

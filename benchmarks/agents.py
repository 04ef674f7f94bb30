"""What a URL costs that another agent owns: found here, sent, and taken there. Seconds of CPU of one thread, without a network.

``python -m benchmarks.agents [--urls 200000]``. The sender sorts messages, keeps them in its queue for the other agent, and
makes parcels; the receiver opens them, notes their numbers and hands the messages on. With ``--sealed`` they are signed.
"""

from __future__ import annotations

import argparse
import datetime
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec

from larm.cluster.agent import Agent, Received
from larm.cluster.beat import Beat, Quiet, Stamp, View, Vote
from larm.cluster.certificates import issue, make_authority
from larm.cluster.courier import Answer, Courier
from larm.cluster.inbox import Inbox
from larm.cluster.membership import Membership, Rules, Saved
from larm.cluster.outboxes import Outboxes
from larm.cluster.owner_filter import OwnerFilter
from larm.cluster.placement import key_of
from larm.cluster.rows import Wire, check_rows, decode_rows, encode_rows
from larm.cluster.said import NoSeal, Sealing
from larm.cluster.seal import Seal
from larm.kit.counters import Counters
from larm.kit.disk.block_store import BlockStore
from larm.kit.squash import squash, unsquash
from larm.model.message import URLMessage
from larm.model.url import URLNormalizer

_VIEW = View(2, {"a": 1.0, "b": 1.0})
_BATCH = 200
"""Links of a page."""


def _agent(name: str, store: BlockStore) -> Agent:
    membership = Membership(name, 1 << 32, 1.0, Rules(), saved=Saved((_VIEW,), 2, Vote(0), begun=True), now=0.0)
    other = "b" if name == "a" else "a"
    stamp, mine = Stamp(1 << 32, 1.0), Stamp(1 << 32, 0.0)
    membership.hear(Beat(other, stamp, mine, (_VIEW,), 2, (), Vote(0), None, 1.0, "", Quiet(), begun=True), 9.0)
    return Agent(membership, Courier(membership, Outboxes(store, None).queue), Inbox(), lambda: True)


def _messages(agent: Agent, urls: int) -> list[URLMessage]:
    """URLs of hosts that b has, on pages of 40 hosts each."""
    parse = URLNormalizer().parse
    hosts = [f"www.site{n}.example" for n in range(4_000)]
    foreign = [host for host in hosts if agent.membership.owner(key_of(host, "site")) == "b"]
    found = []
    for n in range(urls):
        host = foreign[(n // _BATCH * 40 + n % 40) % len(foreign)]
        found.append(URLMessage(parse(f"http://{host}/section-{n % 17}/article-{n}.html"), "http://a.example/", 0, 3))
    return found


def _seals(folder: Path) -> tuple[Sealing, Sealing]:
    now = datetime.datetime.now(datetime.UTC)
    make_authority(folder, now)
    paths = [issue(folder, name, (), now) for name in ("one", "two")]
    one, two = (Seal("demo", folder / "ca.pem", path, path.with_suffix(".key")) for path in paths)
    return one, two


def _run(folder: Path, urls: int, *, sealed: bool) -> None:
    store = BlockStore(folder)
    here, there = _agent("a", store), _agent("b", store)
    messages = _messages(here, urls)
    ours, theirs = _seals(folder / "certificates") if sealed else (NoSeal(), NoSeal())
    encode, decode = msgspec.msgpack.Encoder().encode, msgspec.msgpack.Decoder(Wire).decode
    parse = URLNormalizer().parse
    spent = {"sender": 0.0, "receiver": 0.0}

    def timed(who: str, what: Callable[[], Any]) -> Any:
        began = time.thread_time()
        done = what()
        spent[who] += time.thread_time() - began
        return done

    filter_ = OwnerFilter(here, lambda host: key_of(host, "site"), Counters(), lambda: 0.0)

    def send() -> list[bytes]:
        sealed = []
        for parcel in here.courier.due(10.0):
            wire = Wire("a", 1 << 32, parcel.seq, parcel.low, encode_rows(parcel.rows))
            sealed.append(ours.close(squash(encode(wire)), "question", "parcel", "b"))
            here.courier.answered(parcel, Answer(taken=True), 10.0)
        return sealed

    def take(data: bytes) -> int:
        wire = decode(unsquash(theirs.open(data, "question", "parcel", "b").payload, 16_000_000))
        check_rows(
            decode_rows(wire.rows), parse, lambda host: key_of(host, "site")
        )  # before it goes into the journal; and again when it is carried out
        rows = tuple(decode_rows(wire.rows))
        return len(there.carry_out(Received(wire.sender, wire.boot, wire.seq, wire.low, rows), 10.0))

    taken = size = 0
    for first in range(0, urls, _BATCH):
        batch = messages[first : first + _BATCH]
        timed("sender", lambda batch=batch: filter_.sift(batch, lambda *_: None))
        for data in timed("sender", send):
            size += len(data)
            taken += timed("receiver", lambda data=data: take(data))
    store.close()
    each = {who: f"{seconds / urls * 1e6:.1f}" for who, seconds in spent.items()}
    print(
        f"{taken:,} of {urls:,} URLs, {'signed' if sealed else 'not signed'}: sender {each['sender']} us, receiver"
        f" {each['receiver']} us, together {sum(spent.values()) / urls * 1e6:.1f} us; {size / urls:.0f} bytes a URL"
    )


def main() -> None:
    """By hand."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--urls", type=int, default=200_000)
    urls = parser.parse_args().urls
    for sealed in (False, True):
        with tempfile.TemporaryDirectory() as folder:
            _run(Path(folder), urls, sealed=sealed)


if __name__ == "__main__":
    main()

"""What goes into a parcel."""

from __future__ import annotations

from types import SimpleNamespace as Stub
from typing import Any

import msgspec

from larm.cluster.courier import Parcel, Row
from larm.cluster.post import Post
from larm.cluster.rows import Wire, decode_rows
from larm.kit.squash import unsquash
from larm.model.message import LOST, UNKNOWN, URLMessage
from larm.model.url import URLNormalizer


def test_only_what_was_lost_is_asked_for_again_by_others() -> None:
    """Who has the host revisits its pages by himself; of what was lost he may learn only later that it was fetched."""
    message = URLMessage(URLNormalizer().parse("http://h/1"), "", 0, 1)
    sent: list[bytes] = []
    agent: Any = Stub(membership=Stub(me="a", contact=Stub(boot=1)))
    line: Any = Stub(ask=lambda to, kind, payload, seconds, told: sent.append(payload))
    post = Post(agent, Stub(answer=5.0), Stub(), line, print)  # type: ignore[arg-type]
    rows = [Row("h", msgspec.structs.replace(message, known=known)) for known in (None, UNKNOWN, LOST)]
    post.send(Parcel("b", 1, rows))
    wire = msgspec.msgpack.decode(unsquash(sent[0], 1_000_000), type=Wire)
    assert [row.item.known for row in decode_rows(wire.rows)] == [None, None, LOST]

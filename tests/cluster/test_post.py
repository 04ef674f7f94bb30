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


def test_pages_of_lost_agents_are_asked_for_again_by_their_owners() -> None:
    """An owner revisits its pages by itself. That a lost agent had fetched one it may learn later."""
    message = URLMessage(URLNormalizer().parse("http://h/1"), "", 0, 1)
    sent: list[bytes] = []
    agent: Any = Stub(state=Stub(me="a"))
    line: Any = Stub(ask=lambda to, kind, payload, told: sent.append(payload))
    post = Post(agent, 1, Stub(), Stub(), line, print)  # type: ignore[arg-type]
    rows = [Row("h", msgspec.structs.replace(message, known=known)) for known in (None, UNKNOWN, LOST)]
    post.send(Parcel("b", 1, rows))
    wire = msgspec.msgpack.decode(unsquash(sent[0], 1_000_000), type=Wire)
    assert [row.item.known for row in decode_rows(wire.rows)] == [None, None, LOST]

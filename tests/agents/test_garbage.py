"""What no agent of ours says: it is refused, and the agent that hears it goes on."""

from __future__ import annotations

import msgspec
import pytest

from larm.agents.beat import Beat, Quiet, Stamp, View, Vote
from larm.agents.card import Card
from larm.agents.courier import Row
from larm.agents.rows import check_rows
from larm.agents.said import GARBAGE
from larm.agents.terms import Envelope, Refusal
from larm.model.message import URLMessage
from larm.model.url import Url

_said = msgspec.msgpack.Decoder(Envelope | Refusal)


def envelope(*views: View, weight: float = 1.0, boot: int = 1 << 32) -> Envelope:
    beat = Beat("a", Stamp(boot, 1.0), None, views, 0, (), Vote(0), None, weight, "join", Quiet(), begun=True)
    return Envelope("1", "", Card("there"), {}, beat)


def row(access: str, host: str = "example.org") -> Row:
    return Row("example.org", URLMessage(Url(access, access, host, 1)))


def test_a_beat_as_it_should_be() -> None:
    told = envelope(View(1, {"a": 1.0, "b": 0.5}))
    assert _said.decode(msgspec.msgpack.encode(told)) == told


@pytest.mark.parametrize(
    "told",
    [
        envelope(weight=0.0),
        envelope(weight=float("nan")),
        envelope(weight=1e9),
        envelope(View(2, {})),
        envelope(View(2, {"a": float("inf")})),
        envelope(View((1 << 64) - 1, {"a": 1.0})),
        envelope(boot=-1),
    ],
    ids=["no weight", "no number", "a weight for all memory", "nobody", "an infinite weight", "no epoch", "no boot"],
)
def test_a_beat_from_which_no_placement_can_be_made(told: Envelope) -> None:
    """Whoever learned such a view would end with an error, and so would all whom he tells."""
    with pytest.raises(msgspec.ValidationError):
        _said.decode(msgspec.msgpack.encode(told))


def test_what_is_nested_without_end_is_garbage() -> None:
    nested = b"\x94\xa7refusal\xa1x\xc2" + b"\x91" * 100_000 + b"\xc0"
    with pytest.raises(GARBAGE):
        _said.decode(nested)


@pytest.mark.parametrize(
    "access",
    ["http://example.org/", "https://example.org:8443/a?b#c", "http://[::1]:80/x"],
)
def test_addresses_of_the_web_are_taken(access: str) -> None:
    check_rows([row(access)])


@pytest.mark.parametrize(
    "access",
    [
        "",
        "x",
        "http://",
        "http://example.org",
        "http://[::1/",
        "http:///x",
        "http://anna:secret@example.org/",
        "file:///etc/passwd",
    ],
)
def test_a_parcel_whose_addresses_are_none_never_gets_into_the_journal(access: str) -> None:
    """It would end the crawl where its host is looked for, and each further one, as it would be read from the journal again."""
    with pytest.raises(ValueError, match="no address"):
        check_rows([row("http://example.org/"), row(access)])


def test_folders_are_never_another_agents() -> None:
    with pytest.raises(ValueError, match="no address"):
        check_rows([row("http://example.org/", "file:")])

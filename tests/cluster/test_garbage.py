"""What no agent of ours says: it is refused, and the agent that hears it goes on."""

from __future__ import annotations

import msgspec
import pytest

from larm.cluster.card import Card, Figures, read_cards
from larm.cluster.courier import Answer, Row
from larm.cluster.inbox import Inbox
from larm.cluster.keys import AgentState, Member, View, pack, unpack
from larm.cluster.line import GARBAGE
from larm.cluster.placement import key_of
from larm.cluster.rows import check_rows
from larm.cluster.transport import Envelope, Refusal
from larm.model.message import URLMessage
from larm.model.url import BadUrl, Url, URLNormalizer

_normalizer = URLNormalizer()


def row(access: str, host: str = "") -> Row:
    try:
        url = _normalizer.parse(access)
    except BadUrl:
        url = Url(access, access, "example.org", 1)
    if url.access != access or host:
        url = Url(access, access, host or url.host, 1)
    return Row("example.org" if url.fingerprint == 1 else key_of(url.host, "site"), URLMessage(url))


def check(rows: list[Row]) -> None:
    check_rows(rows, _normalizer.parse, lambda host: key_of(host, "site"))


@pytest.mark.parametrize("kind", [Envelope, Refusal, Card, View, Answer])
def test_what_is_nested_without_end_is_garbage(kind: type) -> None:
    nested = b"\x94\xa7refusal" + b"\x91" * 100_000 + b"\xc0"
    with pytest.raises(GARBAGE):
        msgspec.msgpack.decode(nested, type=kind)


@pytest.mark.parametrize(
    "value",
    [
        View(1, {"a": Member(0.0, 1)}),
        View(1, {"a": Member(float("nan"), 1)}),
        View(1, {"a": Member(1e9, 1)}),
        View(1, {"a": Member(float("inf"), 1)}),
        View((1 << 64) - 1, {"a": Member(1.0, 1)}),
        AgentState(-1, 1),
        AgentState(1, 1, "x" * 2_000),
    ],
    ids=["no weight", "no number", "a weight for all memory", "an infinite weight", "no epoch", "no nonce", "an address"],
)
def test_keys_from_which_no_placement_can_be_made_are_not_read(value: View | AgentState) -> None:
    """An agent that read such a view would end with an error, and so would all others."""
    with pytest.raises(msgspec.ValidationError):
        unpack(pack(value), type(value))


@pytest.mark.parametrize(
    "access",
    ["http://example.org/", "https://example.org:8443/a?b", "http://[::1]:8080/x"],
)
def test_addresses_of_the_web_are_taken(access: str) -> None:
    check([row(access)])


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
        check([row("http://example.org/"), row(access)])


def test_folders_are_never_another_agents() -> None:
    with pytest.raises(ValueError, match="no address"):
        check([row("http://example.org/", "file:")])


def _other(**what: object) -> Row:
    mine = row("http://www.example.org/x?b=1&a=2")
    return msgspec.structs.replace(mine, item=msgspec.structs.replace(mine.item, **what))


def _at(**what: object) -> Row:
    mine = row("http://www.example.org/x")
    return _other(url=msgspec.structs.replace(mine.item.url, **what))


@pytest.mark.parametrize(
    "told",
    [
        _at(fingerprint=12),
        _at(host="other.example"),
        _at(normalised="http://www.example.org/y"),
        _other(depth=-1),
        _other(tries=-5),
        msgspec.structs.replace(_other(), host="other.example"),
        msgspec.structs.replace(_other(), hops=-1_000),
    ],
    ids=["fingerprint", "host", "normalised form", "depth", "tries", "owner", "hops"],
)
def test_what_a_row_says_of_its_url_is_looked_at(told: Row) -> None:
    """A false fingerprint would have its true owner take a page for one that was seen; a false host, another delay."""
    check([_other()])
    with pytest.raises(ValueError, match=r"not th|are none"):
        check([_other(), told])


def test_numbers_of_parcels_with_gaps_without_end() -> None:
    """What is behind a gap is remembered, but not without bound; what fills the gap is taken in any case."""
    inbox = Inbox()
    for seq in range(3, 6_000, 2):
        inbox.note("liar", 1, seq, 1)
    assert inbox.knows("liar", 1, 70_001) == "stale"
    assert inbox.note("liar", 1, 1, 1)
    assert inbox.note("liar", 1, 2, 1)
    assert inbox.knows("liar", 1, 70_001) == "new"


def test_names_of_senders_without_end() -> None:
    inbox = Inbox({str(number): (1, 1, []) for number in range(10_000)})
    assert inbox.knows("one more", 1, 1) == "stale"
    assert inbox.knows("7", 1, 2) == "new"


@pytest.mark.parametrize(
    "card",
    [
        Card("x" * 2_000),
        Card("there", directory="x" * 2_000),
        Card("there", figures=Figures(pages=1 << 63)),
        Card("there", since=-1.0),
    ],
    ids=["address", "directory", "pages", "since"],
)
def test_cards_that_grow_without_end_are_not_read(card: Card) -> None:
    assert read_cards({"a": msgspec.msgpack.encode(card), "b": b"\xc1", "c": msgspec.msgpack.encode(Card("there"))}) == {
        "c": Card("there")
    }

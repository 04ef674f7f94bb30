"""What no agent of ours says: it is refused, and the agent that hears it goes on."""

from __future__ import annotations

import msgspec
import pytest

from larm.cluster.beat import Beat, Quiet, Stamp, View, Vote
from larm.cluster.card import Card, Figures, Pages
from larm.cluster.courier import Row
from larm.cluster.inbox import Inbox
from larm.cluster.placement import key_of
from larm.cluster.quota import Quota
from larm.cluster.rows import check_rows
from larm.cluster.said import GARBAGE
from larm.cluster.terms import Envelope, Refusal
from larm.model.message import URLMessage
from larm.model.url import BadUrl, Url, URLNormalizer

_said = msgspec.msgpack.Decoder(Envelope | Refusal)


def envelope(*views: View, weight: float = 1.0, boot: int = 1 << 32) -> Envelope:
    beat = Beat("a", Stamp(boot, 1.0), None, views, 0, (), Vote(0), None, weight, "join", Quiet(), begun=True)
    return Envelope("1", "", Card("there"), {}, beat)


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


def test_a_view_that_would_take_all_memory() -> None:
    envelope(View(1, dict.fromkeys("abc", 999.0))).beat.check()
    with pytest.raises(ValueError, match="weights"):
        envelope(View(1, {str(number): 999.0 for number in range(50)})).beat.check()


def test_numbers_of_parcels_with_gaps_without_end() -> None:
    """What is behind a gap is remembered, but not without bound; what fills the gap is taken in any case."""
    inbox = Inbox()
    for seq in range(3, 6_000, 2):
        inbox.note("liar", 1, seq, 1)
    assert inbox.received("liar", 1) == 1_000
    assert inbox.knows("liar", 1, 70_001) == "stale"
    assert inbox.note("liar", 1, 1, 1)
    assert inbox.note("liar", 1, 2, 1)
    assert inbox.knows("liar", 1, 70_001) == "new"


def test_names_of_senders_without_end() -> None:
    inbox = Inbox({str(number): (1, 1, [], 1) for number in range(10_000)})
    assert inbox.knows("one more", 1, 1) == "stale"
    assert inbox.knows("7", 1, 2) == "new"


def test_names_in_a_quota_without_end() -> None:
    quota = Quota("me")
    quota.learn({str(number): Pages(1, 1, 0) for number in range(5_000)})
    assert len(quota.known) == 1_000
    quota.spend(3)
    quota.learn({"7": Pages(2, 2, 0)})
    assert quota.known["7"].spent == 2


@pytest.mark.parametrize(
    "card",
    [
        Card("x" * 2_000),
        Card("there", directory="x" * 2_000),
        Card("there", figures=Figures(sample=tuple(range(1_000)))),
        Card("there", figures=Figures(pages=1 << 63)),
        Card("there", pages={str(number): Pages() for number in range(3_000)}),
        Card("there", pages={"a": Pages(granted=(1 << 64) - 1)}),
    ],
    ids=["address", "directory", "sample", "pages", "names", "granted"],
)
def test_cards_that_grow_without_end(card: Card) -> None:
    told = msgspec.structs.replace(envelope(View(1, {"a": 1.0})), card=card)
    with pytest.raises(msgspec.ValidationError):
        _said.decode(msgspec.msgpack.encode(told))

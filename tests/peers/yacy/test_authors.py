"""Only members write, and an author of false pages loses what it has placed (YACY-48)."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec
import pytest

from larm.fetch.http_client import HttpAnswer, HttpClient, NoAnswer
from larm.index.analysis import Analyzer
from larm.kit.clock import SystemClock
from larm.peers.door import Call
from larm.peers.stranger_fetch import StrangerFetch
from larm.peers.yacy.item import Item, Kind, digest_of, new_header
from larm.peers.yacy.page import Page, place_of, write_page
from larm.peers.yacy.questions import Hand, Offer
from larm.peers.yacy.samples import Samples, verdict
from larm.peers.yacy.trust import Vote
from larm.testing.replies import Reply, html
from larm.testing.web import SyntheticWeb
from tests.peers.yacy.keys import FakeKey
from tests.peers.yacy.net import Net, Peer

WORDS = "donkeys walk slowly over the high pass before the snow comes"


@pytest.fixture
def net() -> Net:
    net = Net()
    net.add(5)
    net.run(600)
    return net


def item(key: FakeKey, page: Page, now: float) -> Item:
    (body,) = write_page(page)
    return Item(new_header(Kind.PAGE, digest_of(body), (place_of(page),) * 2, now, key), body)


def has(peer: Peer, page: Page) -> bool:
    return bool(peer.node.shelf.reader.pages(page.hash, peer.node.now()))


def test_item_of_a_key_that_never_joined_is_refused(net: Net) -> None:
    page, key = Page(url="http://a.example/", text=WORDS), FakeKey(999)
    forged = item(key, page, net.clock.wall())
    for peer in net.peers:
        call = Call(key.key, "10.9.9.9")
        assert peer.desk.offer(call, Offer("test", (forged.header,))).unknown == (0,)
        assert peer.desk.hand(call, Hand("test", (forged,))).refused == {0: "its author is no member"}
        assert not has(peer, page)


def test_author_that_an_owner_has_not_met_introduces_itself(net: Net) -> None:
    for peer in net.peers[1:]:
        peer.node.shelf.authors._authors.clear()
    page = Page(url="http://a.example/", text=WORDS)
    net.peers[0].publish(page)
    net.settle()
    assert sum(has(peer, page) for peer in net.peers[1:]) >= 2


def test_items_of_a_lost_author_are_repaired_by_the_word_of_those_that_met_it(net: Net) -> None:
    page = Page(url="http://a.example/", text=WORDS)
    net.peers[0].publish(page)
    net.settle()
    net.peers[0].up = False
    net.run(900)
    lost = next(peer for peer in net.peers[1:] if has(peer, page))
    lost.up = False
    for peer in net.peers[1:]:
        if not has(peer, page):
            peer.node.shelf.authors._authors.pop(net.peers[0].key.key, None)
    net.run(3_600)
    assert sum(has(peer, page) for peer in net.peers[1:] if peer.up) == 3


def test_a_voucher_that_is_no_member_vouches_for_nobody(net: Net) -> None:
    (other,) = Net(seed=7).add()
    owner = net.peers[0]
    owner.greeting.vouched(FakeKey(998).key, [other.node.seed().wire])
    assert not owner.node.shelf.authors.knows(other.key.key)


@pytest.fixture
def web() -> Iterator[SyntheticWeb]:
    with SyntheticWeb() as web:
        yield web


def fetch(clock: object = None) -> StrangerFetch:
    return StrangerFetch(HttpClient(), clock or SystemClock(), {"loopback"})  # type: ignore[arg-type]


def sampled(peer: Peer, said: list[str]) -> Samples:
    return Samples(peer.node, fetch(peer.node.clock), Analyzer().words, said.append)


def run(peer: Peer, samples: Samples) -> None:
    for _ in range(12):
        samples.tick()
        peer.net.clock.advance(11.0)


def test_author_of_false_pages_loses_all_and_an_honest_one_nothing(net: Net, web: SyntheticWeb) -> None:
    site, now = web.host("127.0.0.1"), int(net.clock.wall())
    honest, liar = net.peers[:2]
    good = [Page(url=web.url("127.0.0.1", f"/good{n}"), title="Walk", text=f"{WORDS} number{n}") for n in range(6)]
    bad = [
        Page(url=web.url("127.0.0.1", f"/bad{n}"), text="buy cheap pills now without any doctor", fetched=now) for n in range(6)
    ]
    for n, page in enumerate(good):
        site.page(f"/good{n}", body=f"<h1>{page.title}</h1><p>{page.text}</p>")
        site.page(f"/bad{n}", body="<p>The harbour is closed on sundays, when all boats rest and fishermen mend nets</p>")
    honest.publish(*good)
    liar.publish(*bad)
    net.settle()
    for owner in net.peers[2:]:
        said: list[str] = []
        run(owner, sampled(owner, said))
        assert not any(has(owner, page) for page in bad)
        assert liar.key.key in owner.node.shelf.authors.convicted
        assert "trust that peer" in said[0]
        assert owner.node.shows(honest.key.key)
        assert not owner.node.shows(liar.key.key)
    net.run(1_800)
    assert not any(has(owner, page) for page in bad for owner in net.peers[2:]), "it offers them again"
    owner = net.peers[2]
    owner.node.trust.vote(liar.key.key, Vote.TRUSTED)
    owner.node.shelf.authors.acquit(liar.key.key)
    net.run(90_000, 600)
    assert any(has(owner, page) for page in bad), "its user trusts it"


def test_pages_that_have_gone_since_long_hide_their_author_until_others_are_good(net: Net) -> None:
    authors, key = net.peers[0].node.shelf.authors, net.peers[1].key.key
    other = net.peers[2].key.key
    authors.judge(other, 0.0, good=True, fresh=True)
    for good in (True, False, False):
        assert not authors.judge(key, 0.0, good=good, fresh=False)
    assert not authors.shows(key)
    assert key not in authors.convicted
    for _ in range(3):
        authors.judge(key, 0.0, good=True, fresh=True)
    assert authors.shows(key)
    assert not authors.judge(key, 0.0, good=False, fresh=False)
    assert authors.judge(key, 0.0, good=False, fresh=True)


def test_sites_that_can_not_be_reached_convict_nobody_and_all_is_shown(net: Net) -> None:
    one = net.peers[0]
    one.publish(*(Page(url=f"http://127.0.0.1:9/{n}", text=WORDS) for n in range(5)))
    net.settle()
    owner = net.peers[1]
    run(owner, sampled(owner, []))
    assert owner.node.shows(one.key.key)
    assert owner.node.counts["samples of pages that showed nothing"]


def test_what_robots_txt_forbids_is_not_requested(web: SyntheticWeb) -> None:
    web.host("127.0.0.1").robots("User-agent: *\nDisallow: /private\n")
    web.host("127.0.0.1").page("/private/a", body="text")
    found = fetch().fetch(web.url("127.0.0.1", "/private/a"))
    assert isinstance(found, NoAnswer)
    assert [request.path for request in web.requests] == ["/robots.txt"]


def test_addresses_of_another_kind_are_not_requested(web: SyntheticWeb) -> None:
    web.host("127.0.0.1").page("/", body="text")
    closed = StrangerFetch(HttpClient(), SystemClock(), ())
    assert isinstance(closed.fetch(web.url("127.0.0.1", "/")), NoAnswer)
    assert not web.fetched()


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1:9/\u00fc",
        "http://127.0.0.1:9/a\0b",
        "http://127.0.0.1:9/a b",
        "http://\uff11\uff12\uff17.0.0.1:9/",
        "http://[::1/",
        "http:///a",
        "http://a@127.0.0.1:9/",
        "http://127.0.0.1:9?a",
    ],
)
def test_malformed_urls_of_strangers_are_not_requested(url: str) -> None:
    pages = fetch()
    assert pages.is_due(url)
    assert pages.fetch(url) == NoAnswer("its URL is malformed")


def test_samples_of_several_authors_at_one_site_keep_its_pause(net: Net, web: SyntheticWeb) -> None:
    site, authors = web.host("127.0.0.1"), net.peers[:3]
    for n, author in enumerate(authors):
        site.page(f"/{n}", body=f"<p>{WORDS} {n}</p>")
        author.publish(Page(url=web.url("127.0.0.1", f"/{n}"), text=f"{WORDS} {n}"))
    net.settle()
    owner = next(peer for peer in net.peers[3:] if len(peer.node.shelf.sample((), peer.node.random)) >= 2)
    samples = sampled(owner, [])
    samples.tick()
    assert [request.path for request in web.requests if request.path != "/robots.txt"] == [web.requests[-1].path]


def test_address_has_a_limited_number_of_authors(net: Net, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("larm.peers.yacy.authors._MOST_AT_ADDRESS", 3)
    authors = net.peers[0].node.shelf.authors
    keys = [FakeKey(100 + n).key for n in range(5)]
    for key in keys:
        authors.meet(key, "10.9.9.9", 0.0)
    assert [authors.knows(key) for key in keys] == [True, True, True, False, False]
    authors.meet(keys[4], "10.9.9.8", 0.0)
    assert authors.knows(keys[4])
    authors.meet(keys[4], "10.9.9.9", 0.0)
    assert authors.get(keys[4]).payer == "10.9.9.8"  # type: ignore[union-attr]


def test_author_of_a_sampled_page_is_no_member_before_it_is_met(net: Net) -> None:
    authors, key = net.peers[0].node.shelf.authors, FakeKey(100).key
    authors.judge(key, 0.0, good=True, fresh=True)
    assert authors.shows(key)
    assert not authors.knows(key)
    authors.meet(key, "10.9.9.9", 60.0)
    assert authors.knows(key)
    assert authors.get(key).since == 60.0  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        (html(f"<title>Walk</title><p>{WORDS}</p>"), True),
        (html(f"<title>Walk</title><p>{WORDS} and then it was changed a little</p>"), True),
        (html("<p>Another text, of quite other things, which nobody has looked for in all these years</p>"), False),
        (html("<script src=app.js></script>"), None),
        (html("gone", status=404), False),
        (html("later", status=503), None),
        (Reply(200, {"content-type": "application/pdf"}, b"%PDF"), None),
        (Reply(200, {"content-type": "text/html"}, " ".join("山と海と川の長い道を歩く" * 20).encode("iso-2022-jp")), None),
        (Reply(200, {"content-type": "text/html"}, f"<p>{'other ' * 50}é".encode("latin-1")), None),
        (html(f"<title>Walk</title><p>{WORDS} &#{'1' * 5_000};</p>"), True),
    ],
)
def test_verdict_on_a_response(reply: Reply, expected: bool | None) -> None:
    headers = {name.lower(): value for name, value in dict(reply.headers).items()}
    came = HttpAnswer(reply.status, headers, reply.body)
    assert verdict(Page(url="http://a.example/", title="Walk", text=WORDS), came, Analyzer().words) is expected


@pytest.mark.parametrize("part", ["title", "description", "other"])
def test_verdict_on_a_forged_part_of_a_true_page_confirms_nothing(part: str) -> None:
    text = " ".join(f"word{n}" for n in range(500))
    came = HttpAnswer(200, {"content-type": "text/html"}, f"<title>Walk</title><p>{text}</p>".encode())
    true = Page(url="http://a.example/", title="Walk", text=text)
    assert verdict(true, came, Analyzer().words)
    assert verdict(msgspec.structs.replace(true, **{part: "Cheap pills"}), came, Analyzer().words) is None
    assert verdict(msgspec.structs.replace(true, text=text + " pills" * 9), came, Analyzer().words), (
        "it may have changed a little"
    )
    many = " ".join(f"pills{n}" for n in range(100))
    assert verdict(msgspec.structs.replace(true, text=f"{text} {many}"), came, Analyzer().words) is None

"""Words and documents come to their owners, and stay there (YACY-27 to 33)."""

from __future__ import annotations

from pathlib import Path

import pytest

from larm.peers.door import Call, RefusedError
from larm.peers.yacy.hashes import position_of, word_hash
from larm.peers.yacy.item import LARGEST, LIFE, RENEWED, Item, Kind, digest_of, new_header
from larm.peers.yacy.page import Page
from larm.peers.yacy.questions import Hand
from larm.peers.yacy.ring import PARTITIONS, partition_of, place_in
from tests.peers.yacy.keys import FakeKey
from tests.peers.yacy.net import Net, Peer

PAGES = [
    Page(url=f"http://h{n % 7}.example/{n}", title=f"Page {n}", text=f"common word{n % 5} only{n} the end " * 3)
    for n in range(20)
]


@pytest.fixture
def net(tmp_path: Path) -> Net:
    net = Net(tmp_path)
    net.add(8)
    net.run(300)
    return net


def has(peer: Peer, word: str) -> set[str]:
    """Addresses' hashes that a peer knows for a word."""
    name, now = word_hash(word), peer.node.now()
    return {each.url for _, each in peer.node.shelf.reader.references([name], range(PARTITIONS), now)[name]}


def owners(net: Net, word: str, page: Page) -> list[Peer]:
    """Who must have this reference."""
    place = place_in(position_of(word_hash(word)), partition_of(page.hash))
    up = next(peer for peer in net.peers if peer.up)
    names = up.node.ring().owners(place, 3)
    return [peer for peer in net.peers if peer.node.hash in names]


def whole(net: Net, pages: list[Page]) -> None:
    for page in pages:
        for word in set(page.text.lower().split()) - {"the"}:
            assert all(page.hash in has(peer, word) for peer in owners(net, word, page)), (word, page.url)
        name = next(peer for peer in net.peers if peer.up).node.ring().owners(position_of(page.hash), 3)
        for peer in net.peers:
            if peer.node.hash in name:
                assert len(peer.node.shelf.reader.pages(page.hash, peer.node.now())) == 1


def test_everything_comes_to_its_owners(net: Net) -> None:
    net.peers[0].publish(*PAGES)
    net.settle()
    whole(net, PAGES)
    assert net.longest < 65_536, "a request fits into what a server takes"


def test_a_second_time_nothing_moves(net: Net) -> None:
    net.peers[0].publish(*PAGES)
    net.settle()
    handed = net.peers[0].node.counts["items handed over"]
    net.peers[0].publish(*PAGES)
    assert net.peers[0].published[1:] == (0, 0, 0, 0)
    net.settle()
    assert net.peers[0].node.counts["items handed over"] == handed


def test_a_network_that_grows_a_little_makes_nothing_anew(net: Net) -> None:
    one = net.peers[0]
    for peers, anew in ((8, True), (16, False), (7, False), (100, True), (120, False)):
        one.publish(*PAGES, peers=peers)
        assert bool(one.published.withdrawn or one.published.new) == anew, peers


def test_stop_words_are_not_shared(net: Net) -> None:
    net.peers[0].publish(*PAGES)
    net.settle()
    assert not any(has(peer, "the") for peer in net.peers)


def test_a_lost_answer_loses_and_doubles_nothing(net: Net) -> None:
    for peer in net.peers[1:]:
        peer.lose = 3
    net.peers[0].publish(*PAGES)
    net.settle()
    whole(net, PAGES)
    for peer in net.peers:
        rows = peer.node.shelf.reader.references([word_hash("common")], range(PARTITIONS), peer.node.now())[word_hash("common")]
        assert len(rows) == len({each.url for _, each in rows})


def test_one_after_the_other_dies_and_others_take_over(net: Net) -> None:
    net.peers[7].publish(*PAGES)
    net.settle()
    for dead in net.peers[:4]:
        dead.up = False
        net.run(900)
        net.settle()
        whole(net, PAGES)


def test_others_repair_without_the_author(net: Net) -> None:
    net.peers[0].publish(*PAGES)
    net.settle()
    net.peers[0].up = False
    net.run(900)
    net.settle()
    net.peers[1].up = False
    net.run(900)
    net.settle()
    whole(net, PAGES)


def test_a_peer_that_has_lost_its_disk_gets_it_all_again(net: Net) -> None:
    net.peers[0].publish(*PAGES)
    net.settle()
    poor = net.peers[4]
    poor.node.shelf.let_go([number for number, _ in poor.node.shelf.headers(0, 10_000)])
    assert not has(poor, "common")
    net.run(88_000, 800)  # nobody is ever away
    whole(net, PAGES)


def test_what_is_not_ones_own_any_more_is_let_go(net: Net) -> None:
    net.peers[0].publish(*PAGES)
    net.settle()
    before = sum(peer.node.shelf.counts[0] for peer in net.peers)
    net.add(8)
    net.run(900)
    net.settle()
    net.run(300)
    whole(net, PAGES)
    after = sum(peer.node.shelf.counts[0] for peer in net.peers)
    assert after < 1.5 * before


def test_a_page_that_is_withdrawn_is_gone_everywhere(net: Net) -> None:
    net.peers[0].publish(*PAGES)
    net.settle()
    net.peers[0].publish(*PAGES[1:])
    net.settle()
    gone = PAGES[0]
    for peer in net.peers:
        assert gone.hash not in has(peer, "common")
        assert not peer.node.shelf.reader.pages(gone.hash, peer.node.now())
    whole(net, PAGES[1:])


def test_a_peer_that_was_away_learns_what_was_withdrawn(net: Net) -> None:
    net.peers[0].publish(*PAGES)
    net.settle()
    away = net.peers[3]
    away.up = False
    net.run(900)
    net.peers[0].publish(*PAGES[1:])
    net.settle()
    away.up = True
    net.run(900)
    net.settle()
    assert PAGES[0].hash not in has(away, "common")
    whole(net, PAGES[1:])


def test_a_changed_page_is_there_once(net: Net) -> None:
    net.peers[0].publish(*PAGES)
    net.settle()
    changed = Page(url=PAGES[0].url, title="Other", text="something else now")
    net.peers[0].publish(changed, *PAGES[1:])
    net.settle()
    whole(net, [changed, *PAGES[1:]])
    assert not any(changed.hash in has(peer, "only0") for peer in net.peers)


def test_what_is_not_renewed_is_over(net: Net) -> None:
    net.peers[0].publish(*PAGES)
    net.settle()
    net.peers[0].up = False
    net.clock.advance(LIFE + 1)
    assert not any(has(peer, "common") for peer in net.peers[1:]), "it is not shown, even before it is removed"
    net.run(900)
    assert all(peer.node.shelf.counts[0] == 0 for peer in net.peers[1:])


def test_what_is_renewed_stays_and_its_bodies_do_not_travel_again(net: Net) -> None:
    net.peers[0].publish(*PAGES)
    net.settle()
    sent = net.peers[0].node.counts["bytes handed over"]
    net.clock.advance(RENEWED + 1)
    net.run(300)
    net.peers[0].publish(*PAGES)
    assert net.peers[0].published.renewed > 0
    net.settle()
    assert net.peers[0].node.counts["bytes handed over"] == sent
    net.clock.advance(LIFE - 86_400)
    net.run(600)
    whole(net, PAGES)


def test_a_junior_shares_what_it_has(net: Net) -> None:
    (hidden,) = net.add()
    hidden.reachable = False
    net.run(300)
    hidden.publish(*PAGES)
    net.settle()
    whole(net, PAGES)
    assert hidden.node.shelf.counts[0] == 0


def test_a_reference_is_small(net: Net) -> None:
    words = [f"w{n % 1_000}x" for n in range(40_000)]
    pages = [Page(url=f"http://big.example/{n}", text=" ".join(words[n * 37 % 30_000 :][:300])) for n in range(100)]
    net.peers[0].publish(*pages)
    headers = [header for header in net.peers[0].node.shelf.own().values() if header.kind == 0]
    size = sum(len(body) + 200 for _, body in net.peers[0].node.shelf.bodies([header.name for header in headers]))
    references = sum(len(set(page.text.split())) for page in pages)
    assert size * 4 / 3 / references < 30, "bytes on the wire for each copy"
    assert all(len(body) <= LARGEST for _, body in net.peers[0].node.shelf.bodies([header.name for header in headers]))


def test_one_address_hands_over_so_much_a_day_whatever_keys_it_has(net: Net) -> None:
    desk = net.peers[0].desk
    item = Item(new_header(Kind.PAGE, digest_of(b"x"), (0, 0), net.clock.wall(), FakeKey(99)), b"x" * 45_000)
    for number in range(12_500_000 // 45_000):  # an eighth of the quota
        desk.hand(Call(FakeKey(number).key, "10.9.9.9"), Hand("test", (item,)))
    with pytest.raises(RefusedError, match="as much as one may"):
        desk.hand(Call(FakeKey(9_999).key, "10.9.9.9"), Hand("test", (item,)))
    desk.hand(Call("other", "10.9.9.8"), Hand("test", (item,)))
    net.clock.advance(86_400)
    desk.hand(Call("key", "10.9.9.9"), Hand("test", (item,)))

"""Peers find each other, and say of each other what they are (YACY-12 to 23, 40, 41, 50)."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path

import msgspec
import pytest

from larm.fetch.http_client import NoAnswer
from larm.peers.channel import Contact
from larm.peers.door import Call, RefusedError
from larm.peers.yacy.hashes import key_part
from larm.peers.yacy.profile import Mode
from larm.peers.yacy.questions import COUNT, PING, WIRE, Count, Counted, Ping, Pong
from larm.peers.yacy.reachability import CallingBack
from larm.peers.yacy.seed import PeerType, Seed, read_seed, signed
from tests.peers.yacy.keys import FakeKey
from tests.peers.yacy.net import Net, Wire


@pytest.fixture
def net(tmp_path: Path) -> Net:
    return Net(tmp_path)


def test_all_find_each_other_and_are_seniors(net: Net) -> None:
    net.add(8)
    net.run(300)
    for peer in net.peers:
        assert peer.node.type is PeerType.SENIOR
        assert {seed.hash for seed in peer.node.membership.active} == {each.node.hash for each in net.peers if each is not peer}
        assert len(peer.node.ring()) == 8


def test_one_alone_is_a_virgin(net: Net) -> None:
    (alone,) = net.add()
    net.run(120)
    assert alone.node.type is PeerType.VIRGIN


def test_who_cannot_be_reached_is_a_junior_and_owns_nothing(net: Net) -> None:
    net.add(5)
    (hidden,) = net.add()
    hidden.reachable = False
    net.run(300)
    assert hidden.node.type is PeerType.JUNIOR
    assert len(hidden.node.ring()) == 5, "it knows the others"
    for peer in net.peers[:5]:
        assert hidden.node.hash not in peer.node.ring().hashes
        assert peer.node.membership.sizes == (4, 0, 1)


def test_a_dead_peer_is_found_dead_and_used_again_when_it_is_back(net: Net) -> None:
    net.add(6)
    net.run(300)
    dead = net.peers[3]
    dead.up = False
    net.run(600)
    assert all(dead.node.hash not in peer.node.ring().hashes for peer in net.peers if peer is not dead)
    dead.up = True
    net.run(600)
    assert all(dead.node.hash in peer.node.ring().hashes for peer in net.peers)


def test_neighbours_notice_within_minutes_who_has_gone(net: Net) -> None:
    net.add(40)
    net.run(300)
    dead = net.peers[7]
    near = dead.node.ring().around(dead.node.hash, 3)
    assert len(near) == 6
    dead.up = False
    net.run(210)
    assert not any(peer.node.membership.is_active(dead.node.hash) for peer in net.peers if peer.node.hash in near)


def test_old_seeds_do_not_wake_the_dead(net: Net) -> None:
    one, two, dead = net.add(3)
    net.run(300)
    old = dead.node.seed()
    dead.up = False
    net.run(600)
    one.greeting.learn([old])
    assert not one.node.membership.is_active(dead.node.hash)
    assert one.node.membership.is_active(two.node.hash)


def test_the_dead_are_forgotten_after_a_month(net: Net) -> None:
    one, _, dead = net.add(3)
    net.run(300)
    dead.up = False
    net.run(600)
    assert one.node.membership.sizes[1] == 1
    net.clock.advance(31 * 86_400)
    net.run(60)
    assert one.node.membership.sizes[1] == 0


def test_whose_clock_is_wrong_learns_why_nobody_has_to_do_with_him(net: Net) -> None:
    net.add(2)

    def refused(*_: object) -> Pong:
        raise RefusedError("not signed within the last 60 s by our clock")

    questions = net.peers[0].questions
    answered = questions[PING]
    questions[PING] = answered._replace(handler=refused)
    net.run(60)
    assert "by our clock" in net.peers[1].greeting.refusal
    questions[PING] = answered
    net.run(60)
    assert not net.peers[1].greeting.refusal
    assert net.peers[1].node.type is PeerType.SENIOR


def test_networks_never_mix(net: Net) -> None:
    mine, other = net.add(3), net.add(3, network="other")
    net.run(600)
    for group in (mine, other):
        names = {each.node.hash for each in group}
        assert all({*peer.node.ring().hashes} <= names for peer in group)
    mine[0].greeting.learn([other[0].node.seed()])
    assert mine[0].node.membership.counts["other networks"] > 0


def test_who_says_whom_he_knows_is_told_of_all_others(net: Net) -> None:
    asked, *others = net.add(41)
    net.run(600)
    (asking,) = net.add()
    for _ in range(3):  # those whom it has met last are told each time, and are the same ones
        asking.greeting.ping(asked.node.seed())
    assert {seed.hash for seed in asking.node.membership.active} == {each.node.hash for each in (asked, *others)}


def test_a_stretch_of_a_ring_has_its_bounds(net: Net) -> None:
    one, two = net.add(2)
    own = two.node.seed().wire
    for stretch in (("no hash",), (two.node.hash,) * 66):
        with pytest.raises(RefusedError, match="stretch"):
            one.desk.ping(Call(two.key.key, two.ip), Ping("test", own, stretch))


def test_a_forged_seed_changes_nothing(net: Net) -> None:
    one, _, three = net.add(3)
    net.run(300)
    forged = msgspec.structs.replace(three.node.seed(), ip="10.9.9.9", stamp=int(net.clock.wall()) + 1)
    one.greeting.learn([forged])
    assert one.node.membership.get(three.node.hash).ip == three.ip  # type: ignore[union-attr]
    assert one.node.counts["bad seeds"] == 1


def test_nobody_is_away_because_somebody_else_cannot_be_reached(net: Net) -> None:
    """A seed has the hash that its maker writes into it."""
    one, two, three = net.add(3)
    net.run(300)
    forged = signed(msgspec.structs.replace(three.node.seed(), hash=two.node.hash, port=1), three.key)
    with pytest.raises(RefusedError, match="hash"):
        one.desk.ping(Call(three.key.key, three.ip), Ping("test", forged.wire))
    assert one.node.membership.is_active(two.node.hash)


def test_who_was_reached_is_tried_again_at_another_place(net: Net) -> None:
    one, two = net.add(2)
    net.run(300)
    seed = two.node.seed()
    assert one.greeting.calling_back.reaches(seed, two.ip)
    assert not one.greeting.calling_back.reaches(seed, "10.7.7.7")
    assert not one.greeting.calling_back.reaches(msgspec.structs.replace(seed, port=9200), two.ip), (
        "a neighbour behind the same address"
    )


def test_who_cannot_be_reached_keeps_nobody_waiting(net: Net) -> None:
    one, two = net.add(2)
    seed, waiting = two.node.seed(), list[str]()

    class Slow(Wire):
        def ask(self, contact: Contact, *rest: object, **fields: object) -> NoAnswer:  # type: ignore[override]
            if len(waiting) < 2:
                waiting.append(contact.url)
                with pytest.raises(RefusedError, match="too many") if len(waiting) == 2 else nullcontext():
                    one.greeting.calling_back.reaches(seed, two.ip)
            return NoAnswer("it hangs")

    one.greeting.calling_back = CallingBack(Slow(net, one), net.clock, "test")
    for _ in range(9):
        assert not one.greeting.calling_back.reaches(seed, two.ip)


def test_a_seed_that_names_another_machine_is_not_believed(net: Net) -> None:
    """Or all others would knock there."""
    one, two = net.add(2)
    net.run(300)
    net.at["http://10.7.7.7:8090"] = two
    del net.at[f"http://{two.ip}:8090"]
    two.ip = "10.7.7.7"
    net.run(300)
    assert not one.node.membership.is_active(two.node.hash)


def test_stealth(net: Net) -> None:
    net.add(4)
    net.run(300)
    quiet = net.peers[1]
    quiet.node.stealthy = True
    before = net.asked.total()
    quiet.greeting.tick()
    quiet.spreading.tick()
    assert net.asked.total() == before
    net.run(600)
    quiet.node.stealthy = False
    net.run(600)
    assert quiet.node.hash in net.peers[0].node.ring().hashes


def test_robinsons_take_no_references(net: Net) -> None:
    net.add(3)
    (robinson,) = net.add(mode=Mode.PUBLIC)
    (hermit,) = net.add(mode=Mode.PRIVATE)
    net.run(300)
    one = net.peers[0].node
    assert one.membership.is_active(robinson.node.hash)
    assert robinson.node.hash not in one.ring().hashes
    assert one.membership.get(hermit.node.hash) is None
    assert not hermit.node.seed_list()


def test_a_seed_list_has_one_seed_a_line(net: Net) -> None:
    net.add(4)
    net.run(300)
    found = [read_seed(line).hash for line in net.peers[0].node.seed_list().splitlines()]
    assert sorted(found) == sorted(peer.node.hash for peer in net.peers)
    assert found[0] == net.peers[0].node.hash


def test_a_flood_of_names_from_one_address_is_bounded(net: Net) -> None:
    (one,) = net.add()
    for number in range(1_000, 1_200):
        key = FakeKey(number)
        seed = Seed(
            hash="AB" + key_part(key.key), ip="10.1.1.1", port=2_000 + number, type=PeerType.SENIOR, network="test",
            stamp=int(net.clock.wall()),
        )  # fmt: skip
        one.greeting.learn([signed(seed, key)])
    assert one.node.membership.sizes[0] <= 64
    assert one.node.membership.counts["too many at an address"] >= 136


def test_a_flood_of_juniors_from_one_address_is_bounded(net: Net) -> None:
    (one,) = net.add()
    for number in range(1_000, 1_200):
        key = FakeKey(number)
        seed = Seed(
            hash="AB" + key_part(key.key), ip="10.1.1.1", port=2_000, type=PeerType.JUNIOR, network="test",
            stamp=int(net.clock.wall()),
        )  # fmt: skip
        one.greeting.learn([signed(seed, key)])
    assert one.node.membership.sizes[2] == 64


def test_who_had_too_little_time_is_not_taken_for_dead() -> None:
    net = Net()
    one, two = net.add(2)
    net.run(300)

    class Slow:
        def ask(self, *_: object, **__: object) -> NoAnswer:
            return NoAnswer("it did not answer within it", late=True)

    one.node.asker = Slow()
    for seconds, there in ((0.1, True), (3.0, False)):
        assert isinstance(one.node.ask(two.node.hash, COUNT, Count("test"), Counted, seconds), NoAnswer)
        assert one.node.membership.is_active(two.node.hash) == there


def test_neighbouring_versions_talk_and_distant_ones_are_refused_with_both_numbers(net: Net) -> None:
    one, two = net.add(2)
    net.run(300)
    own = two.node.seed().wire
    call = Call(two.key.key, two.ip)
    for wire in (WIRE - 1, WIRE, WIRE + 1):
        assert one.desk.ping(call, Ping("test", own, wire=wire)).wire == WIRE
    with pytest.raises(RefusedError, match=f"version {WIRE + 2} .* version {WIRE}"):
        one.desk.ping(call, Ping("test", own, wire=WIRE + 2))


def test_fields_of_a_later_version_are_ignored() -> None:
    later = msgspec.json.decode(b'{"network": "test", "seed": "b|", "wire": 3, "mood": ["good"]}', type=Ping)
    assert (later.network, later.wire) == ("test", 3)
    earlier = msgspec.json.decode(b'{"network": "test", "seed": "b|"}', type=Ping)
    assert earlier.wire == 1

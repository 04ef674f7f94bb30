"""Nobody is led into a network of his own by what a stranger announces."""

from __future__ import annotations

import msgspec
import pytest

from larm.peers.yacy.hashes import key_part
from larm.peers.yacy.own_address import OwnAddress
from larm.peers.yacy.seed import PeerType, Seed, signed
from tests.peers.yacy.keys import FakeKey
from tests.peers.yacy.net import Net


@pytest.mark.parametrize(("ip", "port"), [("127.0.0.1", 6379), ("169.254.169.254", 80), ("intranet", 8080), ("10.0.0.9", 25)])
def test_a_seed_that_leads_elsewhere_is_refused(ip: str, port: int) -> None:
    net = Net()
    (peer,) = net.add()
    key = FakeKey(999)
    net.run(60)
    asked = net.asked.total()
    seed = Seed(
        hash="AA" + key_part(key.key), type=PeerType.SENIOR, ip=ip, port=port, network="test", stamp=int(net.clock.wall())
    )
    peer.greeting.learn([signed(seed, key)])
    assert peer.node.membership.sizes == (0, 0, 0)
    net.run(300)
    assert net.asked.total() == asked
    good = msgspec.structs.replace(seed, ip="10.9.9.9", port=8090)
    peer.greeting.learn([signed(good, key)])
    assert peer.node.membership.sizes == (1, 0, 0)


def test_a_junior_that_names_an_address_elsewhere_is_not_asked_there() -> None:
    net = Net()
    (peer,) = net.add()
    key = FakeKey(999)
    net.run(60)
    seed = Seed(
        hash="AA" + key_part(key.key), type=PeerType.JUNIOR, ip="127.0.0.1", port=6379, network="test",
        stamp=int(net.clock.wall()),
    )  # fmt: skip
    peer.greeting.learn([signed(seed, key)])
    assert peer.node.membership.sizes == (0, 0, 1)
    asked = net.asked.total()
    net.run(300)
    assert net.asked.total() == asked


def test_what_one_says_of_our_address_is_not_believed_against_others() -> None:
    net = Net()
    for each in net.add(5):
        assert each.node.profile.ip
    own = net.peers[0].node
    own.profile = msgspec.structs.replace(own.profile, ip="")
    own.own_ip = OwnAddress("")
    net.run(300)
    assert own.seed().ip == net.peers[0].ip
    with own.lock:
        own.own_ip.told("liar________", "203.0.113.7")
        own.own_ip.told("liar________", "internal.example")
    assert own.seed().ip == net.peers[0].ip

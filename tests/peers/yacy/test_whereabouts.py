"""Nobody is led into a network of his own by what a stranger announces."""

from __future__ import annotations

import msgspec
import pytest

from larm.peers.yacy.own_hash import key_part
from larm.peers.yacy.seed import PeerType, Seed, signed
from larm.peers.yacy.whereabouts import OwnAddress, kind_of, kinds_of, may_be_asked
from tests.peers.yacy.keys import FakeKey
from tests.peers.yacy.net import Net


@pytest.mark.parametrize(
    ("ip", "kind"),
    [
        ("8.8.8.8", "public"), ("2606:4700::1", "public"), ("10.1.2.3", "private"), ("192.168.0.1", "private"),
        ("::ffff:10.0.0.1", "private"), ("fd00::1", "private"), ("127.0.0.1", "loopback"), ("::1", "loopback"),
        ("169.254.169.254", ""), ("fe80::1", ""), ("fe80::1%eth0", ""), ("0.0.0.0", ""), ("224.0.0.1", ""), ("", ""),
        ("router.example", ""), ("localhost", ""), ("8.8.8.8/x", ""), ("8.8.8.8:80", ""), ("user@8.8.8.8", ""),
        ("0x7f000001", ""), ("2130706433", ""),
    ],
)  # fmt: skip
def test_kinds(ip: str, kind: str) -> None:
    assert kind_of(ip) == kind


def test_only_kinds_that_the_user_has_named() -> None:
    assert kinds_of("", ["http://192.168.1.2:7070"]) == {"private"}
    assert kinds_of("127.0.0.3", ["http://8.8.8.8:7070", "nonsense"]) == {"loopback", "public"}
    assert may_be_asked("8.8.8.8", 7070, ())
    assert not may_be_asked("192.168.1.1", 7070, ("loopback",))
    assert may_be_asked("192.168.1.1", 7070, ("private",))
    for port in (0, 22, 25, 1_023, 65_536):
        assert not may_be_asked("8.8.8.8", port, ())


@pytest.mark.parametrize(("ip", "port"), [("127.0.0.1", 6379), ("169.254.169.254", 80), ("intranet", 8080), ("10.0.0.9", 25)])
def test_a_seed_that_leads_elsewhere_is_refused(ip: str, port: int) -> None:
    net = Net()
    (peer,) = net.add()
    key = FakeKey(999)
    net.run(60)
    asked = net.asked
    seed = Seed(
        hash="AA" + key_part(key.key), type=PeerType.SENIOR, ip=ip, port=port, network="test", stamp=int(net.clock.wall())
    )
    peer.node.learn([signed(seed, key)])
    assert peer.node.membership.sizes == (0, 0, 0)
    net.run(300)
    assert net.asked == asked
    good = msgspec.structs.replace(seed, ip="10.9.9.9", port=8090)
    peer.node.learn([signed(good, key)])
    assert peer.node.membership.sizes == (1, 0, 0)


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

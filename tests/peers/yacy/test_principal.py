"""A principal publishes its seed list (YACY-12, 19)."""

from __future__ import annotations

from pathlib import Path

from larm.peers.yacy.seed import PeerType, read_seed
from larm.peers.yacy.seed_lists import Principal
from tests.peers.yacy.net import Net


def test_a_senior_that_publishes_is_a_principal_and_is_asked_like_one(tmp_path: Path) -> None:
    net = Net(tmp_path)
    (one,) = net.add(publishes=True)
    assert one.node.type is PeerType.VIRGIN
    net.add(3)
    net.run(300)
    assert one.node.type is PeerType.PRINCIPAL
    assert net.peers[1].node.membership.get(one.node.hash).type is PeerType.PRINCIPAL  # type: ignore[union-attr]
    assert len(net.peers[1].node.ring()) == 4


def test_the_list_is_written_when_peers_come_and_once_a_day(tmp_path: Path) -> None:
    net, path = Net(tmp_path), tmp_path / "seeds.txt"
    (one,) = net.add(publishes=True)
    net.add(2)
    net.run(300)
    principal = Principal(one.node, path)
    principal.tick()
    assert {read_seed(line).hash for line in path.read_text().splitlines()} == {each.node.hash for each in net.peers}
    path.unlink()
    net.run(300)
    principal.tick()
    assert not path.exists(), "nothing is another"
    net.add()
    net.run(300)
    principal.tick()
    assert len(path.read_text().splitlines()) == 4
    path.unlink()
    net.clock.advance(86_401)
    principal.tick()
    assert path.exists()

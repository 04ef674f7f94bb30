"""A process that is killed: three peers on files of a folder, the first of which hands over what it has.

Each time it begins, all go on with the shelves that they have. A line for each item that was acknowledged goes to stdout.
"""

from __future__ import annotations

import sys
from pathlib import Path

from larm.peers.door import Call
from larm.peers.yacy.page import Page
from larm.peers.yacy.questions import HAND, Hand, Handed
from tests.peers.yacy.net import Net, Peer

PAGES = [Page(url=f"http://h{n}.example/", text=" ".join(f"w{n}x{m} common" for m in range(60))) for n in range(40)]


def told(peer: Peer) -> None:
    """Say what has arrived, when the answer says so."""
    hand = peer.questions[HAND].handler

    def handler(call: Call, asked: Hand) -> Handed:
        answer = hand(call, asked)
        assert isinstance(answer, Handed)
        for number, item in enumerate(asked.items):
            if number not in answer.refused:
                print(peer.ip, item.header.digest.hex(), flush=True)
        return answer

    peer.questions[HAND] = peer.questions[HAND]._replace(handler=handler)


def network(folder: Path) -> Net:
    """The same one each time."""
    net = Net(folder)
    net.add(3)
    return net


def main() -> None:
    """Until everything is where it belongs."""
    net = network(Path(sys.argv[1]))
    for peer in net.peers:
        told(peer)
    net.run(120)
    net.peers[0].publish(*PAGES, peers=100)
    print("published", flush=True)
    net.settle()
    net.run(900)  # there is more than one look sees
    print("done", flush=True)


if __name__ == "__main__":
    main()

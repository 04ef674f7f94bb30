"""Peers on real wires: servers on loopback addresses of their own, real keys, real indexes."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from pathlib import Path

import httpx
import msgspec
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from larm.config import NetworkSettings, SearchSettings, ServeSettings
from larm.errors import StorageError
from larm.fetch.http_client import NoAnswer
from larm.kit.units import Seconds
from larm.peers.channel import ROOT
from larm.peers.identity import Identity
from larm.peers.yacy.library import Library
from larm.peers.yacy.node import contact_of
from larm.peers.yacy.questions import COUNT, Count, Counted
from larm.peers.yacy.seed import PeerType
from larm.peers.yacy.service import Service, folder_of
from tests.web.conftest import Served, crawled, serving

PLACES = ("harbour", "mountain", "desert")


def nothing() -> None:
    """In place of threads."""


class Peer:
    """A server with its part of the network; what it would do by itself is done when it is told to."""

    def __init__(
        self, stack: ExitStack, folder: Path, number: int, seeds: tuple[str, ...], *, certificate: str = "", **fields: object
    ) -> None:
        place = PLACES[number]
        self.directory = folder / place
        self.directory.mkdir()
        pages = {f"/{n}": (f"Walk {n}", f"Walking through the {place} on day{n} with a donkey.") for n in range(4)}
        crawled(self.directory, {"/": (f"The {place}", f"All walks of the {place}."), **pages})
        self.host = f"127.{10 + os.getpid() % 200}.{os.getpid() // 200 % 250}.{number + 1 + 100 * bool(certificate)}"
        self.said: list[str] = []
        settings = NetworkSettings(name="walks", bootstrap=seeds, young=Seconds(0), **fields)  # type: ignore[arg-type]
        self.service = Service(
            folder_of(self.directory, "walks"), settings, SearchSettings(), lambda: [self.directory], address=(self.host, 7070),
            say=self.said.append, private=True, certificate=Path(certificate) if certificate else None,
        )  # fmt: skip
        self.service.start = self.service.stop = nothing  # type: ignore[method-assign]
        self.served: Served = stack.enter_context(
            serving(
                [self.directory], folder / f"token{number}", host=self.host, port=7070, remotes=[self.service.searcher],
                network=self.service,
                settings=ServeSettings(search_time=Seconds(60), certificate=(certificate,) if certificate else ()),
            )
        )  # fmt: skip

    def search(self, words: str) -> dict[str, object]:
        return self.served.get("/api/v1/search", params={"q": words, "n": 50, "wait": 20}).json()  # type: ignore[no-any-return]


@pytest.fixture(scope="module")
def peers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[Peer]]:
    folder = tmp_path_factory.mktemp("peers")
    with ExitStack() as stack:
        found = [Peer(stack, folder, 0, ())]
        found += [Peer(stack, folder, number, (found[0].served.address,)) for number in (1, 2)]
        for _ in range(4):
            for peer in found:
                peer.service.greeting.learn(peer.service.greeting._lists())
                peer.service.greeting.ping_all()
        for _ in range(3):
            for peer in found:
                peer.service.share()
        yield found


def test_they_are_seniors(peers: list[Peer]) -> None:
    assert [peer.service.node.type for peer in peers] == [PeerType.SENIOR] * 3
    assert all(len(peer.service.node.ring()) == 3 for peer in peers)


def test_each_finds_the_pages_of_all(peers: list[Peer]) -> None:
    for peer in peers:
        found = peer.search("walks donkeys")
        assert found["total"] == 15
        assert found["unanswered"] == []
        assert len({hit["url"].split("/")[2] for hit in found["hits"]}) == 3  # type: ignore[attr-defined]
    assert "5 pages are shared" in peers[0].said[0]


def test_what_is_shared_is_all_in_its_place(peers: list[Peer]) -> None:
    again = [peer.service.node.counts["items handed over"] for peer in peers]
    for peer in peers:
        peer.service.share()
    assert [peer.service.node.counts["items handed over"] for peer in peers] == again
    assert sum(peer.service.node.counts["items refused"] for peer in peers) == 0


def test_nobody_asks_without_a_signature(peers: list[Peer]) -> None:
    for path in ("search", "ping", "offer", "hand", "pages", "count"):
        assert httpx.post(f"{peers[0].served.address}{ROOT}/yacy/{path}", json={}, trust_env=False).status_code == 401


def test_its_hash_stays(peers: list[Peer]) -> None:
    one = peers[0]
    again = Service(
        folder_of(one.directory, "walks"),
        NetworkSettings(name="walks"),
        SearchSettings(),
        list,
        address=("127.0.0.1", 1),
        say=one.said.append,
    )
    assert again.node.hash == one.service.node.hash
    again.node.shelf.close()


def test_a_key_that_was_exchanged_is_noticed(tmp_path: Path) -> None:
    def made() -> Service:
        return Service(tmp_path, NetworkSettings(name="x"), SearchSettings(), list, address=("127.0.0.1", 1), say=print)

    made().node.shelf.close()
    (tmp_path / "key").unlink()
    with pytest.raises(StorageError, match=r"peer\.json"):
        made()


def test_pages_of_private_addresses_stay_here(peers: list[Peer]) -> None:
    one = peers[0]
    library = Library(lambda: [one.directory], private=False)
    shelved = library.shelved(0.0)
    assert not shelved.sources
    assert shelved.left_out == 5


def test_what_is_shared_is_looked_at_when_it_changes_and_once_a_day(peers: list[Peer], monkeypatch: pytest.MonkeyPatch) -> None:
    one = peers[0]
    library = Library(lambda: [one.directory], private=True)
    assert library.is_due(0.0)
    library.shelved(0.0)
    assert not library.is_due(80_000.0)
    assert library.is_due(90_000.0), "or nothing would be renewed"
    monkeypatch.setattr("larm.peers.yacy.library.runs", lambda directory: directory == one.directory)
    assert not library.is_due(90_000.0), "a crawl that runs is not over (YACY-28)"


def change(peer: Peer, name: str, **form: str) -> int:
    """A button on the page."""
    headers = {"authorization": f"Bearer {peer.served.secret}"}
    return peer.served.client.post(f"/network/{name}", data=form, headers=headers).status_code


def sites_of(found: dict[str, object]) -> set[str]:
    return {hit["title"].partition(" ")[0] + hit["url"].split("/")[2] for hit in found["hits"]}  # type: ignore[attr-defined]


def test_a_page_shows_who_is_there(peers: list[Peer]) -> None:
    shown = peers[0].served.get("/network").text
    for other in peers[1:]:
        assert other.service.node.hash in shown
    assert "Network walks" in shown
    assert 'href="/network"' in peers[0].served.get("/").text


def test_who_is_denied_is_not_seen_any_more_until_the_vote_is_taken_back(peers: list[Peer]) -> None:
    one, denied = peers[0], peers[2].service.node
    before = len(sites_of(one.search("walks donkeys")))
    assert change(one, "vote", key=denied.key, vote="denied") == 303
    assert one.search("walks donkeys")["total"] == 10
    assert denied.hash not in one.service.node.ring().hashes
    assert denied.key in one.served.get("/network").text
    assert peers[2].search("walks donkeys")["unanswered"] == []
    assert change(one, "vote", key=denied.key, vote="") == 303
    for peer in (one, peers[2], one):
        peer.service.greeting.learn(peer.service.greeting._lists())
        peer.service.greeting.learn([denied.seed()])
        peer.service.greeting.ping_all()
    for _ in range(3):
        for peer in peers:
            peer.service._spreading.hurry()
            peer.service.share()
    assert len(sites_of(one.search("walks donkeys"))) == before


def test_a_list_that_is_shared_counts_for_who_follows_it(peers: list[Peer]) -> None:
    one, two = peers[:2]
    host = two.search("mountain")["hits"][0]["url"].split("/")[2].partition(":")[0]  # type: ignore[index]
    assert change(two, "site", site=host, denied="1") == 303
    assert two.search("walks donkeys")["total"] == 5, "its own; all sites have one name"
    assert one.search("walks donkeys")["total"] == 15
    assert change(one, "follow", key=two.service.node.key, follow="1") == 303
    assert one.search("walks donkeys")["total"] == 15, "it is not shared"
    assert change(two, "share", shared="1") == 303
    one.service.greeting.denying.hear()
    assert one.search("walks donkeys")["total"] == 5
    assert change(one, "follow", key=two.service.node.key, follow="0") == 303
    assert one.search("walks donkeys")["total"] == 15
    assert change(two, "site", site=host, denied="0") == 303


def test_stealth_is_a_button(peers: list[Peer]) -> None:
    one = peers[0]
    assert change(one, "hide", hidden="1") == 303
    assert "Stealth" in one.served.get("/network").text
    assert one.service.node.stealthy
    assert change(one, "hide", hidden="0") == 303
    assert not one.service.node.stealthy


def test_what_is_no_vote_is_refused(peers: list[Peer]) -> None:
    one = peers[0]
    assert change(one, "vote", key=peers[1].service.node.key, vote="hated") == 400
    assert change(one, "site", site="no.example/a", denied="1") == 303, "a path is cut off"
    assert "no.example" in one.service.trust.opinions.sites
    assert change(one, "site", site="no site", denied="1") == 400
    assert change(one, "site", site="<b>", denied="1") == 400
    assert httpx.post(f"{one.served.address}/network/hide", data={"hidden": "1"}, trust_env=False).status_code in {401, 403}


def test_what_a_search_has_brought_is_kept(peers: list[Peer]) -> None:
    one = peers[0].service
    peers[0].search("mountain day2")
    one.share()
    assert one.learned > 0
    assert one._learned is not None
    assert one.searchers[1:] == [one._learned.searcher]
    assert "Pages that searches have brought" in peers[0].served.get("/network").text
    assert change(peers[0], "forget") == 303
    one.share()
    assert one.learned == 0


def acquaint(peers: list[Peer]) -> None:
    for _ in range(4):
        for peer in peers:
            peer.service.greeting.load()
            peer.service.greeting.ping_all()
    for _ in range(3):
        for peer in peers:
            peer.service.share()


def self_signed(folder: Path, name: str) -> str:
    """A PEM file with a certificate of no authority, and its key."""
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    now = datetime.now(tz=UTC)
    made = (
        x509.CertificateBuilder(subject, subject, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .sign(key, hashes.SHA256())
    )
    private = key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    (folder / f"{name}.pem").write_bytes(private + made.public_bytes(serialization.Encoding.PEM))
    return str(folder / f"{name}.pem")


def test_peers_with_certificates_of_no_authority_talk_by_https_alone(tmp_path: Path) -> None:
    with ExitStack() as stack:
        one = Peer(stack, tmp_path, 0, (), certificate=self_signed(tmp_path, "one"))
        (tmp_path / "seeds").write_text(one.service.node.seed_list())
        two = Peer(stack, tmp_path, 1, (str(tmp_path / "seeds"),), certificate=self_signed(tmp_path, "two"))
        one.service.node.own_ip.now = one.host
        acquaint([one, two])
        acquaint([one, two])
        assert two.search("harbour donkeys")["total"], "what the other has crawled"
        seed = two.service.node.membership.get(one.service.node.hash)
        assert seed is not None
        assert contact_of(seed).url.startswith("https://")
        forged = msgspec.structs.replace(contact_of(seed), pin=contact_of(two.service.node.seed()).pin)
        answer = two.service.node.asker.ask(forged, COUNT, Count("walks"), Counted, seconds=5)
        assert isinstance(answer, NoAnswer), "another key answers than the seed names"


def test_a_search_is_signed_by_no_key_that_is_known(peers: list[Peer], monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[str, str]] = []
    for peer in peers:
        monkeypatch.setattr(
            peer.service.door, "_admit", lambda call, signed, request, cost: asked.append((request.target, signed.key))
        )
    peers[1].search("mountain donkeys desert")
    keys = {key for path, key in asked if "ping" not in path}
    assert any(path.endswith("/search") for path, _ in asked)
    assert not keys & {peer.service.node.key for peer in peers}
    assert len(keys) == len(asked), "each question has its own"


def test_deny_lists_of_files_count_and_stay_when_a_file_is_gone(tmp_path: Path) -> None:
    path = tmp_path / "denied.txt"
    key = Identity.new().key
    path.write_text(f"# liars\n{key}\nSpam.example  # a site\n")
    said: list[str] = []
    service = Service(
        tmp_path,
        NetworkSettings(name="x", denied=(str(path),)),
        SearchSettings(),
        list,
        address=("127.0.0.1", 1),
        say=said.append,
    )
    service.greeting.denying.hear()
    assert key in service.trust
    assert service.trust.denies_page("http://www.spam.example/a")
    path.unlink()
    service.greeting.denying.hear()
    service.greeting.denying.hear()
    assert key in service.trust
    assert [each for each in said if str(path) in each] == [
        f"{path}: can't be read now: No such file or directory; it is tried again"
    ]
    service.node.shelf.close()

"""A search in a network (YACY-44 to 49)."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory, mkdtemp
from weakref import WeakKeyDictionary

import msgspec
import pytest

from larm.config import SearchSettings
from larm.fetch.http_client import NoAnswer
from larm.index.analysis import Analyzer
from larm.index.search.query import parse_question
from larm.index.tree import wanted
from larm.kit.clock import SystemClock
from larm.kit.decoding import decoded
from larm.model.findings import Asked, Findings
from larm.peers.door import Call
from larm.peers.yacy import asking, rounds
from larm.peers.yacy.asking import NetworkSearcher, Understood, sites_of, unit_of
from larm.peers.yacy.chunk import Reference, cut, write_chunk
from larm.peers.yacy.hashes import position_of, word_hash
from larm.peers.yacy.item import Kind, digest_of, new_header
from larm.peers.yacy.learned import Learned
from larm.peers.yacy.node import contact_of
from larm.peers.yacy.page import TEXT, Page, write_page
from larm.peers.yacy.profile import Mode
from larm.peers.yacy.questions import PAGES, SEARCH, Found, Orders, Search
from larm.peers.yacy.ring import partition_of, place_in
from larm.peers.yacy.together import together
from larm.peers.yacy.trust import Vote
from tests.peers.yacy.keys import FakeKey, fake_verify
from tests.peers.yacy.net import Net, Peer

ANIMALS = ("lynx", "otter", "heron", "viper", "crane")
COLOURS = ("red", "green", "blue")


def page(number: int) -> Page:
    animal, colour = ANIMALS[number % 5], COLOURS[number % 3]
    return Page(
        url=f"http://h{number % 4}.example/{number}",
        title=f"About the {animal}",
        text=f"The {colour} {animal} lives in place{number} and eats what there is. " * (1 + number % 3),
        language="en",
    )


def understand(query: str, _: Mapping[str, float]) -> Understood:
    words = [word for item in wanted(parse_question(query).tree) for word in Analyzer().words(item.text)]
    return Understood(tuple(unit_of(word, ()) for word in dict.fromkeys(words) if word != "the"))


NOTES = TemporaryDirectory()
LEARNED: WeakKeyDictionary[Peer, Learned] = WeakKeyDictionary()


def searcher(peer: Peer) -> NetworkSearcher:
    if peer not in LEARNED:
        folder, node = Path(mkdtemp(dir=NOTES.name)), peer.node
        LEARNED[peer] = Learned(folder, SearchSettings(), 1_000, node.trust, shows=node.shows)
    return NetworkSearcher(peer.node, peer.desk, fake_verify, understand=understand, learned=LEARNED[peer], clock=SystemClock())


def search(peer: Peer, query: str) -> Findings:
    *_, found = searcher(peer).search(Asked(query=query, number=50, wait=60.0))  # however busy the machine is
    return found


def urls(found: Findings) -> set[str]:
    return {hit.url for hit in found.hits}


@pytest.fixture
def net(tmp_path: Path) -> Net:
    net = Net(tmp_path)
    net.add(8)
    net.run(300)
    for number, peer in enumerate(net.peers[:3]):
        peer.publish(*(page(n) for n in range(30) if n % 3 == number))
    net.settle()
    return net


def test_any_peer_finds_what_all_have(net: Net) -> None:
    for peer in (net.peers[0], net.peers[7]):
        assert urls(search(peer, "otter")) == {page(n).url for n in range(30) if n % 5 == 1}
        assert urls(search(peer, "place17")) == {page(17).url}
        found = search(peer, "red otter")
        both = {page(n).url for n in range(30) if n % 5 == 1 and n % 3 == 0}
        assert {hit.url for hit in found.hits if hit.complete} == both
        assert found.complete == len(both)


def test_pages_with_all_words_are_found_by_abstracts_where_few_rows_are_told(net: Net, monkeypatch: pytest.MonkeyPatch) -> None:
    """The best row of each word and place is hardly ever of a page that has both (YACY-47)."""
    monkeypatch.setattr(rounds, "_ROWS", 1)
    found = search(net.peers[7], "red otter")
    assert {hit.url for hit in found.hits if hit.complete} == {page(n).url for n in (6, 21)}


def test_operators_are_those_of_a_local_search(net: Net) -> None:
    assert urls(search(net.peers[5], 'otter -"red otter"')) == {page(n).url for n in range(30) if n % 5 == 1 and n % 3}
    assert urls(search(net.peers[5], "otter site:h1.example")) == {page(n).url for n in range(30) if n % 5 == 1 and n % 4 == 1}


def test_five_of_eight_dead_leave_most(net: Net) -> None:
    for peer in net.peers[:3]:
        peer.up = False
    found = search(net.peers[7], "lynx")
    assert len(found.hits) >= 4
    assert any("did not answer" in note for note in found.notes)
    assert search(net.peers[7], "lynx").notes == (), "who did not answer is not asked again"


def test_a_document_comes_from_its_author_where_its_owners_are_gone(net: Net) -> None:
    ring, by_name = net.peers[0].node.ring(), {peer.node.hash: peer for peer in net.peers}
    tried = 0
    for number in range(30):
        author, name = net.peers[number % 3], page(number).hash
        lost = [by_name[each] for each in ring.owners(position_of(name), 3)]
        place = place_in(position_of(word_hash(f"place{number}")), partition_of(name))
        left = [each for each in ring.owners(place, 3) if by_name[each] not in lost]
        if author not in lost and left:
            for each in lost:
                each.up = False
            asker = next(each for each in net.peers if each not in {author, *lost})
            assert urls(search(asker, f"place{number}")) == {page(number).url}
            for each in lost:
                each.up = True
            net.run(120)
            tried += 1
    assert tried


def test_who_does_not_know_of_the_dead_asks_those_who_took_over(net: Net) -> None:
    by_name = {peer.node.hash: peer for peer in net.peers}
    place = place_in(position_of(word_hash("place4")), partition_of(page(4).hash))
    *dead, _, _, _, _, last = net.peers[0].node.ring().owners(place, 8)
    asker = by_name[last]
    asker.up = False  # it sleeps while three of its neighbours go, one after the other
    net.clock.advance(4 * 86_400)  # young peers are asked anyway
    for each in dead:
        by_name[each].up = False
        net.run(900)
        net.settle()
    asker.up = True
    assert all(asker.node.membership.is_active(each) for each in dead)
    assert urls(search(asker, "place4")) == {page(4).url}


def test_pages_are_counted_as_before_while_peers_are_missed(net: Net) -> None:
    asker = searcher(net.peers[0])
    net.run(1_200)  # all say how many pages they have
    assert asker._pages() == 30
    for dead in net.peers[1:3]:
        dead.up = False
    list(asker.search(Asked(query="otter", wait=60.0)))
    assert asker._pages() == 30


def test_a_junior_searches(net: Net) -> None:
    (hidden,) = net.add()
    hidden.reachable = False
    net.run(120)
    assert len(search(hidden, "viper").hits) == 6


def test_alone_one_finds_what_one_has(tmp_path: Path) -> None:
    net = Net(tmp_path)
    (alone,) = net.add()
    alone.publish(page(1), page(2))
    found = search(alone, "otter")
    assert urls(found) == {page(1).url}
    assert any("no peer is known" in note for note in found.notes)


def test_words_of_no_page(net: Net) -> None:
    assert not search(net.peers[3], "unheardof").hits
    assert not search(net.peers[3], "the").hits


def test_a_liar_changes_no_document(net: Net) -> None:
    """It answers with a document of its own for somebody else's address, under the author's name."""
    target = page(7)
    liar = FakeKey(666)
    (body,) = write_page(Page(url=target.url, title="Buy pills", text="heron heron heron"))
    place = position_of(target.hash)
    header = new_header(Kind.PAGE, digest_of(body), (place, place), net.clock.wall(), liar)
    stolen = type(header)(
        *(getattr(header, name) if name != "author" else net.peers[1].key.key for name in header.__struct_fields__)
    )
    for peer in net.peers:
        assert peer.node.shelf.handed(stolen, body, net.clock.wall()) == "its author has not signed it"
    found = search(net.peers[6], "heron")
    assert not any("pills" in hit.title for hit in found.hits)


def test_a_page_without_the_word_is_not_shown(net: Net) -> None:
    liar, target = FakeKey(667), page(3)
    for places, words in cut([(word_hash("otter"), Reference(target.hash, 255, 7, 1))], 8):
        body = write_chunk(words)
        header = new_header(Kind.WORDS, digest_of(body), places, net.clock.wall(), liar)
        for peer in net.peers:
            assert not peer.node.shelf.handed(header, body, net.clock.wall())
    assert target.url not in urls(search(net.peers[6], "otter"))


def test_a_private_cluster_answers_nobody_else_and_searches_itself(net: Net) -> None:
    one, two = (net.add(mode=Mode.PRIVATE_CLUSTER)[0] for _ in range(2))
    for member in (one, two):
        profile = msgspec.structs.replace(member.node.profile, cluster=(one.node.hash, two.node.hash))
        member.node.profile = profile
    two.publish(page(100))
    for _ in range(3):
        one.greeting.learn([two.node.seed()])
        two.greeting.learn([one.node.seed()])
        net.run(60)
    assert urls(search(one, "place100")) == {page(100).url}
    assert not urls(search(one, "place17")), "it asks nobody else"
    assert not urls(search(net.peers[0], "place100"))
    answer = net.peers[0].node.asker.ask(contact_of(two.node.seed()), SEARCH, Search("test", (), ()), Found, seconds=1)
    assert isinstance(answer, NoAnswer)
    assert answer.refused
    assert all(member.node.hash not in net.peers[0].node.ring().hashes for member in (one, two))


def test_a_public_peer_is_asked_for_its_topics(net: Net) -> None:
    (robinson,) = net.add(mode=Mode.PUBLIC, tags=("Pelican",))
    robinson.publish(Page(url="http://p.example/", text="the pelican and the otter"))
    net.clock.advance(4 * 86_400)  # young peers are asked anyway
    net.run(300)
    assert urls(search(net.peers[2], "pelican")) == {"http://p.example/"}
    assert "http://p.example/" not in urls(search(net.peers[2], "otter"))
    assert not urls(search(robinson, "heron")), "alone is alone"


def test_a_stranger_displaces_no_document_by_newer_ones(net: Net) -> None:
    target = page(7)
    net.clock.advance(100)
    owners = net.peers[6].node.ring().owners(position_of(target.hash), 3)
    for number in range(9):
        stranger = FakeKey(700 + number)
        (body,) = write_page(Page(url=target.url, title="Buy pills", text=f"heron heron heron {number}", language="en"))
        header = new_header(Kind.PAGE, digest_of(body), (position_of(target.hash),) * 2, net.clock.wall(), stranger)
        for peer in (each for each in net.peers if each.node.hash in owners):
            assert not peer.node.shelf.handed(header, body, net.clock.wall())
    found = search(net.peers[6], "heron")
    assert target.url in urls(found)
    assert not any("pills" in hit.title for hit in found.hits)
    net.peers[6].node.trust.vote(FakeKey(700).key, Vote.TRUSTED)
    assert any("pills" in hit.title for hit in search(net.peers[6], "heron").hits), "unless he is trusted"
    net.peers[6].node.trust.vote(FakeKey(700).key, Vote.DENIED)
    assert not any("pills" in hit.title for hit in search(net.peers[6], "heron").hits)


def test_numbers_that_nobody_can_reckon_with_are_no_answer() -> None:
    """Python knows whole numbers of any length, and fails where it divides them."""
    answer = b'{"words": [{"total": %s}]}'
    decoded(answer % b"123", Found)
    with pytest.raises(msgspec.ValidationError):
        decoded(answer % (b"9" * 400), Found)
    with pytest.raises(msgspec.ValidationError):
        decoded(b'{"orders": [[%s, "http://a.example/", 0]]}' % (b"9" * 30), Orders)


class Hang:
    """The answers of a peer to one question wait until they may go."""

    def __init__(self, peer: Peer, path: str) -> None:
        self.answers = peer.questions[path].handler
        self.asked, self.go = threading.Event(), threading.Event()
        peer.questions[path] = peer.questions[path]._replace(handler=self.hang)

    def hang(self, call: Call, asked: msgspec.Struct) -> msgspec.Struct:
        self.asked.set()
        assert self.go.wait(60.0), "it is waited for"
        return self.answers(call, asked)


def owner(net: Net, place: int) -> Peer:
    return next(peer for peer in net.peers if peer.node.hash == net.peers[7].node.ring().owners(place, 3)[0])


def test_what_the_first_peers_bring_is_shown_while_others_are_waited_for(net: Net) -> None:
    asker = net.peers[7]
    asker.node.together = together
    slow = Hang(owner(net, place_in(position_of(word_hash("otter")), 0)), SEARCH)
    parts = searcher(asker).search(Asked(query="otter", number=50, wait=60.0))
    first = next(parts)
    assert slow.asked.is_set()
    assert first.preliminary
    assert first.hits
    slow.go.set()
    (last,) = parts
    assert not last.preliminary
    assert urls(last) == {page(n).url for n in range(30) if n % 5 == 1} >= urls(first)


def test_documents_that_have_come_are_shown_while_their_other_owners_are_slow(
    net: Net, monkeypatch: pytest.MonkeyPatch
) -> None:
    asker = net.peers[7]
    asker.node.together = together
    monkeypatch.setattr(asking, "_SOON", 30.0)  # until all owners of the words have answered, however busy the machine is
    slow = [Hang(peer, PAGES) for peer in net.peers[:7]]
    own = {page(n).url for n in range(30) if asker.node.hash in asker.node.ring().owners(position_of(page(n).hash), 3)}
    assert own, "of some it is an owner itself"
    parts = searcher(asker).search(Asked(query="lives", number=50, wait=60.0))
    first = next(parts)
    assert any(each.asked.is_set() for each in slow)
    assert urls(first) == own, "what is here, as all others hang"
    for each in slow:
        each.go.set()
    (last,) = parts
    assert len(last.hits) == 30


def test_a_long_page_is_found_by_its_last_words(tmp_path: Path) -> None:
    """Its document takes several items."""
    net = Net(tmp_path)
    net.add(5)
    net.run(300)
    noise = " ".join(f"{number * 7_919 % 100_003:x}" for number in range(40_000))
    long = Page(url="http://long.example/", title="Long", text=f"begin {noise} theend", fetched=7)
    net.peers[0].publish(long)
    net.settle()
    assert urls(search(net.peers[4], "theend begin")) == {long.url}
    assert not net.peers[0].published.truncated
    net.peers[1].publish(msgspec.structs.replace(long, text="x" * (TEXT + 1)))
    assert net.peers[1].published.truncated == 1


def test_pages_are_found_by_words_of_links_and_menus(tmp_path: Path) -> None:
    net = Net(tmp_path)
    net.add(3)
    net.run(300)
    links = ("pelican", "sidebar", "nothing without pelican")
    page = Page(url="http://a.example/", text="nothing to see", other="sidebar", links=links)
    author = net.peers[0]
    author.publish(page, Page(url="http://b.example/", text="another one"))
    net.settle()
    assert urls(search(net.peers[2], "sidebar")) == {page.url}
    assert not urls(search(net.peers[2], "pelican")), "the author alone says that there are such links"
    net.peers[2].node.trust.vote(author.key.key, Vote.TRUSTED)
    assert urls(search(net.peers[2], "pelican")) == {page.url}


def test_texts_of_one_search_are_bounded(net: Net, monkeypatch: pytest.MonkeyPatch) -> None:
    assert len(urls(search(net.peers[0], "lynx"))) > 2
    monkeypatch.setattr("larm.peers.yacy.documents._MOST_TEXT", 250)
    assert len(urls(search(net.peers[3], "lynx"))) in {1, 2}


def test_pages_of_the_wanted_site_come_first(net: Net, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of many rows each owner gives few."""
    monkeypatch.setattr(rounds, "_ROWS", 1)
    monkeypatch.setattr(asking, "CANDIDATES", 8)
    wanted = {page(n).url for n in range(30) if n % 4 == 1}
    asker = searcher(net.peers[7])
    asker._understand = lambda query, shares: understand(query, shares)._replace(sites=sites_of("h1.example"))
    *_, found = asker.search(Asked(query="lives site:h1.example", number=50, wait=60.0))
    assert urls(found) == wanted

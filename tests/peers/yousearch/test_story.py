"""A handful of peers on loopback addresses: what one shares the others find, whatever some of them do."""

from __future__ import annotations

import gc
import html
import json
import os
import random
import re
import signal
import socket
import threading
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import httpx
import msgspec
import pytest

from larm.cli import run
from larm.config import SearchSettings
from larm.fetch.http_client import HttpClient
from larm.kit.clock import SystemClock
from larm.kit.units import Seconds
from larm.model.findings import Asked, Findings
from larm.model.hit import Hit
from larm.peers.channel import Channel, Contact
from larm.peers.door import Call
from larm.peers.yousearch import network as network_module
from larm.peers.yousearch import protocol as say
from larm.peers.yousearch.summary import LENGTH, Summary, name_of, to_wire
from tests.index.search.test_several import index
from tests.peers.yousearch.groups import Deep, Running, group, known, members, until
from tests.peers.yousearch.test_many import Process

KEPT = "the same was asked here lately"
CAUSEWAY = {name: f"The {name} crosses the causeway at night." for name in ("cart", "eel", "tide")}


@pytest.fixture(scope="module")
def three(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SimpleNamespace]:
    """A registrar and three peers, of which each has one page."""
    root = tmp_path_factory.mktemp("three")
    with group(root) as made:
        registrar = made.start("", registrar=True)
        peers = {
            name: made.start(name, index(root / f"of-{name}", {f"http://{name}.org/{name}": text}), registrars=(registrar.url,))
            for name, text in CAUSEWAY.items()
        }
        known(registrar, *peers)
        yield SimpleNamespace(registrar=registrar, **peers)


def test_each_finds_what_all_have(three: SimpleNamespace) -> None:
    for name in CAUSEWAY:
        found = getattr(three, name).search("causeway")
        assert {hit["title"] for hit in found["hits"]} == {"cart", "eel", "tide"}
        assert (found["total"], found["exact"], found["unanswered"]) == (3, True, [])
        assert max(hit["score"] for hit in found["hits"]) == 1.0


def test_a_search_can_stay_here_or_go_to_the_others(three: SimpleNamespace) -> None:
    assert three.cart.titles("causeway", **{"in": "of-cart"}) == {"cart"}
    assert three.cart.titles("causeway", **{"in": "peers"}) == {"eel", "tide"}
    page = three.cart.client.get("/search?q=causeway&wait=1").text
    assert "in eel" in page
    assert three.cart.titles("causeway -eel", **{"in": "peers"}) == {"tide"}
    assert three.cart.titles("crossing tides", **{"in": "peers"}) == {"tide"}, "other forms of its words"


def test_there_is_an_end_of_how_many_are_asked_at_a_time(three: SimpleNamespace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(network_module, "_MOST_AT_A_TIME", 1)
    monkeypatch.setattr(network_module, "_FEWEST", 1)
    for _ in range(2):
        found = three.cart.search("causeway")
        assert "2 peers may have an answer; 1 of them were asked" in found["notes"]
        assert found["total"] == 2, "one of them, and what is here"


def test_only_those_who_may_have_an_answer_are_asked(three: SimpleNamespace) -> None:
    asked: list[str] = []
    signers: set[str] = set()
    network = three.cart.peering.network
    original = network._channel.ask
    network._channel.ask = lambda contact, path, *rest, **other: (
        asked.append(contact.name),
        signers.add(other["as_whom"].key),
        original(contact, path, *rest, **other),
    )[2]
    try:
        assert [part.hits[0].title for part in network.search(Asked(query="eel")) if part.hits] == ["eel"]
    finally:
        network._channel.ask = original
    assert [name for name in asked if name] == ["eel"]
    assert len(signers) == 1
    assert signers != {three.cart.peering.card.key}, "registrar and peers learn a key that is made for the search"


def test_a_registrar_that_starts_anew_is_told_again(tmp_path: Path) -> None:
    with group(tmp_path) as made:
        first = made.start("", registrar=True)
        address = first.url.partition("//")[2].split(":")
        peer = made.start("eel", index(tmp_path / "eels", {"http://eel.org/eel": "eels"}), registrars=(first.url,))
        other = made.start("cart", registrars=(first.url,))
        known(first, "eel", "cart")
        assert other.titles("eels") == {"eel"}
        first.stop()
        for _ in range(4):  # until nobody would ask it any more
            assert other.titles("eels") == {"eel"}, "those who were known are asked"
        again = made.start("", registrar=True, host=address[0], port=int(address[1]))
        known(again, "eel", "cart")
        assert other.titles("eels") == {"eel"}
        late = index(tmp_path / "ponds", {"http://late.org/pond": "ponds"})
        made.start("late", late, registrars=(again.url,))
        until(lambda: other.titles("ponds") == {"pond"})
        peer.stop()
        until(lambda: members(again) == {"cart", "late"})


def test_a_registrar_that_starts_anew_hides_nobody(tmp_path: Path) -> None:
    """Until its peers tell it again, within a period, all who were known are asked; also by who has never searched before."""
    with group(tmp_path) as made:
        first = made.start("", registrar=True, period=Seconds(600))
        address = first.url.partition("//")[2].split(":")
        told = {"registrars": (first.url,), "period": Seconds(600)}
        made.start("eel", index(tmp_path / "eels", {"http://eel.org/eel": "eels"}), **told)
        known(first, "eel")
        other = made.start("cart", **told)
        known(first, "cart")
        assert "Search at the address of a peer" in first.client.get("/").text
        assert "Search at the address of a peer" in first.client.get("/search?q=x").text
        until(lambda: ">eel</th>" in other.client.get("/peers").text)
        first.stop()
        assert other.titles("eels") == {"eel"}
        again = made.start("", registrar=True, host=address[0], port=int(address[1]), period=Seconds(600))
        assert members(again) == set()
        assert other.titles("eels") == {"eel"}


def test_of_two_registrars_one_may_die(tmp_path: Path) -> None:
    with group(tmp_path) as made:
        both = [made.start("", registrar=True) for _ in range(2)]
        urls = tuple(each.url for each in both)
        made.start("eel", index(tmp_path / "eels", {"http://eel.org/eel": "eels"}), registrars=urls)
        other = made.start("cart", registrars=urls)
        for each in both:
            known(each, "eel", "cart")
        both[0].stop()
        for _ in range(4):
            assert other.titles("eels") == {"eel"}


def test_what_is_shared_is_found_opened_and_forgotten(tmp_path: Path) -> None:
    docs = tmp_path / "docs"
    (docs / "sub").mkdir(parents=True)
    (docs / "harbour.html").write_text("<title>Harbour</title><p>ships and eels<script>alert(1)</script>")
    (docs / ".secret.html").write_text("eels that nobody sees")
    (docs / "sub" / "x y.txt").write_text("eels in a folder")
    (tmp_path / "outside.txt").write_text("eels elsewhere")
    (docs / "two\nlines.txt").write_text("eels that no address leads to")
    (docs / "link.txt").symlink_to(tmp_path / "outside.txt")
    (docs / "up").symlink_to(tmp_path)
    with group(tmp_path) as made:
        registrar = made.start("", registrar=True)
        owner = made.start("owner", share=(str(docs),), registrars=(registrar.url,))
        asker = made.start("asker", registrars=(registrar.url,))
        until(lambda: len(asker.search("eels")["hits"]) == 2)
        found = asker.search("eels")["hits"]
        assert {hit["url"] for hit in found} == {
            f"{owner.url}/files/docs/harbour.html",
            f"{owner.url}/files/docs/sub/x%20y.txt",
        }
        for hit in found:
            assert "eels" in asker.client.get(hit["url"]).text, "each address opens"
        sealed = asker.client.get(f"{owner.url}/files/docs/harbour.html").headers
        assert sealed["content-security-policy"].startswith("sandbox; default-src 'none'")
        listing = asker.client.get(f"{owner.url}/files/docs/").text
        assert 'action="/search"' in listing
        assert "harbour.html" in listing
        for hidden in ("secret", "link.txt", '"up/"'):
            assert hidden not in listing
        for path in (
            ".secret.html",
            "link.txt",
            "up/outside.txt",
            "../outside.txt",
            "..%2foutside.txt",
            "sub/../../outside.txt",
            "%00",
            "harbour.html/",
        ):
            assert owner.client.get(f"/files/docs/{path}").status_code == 404, path
        assert owner.client.get("/files/other/").status_code == 404
        part = owner.client.get("/files/docs/sub/x%20y.txt", headers={"range": "bytes=0-3"})
        assert (part.status_code, part.text, part.headers["content-range"]) == (206, "eels", "bytes 0-3/16")
        beyond = owner.client.get("/files/docs/sub/x%20y.txt", headers={"range": "bytes=16-"})
        assert (beyond.status_code, beyond.headers["content-range"]) == (416, "bytes */16")
        for ignored in ("lines=0-3", "bytes=all"):
            assert owner.client.get("/files/docs/sub/x%20y.txt", headers={"range": ignored}).status_code == 200

        before = len(os.listdir("/proc/self/fd"))
        for _ in range(20):
            assert owner.client.head("/files/docs/harbour.html").status_code == 200
        assert len(os.listdir("/proc/self/fd")) < before + 10, "who does not read the file leaves none open"

        assert "in docs" in owner.client.get("/search?q=harbour&wait=1").text, "its name is that of the folder"
        page = owner.client.get("/peers").text
        assert owner.peering.card.key in page
        assert "Stop sharing" in page
        assert ": 2 files can be found" in page
        assert 'scope="row">127.0.0.' in page, "who asked"
        assert owner.client.post("/peers/share", data={"name": "docs", "shared": "0"}).status_code == 403, "only with the token"
        (docs / "large.bin").write_bytes(bytes(20_000_000))
        with owner.client.stream("GET", "/files/docs/large.bin") as growing:
            pieces = growing.iter_raw()
            size = len(next(pieces))
            with (docs / "large.bin").open("ab") as file:
                file.write(b"more")
            assert size + sum(map(len, pieces)) == 20_000_000, "what it had when it was opened"
        gc.disable()
        try:
            for _ in range(20):
                with owner.client.stream("GET", "/files/docs/large.bin") as answer:
                    next(answer.iter_raw())
            until(lambda: len(os.listdir("/proc/self/fd")) < before + 10)  # nor who hangs up
        finally:
            gc.enable()
        (docs / "new.txt").write_text("eels that came later")
        os.unlink(docs / "sub" / "x y.txt")
        until(lambda: {hit["url"].rpartition("/")[2] for hit in asker.search("eels")["hits"]} == {"harbour.html", "new.txt"})

        secret = (tmp_path / "owner" / "token").read_text().strip()
        bearer = {"authorization": f"Bearer {secret}"}
        assert owner.client.post("/peers/share", data={"name": "docs", "shared": "0"}, headers=bearer).status_code == 303
        assert owner.client.get("/files/docs/new.txt").status_code == 404, "at once"
        until(lambda: asker.search("eels")["hits"] == [])
        assert "Share again" in owner.client.get("/peers").text
        owner.client.post("/peers/share", data={"name": "docs", "shared": "1"}, headers=bearer)
        until(lambda: len(asker.search("eels")["hits"]) == 2)


def test_what_is_forgotten_of_a_share_is_neither_found_nor_opened(tmp_path: Path) -> None:
    docs = tmp_path / "docs"
    (docs / "sub").mkdir(parents=True)
    for name in ("letter.txt", "sub/diary.txt", "harbour.txt"):
        (docs / name).write_text(f"eels in {name}")
    with group(tmp_path) as made:
        registrar = made.start("", registrar=True)
        owner = made.start("owner", share=(str(docs),), registrars=(registrar.url,))
        asker = made.start("asker", registrars=(registrar.url,))
        until(lambda: len(asker.search("eels")["hits"]) == 3)
        (crawl,) = (tmp_path / "owner" / "state" / "larm" / "peer" / "shares").iterdir()
        what = [str(docs / "letter.txt"), f"file://{docs}/sub/*"]
        until(lambda: run(["forget", "--yes", "--dir", str(crawl), *what]) == 0)  # while the inspector's crawl runs it waits
        for path in ("letter.txt", "sub/diary.txt"):
            assert owner.client.get(f"/files/docs/{path}").status_code == 404, path
        assert "letter" not in owner.client.get("/files/docs/").text
        assert owner.client.get("/files/docs/harbour.txt").status_code == 200
        until(lambda: [hit["url"].rpartition("/")[2] for hit in asker.search("eels")["hits"]] == ["harbour.txt"])
        (docs / "letter.txt").write_text("eels, and more of them")
        (docs / "new.txt").write_text("eels that came later")
        until(lambda: len(asker.search("eels")["hits"]) == 2)
        names = {hit["url"].rpartition("/")[2] for hit in asker.search("eels")["hits"]}
        assert names == {"harbour.txt", "new.txt"}, "a later look at the folder does not bring it back"
        until(lambda: run(["forget", "--dir", str(crawl), "--undo", str(docs / "letter.txt")]) == 0)
        assert owner.client.get("/files/docs/letter.txt").status_code == 200

        (docs / "index.html").write_text('<p>eels <a href="letter.txt">letter</a>')  # so the index is made anew
        until(lambda: {hit["url"].rpartition("/")[2] for hit in asker.search("eels")["hits"]} == {"index.html", "letter.txt"})
        assert owner.client.get("/files/docs/sub/diary.txt").status_code == 404
        secret = (tmp_path / "owner" / "token").read_text().strip()
        bearer = {"authorization": f"Bearer {secret}"}
        for shared in "01":  # and its index is removed and made anew
            owner.client.post("/peers/share", data={"name": "docs", "shared": shared}, headers=bearer)
            until(lambda shared=shared: len(asker.search("eels")["hits"]) == 2 * int(shared))  # type: ignore[misc]
        assert owner.client.get("/files/docs/sub/diary.txt").status_code == 404


def test_nobody_can_hold_up_or_fool_the_others(tmp_path: Path) -> None:
    let_go = threading.Event()

    def hang(_: Call, __: Asked) -> Findings:
        let_go.wait(60)
        return Findings(searcher="hangs")

    def huge(_: Call, __: Asked) -> Findings:
        return Findings(searcher="huge", hits=tuple(Hit(title="x" * 1_000, url=f"http://huge.org/{n}") for n in range(3_000)))

    def deep(_: Call, __: Asked) -> msgspec.Struct:
        return Deep(msgspec.Raw(b"[" * 60_000 + b"]" * 60_000))

    def lie(_: Call, __: Asked) -> Findings:
        hits = [
            Hit(title=f"Buy \x1b[31m<b>{n}", url=f"http://spam.org/{n}", score=1e300, parts=(("<script>", True),))
            for n in range(500)
        ]
        return Findings(searcher="honest", hits=(Hit(title="x", url="javascript:alert(1)", score=1e301), *hits), total=10**15)

    with group(tmp_path) as made:
        registrar = made.start("", registrar=True)
        good = index(tmp_path / "good-pages", {"http://good.org/eel": "The eel crosses the causeway."})
        made.start("good", good, registrars=(registrar.url,))
        asker = made.start("asker", registrars=(registrar.url,), timeout=Seconds(5))
        for name, answer in (("hangs", hang), ("huge", huge), ("lies", lie), ("deep", deep)):
            made.bad(registrar, ["eel", "causeway"], answer, name)
        made.bad(registrar, ["eel", "causeway"], lie, "dead").stop()
        known(registrar, "good", "asker")
        clock = SystemClock()
        began = clock.monotonic()
        answers = [asker.search("eel causeway")]
        assert clock.monotonic() - began < 30, "five seconds, and what a busy machine adds"

        def said() -> str:
            return str([each["unanswered"] for each in answers])

        def all_there() -> bool:
            if answers[-1]["hits"] and "huge did not answer: its answer is longer than" in said():
                titles = {hit["title"] for hit in answers[-1]["hits"]}
                return "eel" in titles and any(title.startswith("Buy") for title in titles)
            answers.append(asker.search("eel causeway"))
            return False

        until(all_there)  # at once, on a machine that has nothing else to do
        assert "hangs did not answer: it did not answer within" in said() or "hangs did not answer: it took longer" in said()
        assert "dead did not answer" in said()
        assert "deep did not answer: its answer can't be read" in said()
        found = answers[-1]
        lies = [hit for hit in found["hits"] if hit["source"] == "lies"]
        assert len(lies) <= 100
        assert all(
            hit["score"] <= 1 and hit["url"].startswith("http://spam.org/") and "\x1b" not in hit["title"] for hit in lies
        )
        page = asker.client.get("/search?q=eel+causeway").text
        assert "<b>" not in page.partition("<ol")[2]
        until(lambda: "dead" not in members(registrar))
        assert members(registrar) >= {"good", "lies"}, "who is there stays, whatever is said of it"
        let_go.set()


def test_repeated_query_is_answered_by_own_kept_answer_until_a_peer_changes(tmp_path: Path) -> None:
    with group(tmp_path) as made:
        registrar = made.start("", registrar=True)
        peer = made.start("eel", index(tmp_path / "eels", {"http://eel.org/eel": "eels"}), registrars=(registrar.url,))
        one, other = (made.start(name, registrars=(registrar.url,), cache=Seconds(300)) for name in ("one", "other"))
        known(registrar, "eel", "one", "other")
        assert one.titles("eels") == {"eel"}
        until(lambda: KEPT in str(one.search("EELS ")["notes"]))
        assert KEPT not in str(other.search("eels")["notes"]), "no peer takes another's word for it"
        until(lambda: KEPT in str(other.search("eels")["notes"]))
        channel = other.peering.network._channel  # type: ignore[union-attr]
        asked: list[str] = []
        original = channel.ask
        channel.ask = lambda contact, path, *rest, **more: (asked.append(path), original(contact, path, *rest, **more))[1]  # type: ignore[method-assign]
        assert other.titles("eels") == {"eel"}
        assert set(asked) <= {say.LOOK, say.RECOMMENDED}, "no peer is asked again"
        (pond := tmp_path / "pools").mkdir()
        share = made.start("pond", share=(str(pond),), registrars=(registrar.url,), cache=Seconds(300))
        (pond / "a.txt").write_text("eels")
        until(lambda: other.titles("eels") == {"eel", "a.txt"})
        (pond / "b.txt").write_text("eels again")
        until(lambda: other.titles("eels") == {"eel", "a.txt", "b.txt"})
        (pond / "a.txt").write_text("eels, eels")  # no word is new
        until(lambda: "eels, eels" in str(other.search("eels")["hits"]))
        (pond / "b.txt").unlink()
        until(lambda: other.titles("eels") == {"eel", "a.txt"})
        share.stop()
        peer.stop()
        assert other.titles("eels") == set(), "what is gone is in no answer"


def test_groups_and_lists_say_who_is_asked_and_answered(tmp_path: Path) -> None:
    with group(tmp_path) as made:
        registrar = made.start("", registrar=True)
        peers = {
            name: made.start(
                name, index(tmp_path / f"of-{name}", {f"http://{name}.org/{name}": "eels"}), registrars=(registrar.url,)
            )
            for name in ("a", "b")
        }
        key = peers["a"].peering.card.key
        asker = made.start("asker", registrars=(registrar.url,), groups={"Harbour": (key,)})
        known(registrar, "a", "b", "asker")
        assert asker.titles("eels group:harbour") == {"a"}
        assert asker.titles("eels -group:harbour") == {"b"}
        assert asker.titles("eels group:other") == set()
        service = tmp_path / "groups.json"
        service.write_text(json.dumps({"Pond": [peers["b"].peering.card.key]}))
        told = made.start("told", registrars=(registrar.url,), groups={"pond": (key,)}, groups_from=str(service))
        until(lambda: told.titles("eels group:pond") == {"a", "b"})
        service.write_text("{}")
        until(lambda: told.titles("eels group:pond") == {"a"})
        service.write_text("nonsense")
        until(lambda: any("groups of" in each for each in told.said))
        assert "Groups of" in told.client.get("/peers").text
        closed = made.start(
            "closed",
            index(tmp_path / "of-closed", {"http://closed.org/closed": "pond"}),
            registrars=(registrar.url,),
            allow=(registrar.peering.card.key,),
        )
        known(registrar, "closed")
        found = asker.search("pond")
        assert "closed did not answer: it refused: 403, this peer is not answered here" in str(found["unanswered"])
        assert closed.titles("pond") == {"closed"}


def test_a_summary_of_very_many_words_arrives(tmp_path: Path) -> None:
    chance = random.Random(7)
    size = LENGTH // 8
    full = Summary(("en",), tuple(tuple(chance.randbytes(size) for _ in range(3)) for _ in range(64)))
    with group(tmp_path) as made:
        registrar = made.start("", registrar=True)
        peer = made.bad(registrar, ["eel"], lambda *_: Findings(searcher=""), "full")
        told = Contact(registrar.peering.card.key, registrar.url)
        announcement = say.Announce("full", int(peer.url.rpartition(":")[2]), name_of(full), summary=to_wire(full))
        encoded = msgspec.json.encode(announcement)
        assert 2_000_000 < len(encoded) < say.LARGEST
        http = HttpClient(interface=peer.peering.host)
        identity = peer.peering.door._identity
        found = Channel(identity, http, SystemClock()).ask(told, say.ANNOUNCE, announcement, say.Announced, seconds=60)
        assert isinstance(found, say.Announced), found
        assert found.known
        host, _, port = registrar.url.partition("//")[2].partition(":")

        with ExitStack() as stack:

            def begin(path: str, length: int) -> socket.socket:
                """A request whose body does not come."""
                asking = stack.enter_context(socket.create_connection((host, int(port)), 60))
                asking.sendall(
                    f"POST /peer/v1/you/{path} HTTP/1.1\r\nHost: {host}\r\nContent-Length: {length}\r\n\r\n".encode()
                )
                return asking

            def is_refused(path: str, length: int, status: int) -> bool:
                asking = begin(path, length)
                asking.settimeout(2)
                try:
                    return asking.recv(100).startswith(f"HTTP/1.1 {status} ".encode())
                except TimeoutError:
                    return False

            assert is_refused("look", len(encoded), 413), "no other question"
            assert is_refused("announce", say.LARGEST + 1, 413)
            for _ in range(2):
                begin("announce", len(encoded))
            until(lambda: is_refused("announce", len(encoded), 503))
            again = Channel(identity, http, SystemClock()).ask(told, say.ANNOUNCE, announcement, say.Announced, seconds=60)
            assert isinstance(again, say.Announced), "who is elsewhere is heard"
        http.close()


def test_what_peers_ask_is_bounded(three: SimpleNamespace) -> None:
    peer: Running = three.eel
    search = next(each.handler for path, each in peer.peering.door._questions.items() if path.endswith(say.SEARCH))
    with pytest.raises(Exception, match="beyond all bounds"):
        search(Call("k", ""), Asked(query="x" * 5_000))
    found: Any = search(Call("k", ""), Asked(query="eel", number=10**9, seconds=10**9))
    assert len(found.hits) == 1
    assert msgspec.json.decode(peer.client.get("/peer/v1/card").content)["name"] == "eel"


def test_nothing_of_peers_is_there_unless_it_is_wanted(tmp_path: Path) -> None:
    from tests.web.conftest import serving

    with serving([index(tmp_path / "p", {"http://a.org/a": "eels"})], tmp_path / "token") as served:
        assert served.client.post("/peer/v1/you/search").status_code == 404
        assert served.get("/peer/v1/card").status_code == 404
        assert served.get("/files/").status_code == 404
    assert SearchSettings() == SearchSettings()


def test_results_of_slow_peers_are_added_below(tmp_path: Path) -> None:
    let_go = threading.Event()

    def slow(_: Call, __: Asked) -> Findings:
        let_go.wait(60)
        return Findings(searcher="slow", hits=(Hit(title="Slow <eel>", url="http://slow.org/eel"),), total=1)

    with group(tmp_path) as made:
        registrar = made.start("", registrar=True)
        made.start("quick", index(tmp_path / "of-quick", {"http://quick.org/eel": "An eel."}), registrars=(registrar.url,))
        asker = made.start("asker", registrars=(registrar.url,), timeout=Seconds(60))
        made.bad(registrar, ["eel"], slow, "slow")
        known(registrar, "quick", "slow", "asker")
        page = asker.client.get("/search?q=eel").text
        assert "http://quick.org/eel" in page
        assert "http://slow.org/eel" not in page
        assert "at least 1" in page
        assert "Other machines are still being asked" in page
        (address,) = re.findall(r'data-more="([^"]+)"', page)
        let_go.set()
        events = asker.client.get(html.unescape(address)).text
        rows = events.partition("event: rows")[2].partition("event: about")[0]
        assert "Slow &lt;eel&gt;" in rows
        assert "quick.org" not in rows, "what was shown stays where it is"
        assert "1 to 2 of 2 pages" in events
        assert events.endswith("event: end\ndata: end\n\n")
        assert "event: rows" not in asker.client.get(html.unescape(address)).text, "it is told once"
        assert asker.client.get("/search?q=eel&wait=1").text.count("<li>") == 2


def test_who_hangs_is_not_waited_for_where_nothing_is_shown_before(tmp_path: Path) -> None:
    let_go = threading.Event()

    def hang(_: Call, __: Asked) -> Findings:
        let_go.wait(60)
        return Findings(searcher="hangs")

    with group(tmp_path) as made:
        registrar = made.start("", registrar=True)
        asker = made.start("asker", registrars=(registrar.url,), timeout=Seconds(60))
        made.bad(registrar, ["eel"], hang, "hangs")
        known(registrar, "hangs", "asker")
        answers = [asker.search("eel", wait=1)["unanswered"][0]]
        answers += [asker.client.get(f"/search?q=eel&{how}").text for how in ("page=2", "sort=date")]
        for answer in answers:
            seconds = re.search(r"hangs did not answer: it .*(?:within|longer than) ([0-9.]+) s", answer)
            assert seconds is not None, answer
            assert float(seconds[1]) <= 1, "not the minute that it has where others are shown meanwhile"
        let_go.set()


def test_files_are_found_by_their_names_whatever_is_in_them(tmp_path: Path) -> None:
    docs = tmp_path / "docs"
    (docs / "plans").mkdir(parents=True)
    (docs / "plans" / "harbour-wall.zip").write_bytes(b"PK\x03\x04 nothing that can be read")
    (docs / "causeway.pdf").write_bytes(b"%PDF-1.4 broken")
    with group(tmp_path) as made:
        registrar = made.start("", registrar=True)
        owner = made.start("owner", share=(str(docs),), registrars=(registrar.url,))
        asker = made.start("asker", registrars=(registrar.url,))
        names = {"pdf": "causeway.pdf", "harbour": "plans/harbour-wall.zip", "plans zip": "plans/harbour-wall.zip"}
        for query, name in names.items():
            until(lambda q=query, n=name: [x["url"] for x in asker.search(q)["hits"]] == [f"{owner.url}/files/docs/{n}"])


def test_what_one_keeps_of_another_is_found_while_he_is_away(tmp_path: Path) -> None:
    """A crawl of what he shares (YOUS-39), as the manual has it."""
    docs = tmp_path / "Papers"
    docs.mkdir()
    (docs / "eel.txt").write_text("The eel crosses the causeway at night.")
    (docs / "tide.html").write_text("<title>Tide</title><p>The tide comes over the causeway.")
    config = tmp_path / "kept" / "config.yaml"
    config.parent.mkdir()
    with group(tmp_path) as made:
        registrar = made.start("", registrar=True)

        def owner() -> Process:
            options = ("--peer", "anna", "--share", str(docs), "--registrar-at", registrar.url)
            return Process(tmp_path / "anna", "127.0.3.1", *options)

        anna = owner()
        try:
            carla = made.start("carla", registrars=(registrar.url,))
            there = {f"{anna.url}/files/Papers/{name}" for name in ("eel.txt", "tide.html")}
            until(lambda: {hit["url"] for hit in carla.search("causeway")["hits"]} == there)
            recipe = {"start": [f"{anna.url}/files/Papers/"], "scope": "below"}
            settings = {"crawl": recipe, "robots": {"obey": False}, "recrawl": {"most_gone": 1}, "frontier": {"delay": 0}}
            config.write_text(json.dumps(settings))
            assert run(["crawl", "-q", "--dir", str(config.parent)]) == 0
            berta = made.start("berta", config.parent, registrars=(registrar.url,))
            known(registrar, "berta")
            until(lambda: len(carla.search("causeway")["hits"]) == 2)  # each once
        finally:
            anna.end(signal.SIGKILL)
        until(lambda: "anna" not in members(registrar))
        until(lambda: {hit["source"] for hit in carla.search("causeway")["hits"]} == {"berta"})
        found = {hit["url"]: hit["copy"] for hit in carla.search("causeway")["hits"]}
        assert found.keys() == there
        for copy in found.values():
            assert copy.startswith(f"{berta.url}/copy?")
            assert "causeway" in berta.client.get(copy).text
        assert html.escape(copy) in carla.client.get("/search?q=causeway&wait=1").text
        assert run(["crawl", "-q", "--dir", str(config.parent)]) == 0
        assert len(carla.search("causeway")["hits"]) == 2, "who can't be reached has taken nothing back"

        (docs / "eel.txt").unlink()
        anna = owner()
        try:
            known(registrar, "anna")
            until(lambda: {hit["source"] for hit in carla.search("tide")["hits"]} & {"anna"} != set())
            assert run(["crawl", "-q", "--dir", str(config.parent)]) == 0
            until(lambda: [hit["title"] for hit in carla.search("causeway")["hits"]] == ["Tide"])
            assert berta.client.get(found[f"{anna.url}/files/Papers/eel.txt"]).status_code == 404
            token = {"authorization": f"Bearer {(tmp_path / 'anna' / 'token').read_text().strip()}"}
            gone = httpx.post(f"{anna.url}/peers/share", data={"name": "Papers", "shared": "0"}, headers=token, trust_env=False)
            assert gone.status_code == 303
            assert run(["crawl", "-q", "--dir", str(config.parent)]) == 0
            until(lambda: carla.search("causeway")["hits"] == [])
        finally:
            anna.end()


def test_what_one_recommends_the_others_see(tmp_path: Path) -> None:
    def bearer(name: str) -> dict[str, str]:
        return {"authorization": f"Bearer {(tmp_path / name / 'token').read_text().strip()}"}

    with group(tmp_path) as made:
        registrar = made.start("", registrar=True)
        eels = index(tmp_path / "of-anna", {"http://anna.org/eel": "eels"})
        anna = made.start("anna", eels, registrars=(registrar.url,))
        group_of_anna = {"harbour": (anna.peering.card.key,)}
        berta = made.start("berta", registrars=(registrar.url,), groups=group_of_anna, public=True, closed=True)
        visitor = made.visitor(berta)
        berta.client.headers.update(bearer("berta"))
        known(registrar, "anna", "berta")
        page = anna.client.get("/search?q=eels&wait=1", headers=bearer("anna")).text
        assert 'action="/peers/recommend"' in page
        assert 'action="/peers/recommend"' not in anna.client.get("/search?q=eels&wait=1").text, "only for its owner"
        best = {"q": "EELS", "url": "http://best.org/", "title": "The <b>best</b>"}
        assert anna.client.post("/peers/recommend", data=best).status_code == 403
        assert anna.client.post("/peers/recommend", data=best, headers=bearer("anna")).status_code == 303
        hidden = {**best, "url": "http://secret.org/", "anonymous": "1"}
        assert anna.client.post("/peers/recommend", data=hidden, headers=bearer("anna")).status_code == 303
        wrong = {**best, "url": "javascript:alert(1)"}
        assert anna.client.post("/peers/recommend", data=wrong, headers=bearer("anna")).status_code == 400

        def sources(peer: Running) -> dict[str, str]:
            return {hit["url"]: hit["source"] for hit in peer.search("eels ", **{"in": "recommended"})["hits"]}

        seen = {"http://best.org/": "recommendations of anna", "http://secret.org/": "anonymous recommendations"}
        until(lambda: sources(berta) == seen)
        assert sources(anna) == dict.fromkeys(seen, "your recommendations")
        assert berta.search("pond", **{"in": "recommended"})["hits"] == []
        assert "http://best.org/" in {hit["url"] for hit in berta.search("eels")["hits"]}, "in any search for this"
        own = {"q": "eels", "url": "http://anna.org/eel", "title": "eel"}
        assert anna.client.post("/peers/recommend", data=own, headers=bearer("anna")).status_code == 303
        (found,) = [hit for hit in anna.search("eels")["hits"] if hit["url"] == own["url"]]
        assert (found["source"], found["snippet"]) == ("of-anna, your recommendations", "eels"), (
            "what it says is shown all the same"
        )
        anna.client.post(
            "/peers/take-back", data={**own, "query": "keyword=eels", "author": anna.peering.card.key}, headers=bearer("anna")
        )

        address = registrar.url.partition("//")[2].split(":")
        registrar.stop()
        again = made.start("", registrar=True, host=address[0], port=int(address[1]))
        known(again, "anna")
        until(lambda: sources(berta) == seen)

        kept = {"q": "eels group:Harbour", "url": "http://kept.org/", "title": "Kept"}
        assert berta.titles("eels group:harbour") == {"eel"}
        assert anna.client.post("/peers/recommend", data=kept, headers=bearer("anna")).status_code == 303
        until(lambda: berta.titles("group:harbour eels") == {"Kept"})
        assert "kept for this query in group:harbour" in str(berta.search("eels group:harbour")["notes"])
        assert "Kept" not in berta.titles("eels"), "only in the group"
        assert berta.titles("eels group:harbour", fresh=True) >= {"eel", "Kept"}
        shown = berta.client.get("/search?q=eels+group:harbour").text
        assert "http://anna.org/eel" not in shown
        (fresh,) = re.findall(r'href="([^"]*fresh=1[^"]*)"', shown)
        assert "http://anna.org/eel" in berta.client.get(f"{html.unescape(fresh)}&wait=1").text
        assert visitor.titles("eels group:harbour") & {"Kept"} == {"Kept"}, "as any recommendation"
        assert "kept" not in str(visitor.search("eels group:harbour")["notes"])

        (mine,) = [each for each in anna.peering.shelf.all() if not each.name]  # type: ignore[union-attr]
        gone = {"query": mine.query, "url": mine.url, "author": mine.author}
        assert mine.author != anna.peering.card.key, "nobody knows whose it is"
        assert "The &lt;b&gt;best" in anna.client.get("/peers").text
        anna.client.post("/peers/take-back", data=gone, headers=bearer("anna"))
        assert set(sources(anna)) == {"http://best.org/"}
        until(lambda: set(sources(berta)) == {"http://best.org/"})

"""A private group: who does not know its secret, or is not on a list, gets neither answers nor files."""

from __future__ import annotations

import base64
import html
import json
import re
from pathlib import Path

import httpx
import pytest

from larm.errors import StorageError, UsageError
from larm.fetch.http_client import HttpClient, NoAnswer
from larm.index.search.query import parse_question
from larm.kit.clock import SystemClock
from larm.kit.units import Seconds
from larm.peers.channel import Channel, Contact
from larm.peers.door import Call
from larm.peers.group_secret import GroupSecret
from larm.peers.identity import Identity
from larm.peers.passes import Passes
from larm.peers.yousearch import protocol as say
from larm.peers.yousearch.needs import needs_of
from larm.testing.clock import FakeClock
from tests.index.search.test_several import index
from tests.peers.yousearch.groups import Running, group, known, members, until

SECRET = GroupSecret("correct horse battery staple")
OTHER = GroupSecret("another horse battery staple")


def key_of(peer: Path) -> str:
    return Identity.opened(peer / "state" / "larm" / "peer" / "peer.key").key


def secret_file(folder: Path, words: str = "correct horse battery staple") -> str:
    path = folder / f"{len(words)}.secret"
    path.write_text(words)
    path.chmod(0o600)
    return str(path)


def bearer(peer: Path) -> dict[str, str]:
    return {"authorization": f"Bearer {(peer / 'token').read_text().strip()}"}


def opened(peer: Running, url: str) -> httpx.Response:
    """As by a browser that follows a link in a page of results."""
    with httpx.Client(trust_env=False, follow_redirects=True, timeout=60) as browser:
        return browser.get(url)


def link_to(page: str, url: str) -> str:
    (found,) = re.findall(rf'href="({re.escape(url)}[^"#]*)"', page)
    return html.unescape(found)


def test_only_who_knows_the_secret_finds_and_opens(tmp_path: Path) -> None:
    docs = tmp_path / "docs"
    (docs / "sub").mkdir(parents=True)
    (docs / "eel.txt").write_text("The eel crosses the causeway.")
    (docs / "sub" / "tide.txt").write_text("tide")
    secret = secret_file(tmp_path)
    with group(tmp_path) as made:
        registrar = made.start("", registrar=True, secret=secret)
        anna = made.start("anna", registrars=(registrar.url,), share=(str(docs),), secret=secret, closed=True)
        own = index(tmp_path / "own", {"http://own.org/eel": "An eel of berta."})
        berta = made.start("berta", own, registrars=(registrar.url,), secret=secret, closed=True, public=True)
        berta.client.headers.update(bearer(tmp_path / "berta"))
        stranger = made.start("stranger", registrars=(registrar.url,), secret=secret_file(tmp_path, "something else entirely"))
        nosy = made.start("nosy", registrars=(registrar.url,))
        known(registrar, "anna", "berta")
        until(lambda: berta.titles("eel") == {"eel.txt", "eel"})
        shown = httpx.get(f"{berta.url}/search?q=eel&wait=1", trust_env=False).text
        assert "http://own.org/eel" in shown, "visitors search what anybody may have"
        assert anna.url not in shown
        for each in (stranger, nosy):
            until(lambda each=each: any("does not know its secret" in line for line in each.said))
            assert each.search("eel")["hits"] == []
        assert members(registrar) == {"anna", "berta"}

        url = f"{anna.url}/files/docs/eel.txt"
        assert f"<code>{berta.peering.card.key}</code></td>" not in berta.client.get("/peers").text, "no peer is its own"
        assert opened(anna, url).status_code == 403
        assert opened(anna, f"{anna.url}/files/").status_code == 403
        link = link_to(berta.client.get("/search?q=eel&wait=1").text, url)
        assert link != url
        with httpx.Client(trust_env=False, follow_redirects=True, timeout=60) as browser:
            came = browser.get(link)
            assert "?pass=... 303" in " ".join(anna.log)
            assert link.partition("pass=")[2] not in " ".join(anna.log), "who reads a log can't open it"
            assert (came.status_code, came.text, str(came.url)) == (200, "The eel crosses the causeway.", url)
            assert browser.get(f"{anna.url}/files/docs/sub/tide.txt").text == "tide", "links between files work"
            assert browser.get(f"{anna.url}/files/docs/../../secret").status_code in {403, 404}
        assert opened(anna, link.replace(url, f"{anna.url}/files/docs/sub/tide.txt")).text == "tide"
        assert opened(anna, link[:-2] + "xx").status_code == 403
        assert [hit["url"] for hit in berta.search("eel", **{"in": "peers"})["hits"]] == [url], (
            "a pass is for a browser, not for others to see"
        )
        network = berta.peering.network
        assert network is not None
        trust = network._checks.trust
        until(lambda: trust.found(anna.peering.card.key)[0] > 0)
        assert trust.found(anna.peering.card.key)[1] == 0, "it is looked at with a pass"

        http = HttpClient()
        contact = Contact(registrar.peering.card.key, registrar.url)
        plain, wrong = Channel(Identity.new(), http, SystemClock()), Channel(Identity.new(), http, SystemClock(), secret=OTHER)
        for channel in (plain, wrong):
            answer = channel.ask(contact, say.LOOK, say.Look(()), say.Found, seconds=30)
            assert isinstance(answer, NoAnswer)
            assert "private" in answer.reason
        http.close()


def test_files_of_who_names_whom_he_answers_are_for_these_alone(tmp_path: Path) -> None:
    docs = tmp_path / "docs"
    docs.mkdir()
    (docs / "eel.txt").write_text("An eel.")
    keys = {name: key_of(tmp_path / name) for name in ("anna", "berta", "carl")}
    with group(tmp_path) as made:
        registrar = made.start("", registrar=True)
        both = (keys["anna"], keys["berta"], registrar.peering.card.key)
        told = {"registrars": (registrar.url,), "allow": both}
        anna = made.start("anna", share=(str(docs),), closed=True, **told)
        berta = made.start("berta", **told)
        carl = made.start("carl", registrars=(registrar.url,), allow=(keys["carl"], registrar.peering.card.key))
        known(registrar, "anna", "berta", "carl")
        until(lambda: berta.titles("eel") == {"eel.txt"})
        url = f"{anna.url}/files/docs/eel.txt"
        assert opened(anna, link_to(berta.client.get("/search?q=eel&wait=1").text, url)).text == "An eel."
        assert carl.search("eel")["hits"] == []
        assert carl.peering.network is not None
        assert opened(anna, carl.peering.network.opened_at(url)).status_code == 403
        assert opened(anna, url).status_code == 403


def test_a_folder_can_be_for_a_group_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, words in (("papers", "A secret eel."), ("docs", "An eel for all.")):
        (tmp_path / name).mkdir()
        (tmp_path / name / f"{name}.txt").write_text(words)
    keys = {name: key_of(tmp_path / name) for name in ("anna", "berta", "carl")}
    service = tmp_path / "groups.json"
    service.write_text(json.dumps({"Harbour": [keys["berta"]]}))
    with group(tmp_path) as made:
        registrar = made.start("", registrar=True)
        told = {"registrars": (registrar.url,), "cache": Seconds(300)}
        shared = (str(tmp_path / "papers"), str(tmp_path / "docs"))
        settings = {"only": {"papers": ("harbour",)}, "groups_from": str(service)}
        anna = made.start("anna", share=shared, closed=True, **settings, **told)
        berta = made.start("berta", signed=True, public=True, closed=True, groups={"harbour": (keys["anna"],)}, **told)
        carl = made.start("carl", signed=True, **told)
        visitor = made.visitor(berta)
        berta.client.headers.update(bearer(tmp_path / "berta"))
        nobody = made.start("nobody", **told)
        known(registrar, "anna", "berta", "carl", "nobody")
        until(lambda: berta.titles("eel") == {"papers.txt", "docs.txt"})
        until(lambda: nobody.titles("eel") == {"docs.txt"})
        assert carl.titles("eel") == {"docs.txt"}, "what one has found is kept for nobody else"
        assert nobody.titles("eel") == {"docs.txt"}
        url = f"{anna.url}/files/papers/papers.txt"
        assert opened(anna, url).status_code == 403
        assert opened(anna, f"{anna.url}/files/docs/docs.txt").text == "An eel for all."
        assert "papers" not in opened(anna, f"{anna.url}/files/").text
        link = link_to(berta.client.get("/search?q=eel&wait=1").text, url)
        assert opened(anna, link).text == "A secret eel."

        signers: list[str] = []
        seen = anna.peering.visible.searchers
        monkeypatch.setattr(anna.peering.visible, "searchers", lambda key, those: (signers.append(key), seen(key, those))[1])
        assert berta.titles("eel group:harbour") == {"papers.txt", "docs.txt"}
        assert set(signers) == {keys["berta"]}
        signers.clear()
        assert visitor.titles("eel") == {"docs.txt"}, "a visitor of her page has none of her keys"
        assert visitor.titles("eel group:harbour") == set(), "and none of her groups"
        assert signers
        assert keys["berta"] not in signers
        assert "pass=" not in visitor.client.get("/search?q=eel&wait=1").text
        known_words = registrar.peering.registrar
        assert known_words is not None
        for query, named in (("secret", False), ("all", True)):
            look = known_words.look(Call("", ""), say.Look(needs_of(parse_question(query).tree)))
            assert (anna.peering.card.key in {each.key for each in look.peers}) == named, "no word of it is in a summary"
        assert carl.peering.network is not None
        assert opened(anna, carl.peering.network.opened_at(url)).status_code == 403
        service.write_text("{}")
        until(lambda: berta.titles("eel") == {"docs.txt"})
        assert opened(anna, link).status_code == 403, "who is in no group any more"


def test_what_is_for_some_is_not_for_all_by_a_slip(tmp_path: Path) -> None:
    (tmp_path / "papers" / "open").mkdir(parents=True)
    with group(tmp_path) as made:
        with pytest.raises(UsageError, match="no shared folder has this name"):
            made.start("a", share=(str(tmp_path / "papers"),), only={"paper": ("harbour",)})
        both = (str(tmp_path / "papers"), str(tmp_path / "papers" / "open"))
        for name in ("papers", "open"):
            with pytest.raises(UsageError, match="one is in the other"):
                made.start("b", share=both, only={name: ("harbour",)})


def test_a_pass_is_good_for_one_peer_and_some_hours() -> None:
    clock, here, there = FakeClock(1_700_000_000.0), Identity.new().key, Identity.new().key
    one, other = (Passes(Identity.new(), clock, secret=SECRET) for _ in range(2))
    text = one.make(here)
    assert other.owner(text, here)
    assert not other.owner(text, there)
    assert not Passes(Identity.new(), clock, secret=OTHER).owner(text, here)
    assert one.make(here) == text, "the same for an hour"
    key, until_, *rest = text.split(".")
    for wrong in (
        "",
        "....",
        text + "x",
        text.rpartition(".")[0],
        ".".join([Identity.new().key, until_, *rest]),
        ".".join([key, str(int(until_) + 1), *rest]),
        ".".join([key, "9" * 200, *rest]),
        ".".join([key, "\u0661", *rest]),
        text.replace(".", "\ud800", 1),
        "x" * 10_000,
    ):
        assert not other.owner(wrong, here), wrong
    clock.advance(3_601)
    assert one.make(here) != text
    assert other.owner(text, here)
    clock.advance(12 * 3_600)
    assert not other.owner(text, here)


def test_a_mark_belongs_to_one_message() -> None:
    assert SECRET.fits(SECRET.mark("a"), "a")
    for wrong in ("", "x", SECRET.mark("b"), OTHER.mark("a"), "\ud800", base64.b64encode(b"a").decode()):
        assert not SECRET.fits(wrong, "a")


def test_a_secret_is_no_secret_if_others_read_it(tmp_path: Path) -> None:
    path = Path(secret_file(tmp_path))
    assert GroupSecret.opened(path).fits(SECRET.mark("a"), "a")
    path.chmod(0o644)
    with pytest.raises(StorageError, match="others than you"):
        GroupSecret.opened(path)
    with pytest.raises(StorageError, match="16 characters"):
        GroupSecret.opened(Path(secret_file(tmp_path, "short")))
    with pytest.raises(StorageError):
        GroupSecret.opened(tmp_path / "none")

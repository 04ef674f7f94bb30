"""Spot checks: who lies is found out, and who does not is never accused."""

from __future__ import annotations

import html
import random
from pathlib import Path

import pytest

from larm.config import SearchSettings
from larm.fetch.http_client import HttpAnswer, HttpClient, NoAnswer
from larm.index.search.query import parse_question
from larm.index.search.searcher import IndexSearcher
from larm.kit.clock import SystemClock
from larm.model.findings import Asked, Findings
from larm.model.hit import Hit
from larm.peers.channel import Contact
from larm.peers.door import Call
from larm.peers.stranger_fetch import StrangerFetch
from larm.peers.yousearch.needs import needs_of
from larm.peers.yousearch.remote_peer import names_of
from larm.peers.yousearch.spot_checks import SpotChecks, Trust, has_any
from larm.testing.clock import FakeClock
from tests.index.search.test_several import index
from tests.peers.yousearch.groups import group, known, until
from tests.peers.yousearch.test_needs import WORDS, queries

PEER = Contact("k", "http://192.0.2.7:7070")
EELS = needs_of(parse_question("eels").tree)


class Web:
    """Whatever is asked for, this comes."""

    def __init__(self, came: HttpAnswer | NoAnswer) -> None:
        self.came = came
        self.asked: list[str] = []

    def ask(self, _method: str, url: str, *_: object, **__: object) -> HttpAnswer | NoAnswer:
        self.asked.append(url)
        return self.came

    def is_due(self, _url: str) -> bool:
        return True

    def fetch(self, url: str, _seconds: float) -> HttpAnswer | NoAnswer:
        return self.ask("GET", url)


def checks_of(web: Web) -> SpotChecks:
    return SpotChecks(web, web, FakeClock(), random.Random(1))  # type: ignore[arg-type]


def page(text: str, mime: str = "text/html; charset=utf-8", status: int = 200, **headers: str) -> HttpAnswer:
    return HttpAnswer(status, {"content-type": mime, **headers}, text.encode())


def judged(came: HttpAnswer | NoAnswer, url: str = "http://192.0.2.7:7070/files/docs/a.html") -> tuple[int, int]:
    checks = checks_of(Web(came))
    checks.offer(PEER, EELS, [Hit(title="t", url=url)])
    checks._put(None)
    checks.run()
    return checks.trust.found("k")


@pytest.mark.parametrize(
    ("came", "found"),
    [
        (page("<p>Eels &amp; tides</p>"), (1, 0)),
        (page("<p>An &#101;el</p>"), (1, 0)),
        (page("Buy now", "text/plain"), (1, 1)),
        (page("<b>Buy</b> now"), (1, 1)),
        (page("", status=404), (1, 1)),
        (page("Buy now", "application/octet-stream"), (0, 0)),
        (page("", status=503), (0, 0)),
        (page("Buy now", status=206, **{"content-range": "bytes 0-6/9000"}), (0, 0)),
        (page("Buy now", status=206, **{"content-range": "bytes 0-6/7"}), (1, 1)),
        (HttpAnswer(200, {"content-type": "text/plain"}, b"\xff\xfeB\x00u\x00y\x00"), (0, 0)),
        (NoAnswer("it is gone"), (0, 0)),
    ],
)
def test_a_result_is_good_bad_or_nobody_knows(came: HttpAnswer | NoAnswer, found: tuple[int, int]) -> None:
    assert judged(came) == found


def test_an_address_proves_a_word_below_the_shares_alone() -> None:
    lie = page("Buy now")
    assert judged(lie, "http://192.0.2.7:7070/files/docs/eels.html") == (1, 0)
    for word in ("files", "192", "7070", "http"):
        checks = checks_of(Web(lie))
        checks.offer(PEER, needs_of(parse_question(word).tree), [Hit(title="t", url=f"{PEER.url}/files/docs/a.html")])
        checks._put(None)
        checks.run()
        assert checks.trust.found("k") == (1, 1), word


@pytest.mark.parametrize(
    ("came", "url", "found"),
    [
        (page("Buy now"), "http://a.example/x", (1, 1)),
        (page("An eel"), "http://a.example/x", (1, 0)),
        (page("Buy now"), "http://a.example/eels", (0, 0)),
        (page("", status=404), "http://192.0.2.70:7070/files/x", (1, 1)),
        (page("Moved", status=302), "http://a.example/x", (0, 0)),
    ],
)
def test_page_of_another_host_proves_words_by_its_text(came: HttpAnswer, url: str, found: tuple[int, int]) -> None:
    assert judged(came, url) == found


def test_host_is_asked_for_five_pages_an_hour_whoever_names_it() -> None:
    web = Web(page("Buy now"))
    checks = checks_of(web)
    for n in range(20):
        contact = Contact(f"k{n}", f"http://192.0.2.{n}:7070")
        checks.inspect(contact, EELS, [Hit(title="t", url=f"http://a.example/{n}")], None, 1.0)
    assert len(web.asked) == 5


def test_no_search_waits_for_checks() -> None:
    checks = checks_of(Web(page("eels")))
    for _ in range(1_000):
        checks.offer(PEER, EELS, [Hit(title="t", url="http://192.0.2.7:7070/files/a")])
    checks.stop()


def test_trust_is_lost_and_comes_back() -> None:
    clock = FakeClock()
    trust = Trust(clock)
    assert (trust.of("k"), trust.believes("k"), trust.has_proved_itself("k")) == (0.85, True, False)
    trust.checked("other", good=True)
    assert (trust.of("other"), trust.has_proved_itself("other")) == (1.0, True)
    for _ in range(4):
        trust.checked("k", good=False)
    assert trust.believes("k"), "four may be an accident"
    trust.checked("k", good=False)
    assert not trust.believes("k")
    assert trust.of("k") < 0.3
    clock.advance(3_601)
    assert trust.believes("k")
    for _ in range(10_001):
        trust.checked(f"k{_}", good=True)
    assert trust.found("k") == (0, 0)


def test_who_does_not_lie_is_not_accused(tmp_path: Path) -> None:
    chance = random.Random(21)
    looked = 0
    for at in range(4):
        words = chance.sample(WORDS, 14)
        pages = {f"http://a.org/{n}": " ".join(chance.choices(words, k=6)) for n in range(5)}
        searcher = IndexSearcher(index(tmp_path / str(at), pages), SearchSettings())
        for query in queries(60, chance):
            needs = needs_of(parse_question(query).tree)
            for hit in searcher.find(Asked(query=query)).hits:
                if needs and hit.complete:
                    looked += 1
                    assert has_any(needs, f"{hit.url} {html.unescape(pages[hit.url])}"), (query, pages[hit.url])
    assert looked > 50


def test_nobody_is_called_as_a_part_of_this_machine() -> None:
    named = zip("abcd", ["anna", "x", "x", "peers"], strict=True)
    contacts = [Contact(f"{key}234567890", "http://192.0.2.7:7070", name) for key, name in named]
    assert list(names_of(contacts).values()) == ["anna", "x (b2345678)", "x (c2345678)", "peers (d2345678)"]


def test_a_liar_is_found_out(tmp_path: Path) -> None:
    docs = tmp_path / "docs"
    docs.mkdir()
    (docs / "eel.txt").write_text("The eel crosses the causeway.")

    def lie(_: Call, __: Asked) -> Findings:
        return Findings(searcher="x", hits=(Hit(title="Buy eels", url="/files/docs/eels.html"),), total=1)

    with group(tmp_path) as made:
        registrar = made.start("", registrar=True)
        made.start("honest", registrars=(registrar.url,), share=(str(docs),))
        asker = made.start("asker", registrars=(registrar.url,))
        known(registrar, "honest", "asker")
        until(lambda: asker.titles("eel") == {"eel.txt"})
        made.bad(registrar, ["eel"], lie, "liar")
        found = asker.search("eel")
        assert [hit["title"] for hit in found["hits"]] == ["eel.txt"], "a forged result is never shown"
        assert "liar did not answer: a sample of its results has none of the words" in str(found["unanswered"])
        until(lambda: "liar" in str(asker.search("eel")["notes"]))
        assert "not asked, as samples of their results had none of the words: liar" in str(asker.search("eel")["notes"])
        assert "of 5 sampled results 5 had none of the words" in asker.client.get("/peers").text


@pytest.mark.parametrize("url", ["http://192.0.2.7:7070/files/\u00fc", "http://[::1/a", "http://a.example/\u00fc"])
def test_hit_with_a_malformed_url_does_not_end_the_samples(url: str) -> None:
    checks = SpotChecks(HttpClient(), StrangerFetch(HttpClient(), SystemClock(), ()), SystemClock())
    checks.offer(PEER, EELS, [Hit(title="t", url=url)])
    checks._put(None)
    checks.run()
    assert checks.trust.found("k") == (0, 0)

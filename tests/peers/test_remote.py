"""Another machine's indexes as a searcher: through a real server, and through servers that answer what they want."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import msgspec
import pytest

from larm.building.searching import several
from larm.cli import run
from larm.config import SearchSettings
from larm.errors import UsageError
from larm.fetch.http_client import HttpClient
from larm.index.search.several import SeveralSearchers
from larm.model.facets import Facet, FacetValue, Narrowed
from larm.model.findings import Asked, Findings
from larm.model.hit import Hit
from larm.peers.remote import RemoteSearcher
from larm.peers.strangers import findings_of
from tests.peers.test_channel import drained, saying
from tests.web.conftest import Served, serving


@pytest.fixture(scope="module")
def there(two: list[Path], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with serving([two[1]], tmp_path_factory.mktemp("there") / "token") as served:
        yield served


def ranked(results: object) -> list[tuple[str, float]]:
    return [(hit.url, round(hit.score, 6)) for hit in results.hits]  # type: ignore[attr-defined]


def test_an_index_far_away_counts_as_one_here(two: list[Path], there: Served, http: HttpClient) -> None:
    asked = Asked(query="causeway carts", number=100)
    here = several(two, SearchSettings()).results(asked)
    remote = RemoteSearcher(there.address, http)
    both = several(two[:1], SearchSettings(), (), [remote]).results(asked)
    assert ranked(both) == ranked(here)
    assert (both.total, both.complete, both.exact, both.unanswered) == (here.total, here.complete, here.exact, ())
    assert {hit.source for hit in both.hits} == {str(two[0]), remote.name}
    weighed = several(two[:1], SearchSettings(), (1.0, 3.0), [remote]).results(asked)
    assert weighed.hits[0].source == remote.name


def test_facets_and_the_order_by_date_are_those_of_all(two: list[Path], there: Served, http: HttpClient) -> None:
    both = several(two[:1], SearchSettings(), (), [RemoteSearcher(there.address, http)])
    here = several(two, SearchSettings())
    for asked in (Asked(query="causeway carts", facets=True), Asked(query="causeway", facets=True, sort="date")):
        assert both.results(asked).facets == here.results(asked).facets != ()
    narrowed = Asked(query="causeway carts", narrowed=Narrowed(site="b.org"))
    assert ranked(both.results(narrowed)) == ranked(here.results(narrowed)) != []


def test_facets_of_others_are_bounded() -> None:
    """Names and values that there are; numbers that can be."""
    ages = Facet("age", (FacetValue("decade", 1), FacetValue("day", -1), FacetValue("week", 1 << 60)))
    sites = Facet("site", tuple(FacetValue(f"{n}\x1b.org" + "x" * 999, n) for n in range(1, 999)))
    part = Findings(searcher="x", facets=(ages, sites, Facet("weather", (FacetValue("fine", 1),))))
    found = {facet.name: facet.values for facet in findings_of("n", part, 10, trusted=True).facets}
    assert found.keys() == {"age", "site"}
    assert [(each.value, each.pages) for each in found["age"]] == [("day", 0), ("week", 1 << 50)]
    assert len(found["site"]) == 100
    assert all(len(each.value) <= 200 and each.value.isprintable() for each in found["site"])
    assert findings_of("n", part, 10, trusted=False).facets == (), "nobody knows whether they are true"


def test_one_remote_alone_has_pages(two: list[Path], http: HttpClient, tmp_path: Path) -> None:
    with serving(two, tmp_path / "token") as served:
        remote = SeveralSearchers([RemoteSearcher(served.address, http)])
        here = several(two, SearchSettings())
        for page in (1, 2, 4, 9):
            asked = Asked(query="causeway", number=9, page=page)
            assert ranked(remote.results(asked)) == ranked(here.results(asked)), page


def test_the_command_line_searches_here_and_there(
    two: list[Path],
    there: Served,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    assert run(["search", "wheel", "--dir", str(two[0]), "--remote", there.address, "--json"]) == 0
    answer = msgspec.json.decode(capsys.readouterr().out)
    assert {hit["source"] for hit in answer["hits"]} == {there.address.partition("//")[2]}
    monkeypatch.chdir(tmp_path)
    assert run(["search", "wheel", "--remote", there.address]) == 0, "nothing is searched here"
    with saying(lambda sock: drained(sock, b"")) as url:
        assert run(["search", "causeway", "--dir", str(two[0]), "--remote", url]) == 0
        assert f"{url.partition('//')[2]} did not answer" in capsys.readouterr().err
    assert run(["search", "causeway", "--remote", "http://a.example/path"]) == 2


def test_the_search_page_searches_here_and_there(two: list[Path], there: Served, http: HttpClient, tmp_path: Path) -> None:
    remote = RemoteSearcher(there.address, http)
    with serving([two[0]], tmp_path / "token", remotes=[remote]) as served:
        text = served.get("/search?q=wheel+causeway&wait=1").text
        assert f"in {remote.name}" in text
        assert "http://b.org/" in text
        alone = served.get("/search", params={"q": "wheel", "in": remote.name}).text
        assert "http://b.org/1" in alone
        assert "stored copy" not in alone, "it is on the other machine"
        found = served.get("/api/v1/search", params={"q": "causeway", "n": 100}).json()
        assert {hit["source"] for hit in found["hits"]} == {two[0].name, remote.name}


def test_a_token_is_sent_where_one_is_wanted(two: list[Path], http: HttpClient, tmp_path: Path) -> None:
    with serving([two[0]], tmp_path / "token", access={"require_token": True}) as served:
        without, with_it = RemoteSearcher(served.address, http), RemoteSearcher(served.address, http, served.secret)
        (refused,) = without.search(Asked(query="causeway"))
        (answered,) = with_it.search(Asked(query="causeway"))
    assert "a token is needed" in refused.failure
    assert answered.total > 20


@pytest.mark.parametrize(
    ("body", "says"),
    [
        (b"<html>", "no larm serve"),
        (b'{"searcher":"x","hits":[{"title":1}]}', "no larm serve"),
        (b'{"searcher":"x","took":1e999}', "no larm serve"),
        (b"[" * 100_000, "no larm serve"),
        (b" " * 500_000, "longer than"),
    ],
)
def test_nonsense_is_no_answer(body: bytes, says: str, http: HttpClient) -> None:
    head = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(body)
    with saying(lambda sock: drained(sock, head + body)) as url:
        remote = RemoteSearcher(url, http)
        (part,) = remote.search(Asked(query="x"))
        assert says in part.failure


def test_a_stranger_gets_nothing_into_our_pages() -> None:
    hostile = Hit(
        title="a\x1b[31m\u202eevil\nline" * 100,
        url="http://a.example/ \n<script>",
        parts=(("\x00x\u2028" * 5_000, True),),
        explanation="not json",
        source="\x1b[0m",
        mime="x\n",
        score=1e308,
        digest=7,
        size=-5,
        modified=1 << 62,
    )
    lie = Findings(
        searcher="me",
        hits=(hostile, Hit(title="", url="javascript:alert(1)", score=9.0)) * 9,
        total=-5,
        complete=1 << 62,
        notes=("n",),
    )
    found = findings_of("peer", lie, 5, trusted=False)
    assert (found.searcher, found.total, found.by_rank, found.notes) == ("peer", 5, True, ())
    assert [hit.score for hit in found.hits] == sorted((hit.score for hit in found.hits), reverse=True)
    first = found.hits[0]
    assert (first.score, first.digest, first.explanation, first.source, first.size, first.modified) == (
        1.0,
        0,
        "",
        "peer",
        0,
        0,
    )
    assert (first.url, len(first.title) <= 500) == ("http://a.example/%20%0A<script>", True)
    assert len(first.snippet) <= 1_000
    for text in (first.title, first.snippet, first.mime, first.url):
        assert not set(text) & set("\x1b\n\x00\u2028"), text


def test_fields_of_others_are_bounded() -> None:
    said = {f"f{n}": ("x" * 1_000, "a\x1b[31m\nb") * 50 for n in range(50)} | {"<script>": ("x",), "N" * 100: ("x",)}
    hit = Hit(title="t", url="http://a.example/", fields={"<b>": ("x",)} | said)
    (found,) = findings_of("peer", Findings(searcher="", hits=(hit,), total=1), 5, trusted=False).hits
    assert list(found.fields) == [f"f{n}" for n in range(20)]
    for values in found.fields.values():
        assert len(values) == 10
        assert all(len(value) <= 300 and not set(value) & set("\x1b\n") for value in values)


def test_those_who_are_not_trusted_count_by_their_places() -> None:
    def of(name: str, scores: list[float], *, by_rank: bool) -> SimpleNamespace:
        hits = tuple(Hit(title=name, url=f"http://{name}/{n}", score=score) for n, score in enumerate(scores))
        part = findings_of(name, Findings(searcher=name, hits=hits, total=len(hits)), 10, trusted=not by_rank)
        return SimpleNamespace(name=name, statistics=lambda _: None, search=lambda _: iter([part]))

    searchers = [of("a", [21.0, 3.0], by_rank=False), of("b", [20.0], by_rank=False), of("liar", [1e9, 1e8], by_rank=True)]
    found = SeveralSearchers(searchers).results(Asked(query="x"))  # type: ignore[arg-type]
    assert [hit.title for hit in found.hits] == ["a", "liar", "b", "liar", "a"]
    assert max(hit.score for hit in found.hits) == 1.0


def test_an_address_is_asked_for() -> None:
    with pytest.raises(UsageError, match="expected the address"):
        RemoteSearcher("a.example:7070", HttpClient())


def test_passages_of_others_are_of_their_own_pages() -> None:
    def passage(text: str) -> str:
        part = Findings(searcher="x", hits=(Hit(title="t", url="http://a.org/", passage=text),), total=1)
        return findings_of("n", part, 10, trusted=False).hits[0].passage

    assert passage("http://a.org/#:~:text=tide%20in") == "http://a.org/#:~:text=tide%20in"
    for other in ("http://b.org/#:~:text=tide", "http://a.org/x", "javascript:1", "http://a.org/#:~:text=" + "x" * 9_999):
        assert passage(other) == ""

"""All agents of a crawl as one search: in directories of this machine, by larm serve of others, and where nobody answers."""

from __future__ import annotations

import shutil
from pathlib import Path

import msgspec
import pytest

from larm.building.searching import several
from larm.cli import run
from larm.cluster.card import Card
from larm.cluster.files import IDENTITY, ROSTER
from larm.cluster.identity import Identity, write_identity
from larm.cluster.roster import Roster, write_roster
from larm.config import SearchSettings
from larm.crawldir.state import QUEUES
from larm.fetch.http_client import HttpClient
from larm.model.findings import Asked
from larm.peers.cluster import ClusterSearchers
from larm.peers.remote import RemoteSearcher
from tests.peers.test_remote import ranked
from tests.web.conftest import Served, serving

ADDRESS = "tcp/127.0.0.1:7441"


def join(directory: Path, name: str, **others: Card) -> None:
    """Make its crawl the part of an agent that has met these."""
    folder = directory / QUEUES
    write_identity(folder / IDENTITY, Identity("demo", name))
    cards = {name: Card(ADDRESS, "", str(directory)), **others}
    write_roster(folder, Roster("demo", name, members=dict.fromkeys(cards, 1.0), cards=cards))


@pytest.fixture
def agents(two: list[Path], tmp_path: Path) -> list[Path]:
    """Two directories that may be changed."""
    found = [tmp_path / "one", tmp_path / "two"]
    for source, copy in zip(two, found, strict=True):
        shutil.copytree(source, copy)
        (copy / QUEUES).mkdir(exist_ok=True)
    return found


def all_of(http: HttpClient) -> ClusterSearchers:
    return ClusterSearchers(SearchSettings(), lambda url: RemoteSearcher(url, http))


def test_agents_of_one_machine_are_searched_in_their_directories(agents: list[Path], http: HttpClient) -> None:
    one, two = agents
    join(one, "a", b=Card(ADDRESS, "", str(two)))
    join(two, "b")
    others = all_of(http).of([one])
    asked = Asked(query="causeway carts", number=100)
    assert ranked(several([one], SearchSettings(), (), others).results(asked)) == ranked(
        several(agents, SearchSettings()).results(asked)
    )
    assert all_of(http).of(agents) == [], "what is searched here is not asked twice"


def test_agents_of_other_machines_are_asked_at_their_larm_serve(agents: list[Path], http: HttpClient, tmp_path: Path) -> None:
    one, two = agents
    with serving([two], tmp_path / "token") as there:
        join(one, "a", b=Card(ADDRESS, there.address, "/not/here"))
        found = several([one], SearchSettings(), (), all_of(http).of([one])).results(Asked(query="causeway carts", number=100))
        assert ranked(found) == ranked(several(agents, SearchSettings()).results(Asked(query="causeway carts", number=100)))
        assert found.unanswered == ()


def test_an_agent_that_can_not_be_asked_is_said(agents: list[Path], http: HttpClient) -> None:
    one, _ = agents
    join(one, "a", b=Card(ADDRESS, "", "/not/here"), c=Card(ADDRESS, "http://127.0.0.1:9", ""), d=Card(ADDRESS, "nonsense", ""))
    found = several([one], SearchSettings(), (), all_of(http).of([one])).results(Asked(query="causeway"))
    assert found.hits
    said = "\n".join(sorted(found.unanswered))
    assert "127.0.0.1:9 did not answer" in said
    assert f"the agent b at {ADDRESS} did not answer: it is on another machine, and cluster.serve does not say" in said
    assert "the agent d did not answer: nonsense: expected the address of a larm serve" in said


def test_a_directory_that_began_anew_is_searched_once(agents: list[Path], http: HttpClient) -> None:
    """Its agent has another name then; the one before has nothing any more."""
    one, two = agents
    join(one, "a", b=Card(ADDRESS, "", str(two)), c=Card(ADDRESS, "", str(two)))
    roster = msgspec.json.decode((one / QUEUES / ROSTER).read_bytes(), type=Roster)
    write_roster(one / QUEUES, msgspec.structs.replace(roster, members={"a": 1.0, "c": 1.0}))
    join(two, "c")
    assert [each.name for each in all_of(http).of([one])] == [str(two)]


def test_the_command_line(agents: list[Path], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    one, two = agents
    assert run(["search", "wheel", "--dir", str(one), "--cluster"]) == 2
    assert "has no part of a crawl by several agents" in capsys.readouterr().err
    join(one, "a", b=Card(ADDRESS, "", str(two)))
    join(two, "b")
    assert run(["search", "wheel", "--dir", str(one), "--cluster", "--json"]) == 0
    answer = msgspec.json.decode(capsys.readouterr().out)
    assert {hit["source"] for hit in answer["hits"]} == {str(two)}
    assert run(["search", "causeway", "--dir", str(one)]) == 0
    assert "2 agents did this crawl, and this is what one of them has; --cluster searches all" in capsys.readouterr().err
    monkeypatch.chdir(one)
    assert run(["search", "wheel", "--cluster"]) == 0


def test_the_search_page(agents: list[Path], http: HttpClient, tmp_path: Path) -> None:
    """It sees an agent that has joined while it serves."""
    one, two = agents
    join(one, "a")
    with serving([one], tmp_path / "token", agents=all_of(http).of) as served:
        assert "http://b.org/" not in page(served)
        join(one, "a", b=Card(ADDRESS, "", str(two)))
        join(two, "b")
        assert "http://b.org/" in page(served)
        found = served.get("/api/v1/search", params={"q": "causeway", "n": 100}).json()
        assert {hit["source"] for hit in found["hits"]} == {"one", str(two)}
        far = served.client.post("/api/v1/findings", json={"query": "wheel"}).json()
        assert far["hits"] == [], "who asks us asks the others himself"


def page(served: Served) -> str:
    return served.get("/search?q=wheel+causeway&wait=1").text

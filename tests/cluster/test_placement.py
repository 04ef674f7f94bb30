"""Who has which host: the vectors that any implementation has to meet, and what must hold for any agents and hosts."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from larm.cluster import placement
from larm.cluster.placement import HashRing, Intervals, key_of, point_of

ORDERS = {
    "www.example.com": ("7c1767b30512b600", "cba"),
    "example.org": ("1bdf72e04d6b50c8", "abc"),
    "apache.org": ("803ef8442e50cd3b", "abc"),
    "lucene.apache.org": ("3669fbb7b86a3c2c", "cab"),
    "yacy.net": ("621e8e9d300e4f5c", "abc"),
    "www.uni-muenchen.de": ("ce05f73718e18554", "acb"),
}
HOSTS = [f"host{number}.example" for number in range(10_000)]


@pytest.mark.parametrize(
    ("host", "by", "key"),
    [
        ("www.example.com", "site", "example.com"),
        ("a.b.example.co.uk:8080", "site", "example.co.uk"),
        ("www.example.com:8080", "host", "www.example.com"),
        ("wiki.corp", "site", "wiki.corp"),
        ("a.wiki.corp:8080", "site", "a.wiki.corp"),
        ("localhost", "site", "localhost"),
        ("h1.localhost:81", "site", "h1.localhost"),
    ],
)
def test_key_of_a_host(host, by, key):
    """Hosts below a made-up top level domain are no site: one agent would have a whole intranet."""
    assert key_of(host, by) == key


def ring(*names: str) -> HashRing:
    return HashRing({f"agent-{name}": 1.0 for name in names})


def test_points() -> None:
    assert f"{point_of('agent-a'):x}" == "f4baba791b7d4fb5"
    first = [f"{at:x}" for at in placement._points("agent-a", 1.0)[:3]]
    assert first == ["eeb97c50304a79b2", "3b84baeed7ccc3ac", "94bf627d4a7d7078"]
    assert point_of("EXAMPLE.org") == point_of("example.org")


@pytest.mark.parametrize("host", ORDERS)
def test_order_of_hosts(host: str) -> None:
    point, order = ORDERS[host]
    abc = ring(*"abc")
    assert f"{point_of(host):016x}" == point
    assert abc.order(host) == [f"agent-{name}" for name in order]
    assert abc.owner(host) == f"agent-{order[0]}"
    assert abc.order(host, 2, skip={f"agent-{order[0]}"}) == [f"agent-{name}" for name in order[1:]]


def test_who_joins_takes_and_who_leaves_gives() -> None:
    abc, abcd, ac = ring(*"abc"), ring(*"abcd"), ring(*"ac")
    moved = [host for host in HOSTS if abc.owner(host) != abcd.owner(host)]
    assert len(moved) == 2449
    assert {abcd.owner(host) for host in moved} == {"agent-d"}
    assert sum(point_of(host) % 3 != point_of(host) % 4 for host in HOSTS) == 7558
    for host in HOSTS:
        assert ac.owner(host) == abc.order(host, 1, skip={"agent-b"})[0]
        assert abc.owner(host) in (ac.owner(host), "agent-b")


@pytest.mark.parametrize(("points", "agents", "mean", "most"), [(12, 10, 19, 34), (100, 50, 7, 20), (200, 5, 5.9, 9.0)])
def test_shares(monkeypatch: pytest.MonkeyPatch, points: int, agents: int, mean: float, most: float) -> None:
    monkeypatch.setattr(placement, "POINTS", points)
    some = HashRing({f"agent-{number}": 1.0 for number in range(agents)})
    off = [abs(share * agents - 1) * 100 for share in exact_shares(some).values()]
    assert sum(off) / agents == pytest.approx(mean, abs=1.5)
    assert max(off) == pytest.approx(most, abs=1.5)


def test_shares_by_weight() -> None:
    """As many hosts as in the promise: each of 7 agents within a quarter of its weight."""
    weights = {f"agent-{number}": 1.0 + number % 3 for number in range(7)}
    some = HashRing(weights)
    names = 100_000
    found = Counter(some.owner(f"host{number}.example") for number in range(names))
    for agent, weight in weights.items():
        assert found[agent] == pytest.approx(names * weight / sum(weights.values()), rel=0.25)
    thirds = exact_shares(HashRing({"agent-0": 1, "agent-1": 1, "agent-2": 2}))
    assert [round(thirds[f"agent-{number}"], 2) for number in range(3)] == [0.26, 0.25, 0.49]


def exact_shares(some: HashRing) -> dict[str, float]:
    found: Counter[str] = Counter()
    before = some._points[-1] - (1 << 64)
    for at, agent in zip(some._points, some._agents, strict=True):
        found[agent] += at - before
        before = at
    return {agent: size / (1 << 64) for agent, size in found.items()}


def test_equal_points_go_to_the_first_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(placement, "_points", lambda _agent, _weight: [7])
    same = HashRing({"b": 1, "c": 1, "a": 1})
    assert same.order("anywhere.example") == ["a", "b", "c"]


NAMES = st.sets(st.text("abcdef", min_size=1, max_size=4), min_size=1, max_size=6)


@given(NAMES, st.text(min_size=1, max_size=20), st.data())
def test_leaving_out_is_as_not_being_there(names: set[str], host: str, data: st.DataObject) -> None:
    """Contravariance: any part of the agents, computed anew or left out, agrees on the order of those that stay."""
    gone = data.draw(st.sets(st.sampled_from(sorted(names)), max_size=len(names) - 1))
    whole = HashRing(dict.fromkeys(names, 1.0))
    assert whole.order(host, skip=gone) == HashRing(dict.fromkeys(names - gone, 1.0)).order(host)


@pytest.mark.parametrize(("agents", "owners"), [(2, "001001"), (3, "101012"), (4, "102013")])
def test_intervals(agents: int, owners: str) -> None:
    some = Intervals({str(number): 1.0 for number in range(agents)})
    assert [some.owner(host) for host in ORDERS] == list(owners)
    assert some.order("apache.org", 1, skip={some.owner("apache.org")}) == [str((int(some.owner("apache.org")) + 1) % agents)]


def test_what_is_no_placement() -> None:
    with pytest.raises(ValueError, match="at least one"):
        HashRing({})
    with pytest.raises(ValueError, match="equal parts"):
        Intervals({"a": 1, "b": 2})
    with pytest.raises(ValueError, match="weight of a"):
        HashRing({"a": 0})

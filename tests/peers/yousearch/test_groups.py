"""Groups from somebody else: what he says holds until he says something else."""

from __future__ import annotations

from larm.fetch.http_client import HttpAnswer, HttpClient, NoAnswer
from larm.peers.yousearch.groups import Groups


class Service(HttpClient):
    def __init__(self) -> None:
        super().__init__()
        self.came: HttpAnswer | NoAnswer = NoAnswer("it is gone")

    def ask(self, *_: object, **__: object) -> HttpAnswer | NoAnswer:
        return self.came


def test_what_a_service_says_holds_until_it_says_something_else() -> None:
    service = Service()
    groups = Groups({"Harbour": ["a"]}, "https://groups.example/all", service)
    assert "it is gone" in groups.look()
    assert groups.members(["harbour"]) == {"a"}
    service.came = HttpAnswer(200, {}, b'{"Harbour": ["b"], "pond": ["c"]}')
    assert groups.look() == ""
    assert (groups.members(["harbour"]), groups.members(["harbour", "pond"])) == ({"a", "b"}, {"a", "b", "c"})
    for wrong in (
        HttpAnswer(500, {}, b"{}"),
        HttpAnswer(200, {}, b"[1]"),
        HttpAnswer(200, {}, b'{"harbour": "b"}'),
        HttpAnswer(200, {}, b'{"harbour": [' + b"[" * 100_000),
        NoAnswer("it is gone"),
    ):
        service.came = wrong
        assert "groups of https://groups.example/all" in groups.look()
        assert groups.members(["pond"]) == {"c"}
    service.came = HttpAnswer(200, {}, b"{}")
    assert groups.look() == ""
    assert groups.members(["pond"]) == frozenset()

from __future__ import annotations

import pytest

from larm.peers.yousearch.canonical import canonical
from larm.web.peering import readable


def test_queries_that_mean_the_same_are_one() -> None:
    keys = {canonical(text).key for text in ("PDF  group:YouSearchTeam -draft", "-draft pdf group:yousearchteam")}
    assert keys == {"exclude=draft&group=yousearchteam&keyword=pdf"}


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("pdf group:YouSearchTeam", "group=yousearchteam&keyword=pdf"),
        ("b a A", "keyword=a,b"),
        ('"Two  Words" x', "keyword=x&phrase=two%20words"),
        ("x site:Example.org -site:other.org", "-site=other.org&keyword=x&site=example.org"),
        ('x -group:a group:"two words"', "-group=a&group=two%20words&keyword=x"),
        ("a,b", "keyword=a%2Cb"),
        ("café", "keyword=caf%C3%A9"),
        ("A OR b group:g", "group=g&query=a%20or%20b"),
        ("", ""),
    ],
)
def test_keys(text: str, key: str) -> None:
    assert canonical(text).key == key
    assert "query=" in key or canonical(readable(key)).key == key, "as one may have typed it"


def test_different_queries_are_different() -> None:
    texts = ["a b", '"a b"', "a -b", "a OR b", "a site:b.org", "a group:b", "a -group:b", "intitle:a", "a,b", "a b c"]
    assert len({canonical(text).key for text in texts}) == len(texts)


def test_what_chooses_peers_does_not_reach_them() -> None:
    found = canonical("eels group:Harbour -group:old (tide)")
    assert (found.text, found.groups, found.not_groups) == ("eels (tide)", ("harbour",), ("old",))

"""The rules of the host resolver and their file (LARM-36 to LARM-42)."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from larm.errors import ConfigError
from larm.model.host_resolver import HostResolver, parse_rules

SAMPLE = """\
# names that mean the same machine
startsWith(www.)=
startsWith(www2,)=
startsWith(w3.) =
endsWith(.somehost.com) = ,somhost2.com
synonym(daedalus,apache.org): apache.org
"""


@pytest.mark.parametrize(
    ("host", "resolved"),
    [
        ("www.cnn.com", "cnn.com"),
        ("www2.cnn.com", "cnn.com"),
        ("www.www.cnn.com", "www.cnn.com"),
        ("w3.x.somehost.com", "x.somhost2.com"),
        ("somehost.com", "somehost.com"),
        ("www.daedalus.apache.org", "apache.org"),
        ("cnn.com", "cnn.com"),
    ],
)
def test_larm_vectors(host: str, resolved: str) -> None:
    assert parse_rules(SAMPLE, "sample").resolve(host) == resolved


def test_without_rules_a_host_is_its_own() -> None:
    resolver = HostResolver()
    assert resolver.resolve("www.example.com") == "www.example.com"
    assert len(resolver) == 0


def test_of_each_kind_the_first_match_wins_once() -> None:
    resolver = HostResolver([("a", "b"), ("ab", "x"), ("b", "c")], [("z", "y"), ("y", "x")])
    assert resolver.resolve("ab.z") == "bb.y"


def test_file_order_is_kept() -> None:
    assert parse_rules("startsWith(www.a.)=1\nstartsWith(www.)=2\n", "f").resolve("www.a.b") == "1b"
    assert parse_rules("startsWith(www.)=2\nstartsWith(www.a.)=1\n", "f").resolve("www.a.b") == "2a.b"


def test_synonyms_are_not_chained() -> None:
    assert HostResolver(synonyms={"a": "b", "b": "c"}).resolve("a") == "b"


def test_synonym_is_looked_up_after_the_other_two() -> None:
    resolver = HostResolver([("www.", "")], [(".org", ".net")], {"a.net": "b", "www.a.org": "wrong"})
    assert resolver.resolve("www.a.org") == "b"


@pytest.mark.parametrize("rule", ["startsWith(www.)=", "endsWith(www.)=", "synonym(www.)="])
def test_a_rule_that_would_empty_the_host_is_not_applied(rule: str) -> None:
    assert parse_rules(rule, "f").resolve("www.") == "www."


def test_a_rule_passed_over_leaves_the_turn_to_the_next() -> None:
    assert HostResolver([("a", ""), ("a", "b")]).resolve("a") == "b"


@pytest.mark.parametrize(
    "text",
    [
        "startsWith(www.)=",
        "startsWith(www,)=",
        "  \t startsWith(www.)   =   ",
        "startsWith(www.)",
        "startsWith(www.):",
        "startsWith(www.) ",
        "\n\n# c\n! d\n   # e\nstartsWith(www.)=\r\n",
        "starts\\\n   With(www.)=",
        "startsWith(\\\r\n\twww.)=",
        "startsWith\\(www\\.\\)=",
        "startsWith(\\u0077ww.)=",
        "startsWith(WWW.)=",
        "# ends with a backslash, but a comment does not go on \\\nstartsWith(www.)=",
    ],
)
def test_spellings_of_one_rule(text: str) -> None:
    assert parse_rules(text, "f").resolve("www.x.org") == "x.org"


@pytest.mark.parametrize("separator", ["=", ":", " ", "\t", " = ", " : ", "= ", "=\\\n  "])
def test_separators(separator: str) -> None:
    assert parse_rules(f"synonym(a,b){separator}c,d.e", "f").resolve("a.b") == "c.d.e"


def test_an_ipv6_address_can_be_a_synonym() -> None:
    assert parse_rules("synonym([\\:\\:1])=localhost\nsynonym(localhost6)=[::1]", "f").resolve("[::1]") == "localhost"


@pytest.mark.parametrize(
    ("text", "line", "says"),
    [
        ("# x\nstartswith(www.)=", 2, "'startswith'"),
        ("\n\nalias(a)=b", 3, "expected startsWith, endsWith or synonym"),
        ("synonym(a)=b\\\n  c\nfoo(a)=b", 3, "'foo'"),
        ("\\\n\\\nfoo(a)=b", 1, "'foo'"),
        ("www.=x", 1, "no rule"),
        ("startsWith(www.=x", 1, "no rule"),
        ("startsWith()=x", 1, "nothing between"),
        ("synonym(a)=b/c", 1, "can't stand in a host name"),
        ("synonym(a b)=c", 1, "no rule"),
        ("synonym(\\u00fcber.de)=c", 1, "xn--"),
        ("synonym(a)=\\u12", 1, "four hexadecimal digits"),
    ],
)
def test_errors_name_source_and_line(text: str, line: int, says: str) -> None:
    with pytest.raises(ConfigError) as caught:
        parse_rules(text, "rules.properties")
    assert str(caught.value).startswith(f"rules.properties:{line}: ")
    assert says in str(caught.value)
    assert "\n" not in str(caught.value)


def test_the_first_of_two_synonyms_of_a_host_holds() -> None:
    assert parse_rules("synonym(a)=b\nsynonym(a)=c", "f").resolve("a") == "b"


@settings(max_examples=200, derandomize=True)
@given(st.text(st.sampled_from("startsWith(),.=: \\\n\r#!u0ü")))
def test_any_text_gives_rules_or_a_config_error(text: str) -> None:
    try:
        resolver = parse_rules(text, "f")
    except ConfigError:
        return
    assert resolver.resolve("www.example.com")

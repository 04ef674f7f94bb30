"""What a crawl may connect to."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from larm.fetch.addresses import AddressRule
from larm.fetch.ip_address import is_public

LOOPBACK = ["127.0.0.1", "127.8.8.8", "::1", "0.0.0.0", "::"]
LOCAL = ["10.1.2.3", "172.16.0.1", "192.168.1.1", "169.254.169.254", "fe80::1", "fe80::1%eth0", "fc00::1", "fd12::1", "fec0::1"]
SPECIAL = ["100.64.0.1", "192.0.2.1", "198.18.0.1", "240.0.0.1", "255.255.255.255", "2001:db8::1", "nonsense"]
MULTICAST = ["224.0.0.1", "224.0.1.1", "239.1.1.1", "ff02::1", "ff0e::1"]
ODD = ["::7f00:1", "64:ff9b:1::7f00:1", "::ffff:0:127.0.0.1", "2002:7f00:1::", "3fff::1", "5f00::1", "4000::1", "0.1.2.3"]
ODD += [
    "192.0.0.8",
    "192.88.99.1",
    "2001:0:4136:e378:8000:63bf:3fff:fdd2",
    "100::1",
    "2001:2::1",
    "2001:1::1",
    "2001:20::1",
    "2001:30::1",
    "::ffff:10.0.0.1%1",
]
ISATAP = ["2a00::5efe:7f00:1", "2a00::200:5efe:a00:1"]
METADATA = ["169.254.169.254", "fd00:ec2::254", "100.100.100.200"]  # of clouds
EMBEDDED = ["::ffff:10.0.0.1", "::ffff:127.0.0.1", "2002:0a00:0001::1", "64:ff9b::10.0.0.1", "64:ff9b::7f00:1"]
PUBLIC = ["8.8.8.8", "93.184.216.34", "172.32.0.1", "1.1.1.1", "2606:4700:4700::1111"]
EMBEDDED_PUBLIC = ["::ffff:8.8.8.8", "64:ff9b::8.8.8.8", "2002:808:808::1"]


def nowhere(hostname: str) -> list[str]:
    return []


def rule_of(
    *starts: str,
    dns: Mapping[str, Sequence[str]] | None = None,
    met: Mapping[str, Sequence[str]] | None = None,
    allowed: bool = False,
    networks: Collection[str] = (),
) -> AddressRule:
    """``dns``: the names that have addresses."""
    return AddressRule(starts, allowed, lambda host: list((dns or {}).get(host, ())), networks=list(networks), met=met)


def permits(rule: AddressRule, hostname: str, ip: str) -> bool:
    return not rule.refusal(hostname, ip)


@pytest.mark.parametrize("ip", LOOPBACK + LOCAL + SPECIAL + MULTICAST + EMBEDDED + ODD + ISATAP + METADATA)
def test_private(ip: str) -> None:
    assert not is_public(ip)


@pytest.mark.parametrize("ip", PUBLIC + EMBEDDED_PUBLIC)
def test_public(ip: str) -> None:
    assert is_public(ip)


def test_public_addresses_are_for_everybody() -> None:
    assert permits(rule_of("example.org"), "other.example", "8.8.8.8")


def test_a_public_crawl_does_not_reach_an_intranet() -> None:
    assert not permits(rule_of("example.org"), "evil.example", "10.0.0.1")


def test_unless_it_is_allowed() -> None:
    assert permits(rule_of("example.org", allowed=True), "other.example", "10.0.0.1")


@pytest.mark.parametrize("start", ["intra.corp", "INTRA.corp:8080", "intra.corp."])
@pytest.mark.parametrize("host", ["intra.corp", "Intra.Corp."])
def test_a_start_host_may_be_private(start: str, host: str) -> None:
    assert permits(rule_of(start), host, "10.0.0.1")


# -- what a private start host opens


def test_a_private_start_host_opens_its_own_address_only() -> None:
    rule = rule_of("intra.corp", dns={"intra.corp": ["10.0.0.1"]})
    assert permits(rule, "intra.corp", "10.0.0.1")
    assert permits(rule, "also-called.corp", "10.0.0.1"), "another name of the same machine"
    for ip in ["10.0.0.2", *LOOPBACK, *METADATA]:
        assert not permits(rule, "wiki.corp", ip)
        assert not permits(rule, "intra.corp", ip)


def test_all_addresses_that_its_name_has_at_the_first_meeting() -> None:
    rule = rule_of("intra.corp", dns={"intra.corp": ["10.0.0.1", "10.0.0.2", "fd00::1"]})
    assert permits(rule, "intra.corp", "10.0.0.2")
    assert permits(rule, "intra.corp", "fd00::1")
    assert permits(rule, "intra.corp", "::ffff:10.0.0.1"), "the same address in another spelling"
    assert not permits(rule, "intra.corp", "fd00::2")


@pytest.mark.parametrize("start", ["localhost", "a.localhost:8000", "LOCALHOST.:80"])
def test_names_below_localhost_are_this_machine(start: str) -> None:
    rule = rule_of(start)
    assert permits(rule, "b.localhost", "127.0.0.1")
    assert permits(rule, "localhost", "::1")
    assert not permits(rule, "other", "127.0.0.2")
    assert not permits(rule, "other", "10.0.0.1")


@pytest.mark.parametrize(
    ("start", "ip"),
    [
        ("127.0.0.1:80", "127.0.0.1"),
        ("[::1]:8080", "::1"),
        ("::1", "::1"),
        ("192.168.1.1", "192.168.1.1"),
        ("0.0.0.0:8000", "0.0.0.0"),
        ("[::ffff:192.168.1.1]", "192.168.1.1"),
    ],
)
def test_a_start_url_that_has_an_address_instead_of_a_name(start: str, ip: str) -> None:
    """Before it was met: no DNS is needed to know where it is."""
    rule = rule_of(start)
    assert permits(rule, "other", ip)
    for other in {"127.0.0.1", "::1", "192.168.1.1", "192.168.1.2", "0.0.0.0"} - {ip}:
        assert not permits(rule, "other", other)


def test_two_private_start_hosts() -> None:
    rule = rule_of("a.corp", "b.corp", dns={"a.corp": ["10.0.0.1"], "b.corp": ["10.0.0.2"]})
    assert permits(rule, "a.corp", "10.0.0.1")
    assert permits(rule, "b.corp", "10.0.0.1"), "it was met already, as a.corp"
    assert permits(rule, "b.corp", "10.0.0.2")
    assert not permits(rule, "b.corp", "10.0.0.3")


def test_networks_that_the_user_names() -> None:
    rule = rule_of("example.org", networks=["10.1.0.0/16", "192.168.1.20", "fd00:1::/32"])
    for ip in ["10.1.2.3", "::ffff:10.1.2.3", "192.168.1.20", "fd00:1::7"]:
        assert permits(rule, "wiki.corp", ip)
    for ip in ["10.2.0.1", "192.168.1.21", "fd00:2::1", *LOOPBACK, *METADATA]:
        assert not permits(rule, "wiki.corp", ip)


def test_a_public_start_host_opens_nothing() -> None:
    rule = rule_of("example.org")
    assert permits(rule, "example.org", "8.8.8.8")
    assert not permits(rule, "wiki.corp", "10.0.0.2")


def test_start_hosts_are_looked_up_once_where_they_were_not_met_yet() -> None:
    """A crawl that goes on may never go to its start host again, and its directory may be of a larm that did not note it."""
    asked: list[str] = []

    def look_up(hostname: str) -> list[str]:
        asked.append(hostname)
        return ["10.0.0.1"]

    rule = AddressRule(["intra.corp:80"], False, look_up)
    assert permits(rule, "www.intra.corp", "10.0.0.1")
    assert not permits(rule, "wiki.corp", "10.0.0.2")
    assert asked == ["intra.corp"]


def test_the_look_up_is_bounded() -> None:
    asked: list[str] = []
    rule = AddressRule(
        [f"host{number}.example" for number in range(100)], False, lambda host: asked.append(host) or ["8.8.8.8"]
    )
    assert not permits(rule, "evil.example", "10.0.0.1")
    assert not permits(rule, "evil.example", "10.0.0.1")
    assert len(asked) == 8


def test_a_name_that_does_not_resolve_is_no_error() -> None:
    assert not permits(AddressRule(["a" * 64 + ".invalid"], False), "evil.example", "10.0.0.1")


# -- names that move


def test_a_start_host_on_the_web_may_not_move_to_a_private_address() -> None:
    """DNS rebinding: its owner could otherwise read the crawler's intranet, with the name of a start host."""
    rule = rule_of("evil.example")
    assert permits(rule, "evil.example", "8.8.8.8")
    assert not permits(rule, "evil.example", "127.0.0.1")
    assert not permits(rule, "wiki.corp", "10.0.0.2")
    assert permits(rule, "evil.example", "8.8.4.4")


@pytest.mark.parametrize("answer", [["10.0.0.1", "8.8.8.8"], ["8.8.8.8", "10.0.0.1"]])
def test_a_start_host_with_addresses_of_both_kinds_has_only_the_public_ones(answer: list[str]) -> None:
    rule = rule_of("evil.example", dns={"evil.example": answer})
    assert not permits(rule, "evil.example", "10.0.0.1")
    assert not permits(rule, "evil.example", "10.0.0.1")
    assert permits(rule, "evil.example", "8.8.8.8")
    assert not permits(rule, "wiki.corp", "10.0.0.2")


def test_a_private_start_host_may_not_wander_through_the_network() -> None:
    rule = rule_of("intra.corp", dns={"intra.corp": ["10.0.0.1"]})
    assert permits(rule, "intra.corp", "10.0.0.1")
    assert not permits(rule, "intra.corp", "10.0.0.2")
    assert permits(rule, "intra.corp", "10.0.0.1")


def test_other_hosts_of_the_web_never_may() -> None:
    rule = rule_of("example.org")
    assert permits(rule, "evil.example", "8.8.8.8")
    assert not permits(rule, "evil.example", "10.0.0.1")


# -- from one run to the next


def test_where_a_start_host_was_met_is_kept() -> None:
    rule = rule_of("evil.example", "intra.corp", "never.met", dns={"intra.corp": ["10.0.0.2", "10.0.0.1"]})
    rule.refusal("evil.example", "8.8.8.8")
    rule.refusal("intra.corp", "10.0.0.1")
    rule.refusal("other.example", "8.8.8.8")
    assert rule.met() == {"evil.example": [], "intra.corp": ["10.0.0.1", "10.0.0.2"]}


def test_a_start_host_of_the_web_is_one_in_the_next_run() -> None:
    """The first request of the second run goes to 10.1.2.3 by the name of the start host."""
    moved = {"evil.example": ["10.1.2.3"]}
    rule = rule_of("evil.example", dns=moved, met={"evil.example": []})
    for ip in ["10.1.2.3", "169.254.169.254", "::1"]:
        assert not permits(rule, "evil.example", ip)
        assert not permits(rule, "other.example", ip)
    assert rule.met() == {"evil.example": []}


def test_also_if_everything_was_allowed_in_the_first() -> None:
    first = rule_of("evil.example", allowed=True)
    assert permits(first, "evil.example", "8.8.8.8")
    assert permits(first, "evil.example", "10.1.2.3")
    assert not permits(rule_of("evil.example", met=first.met()), "evil.example", "10.1.2.3")


def test_a_private_start_host_is_still_where_it_was() -> None:
    rule = rule_of("intra.corp", dns={"intra.corp": ["10.0.0.9"]}, met={"intra.corp": ["10.0.0.1", "fd00::1"]})
    assert permits(rule, "intra.corp", "10.0.0.1")
    assert permits(rule, "also-called.corp", "fd00::1")
    assert not permits(rule, "intra.corp", "10.0.0.9")


def test_a_laptop_that_meets_its_intranet_from_outside_and_comes_home() -> None:
    rule = rule_of("intra.corp", met={"intra.corp": ["10.0.0.1"]})
    assert permits(rule, "intra.corp", "8.8.8.8")
    assert permits(rule, "intra.corp", "10.0.0.1")
    assert not permits(rule, "intra.corp", "10.0.0.2")


def test_a_host_that_is_no_start_host_any_more_opens_nothing() -> None:
    assert not permits(rule_of("example.org", met={"intra.corp": ["10.0.0.1"]}), "intra.corp", "10.0.0.1")


# -- what a person reads


def test_the_sentences() -> None:
    rule = rule_of("on-the.web", "nas.home", met={"on-the.web": [], "nas.home": ["192.168.1.20", "fd00::1"]})
    advice = "crawl.private_networks or --allow-private allows it"
    assert (
        rule.refusal("wiki.corp", "10.0.0.2") == f"wiki.corp is at 10.0.0.2, a private address where no start host is; {advice}"
    )
    assert rule.refusal("On-The.web:80", "10.1.2.3") == (
        f"on-the.web is at 10.1.2.3, a private address, but is on the web, or was when this crawl began; {advice}"
    )
    assert rule.refusal("nas.home", "192.168.1.23") == (
        f"nas.home is at 192.168.1.23, a private address, but was at 192.168.1.20, fd00::1 when this crawl began; {advice}"
    )


# -- whatever happens

IPS = st.sampled_from(
    ["8.8.8.8", "2606:4700:4700::1111", "10.0.0.1", "10.0.0.2", "127.0.0.1", "::1", "169.254.169.254", "fd00::1"]
)
HOSTS = st.sampled_from(["start.one", "start.two", "other.one"])


@example({}, [("start.one", "10.0.0.1"), ("start.two", "10.0.0.1"), ("start.two", "10.0.0.2")])
@example({"start.one": ["10.0.0.1"]}, [("other.one", "10.0.0.1"), ("start.one", "8.8.8.8"), ("start.one", "10.0.0.1")])
@given(
    st.dictionaries(HOSTS, st.lists(IPS, max_size=3)),
    st.lists(st.one_of(st.tuples(HOSTS, IPS), st.none()), max_size=30),
)
def test_no_private_address_is_opened_but_those_of_first_meetings(
    dns: dict[str, list[str]], story: list[tuple[str, str] | None]
) -> None:
    """Hosts come and move as they like, and None is the end of a run.

    A start host is met where it is connected to, or where DNS says that it is when another host is at a private address.
    """
    met: dict[str, list[str]] = {}
    starts = ("start.one", "start.two")
    rule = rule_of(*starts, dns=dns, met=met)
    opened: dict[str, set[str]] = {}
    for step in story:
        if step is None:
            rule = rule_of(*starts, dns=dns, met=rule.met())
            continue
        host, ip = step
        if host in starts:
            if is_public(ip):
                opened.setdefault(host, set())
            opened.setdefault(host, private_of([*dns.get(host, ()), ip]))
        elif not is_public(ip) and not any(ip in each for each in opened.values()):
            for name in starts:
                if dns.get(name):
                    opened.setdefault(name, private_of(dns[name]))
        assert permits(rule, host, ip) == (is_public(ip) or any(ip in each for each in opened.values()))


def private_of(ips: list[str]) -> set[str]:
    """What a start host that is at these addresses opens: nothing where one of them is on the web."""
    return set() if any(map(is_public, ips)) else set(ips)

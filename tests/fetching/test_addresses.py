"""What a crawl may connect to."""

from __future__ import annotations

import pytest

from larm.fetching.addresses import AddressRule, is_public

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


@pytest.mark.parametrize("ip", LOOPBACK + LOCAL + SPECIAL + MULTICAST + EMBEDDED + ODD + ISATAP + METADATA)
def test_private(ip: str) -> None:
    assert not is_public(ip)


@pytest.mark.parametrize("ip", PUBLIC + EMBEDDED_PUBLIC)
def test_public(ip: str) -> None:
    assert is_public(ip)


def test_public_addresses_are_for_everybody() -> None:
    assert AddressRule(["example.org"], False, nowhere).permits("other.example", "8.8.8.8")


def test_a_public_crawl_does_not_reach_an_intranet() -> None:
    assert not AddressRule(["example.org"], False, nowhere).permits("evil.example", "10.0.0.1")


def test_unless_it_is_allowed() -> None:
    assert AddressRule(["example.org"], True, nowhere).permits("other.example", "10.0.0.1")


@pytest.mark.parametrize("start", ["intra.corp", "INTRA.corp:8080", "intra.corp."])
@pytest.mark.parametrize("host", ["intra.corp", "Intra.Corp."])
def test_a_start_host_may_be_private(start: str, host: str) -> None:
    assert AddressRule([start], False, nowhere).permits(host, "10.0.0.1")


@pytest.mark.parametrize("start", ["localhost", "a.localhost:8000", "127.0.0.1:80", "[::1]:8080", "::1", "192.168.1.1"])
def test_a_start_host_that_is_private_by_its_name_opens_the_others(start: str) -> None:
    assert AddressRule([start], False, nowhere).permits("other", "10.0.0.1")


def test_a_start_host_that_turned_out_to_be_private_opens_the_others() -> None:
    rule = AddressRule(["intra.corp"], False, nowhere)
    assert rule.permits("intra.corp", "10.0.0.1")
    assert rule.permits("wiki.corp", "10.0.0.2")


def test_a_public_start_host_opens_nothing() -> None:
    rule = AddressRule(["example.org"], False, nowhere)
    assert rule.permits("example.org", "8.8.8.8")
    assert not rule.permits("wiki.corp", "10.0.0.2")


def test_start_hosts_are_looked_up_once_where_they_were_not_met_yet() -> None:
    """A crawl that goes on where it was stopped may never go to its start host again."""
    asked: list[str] = []

    def look_up(hostname: str) -> list[str]:
        asked.append(hostname)
        return ["10.0.0.1"]

    rule = AddressRule(["intra.corp:80"], False, look_up)
    assert rule.permits("wiki.corp", "10.0.0.2")
    assert rule.permits("wiki.corp", "10.0.0.2")
    assert asked == ["intra.corp"]


def test_the_look_up_is_bounded() -> None:
    asked: list[str] = []
    rule = AddressRule(
        [f"host{number}.example" for number in range(100)], False, lambda host: asked.append(host) or ["8.8.8.8"]
    )
    assert not rule.permits("evil.example", "10.0.0.1")
    assert not rule.permits("evil.example", "10.0.0.1")
    assert len(asked) == 8


def test_a_name_that_does_not_resolve_is_no_error() -> None:
    assert not AddressRule(["a" * 64 + ".invalid"], False).permits("evil.example", "10.0.0.1")


# -- names that move


def test_a_start_host_on_the_web_may_not_move_to_a_private_address() -> None:
    """DNS rebinding: its owner could otherwise read the crawler's intranet, with the name of a start host."""
    rule = AddressRule(["evil.example"], False, nowhere)
    assert rule.permits("evil.example", "8.8.8.8")
    assert not rule.permits("evil.example", "127.0.0.1")
    assert not rule.permits("wiki.corp", "10.0.0.2")
    assert rule.permits("evil.example", "8.8.4.4")


@pytest.mark.parametrize("answer", [["10.0.0.1", "8.8.8.8"], ["8.8.8.8", "10.0.0.1"]])
def test_a_start_host_with_addresses_of_both_kinds_has_only_the_public_ones(answer: list[str]) -> None:
    rule = AddressRule(["evil.example"], False, lambda host: answer)
    assert not rule.permits("evil.example", "10.0.0.1")
    assert not rule.permits("evil.example", "10.0.0.1")
    assert rule.permits("evil.example", "8.8.8.8")
    assert not rule.permits("wiki.corp", "10.0.0.2")


def test_a_start_host_with_private_addresses_only() -> None:
    rule = AddressRule(["intra.corp"], False, lambda host: ["10.0.0.1", "fd00::1"])
    assert rule.permits("intra.corp", "10.0.0.1")
    assert rule.permits("intra.corp", "fd00::1")
    assert rule.permits("wiki.corp", "10.0.0.2")


def test_other_hosts_of_the_web_never_may() -> None:
    rule = AddressRule(["example.org"], False, nowhere)
    assert rule.permits("evil.example", "8.8.8.8")
    assert not rule.permits("evil.example", "10.0.0.1")

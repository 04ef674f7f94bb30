"""Whom a stranger may have us ask: a registrar by the name of its peers, a peer of a network by a seed."""

from __future__ import annotations

import pytest

from larm.fetch.http_client import HttpClient
from larm.peers.addresses import contact_may_be_asked, host_of, kind_of, kinds_of, may_be_asked
from larm.peers.channel import Contact
from larm.peers.yousearch.registrars import Registrars

FAR = ("private",)


@pytest.mark.parametrize(
    ("ip", "kind"),
    [
        ("8.8.8.8", "public"), ("2606:4700::1", "public"), ("10.1.2.3", "private"), ("192.168.0.1", "private"),
        ("::ffff:10.0.0.1", "private"), ("fd00::1", "private"), ("100.101.2.3", "private"),
        ("127.0.0.1", "loopback"), ("::1", "loopback"),
        ("169.254.169.254", ""), ("fe80::1", ""), ("fe80::1%eth0", ""), ("0.0.0.0", ""), ("224.0.0.1", ""), ("", ""),
        ("router.example", ""), ("localhost", ""), ("8.8.8.8/x", ""), ("8.8.8.8:80", ""), ("user@8.8.8.8", ""),
        ("0x7f000001", ""), ("2130706433", ""),
    ],
)  # fmt: skip
def test_kinds(ip: str, kind: str) -> None:
    assert kind_of(ip) == kind


def test_only_kinds_that_the_user_has_named() -> None:
    assert kinds_of(["", host_of("http://192.168.1.2:7070")]) == {"private"}
    assert kinds_of(["127.0.0.3", host_of("http://8.8.8.8:7070"), host_of("nonsense"), "nonsense"]) == {"loopback", "public"}
    assert may_be_asked("8.8.8.8", 7070, ())
    assert not may_be_asked("192.168.1.1", 7070, ("loopback",))
    assert may_be_asked("192.168.1.1", 7070, ("private",))
    for port in (0, 22, 25, 1_023, 65_536):
        assert not may_be_asked("8.8.8.8", port, ())


@pytest.mark.parametrize(
    "url", ["http://192.0.2.7:7070", "https://10.1.2.3:7070", "http://[2001:db8::7]:7070", "http://172.16.0.1"]
)
def test_peers_may(url: str) -> None:
    assert contact_may_be_asked(Contact("k", url), FAR)


@pytest.mark.parametrize(
    "url",
    [
        "http://192.0.2.7:9200/_shutdown?",
        "http://192.0.2.7:9200#",
        "http://u@192.0.2.7:9200",
        "file:///etc/passwd",
        "gopher://192.0.2.7:70",
        "http://169.254.169.254:80",
        "http://[fe80::1]:80",
        "http://0.0.0.0:80",
        "http://255.255.255.255:80",
        "http://224.0.0.1:80",
        "http://127.0.0.1:9200",
        "http://127.1:9200",
        "http://2130706433:9200",
        "http://[::1]:9200",
        "http://[::ffff:127.0.0.1]:9200",
        "http://[64:ff9b::7f00:1]:9200",
        "http://localhost:9200",
        "http://intranet:80",
        "https://intranet:443",
        "http://192.0.2.7:x",
        "",
    ],
)
def test_others_may_not(url: str) -> None:
    assert not contact_may_be_asked(Contact("k", url), FAR)


def test_a_name_stands_for_the_address_that_was_seen() -> None:
    assert contact_may_be_asked(Contact("k", "https://anna.example:7070", address="192.0.2.7"), FAR)
    assert not contact_may_be_asked(Contact("k", "http://anna.example:7070", address="192.0.2.7"), FAR), "no certificate"
    assert not contact_may_be_asked(Contact("k", "https://anna.example:7070", address="169.254.169.254"), FAR)
    assert not contact_may_be_asked(Contact("k", "https://anna.example:7070", address="anna.example"), FAR)


def test_who_listens_at_such_addresses_may_be_led_to_others() -> None:
    here = kinds_of(["127.0.0.1"])
    assert contact_may_be_asked(Contact("k", "http://127.0.0.9:7070"), here)
    assert contact_may_be_asked(Contact("k", "http://[::1]:7070"), here)
    assert not contact_may_be_asked(Contact("k", "http://169.254.169.254:80"), here)
    assert not contact_may_be_asked(Contact("k", "http://127.0.0.9:22"), here), "a port of some other service"
    far = kinds_of(["8.8.8.8"])
    assert not contact_may_be_asked(Contact("k", "http://10.0.0.9:7070"), far), "it leads into no network of ours"
    assert contact_may_be_asked(Contact("k", "http://9.9.9.9:7070"), far)


def test_a_registrar_that_is_named_by_a_name_is_looked_up_until_it_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    registrars = Registrars([f"{'k' * 43}@https://registrar.example:7070"], None, HttpClient())

    def fails(*_: object, **__: object) -> list[object]:
        raise OSError

    monkeypatch.setattr("socket.getaddrinfo", fails)
    assert registrars.find() == {}
    assert registrars.kinds == frozenset()
    monkeypatch.setattr("socket.getaddrinfo", lambda *_, **__: [(0, 0, 0, "", ("10.0.0.9", 0))])
    registrars.find()
    assert registrars.kinds == {"private"}

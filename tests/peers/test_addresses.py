"""Whom a registrar may have us ask."""

from __future__ import annotations

import pytest

from larm.peers.addresses import may_be_asked
from larm.peers.channel import Contact

FAR = Contact("k", "http://192.0.2.1:7070")


@pytest.mark.parametrize(
    "url", ["http://192.0.2.7:7070", "https://10.1.2.3:7070", "http://[2001:db8::7]:7070", "http://172.16.0.1"]
)
def test_peers_may(url: str) -> None:
    assert may_be_asked(Contact("k", url), FAR)


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
    assert not may_be_asked(Contact("k", url), FAR)


def test_a_name_stands_for_the_address_that_was_seen() -> None:
    assert may_be_asked(Contact("k", "https://anna.example:7070", address="192.0.2.7"), FAR)
    assert not may_be_asked(Contact("k", "http://anna.example:7070", address="192.0.2.7"), FAR), "a name without a certificate"
    assert not may_be_asked(Contact("k", "https://anna.example:7070", address="169.254.169.254"), FAR)
    assert not may_be_asked(Contact("k", "https://anna.example:7070", address="anna.example"), FAR)


@pytest.mark.parametrize("teller", ["http://127.0.0.1:7070", "http://localhost:7070", "http://[::1]:7070"])
def test_who_is_on_this_machine_may_name_others_here(teller: str) -> None:
    assert may_be_asked(Contact("k", "http://127.0.0.9:7070"), Contact("k", teller))
    assert may_be_asked(Contact("k", "http://[::1]:7070"), Contact("k", teller))
    assert not may_be_asked(Contact("k", "http://169.254.169.254:80"), Contact("k", teller))

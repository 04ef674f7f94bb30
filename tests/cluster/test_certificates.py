"""Certificates of agents: the names that they are for."""

from __future__ import annotations

import datetime
from ipaddress import ip_address
from pathlib import Path

import pytest
from cryptography import x509

from larm.cluster.certificates import issue, make_authority
from larm.errors import UsageError

NOW = datetime.datetime(2026, 11, 29, tzinfo=datetime.UTC)


def test_first_alternative_name_is_the_agents(tmp_path: Path) -> None:
    make_authority(tmp_path, NOW)
    made = x509.load_pem_x509_certificate(issue(tmp_path, "a", ("192.0.2.1", "a.example"), NOW).read_bytes())
    names = made.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    assert list(names) == [x509.DNSName("a"), x509.IPAddress(ip_address("192.0.2.1")), x509.DNSName("a.example")]


def test_name_that_a_certificate_cannot_have_is_refused(tmp_path: Path) -> None:
    make_authority(tmp_path, NOW)
    with pytest.raises(UsageError, match="the name of an agent has letters"):
        issue(tmp_path, "größe", (), NOW)

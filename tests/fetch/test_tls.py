"""What a certificate says."""

from __future__ import annotations

import pytest

from larm.fetch.tls import names_in

SAN = "X509v3 Subject Alternative Name"


@pytest.mark.parametrize(
    ("chain", "names"),
    [
        ([[("Subject", "CN = a.example"), (SAN, "DNS:b.example, DNS:*.c.example")]], "b.example, *.c.example"),
        ([[(SAN, "IP Address:10.0.0.1, DNS:b.example")]], "10.0.0.1, b.example"),
        ([[(SAN, ", ".join(f"DNS:{n}.example" for n in range(9)))]], "0.example, 1.example, 2.example and 6 more"),
        ([[("Subject", "C = DE, O = Some, CN = a.example")], [("Subject", "CN = its authority")]], "a.example"),
        ([[("Subject", "O = Some")]], ""),
        ([[]], ""),
        ([], ""),
    ],
)
def test_whom_it_is_for(chain: list[list[tuple[str, str]]], names: str) -> None:
    assert names_in(chain) == names

"""Certificates: where those of the authorities are that this machine trusts, and whom one is for.

Asked by handles that fetch https, which also learn here by which certificate they say who they are.
"""

import functools
from collections.abc import Sequence
from typing import Any

import pycurl

_NAMES = 3  # of a certificate that are told; some have hundreds


@functools.cache
def ca_file() -> str | None:
    """The file that Python's own TLS would use, ``SSL_CERT_FILE`` honoured; None: leave it to libcurl.

    The libcurl inside a pycurl wheel was built on another Linux, whose path need not exist here.
    """
    import ssl  # 4 ms, where it is needed

    return ssl.get_default_verify_paths().cafile


def set_certificate(handle: Any, certificate: bytes, key: bytes) -> None:
    """Both in PEM; empty: nobody is told who asks. Connections with one and with another are kept apart by libcurl."""
    for option, data in ((pycurl.SSLCERT_BLOB, certificate), (pycurl.SSLKEY_BLOB, key)):
        if data:
            handle.setopt(option, data)
        else:
            handle.unsetopt(option)


def names_in(chain: Sequence[Sequence[tuple[str, str]]]) -> str:
    """The names that a server's certificate is for, for a person; ``chain``: libcurl's CERTINFO. Empty: it does not say."""
    fields = dict(chain[0]) if chain else {}
    names = [each.strip().partition(":")[2] for each in fields.get("X509v3 Subject Alternative Name", "").split(",")]
    if not any(names):
        names = [each.partition("=")[2] for each in fields.get("Subject", "").split(",") if each.strip().startswith("CN")]
    names = [name.strip() for name in names if name.strip()]
    more = f" and {len(names) - _NAMES} more" if len(names) > _NAMES else ""
    return ", ".join(names[:_NAMES]) + more

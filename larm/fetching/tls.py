"""ca_file: where the certificates of the authorities are that this machine trusts. Asked for by handles that fetch https."""

from __future__ import annotations

import functools


@functools.cache
def ca_file() -> str | None:
    """The file that Python's own TLS would use, ``SSL_CERT_FILE`` honoured; None: leave it to libcurl.

    The libcurl inside a pycurl wheel was built on another Linux, whose path need not exist here.
    """
    import ssl  # for who needs it: 4 ms of the start

    return ssl.get_default_verify_paths().cafile

"""Address: the host and port at which an agent listens. Pure."""

from ipaddress import ip_address
from typing import NamedTuple
from urllib.parse import urlsplit

PORT = 7441
"""Port of an agent, if none is named."""


class Address(NamedTuple):
    """A host name or IP address (without brackets), and a port."""

    host: str
    port: int = PORT

    def __str__(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"

    @property
    def is_loopback(self) -> bool:
        """True if only this machine reaches it."""
        try:
            return ip_address(self.host).is_loopback
        except ValueError:
            return self.host == "localhost"


def parse_address(text: str) -> Address:
    """Return the address that is written HOST, HOST:PORT or [IPV6]:PORT. Raises ValueError, with a sentence."""
    try:
        parts = urlsplit(f"//{text}")
        host, port = parts.hostname or "", PORT if parts.port is None else parts.port
        plain = parts.netloc == text and "@" not in text and text.isascii() and text.isprintable() and " " not in text
    except ValueError:
        host, port, plain = "", 0, False
    if not host or not plain or text.endswith(":"):
        raise ValueError(f"{text}: expected HOST:PORT, such as 192.0.2.7:{PORT} or [2001:db8::7]:{PORT}")
    if host in {"0.0.0.0", "::"}:  # noqa: S104
        raise ValueError(f"{text}: expected the address at which other agents reach this machine")
    return Address(host, port)

"""The way to etcd and to other agents, as the settings of a cluster have it. Used by crawls, and by commands without one."""

import socket
from pathlib import Path
from urllib.parse import unquote, urlsplit

from larm.cluster.address import Address, parse_address
from larm.cluster.certificates import REVOKED
from larm.cluster.credentials import Credentials
from larm.cluster.etcd import Etcd, Login, Tls
from larm.cluster.etcd_process import Site
from larm.config import ClusterSettings
from larm.config.file_names import certificate_and_key
from larm.errors import ConfigError, refusing

_LAST_PORT = 65_535
RUN = "run"
"""In ``cluster.etcd``: a member of etcd runs beside the agent."""


def client_of(listen: Address) -> Address:
    """Return where the etcd beside an agent answers: one port after that of the agent."""
    return Address(listen.host, listen.port + 1)


def listen_of(cluster: ClusterSettings, before: str = "") -> Address:
    """Return where an agent listens. ``before``: where it did, for commands without the options of its crawl.

    Raises UsageError.
    """
    with refusing("cluster.listen", ValueError):
        return parse_address(before or cluster.listen)


def credentials_of(cluster: ClusterSettings, directory: Path) -> Credentials | None:
    """Return the certificate of this agent; None: there are none in this cluster. Raises ConfigError."""
    if not cluster.ca:
        return None
    certificate, key = certificate_and_key(cluster.certificate, "cluster.certificate", directory)
    authority = directory / cluster.ca
    return Credentials(authority, certificate, key, authority.parent / REVOKED, cluster.members)


def tls_of(cluster: ClusterSettings, directory: Path) -> Tls | None:
    """Return what etcd is shown. Raises ConfigError."""
    if not cluster.ca:
        return None
    certificate, key = certificate_and_key(cluster.certificate, "cluster.certificate", directory)
    authority = directory / cluster.ca
    return Tls(str(authority), str(certificate), str(key), str(authority.with_name(REVOKED)))


def site_of(name: str, cluster: ClusterSettings, listen: Address, directory: Path) -> Site:
    """Return where the member of etcd beside the agent of this name is. Raises ConfigError."""
    if listen.port + 2 > _LAST_PORT:
        raise ConfigError(f"cluster.listen: {listen}: expected a port below {_LAST_PORT - 1}: etcd listens at the next two")
    try:
        address = str(socket.getaddrinfo(listen.host, None)[0][4][0])  # etcd listens at numbers only
    except OSError as error:
        raise ConfigError(f"cluster.listen: {listen.host}: {error.strerror}") from error
    return Site(name, listen.host, address, client_of(listen).port, tls_of(cluster, directory))


def etcd_of(cluster: ClusterSettings, directory: Path) -> Etcd:
    """Return the client; without endpoints where etcd is to begin beside this agent. Raises ConfigError."""
    endpoints, login = [], None
    for text in cluster.etcd:
        if text == RUN:
            continue
        parts = urlsplit(text)
        if parts.username:
            login = Login(unquote(parts.username), unquote(parts.password or ""))
        endpoints.append(f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}")
    if not endpoints and RUN not in cluster.etcd:
        raise ConfigError("cluster.etcd: expected the addresses of etcd, or run")
    tls = tls_of(cluster, directory)
    return Etcd(endpoints, tls, login)

"""AddressRule: which addresses a crawl may connect to. A page on the web must not make a crawler read an intranet.

Asked before every connection, with the address that the name has resolved to, so that neither a redirect nor a DNS answer gets
round it. One for the whole crawl; used on all fetcher threads. Where a start host was met is part of the checkpoint, or a name
could move between two runs.
"""

import ipaddress
import threading
from collections.abc import Callable, Collection, Mapping, Sequence

from larm.fetch.ip_address import IPAddress, address_of, is_public
from larm.fetch.look_ups import addresses_of

_LOOPBACK = frozenset(map(ipaddress.ip_address, ("127.0.0.1", "::1")))  # what libcurl takes localhost for, without DNS
_ASKED = 8  # start hosts that are looked up at most; each may take a dead resolver many seconds
_ALLOW = "crawl.private_networks or --allow-private allows it"


def _look_up(hostname: str) -> list[str]:
    try:
        return addresses_of(hostname)
    except (OSError, UnicodeError):
        return []


class AddressRule:
    """Public addresses always; of others those where a start host was met first, and those that the user named.

    ``start_hosts`` are host names of the start URLs of all runs, with or without port. ``allow_private`` allows everything.
    ``networks``: addresses, or networks such as 10.0.0.0/8, that are as good as public ones. ``met``: that of an earlier run.
    """

    def __init__(
        self,
        start_hosts: Collection[str],
        allow_private: bool,
        look_up: Callable[[str], list[str]] = _look_up,
        *,
        networks: Sequence[str] = (),
        met: Mapping[str, Sequence[str]] | None = None,
    ) -> None:
        # constant after construction
        self._start_hosts = frozenset(_hostname(host) for host in start_hosts)
        self._allow_private = allow_private
        self._networks = [ipaddress.ip_network(network, strict=False) for network in networks]
        self._look_up = look_up
        self._lock = threading.Lock()  # held while looking up: who comes meanwhile needs the answer as well
        # guarded by self._lock, but may be read without: each only grows, and a host is in _met when all of it is in _opened
        self._met: dict[str, frozenset[IPAddress]] = {}
        """Start hosts and their private addresses, as they were met first; none: it was met on the web."""
        self._opened: set[IPAddress] = {address for host in self._start_hosts for address in _own_addresses(host)}
        self._behind: dict[str, str] = {}
        """Hosts that are behind a proxy: why they may not be asked for. Single operations; a race looks twice."""
        # guarded by self._lock
        self._asked = False
        for host, texts in (met or {}).items():
            if host in self._start_hosts:
                self._meet_locked(host, texts)

    def refusal(self, hostname: str, ip: str) -> str:
        """Why ``hostname``, which is at ``ip``, may not be connected to: a sentence for a person. Empty: it may.

        The first meeting with a start host decides. At a private address, it opens those that its name has at this moment, and
        no other. Where it has a public one, too, it opens none: whoever has a name on the web can let it point anywhere, at any
        moment.

        Blocks for a look-up once for each start host at a private address, and once in a run for all others: a crawl that
        goes on may have done with its start hosts long ago.
        """
        host = _hostname(hostname)
        starts = host in self._start_hosts
        if is_public(ip):
            if starts and host not in self._met:
                with self._lock:
                    self._met.setdefault(host, frozenset())
            return ""
        address = address_of(ip)
        if self._allow_private or any(address in network for network in self._networks):
            return ""
        if address in self._opened and (host in self._met or not starts):  # else this is where it is met first
            return ""
        with self._lock:
            if starts:
                self._meet_at_private_locked(host, ip)
            else:
                self._ask_locked()
            if address in self._opened:
                return ""
            return f"{host} is at {ip}, a private address{self._though_locked(host)}; {_ALLOW}"

    def refusal_behind(self, hostname: str) -> str:
        """The same of a host that a proxy is asked for. Its name is looked up here, and blocks for that, once in a run.

        A name that has no address here may be one of an intranet that the proxy reaches.
        """
        if self._allow_private:
            return ""
        host = _hostname(hostname)
        if host not in self._behind:
            own = [str(address) for address in _own_addresses(host)]
            ips = own or ([host] if address_of(host) is not None else self._look_up(host))
            found = (
                "" if ips else f"{host} has no address here, so nobody knows where its proxy leads; --allow-private allows it"
            )
            self._behind[host] = next(filter(None, (self.refusal(hostname, ip) for ip in ips)), found)
        return self._behind[host]

    def met(self) -> dict[str, list[str]]:
        """For the next checkpoint: start hosts that were met, with their private addresses; none of these: on the web."""
        with self._lock:
            return {host: sorted(map(str, addresses)) for host, addresses in self._met.items()}

    def _meet_at_private_locked(self, host: str, ip: str) -> None:
        if host not in self._met and not _own_addresses(host):
            self._meet_locked(host, [*self._look_up(host), ip])

    def _meet_locked(self, host: str, ips: Sequence[str]) -> None:
        addresses = {address for address in map(address_of, ips) if address is not None}
        private = frozenset() if any(map(is_public, ips)) else frozenset(addresses)
        self._opened |= private
        self._met[host] = private

    def _ask_locked(self) -> None:
        if self._asked:
            return
        self._asked = True
        strangers = sorted(host for host in self._start_hosts - self._met.keys() if not _own_addresses(host))
        for host in strangers[:_ASKED]:
            if ips := self._look_up(host):
                self._meet_locked(host, ips)

    def _though_locked(self, host: str) -> str:
        if host not in self._met:
            return " where no start host is"
        before = ", ".join(sorted(map(str, self._met[host])))
        return f", but was at {before} when this crawl began" if before else ", but is on the web, or was when this crawl began"


def _own_addresses(host: str) -> frozenset[IPAddress]:
    """The private addresses that a name has without DNS: it is one, or is below localhost (RFC 6761 6.3)."""
    if host == "localhost" or host.endswith(".localhost"):
        return _LOOPBACK
    address = address_of(host)
    return frozenset() if address is None or is_public(host) else frozenset((address,))


def _hostname(host: str) -> str:
    """Lower case, without port, brackets and the dot of the DNS root."""
    host = host.lower()
    if host.startswith("["):
        return host[1:].partition("]")[0]
    if host.count(":") == 1:
        host = host.partition(":")[0]
    return host.rstrip(".")

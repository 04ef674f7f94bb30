"""Registrars: those that a peer tells of itself and asks for others; the key of one that was named without it is asked for.

Who gives the key with the address is sure who it is; else whoever answers there first is believed until the next start.
"""

import socket
from collections.abc import Sequence

import msgspec

from larm.fetch.http_client import HttpClient, NoAnswer
from larm.kit.decoding import decoded
from larm.peers.addresses import host_of, kinds_of
from larm.peers.channel import ROOT, Contact
from larm.peers.identity import KEY_LENGTH
from larm.peers.yousearch import protocol as say

_NO_REGISTRAR = NoAnswer("what answers there is no registrar")


class Registrars:
    """Of one peer. `find` on its thread, `all` on any."""

    def __init__(self, named: Sequence[str], own: Contact | None, http: HttpClient, listening: str = "") -> None:
        """``named``: ``http://host:port`` or ``KEY@http://host:port``; ``own``: this very machine. ``listening``: the IP
        address where this machine does; empty: at all it has."""
        # constant after construction
        self._named = tuple(named)
        self._http = http
        # replaced as a whole
        self.kinds = kinds_of([listening])
        """Of addresses that these may have us ask (`larm.peers.addresses`): as ours and their own."""
        self._contacts: dict[str, Contact] = {} if own is None else {own.url: own}

    def find(self) -> dict[str, str]:
        """Ask those that are not known yet who they are; by addresses, why some are not known now."""
        found = dict(self._contacts)
        missing = {}
        for each in self._named:
            key, _, url = each.rpartition("@")
            if url not in found:
                card = Contact(key, url) if len(key) == KEY_LENGTH else self._card(url)
                if isinstance(card, NoAnswer):
                    missing[url] = card.reason
                else:
                    found[url] = card
            self.kinds |= kinds_of(_addresses(host_of(url)))
        self._contacts = found
        return missing

    def all(self) -> list[Contact]:
        """Those that are known."""
        return list(self._contacts.values())

    def _card(self, url: str) -> Contact | NoAnswer:
        came = self._http.ask("GET", url + ROOT + "/card", {}, b"", seconds=5.0, most=10_000)
        if isinstance(came, NoAnswer):
            return came
        try:
            card = decoded(came.body, say.Card)
        except msgspec.MsgspecError:
            return _NO_REGISTRAR
        return Contact(card.key, url, card.name) if card.registrar and len(card.key) == KEY_LENGTH else _NO_REGISTRAR


def _addresses(host: str) -> set[str]:
    """Of a name that the user has given."""
    try:
        return {str(each[4][0]) for each in socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)}
    except OSError:
        return set()

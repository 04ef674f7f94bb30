"""Registrars: those that a peer tells of itself and asks for others; the key of one that was named without it is asked for.

Who gives the key with the address is sure who it is; else whoever answers there first is believed until the next start.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from larm.peers.channel import ROOT, Contact
from larm.peers.http_client import HttpClient, NoAnswer
from larm.peers.identity import KEY_LENGTH
from larm.peers.yousearch import protocol as say


class Registrars:
    """Of one peer. `find` on its thread, `all` on any."""

    def __init__(self, named: Sequence[str], own: Contact | None, http: HttpClient) -> None:
        """``named``: ``http://host:port`` or ``KEY@http://host:port``; ``own``: this very machine."""
        # constant after construction
        self._named = tuple(named)
        self._http = http
        # replaced as a whole
        self._contacts: dict[str, Contact] = {} if own is None else {own.url: own}

    def find(self) -> bool:
        """Ask those that are not known yet who they are; whether all are known now."""
        found = dict(self._contacts)
        for each in self._named:
            key, _, url = each.rpartition("@")
            if url not in found:
                card = Contact(key, url) if len(key) == KEY_LENGTH else self._card(url)
                if card is not None:
                    found[url] = card
        self._contacts = found
        return all(each.rpartition("@")[2] in found for each in self._named)

    def all(self) -> list[Contact]:
        """Those that are known."""
        return list(self._contacts.values())

    def _card(self, url: str) -> Contact | None:
        came = self._http.ask("GET", url + ROOT + "/card", {}, b"", seconds=5.0, most=10_000)
        if isinstance(came, NoAnswer) or came.status != 200:
            return None
        try:
            card = msgspec.json.decode(came.body, type=say.Card)
        except msgspec.MsgspecError:
            return None
        return Contact(card.key, url, card.name) if card.registrar and len(card.key) == KEY_LENGTH else None

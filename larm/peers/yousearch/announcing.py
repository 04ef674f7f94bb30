"""Announcing: a peer tells its registrars that it is there, and which words it has (YOUS-7, 13, 14, 31). On its peer's thread.

A registrar that knows the rest is told what has changed; one that begins anew is told all, and what was recommended here as
well. `News` is what there is to say of that to the user, once each time that it is something else; any thread.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from urllib.parse import urlsplit

import msgspec

from larm.fetch.http_client import NoAnswer
from larm.fetch.ip_address import address_of
from larm.index.reader import IndexReader
from larm.kit.disk.files import is_there
from larm.model.restriction import OpenTo
from larm.peers.channel import Channel, Contact
from larm.peers.yousearch import protocol as say
from larm.peers.yousearch.recommendations import Recommendation, Shelf
from larm.peers.yousearch.registrars import Registrars
from larm.peers.yousearch.summary import Summary, name_of, summary_of, to_wire

SECONDS = 10.0
"""For a registrar, which asks us back before it answers."""
_SLOWEST = 50_000
"""Bytes that leave this machine in a second, at least: a large summary may take half a minute."""
_PATHS: Mapping[type, str] = {say.Report: say.REPORT, say.Recommend: say.RECOMMEND}


class Indexed(msgspec.Struct, frozen=True):
    """The words of one index, as of a moment."""

    moment: int
    words: frozenset[str]
    languages: tuple[str, ...]


class Announcing:
    """Of one peer."""

    def __init__(
        self,
        own: Contact,
        channel: Channel,
        registrars: Registrars,
        told: Callable[[], tuple[Mapping[Path, OpenTo], bool]],
        *,
        period: float,
        shelf: Shelf,
        is_closed: Callable[[str], bool],
        news: News,
    ) -> None:
        """``own``: what others call this peer, and where they ask it. ``told``: the directories of whose words everybody may
        hear, and whether of their web pages alone; and whether there is more (`larm.peers.yousearch.visible`).
        """
        # constant after construction
        self._name = own.name
        self._channel = channel
        self._registrars = registrars
        self._url = urlsplit(own.url)
        self._what = told
        self._period = period
        self._shelf = shelf
        self._is_closed = is_closed
        self._once = news.tell
        # only the peer's thread
        self._indexed: dict[Path, Indexed] = {}
        self._summary = summary_of((), ())
        self._more = False
        self._told: dict[str, Summary] = {}

    def tell(self) -> bool:
        """What is shared now; whether all registrars know it. Raises StorageError, OSError."""
        self._summary = self._summarised()
        missing = self._registrars.find()
        for url, reason in missing.items():
            self._once(url, f"registrar {url}: {reason}")
        renewed = self._shelf.renew(self._is_closed)
        if renewed:
            self._recommend(self._registrars.all(), renewed)
        complete = not missing
        for registrar in self._registrars.all():
            complete = self._tell_one(registrar) and complete
        return complete

    def leave(self) -> None:
        """Good-bye, if that takes no time."""
        for registrar in self._registrars.all():
            self._channel.ask(registrar, say.LEAVE, say.Hello(), say.Done, seconds=0.5)

    def _tell_one(self, registrar: Contact) -> bool:
        for _ in range(2):  # the changes, then the whole
            answer = self._announce(registrar)
            if isinstance(answer, NoAnswer):
                self._told.pop(registrar.url, None)
                self._once(registrar.url, f"registrar {registrar.url}: {answer.reason}")
                return False
            if answer.known:
                if registrar.url not in self._told:  # it may know nothing else of us
                    self._recommend([registrar], self._shelf.all())
                self._told[registrar.url] = self._summary
                self._once(registrar.url, f"registrar {registrar.url} knows this peer")
                return True
            self._told.pop(registrar.url, None)
        return False

    def pass_on(self, order: msgspec.Struct) -> None:
        """To all registrars: one of `_PATHS`."""
        for registrar in self._registrars.all():
            self._channel.ask(registrar, _PATHS[type(order)], order, say.Done, seconds=SECONDS)

    def _recommend(self, registrars: Sequence[Contact], said: Sequence[Recommendation]) -> None:
        for registrar in registrars:
            answer = self._channel.ask(registrar, say.RECOMMEND, say.Recommend(tuple(said)), say.Done, seconds=SECONDS)
            refused = answer.reason if isinstance(answer, NoAnswer) else ""
            self._once(f"recommended {registrar.url}", refused and f"recommendations at {registrar.url}: {refused}")

    def _announce(self, registrar: Contact) -> say.Announced | NoAnswer:
        """Here I am, and what has changed since the registrar was told last."""
        name, before = name_of(self._summary), self._told.get(registrar.url)
        known = name_of(before) if before is not None else ""
        wire = None if known == name else to_wire(self._summary, before)
        host = self._url.hostname or ""
        announcement = say.Announce(
            self._name,
            self._url.port or (443 if self._url.scheme == "https" else 80),
            name,
            https=self._url.scheme == "https",
            host="" if address_of(host) is not None else host,
            before=known,
            summary=wire,
            more=self._more,
            period=self._period,
        )
        seconds = SECONDS + (len(wire.data) / _SLOWEST if wire is not None else 0.0)
        # a registrar that comes back is told within a period
        return self._channel.ask(registrar, say.ANNOUNCE, announcement, say.Announced, seconds=seconds, insist=True)

    def _summarised(self) -> Summary:
        words: set[str] = set()
        languages: set[str] = set()
        moments: list[int] = []
        directories, self._more = self._what()
        for directory, open_to in directories.items():
            index = directory / "index"
            if not is_there(index / "meta.json"):
                continue
            moment = (index / "meta.json").stat().st_mtime_ns
            known = self._indexed.get(directory)
            if known is None or known.moment != moment:
                reader = IndexReader(index)
                known = Indexed(moment, frozenset(reader.all_words(open_to)), tuple(reader.statistics.languages))
                self._indexed[directory] = known
            words |= known.words
            languages |= set(known.languages)
            moments.append(moment)
        return summary_of(words, sorted(languages), str(moments))


class News:
    """Of one peer."""

    def __init__(self, say: Callable[[str], object]) -> None:
        # constant after construction
        self.say = say
        self._lock = threading.Lock()
        # guarded by self._lock
        self._said: dict[str, str] = {}

    def tell(self, about: str, sentence: str) -> None:
        """Empty: there is nothing to say of it any more."""
        with self._lock:
            if self._said.get(about, "") == sentence:
                return
            self._said[about] = sentence
        if sentence:
            self.say(sentence)

    @property
    def now(self) -> dict[str, str]:
        """By what it is about."""
        with self._lock:
            return {about: sentence for about, sentence in self._said.items() if sentence}

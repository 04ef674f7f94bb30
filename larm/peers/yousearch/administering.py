"""What ``larm tune`` does: ask a registrar what holds, sign something else, and send it to all. On the main thread."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

from larm.errors import UsageError
from larm.fetch.http_client import HttpClient, NoAnswer
from larm.kit.clock import SystemClock
from larm.kit.units import Seconds
from larm.peers.channel import Channel, Contact
from larm.peers.group_secret import GroupSecret
from larm.peers.identity import Identity
from larm.peers.yousearch import protocol as say
from larm.peers.yousearch.registrars import Registrars
from larm.peers.yousearch.tuning import Tunables, signed
from larm.peers.yousearch.wiring import state_folder

_SECONDS = 10.0


def current(urls: Sequence[str], file: Path | None, secret: Path | None = None) -> dict[str, float]:
    """By name what holds at the first registrar. Raises UsageError, StorageError."""
    channel, registrars = _reached(urls, file, secret)
    return msgspec.structs.asdict(_now(channel, registrars[0]))


def send(urls: Sequence[str], file: Path | None, changes: Mapping[str, str], secret: Path | None = None) -> dict[str, float]:
    """What holds from now on. Raises UsageError, StorageError."""
    channel, registrars = _reached(urls, file, secret)
    flat: dict[str, float] = msgspec.structs.asdict(_now(channel, registrars[0]))
    for name, text in changes.items():
        if name not in flat:
            raise UsageError(f"{name}: expected one of {', '.join(flat)}")
        try:
            flat[name] = int(text) if name in {"length", "filters"} else float(Seconds.parse(text))
        except ValueError as error:
            raise UsageError(f"{name}={text}: {error}") from error
    try:
        tunables = msgspec.convert(flat, Tunables)
    except msgspec.ValidationError as error:
        raise UsageError(str(error)) from error
    tuning = signed(channel.identity, int(SystemClock().wall() * 1000), tunables)  # later ones have higher numbers
    for registrar in registrars:
        answer = channel.ask(registrar, say.TUNE, tuning, say.Done, seconds=_SECONDS)
        if isinstance(answer, NoAnswer):
            raise UsageError(f"{registrar.url}: {answer.reason}")
    return flat


def _reached(urls: Sequence[str], file: Path | None, secret: Path | None) -> tuple[Channel, list[Contact]]:
    http = HttpClient()
    found = Registrars(urls, None, http)
    for url, reason in found.find().items():
        raise UsageError(f"{url}: no registrar answers there: {reason}")
    identity = Identity.opened(file or state_folder() / "peer.key")
    known = GroupSecret.opened(secret) if secret is not None else None
    return Channel(identity, http, SystemClock(), secret=known), found.all()


def _now(channel: Channel, registrar: Contact) -> Tunables:
    answer = channel.ask(registrar, say.TUNED, say.Hello(), Tunables, seconds=_SECONDS)
    if isinstance(answer, NoAnswer):
        raise UsageError(f"{registrar.url}: {answer.reason}")
    return answer

"""What became of a URL in a crawl that several agents do: the agent that has its host says. For ``larm why --cluster``, on the
main thread; `answer` is called in a crawl, on a thread of `larm.cluster.agent_server`.
"""

import queue
from collections.abc import Callable
from pathlib import Path

import msgspec

from larm.building.etcd import credentials_of
from larm.building.readers import normalizer_of
from larm.cluster.agent_client import AgentClient
from larm.cluster.files import IDENTITY
from larm.cluster.identity import read_identity
from larm.cluster.roster import agent_of, place_of, read_roster
from larm.cluster.transport import NoAnswer, Origin
from larm.config import Config
from larm.crawldir.state import QUEUES
from larm.errors import LarmError, UsageError, refusing
from larm.kit.commands import command
from larm.kit.threads.workers import Workers
from larm.model.url import BadUrl
from larm.ops.afterwards import explain_url

_SECONDS = 30.0
"""For an answer: links.log may have gigabytes."""
Told = tuple[str, list[tuple[str, str]]]
"""A verdict, and rows of topics and sentences."""


def answer(settings: Config, directory: Path) -> Callable[[str], bytes]:
    """Return the function that answers other agents for this directory. It raises ValueError where there is no answer."""

    def told(url: str) -> bytes:
        try:
            found = explain_url(settings, directory, url)
        except LarmError as error:
            raise ValueError(str(error)) from error
        return msgspec.msgpack.encode((found.verdict, found.rows))

    return told


def explain_in_cluster(settings: Config, directory: Path, text: str) -> Told:
    """Return what the owner of its host knows of a URL. Raises UsageError where it does not answer; StorageError."""
    with refusing(text[:200], BadUrl):
        url = normalizer_of(settings, directory, [text]).parse(text)
    roster = read_roster(directory / QUEUES)
    owner = roster.owner(url.host) if roster is not None else ""
    card = roster.cards.get(owner) if roster is not None else None
    if roster is None or card is None or owner == roster.me:
        found = explain_url(settings, directory, text)
        return found.verdict, list(found.rows)
    asked = ("agent", f"{place_of(owner, card)}, which has this host")
    there = Path(card.directory) if card.directory else None
    if there is not None and agent_of(there / QUEUES) == owner:
        found = explain_url(settings, there, text)
        return found.verdict, [asked, *found.rows]
    verdict, rows = _ask(settings, directory, owner, card.address, url.access)
    return verdict, [asked, *rows]


def _ask(settings: Config, directory: Path, owner: str, address: str, url: str) -> Told:
    me = read_identity(directory / QUEUES / IDENTITY)
    origin = Origin(me.session.cluster, me.session.generation, me.session.epoch, me.name, me.session.nonce)
    died: list[BaseException] = []
    told: queue.SimpleQueue[bytes | NoAnswer] = queue.SimpleQueue()
    client = AgentClient(lambda: origin, lambda _: None, credentials_of(settings.cluster, directory))
    workers = Workers(lambda _, error: died.append(error))
    client.start(workers)
    try:
        client.ask(owner, address, "why", url.encode(), _SECONDS, told.put)
        found = told.get(timeout=2 * _SECONDS)
    finally:
        client.close()
        workers.join(5)
    if isinstance(found, NoAnswer):
        raise UsageError(f"the agent {owner} at {address}: {found.reason}; on its machine, {command('why', url)} says more")
    said: Told = msgspec.msgpack.decode(found, type=Told)
    return said

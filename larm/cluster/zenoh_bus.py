"""ZenohBus: agents reach each other by Eclipse Zenoh, over TCP or TLS, without a server. The only file that knows zenoh.

One session listens; one for each other agent asks, and dials its address again and again when it is lost. So a pair of agents
has a link for each direction, in sessions that know nothing of each other: where one session has two links to the same peer,
the end of one is noticed late or never (eclipse-zenoh/zenoh#2806). Gossip and multicast are off for the same reason. Neither
shared memory (it takes 30 MB, and is no faster here) nor the default lease of 10 s is used; a message has 16 MB at most; who
listens to other machines without TLS is refused.
"""

import json
import threading
from collections.abc import Callable, Mapping
from ipaddress import ip_address
from pathlib import Path
from typing import Any

import zenoh

from larm.cluster.bus import Question
from larm.errors import ConfigError
from larm.kit.clock import SystemClock
from larm.kit.threads.workers import Workers

_LARGEST = 16 * 1024 * 1024
_SESSIONS, _IDLE = 500, 30.0
"""That dial, of some 9 MB each, and seconds until one that nobody asks is closed: members are asked each second. Other agents
say where they are, and may do so without end."""
_clock = SystemClock()
_KINDS = ("beat", "parcel", "parts", "copies", "pass")


class Tls:
    """Files of an agent's certificate, its key, and the certificate authority of the cluster."""

    def __init__(self, authority: Path, certificate: Path, key: Path) -> None:
        # constant after construction
        self.settings = {
            "root_ca_certificate": str(authority),
            "listen_certificate": str(certificate),
            "listen_private_key": str(key),
            "connect_certificate": str(certificate),
            "connect_private_key": str(key),
            "enable_mtls": True,
            "verify_name_on_connect": False,  # agents are known by the authority, not by the names of their machines
        }


class ZenohBus:
    """Implements `larm.cluster.bus.Bus`. ``listen`` is an address such as ``tcp/127.0.0.1:7441``."""

    def __init__(self, cluster: str, listen: str, lease: float, tls: Tls | None = None, *, insecure: bool = False) -> None:
        """Raises ConfigError where it would listen to the world without TLS."""
        if tls is None and not insecure and not is_loopback(listen):
            raise ConfigError(
                f"cluster.listen: {listen}: without TLS larm listens on this machine only, for whoever reaches it can steer"
                " the crawl; set cluster.ca and cluster.certificate, or cluster.insecure: true in a network of your own"
            )
        # constant after construction
        self._root = f"larm/{cluster}"
        self._listen = listen
        self._lease = lease
        self._tls = tls
        self._closing = Workers(lambda _, error: None)  # noqa: ARG005  it raises where its link loses what is sent: it goes anyway
        self._lock = threading.Lock()
        # guarded by self._lock
        self._dialled: dict[str, tuple[Any, float]] = {}
        """With the time of the last question; who was asked last is last."""
        self._listening: Any = None
        self._closed = False

    def open(self, on_question: Callable[[Question], object]) -> None:
        """See `Bus`."""
        try:
            session = zenoh.open(self._config({"listen/endpoints": [self._listen]}))
        except zenoh.ZError as error:
            raise ConfigError(f"cluster.listen: {self._listen}: {error}") from error
        with self._lock:
            self._listening = session
        for kind in _KINDS:
            session.declare_queryable(f"{self._root}/{kind}", self._receiver(kind, on_question), complete=True)

    def ask(self, address: str, kind: str, payload: bytes, timeout: float, on_answer: Callable[[bytes | None], object]) -> None:
        """See `Bus`."""
        answers: list[bytes] = []

        def take(reply: Any) -> None:
            if reply.ok is not None:
                answers.append(reply.ok.payload.to_bytes())

        def done() -> None:
            on_answer(answers[0] if answers else None)

        try:
            session = self._to(address)
            if session is None:
                on_answer(None)
                return
            session.get(
                f"{self._root}/{kind}",
                zenoh.handlers.Callback(take, drop=done),
                payload=payload,
                timeout=timeout,
                target=zenoh.QueryTarget.ALL,
                consolidation=zenoh.ConsolidationMode.NONE,
                congestion_control=zenoh.CongestionControl.BLOCK,
            )
        except zenoh.ZError:  # also where the address, which another agent has told us, is none
            on_answer(None)

    def close(self) -> None:
        """See `Bus`. May take seconds on a link that loses what is sent."""
        with self._lock:
            sessions = [
                *(session for session, _ in self._dialled.values()),
                *([self._listening] if self._listening is not None else []),
            ]
            self._dialled, self._listening, self._closed = {}, None, True
        for session in sessions:
            session.close()

    def _receiver(self, kind: str, on_question: Callable[[Question], object]) -> Callable[[Any], None]:
        def receive(query: Any) -> None:
            payload = query.payload.to_bytes() if query.payload is not None else b""

            def answer(text: bytes | None) -> None:
                try:
                    if text is not None:
                        query.reply(query.key_expr, text)
                except zenoh.ZError:
                    return  # who asked has gone
                finally:
                    query.drop()  # or who asked waits for its time-out

            on_question(Question(kind, payload, answer))

        return receive

    def _to(self, address: str) -> Any:
        now = _clock.monotonic()
        with self._lock:
            session, _ = self._dialled.pop(address, (None, now))
            if session is None and not self._closed:
                session = zenoh.open(self._config({"connect/endpoints": [address]}))
                self._make_room(now)
            if session is not None:
                self._dialled[address] = session, now
            return session

    def _make_room(self, now: float) -> None:
        idle = [address for address, (_, at) in self._dialled.items() if now - at > _IDLE]
        for address in idle or list(self._dialled)[: len(self._dialled) >= _SESSIONS]:
            session, _ = self._dialled.pop(address)
            self._closing.start("larm-agents-close", session.close)

    def _config(self, more: Mapping[str, object]) -> Any:
        protocol = "tls" if self._tls is not None else "tcp"
        settings: dict[str, object] = {
            "mode": "peer",
            "listen/endpoints": [],
            "connect/timeout_ms": -1,  # for ever, in the background
            "connect/exit_on_failure": False,
            "connect/retry": {"period_init_ms": 200, "period_max_ms": 1000, "period_increase_factor": 2},
            "open/return_conditions/connect_scouted": False,
            "scouting/multicast/enabled": False,
            "scouting/gossip/enabled": False,
            "transport/shared_memory/enabled": False,
            "transport/link/protocols": [protocol],
            "transport/link/tx/lease": max(1000, round(self._lease * 1000)),
            "transport/link/tx/keep_alive": 4,
            "transport/link/rx/max_message_size": _LARGEST,
            **more,
        }
        if self._tls is not None:
            settings |= {f"transport/link/tls/{name}": value for name, value in self._tls.settings.items()}
        config = zenoh.Config()
        for name, value in settings.items():
            config.insert_json5(name, json.dumps(value))
        return config


def is_loopback(address: str) -> bool:
    """Whether ``tcp/HOST:PORT`` is of this machine only."""
    host = address.partition("/")[2].rpartition(":")[0].strip("[]")
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"

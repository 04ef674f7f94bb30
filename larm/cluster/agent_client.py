"""AgentClient: sends requests to other agents and reports each outcome, all on one thread, ``larm-agents-client``.

An agent that is slow or gone delays no request to another one. With certificates the other side must show one for the name of
the agent that is asked. `ask` is thread-safe.
"""

from collections.abc import Callable

import msgspec

from larm.cluster.address import parse_address
from larm.cluster.credentials import Credentials, tls_refusal
from larm.cluster.transport import LARGEST, PATH, Complaints, Envelope, NoAnswer, Origin, Refusal, certified_name
from larm.fetch import http_client
from larm.fetch.http_multi import MultiClient
from larm.kit.decoding import decoded_msgpack
from larm.kit.threads.workers import Workers

_HEADERS = {"content-type": "application/msgpack"}
_STATUS = {
    413: ("large", f"the request is larger than {LARGEST:,} bytes"),
    426: ("authority", "it uses TLS: either all agents have certificates, or none has"),
    503: ("busy", "it has too many requests at a time"),
}
_encode = msgspec.msgpack.Encoder().encode


class AgentClient:
    """Requests are sent from `start` to `close`."""

    def __init__(
        self, origin: Callable[[], Origin], log: Callable[[str], object], credentials: Credentials | None = None
    ) -> None:
        """``origin``: this agent and its cluster now; thread-safe."""
        # constant after construction
        self._origin = origin
        self._complaints = Complaints(log)
        self._credentials = credentials
        self._http = MultiClient()

    def start(self, workers: Workers) -> None:
        """Start the thread; the caller joins it after `close`."""
        workers.start("larm-agents-client", self._http.run)

    def ask(  # noqa: PLR0917
        self, name: str, address: str, kind: str, body: bytes, seconds: float, told: Callable[[bytes | NoAnswer], object]
    ) -> None:
        """Ask the agent of this name. ``told`` gets the outcome once, on the client's thread (or at once); must not block."""

        def answered(came: http_client.HttpAnswer | http_client.NoAnswer) -> None:
            told(self._outcome(name, address, came))

        data = _encode(Envelope(self._origin(), body, name))
        certified = certified_name(name)
        try:
            where = parse_address(address)
        except ValueError as error:
            told(self._report(name, NoAnswer("silent", str(error), unsent=True)))
            return
        if len(data) > LARGEST:
            told(self._report(name, NoAnswer(*_STATUS[413], unsent=True)))
        elif self._credentials is not None and not self._credentials.accepts(certified):
            told(self._report(name, NoAnswer("members", f"{certified} is not in cluster.members", unsent=True)))
        else:
            tls = self._credentials.client_tls() if self._credentials is not None else None
            url, at = (f"http://{where}", "") if tls is None else (f"https://{certified}:{where.port}", where.host)
            url += PATH + kind
            self._http.post(url, _HEADERS, data, answered, seconds=seconds, most=LARGEST, at=at, tls=tls)

    def close(self) -> None:
        """End the thread; requests in flight get no answer. Thread-safe."""
        self._http.close()

    def _outcome(self, name: str, address: str, came: http_client.HttpAnswer | http_client.NoAnswer) -> bytes | NoAnswer:
        if isinstance(came, http_client.NoAnswer):
            refusal = tls_refusal(came.reason)
            if refusal is None:
                return self._report(name, NoAnswer("silent", f"{address}: {came.reason}", came.unsent))
            return self._report(name, NoAnswer(refusal.code, refusal.reason, unsent=True))
        if came.status == 200:
            self._complaints.forget(name)
            return came.body
        if came.status in _STATUS:
            return self._report(name, NoAnswer(*_STATUS[came.status], unsent=True))
        try:
            refused = decoded_msgpack(came.body, Refusal)
        except msgspec.MsgspecError:
            return self._report(name, NoAnswer("garbage", f"no larm of this version answers at {address}: {came.status}"))
        return self._report(name, NoAnswer(refused.code, f"it refuses this agent: {refused.reason[:300]}", unsent=True))

    def _report(self, name: str, outcome: NoAnswer) -> NoAnswer:
        self._complaints.report(name, outcome.code, f"no answer from {name}: {outcome.reason}")
        return outcome

"""AgentServer: receives the requests of other agents, and refuses those that are not of this cluster, with the reason.

With certificates it is HTTPS, and the sender is the agent that its certificate names. Without, it is plain HTTP on this machine
(or in a network that is trusted), and names are believed. `answer` runs on a fixed number of threads, ``larm-agents-answer``.
"""

from collections.abc import Callable

import msgspec

from larm.cluster.address import Address
from larm.cluster.credentials import Credentials, name_in, tls_refusal
from larm.cluster.transport import LARGEST, PATH, Asked, Complaints, Envelope, Origin, Refusal, speaks_for
from larm.errors import ConfigError
from larm.kit.decoding import decoded_msgpack
from larm.kit.http_listener import HttpListener, Request, Response
from larm.kit.threads.workers import Workers

_THREADS = 4
_encode = msgspec.msgpack.Encoder().encode


class AgentServer:
    """Listens from construction on; answers from `start` to `close`."""

    def __init__(
        self,
        listen: Address,
        origin: Callable[[], Origin],
        answer: Callable[[Asked], bytes | Refusal],
        log: Callable[[str], object],
        credentials: Credentials | None = None,
        *,
        insecure: bool = False,
        wires: tuple[int, int] = (1, 1),
    ) -> None:
        """Raises ConfigError: the address is taken, or would let other machines in without certificates.

        ``origin``: this agent and its cluster now; thread-safe. ``wires``: the lowest and the highest wire version it reads.
        ``answer`` may raise msgspec.MsgspecError or ValueError for a malformed body, which is then refused.
        """
        if credentials is None and not insecure and not listen.is_loopback:
            raise ConfigError(
                f"cluster.listen: {listen}: without certificates larm listens on this machine only, as others could steer the"
                " crawl: set cluster.ca and cluster.certificate, or in a network of your own cluster.insecure: true"
            )
        # constant after construction
        self._origin = origin
        self._answer = answer
        self._complaints = Complaints(log)
        self._credentials = credentials
        self._wires = wires
        tls = None if credentials is None else credentials.server_context
        try:
            self._listener = HttpListener(*listen, self._asked, self._failed, largest=LARGEST, tls=tls)
        except OSError as error:
            raise ConfigError(
                f"cluster.listen: {listen}: {error.strerror or error}; another process may listen there"
            ) from error
        self.address = Address(listen.host, self._listener.port)

    def start(self, workers: Workers) -> None:
        """Start the threads; the caller joins them after `close`."""
        workers.start("larm-agents-server", self._listener.run)
        for number in range(_THREADS):
            workers.start(f"larm-agents-answer-{number + 1}", self._listener.serve)

    def close(self, seconds: float = 2.0) -> None:
        """Accept nothing more; requests in progress have ``seconds`` to end. Thread-safe; does not wait."""
        self._listener.close(seconds)

    def _asked(self, request: Request) -> Response:
        certified = name_in(request.certificate)
        try:
            envelope = decoded_msgpack(request.body, Envelope)
            found = (
                self._check(certified, envelope.origin)
                or self._check_recipient(envelope.to)
                or self._answer(Asked(request.path.removeprefix(PATH), envelope.origin, envelope.body))
            )
            sender = envelope.origin.sender[:100]
        except (msgspec.MsgspecError, ValueError, RecursionError) as error:
            found, sender = Refusal("garbage", f"its request is malformed: {error}"[:200]), certified
        if isinstance(found, Refusal):
            self._complaints.report(request.host + sender, found.code, f"refused {sender} at {request.host}: {found.reason}")
            return Response(403, _encode(found))
        self._complaints.forget(request.host + sender)
        return Response(200, found)

    def _check(self, certified: str, theirs: Origin) -> Refusal | None:
        ours, (lowest, highest) = self._origin(), self._wires
        if self._credentials is not None and not self._credentials.accepts(certified):
            return Refusal("members", f"its certificate is that of {certified or 'no agent'}, not one in cluster.members")
        if self._credentials is not None and not speaks_for(certified, theirs.sender):
            return Refusal("name", f"its certificate is that of {certified}, but it says that it is {theirs.sender[:100]}")
        if not lowest <= theirs.wire <= highest:
            return Refusal("wire", f"it speaks wire version {theirs.wire}, not {lowest} to {highest}: install the same larm")
        if theirs.cluster != ours.cluster:
            return Refusal("cluster", "it is of another cluster: compare cluster.name and cluster.etcd of both")
        if theirs.generation != ours.generation:
            both = f"it knows generation {theirs.generation} of the cluster, this agent {ours.generation}"
            return Refusal("generation", f"{both}: the one with the lower number has not read etcd yet")
        return None

    def _check_recipient(self, name: str) -> Refusal | None:
        ours = self._origin().sender
        reason = f"it asks {name[:100]}, and this is {ours}, another directory at the same address"
        return None if name == ours else Refusal("agent", reason)

    def _failed(self, host: str, error: Exception) -> None:
        refusal = tls_refusal(str(error))
        if refusal is not None:
            self._complaints.report(host, refusal.code, f"no connection with {host}: {refusal.reason}")

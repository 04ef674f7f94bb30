"""Connection: what one client has sent and is sent. Plain state of `larm.ops.control.server`; on the control thread only."""

import socket

from larm.ops.control.requests import LONGEST, Tail, Watch, encode_refusal

_CHUNK = 65_536


class Connection:
    """Nothing here waits: what can't be read or written at once is so later."""

    def __init__(self, client: socket.socket, now: float) -> None:
        self.socket = client
        self.heard = now
        """When something last came from it."""
        self.stream: Watch | Tail | None = None
        """It is answered every second from now on."""
        self.position = 0
        """Of a log, where its stream is one."""
        self.checkpoint = 0
        """It waits for the checkpoint of this number; 0: for none."""
        self.hold = 0
        """It copies the files of the checkpoint of this number; 0: of none."""
        self.events = 0
        """What the server's selector listens for."""
        self.over = False
        """Nothing more is read from it, and it is closed when all is sent."""
        self._in = bytearray()
        self._out = b""

    @property
    def sending(self) -> bool:
        """It has not yet taken all that it was sent."""
        return bool(self._out)

    @property
    def ready(self) -> bool:
        """There is a request, and everything before it was answered and taken."""
        return not (self._out or self.checkpoint or self.over) and b"\n" in self._in

    @property
    def reads(self) -> bool:
        """More may be read: what one sends who does not read our answers stays with the system."""
        return not (self.over or self._out or b"\n" in self._in)

    def receive(self, now: float) -> None:
        """What has come; a connection that was closed is over."""
        try:
            data = self.socket.recv(_CHUNK)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        self.heard = now
        self._in += data
        if not data:
            self.over = True
            self._out = b""
        elif len(self._in) > LONGEST and b"\n" not in self._in:
            self._in.clear()
            self.send(encode_refusal(f"a request has at most {LONGEST:,} bytes"))
            self.over = True

    def next(self) -> bytes:
        """The first request, without its line end."""
        line, _, rest = bytes(self._in).partition(b"\n")
        self._in = bytearray(rest)
        return line

    def send(self, data: bytes) -> None:
        """As much at once as it takes."""
        self._out += data
        self.flush()

    def flush(self) -> None:
        """Go on sending."""
        try:
            self._out = self._out[self.socket.send(self._out) :] if self._out else b""
        except BlockingIOError:
            return
        except OSError:
            self.over = True
            self._out = b""

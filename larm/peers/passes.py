"""Passes: how a browser opens a file of a peer that shows its files to some alone. Constant but for what is kept; any thread.

Browsers sign nothing. So the machine at which somebody searches gives him a pass beside each link: its key, until when, the
signature of this key over the recipient's, and where the group has a secret the mark of all that. It is good at one peer, for
some hours, and says no more than a search that this machine would have sent itself.
"""

import threading
from collections import OrderedDict
from collections.abc import Collection

from larm.peers.group_secret import GroupSecret
from larm.peers.identity import Identity, is_signed
from larm.seams import Clock

_PURPOSE = "files"
_SECONDS = 12 * 3_600
_RENEWED = 3_600
"""Seconds after which a new one is made."""
_MOST = 10_000
_LONGEST = 300
_SKEW = 60
"""Seconds that clocks may differ."""
PASS = "larm-pass"  # noqa: S105 - a name
"""The header and the cookie that have one."""


class Passes:
    """Of one machine: those it makes, and those it takes."""

    def __init__(
        self,
        identity: Identity,
        clock: Clock,
        *,
        secret: GroupSecret | None = None,
        allowed: Collection[str] | None = None,
        denied: Collection[str] = (),
        signed: bool = False,
    ) -> None:
        """``allowed``: the only keys whose passes are taken; None: all but the ``denied``, if they know the ``secret``.

        ``signed``: those it makes say whose they are, which they do with ``allowed``, too.
        """
        # constant after construction
        self._named = signed or allowed is not None
        self._identity = identity if self._named else Identity.new()  # who need not say who he is does not
        self._clock = clock
        self._secret = secret
        self._allowed = None if allowed is None else frozenset(allowed)
        self._denied = frozenset(denied)
        self._lock = threading.Lock()
        # guarded by self._lock
        self._made: OrderedDict[str, tuple[float, str]] = OrderedDict()

    @property
    def needed(self) -> bool:
        """Files are not for everybody."""
        return self._secret is not None or self._allowed is not None

    @property
    def given(self) -> bool:
        """Links to files of others need one, or may need one."""
        return self._secret is not None or self._named

    def make(self, recipient: str) -> str:
        """For one peer."""
        now = self._clock.wall()
        with self._lock:
            made, text = self._made.get(recipient, (0.0, ""))
            if not text or not 0 <= now - made < _RENEWED:
                until = int(now) + _SECONDS
                text = f"{self._identity.key}.{until}.{self._identity.sign(_PURPOSE, _said(recipient, until))}"
                if self._secret is not None:
                    text += f".{self._secret.mark(text)}"
                self._made[recipient] = now, text
                if len(self._made) > _MOST:
                    self._made.popitem(last=False)
            return text

    def owner(self, text: str, recipient: str) -> str:
        """Whose it is, where it is good, here and now; else empty."""
        rest, _, mark = text.rpartition(".") if self._secret is not None else (text, "", "")
        key, _, signed = rest.partition(".")
        until, _, signature = signed.partition(".")
        if len(text) > _LONGEST or not (until.isascii() and until.isdecimal()):
            return ""
        if not self._clock.wall() <= int(until) <= self._clock.wall() + _SECONDS + _SKEW:
            return ""
        if key in self._denied or (self._allowed is not None and key not in self._allowed):
            return ""
        if self._secret is not None and not self._secret.fits(mark, rest):
            return ""
        return key if is_signed(key, _PURPOSE, _said(recipient, int(until)), signature) else ""


def _said(recipient: str, until: int) -> bytes:
    return f"{recipient} {until}".encode()

"""PageReader: pages to a process beside the crawl, documents back. Owned by one thread at a time, such as ``larm-page-<n>``.

A page that ends the process twice, once among others and once alone, is known by that: it costs itself and nothing else. And
if the process crashed, html5lib reads it, in a process like the others; only who ends that, too, is set aside.
"""

from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress

import msgspec

from larm.kit.processes.frames import KEPT
from larm.kit.processes.helper_process import Died, HelperProcess, Killed, NotStarted, TookTooLong, TookTooMuch
from larm.kit.processes.helper_serve import GRACE
from larm.model.document import Document
from larm.model.lease import Lease
from larm.model.lost import Lost
from larm.model.outcome import Fetched
from larm.parse.reading.protocol import Request, Terms, allowance, decode_reply, encode_request, sizes_of

Page = tuple[Lease, Fetched]
Found = Document | Lost | None
"""What a page says, why it is set aside, or nothing: whoever has it may read it, unless the crawl stops."""
PIPELINED = 4
"""Batches that a process should have: while it reads one, the next are on their way. Three more cover the milliseconds in which
nobody here gets his turn; measured on two cores, a crawl of 10,000 pages gains 5 % by four in place of two."""
_UNFIT = 2
"""Processes in a row that die before their first page: then the crawl reads here, and says what is wrong, if anything is."""
HURRY = 2.0
"""Seconds that a stop waits for a batch, where it did not wait for it already."""


class _Batch(msgspec.Struct):
    pages: Sequence[Page]
    sent: bool
    seconds: float
    """That it may take."""


class PageReader:
    """`hand` over pages and `take` documents, as often as you like, then `close`.

    A process that has `PIPELINED` batches never waits for us: among busy threads each of our calls takes milliseconds.
    """

    def __init__(self, terms: Terms, count: Callable[[str, int], None], process: HelperProcess, patience: float = 1.0) -> None:
        """``count(name, n)`` adds to a statistic; ``process`` (`larm.parse.reading.ahead`) is ours from now on.

        ``patience``: times the usual seconds that pages may take.
        """
        # constant after construction
        self._terms = terms
        self._count = count
        self._patience = patience
        # only the thread that reads
        self.memory: int | None = None
        """Bytes that the process may have from the next page on; None: as many as it was made with."""
        self._process = process
        self._told = 0  # the process that knows the terms
        self._unfit = 0  # processes in a row that have not got so far
        self._out: deque[_Batch] = deque()
        self._frame = bytearray()  # memory of requests, used again
        # written by the main thread
        self._hurried = False

    def fork(self) -> bool:
        """Have the process at once, see `HelperProcess.fork`."""
        return self._process.fork()

    def start(self) -> None:
        """Have the process ready: it takes a tenth of a second, if there is none yet."""
        with suppress(NotStarted):
            self._prepare()

    def hurry(self) -> None:
        """The crawl stops: what ends the process is not tried again, nor is what came behind it. Any thread."""
        self._hurried = True

    def interrupt(self) -> None:
        """The same, and what it does now is given up. Any thread; not for a process that was made by `fork`."""
        self._hurried = True
        self._process.interrupt()

    @property
    def out(self) -> int:
        """Batches that were handed over and not taken."""
        return len(self._out)

    def hand(self, pages: Sequence[Page]) -> None:
        """Pages to be read; waits, without the GIL, where the process is far behind."""
        sent = all(batch.sent for batch in self._out)  # else their order would be lost
        if sent:
            try:
                self._send(pages)
            except (Died, UnicodeError):  # `take` will see
                sent = False
        self._out.append(_Batch(pages, sent, self._seconds(pages)))

    def take(self) -> tuple[Sequence[Page], Sequence[Found]]:
        """The pages of the oldest batch that is out, and what each of them says; waits without the GIL."""
        batch = self._out.popleft()
        return batch.pages, self._documents(batch)

    def _documents(self, batch: _Batch) -> Sequence[Found]:
        try:
            if batch.sent:
                return self._receive(batch.pages)
            if not self._hurried:
                return self._ask(batch.pages)
        except NotStarted:
            pass
        except Died as death:
            self._count("processing/died", 1)
            for other in self._out:
                other.sent = False
            if isinstance(death, TookTooMuch) and len(batch.pages) == 1:
                return [Lost.TOO_LARGE]
            return [self._alone(page) for page in batch.pages]
        return [None] * len(batch.pages)

    def read_carefully(self, page: Page) -> Found:
        """By html5lib, as it has ended others more than once: no page is lost to a C library. With nothing handed over."""
        try:
            (found,) = self._ask([page], careful=True)
        except NotStarted:
            return Lost.DEADLY
        except Died as death:
            self._count("processing/died", 1)
            return self._verdict(death)
        self._count("processing/careful", 1)
        return found

    def dismiss(self) -> None:
        """There are no more pages; the process may end while others still have work."""
        self._process.dismiss()

    def close(self) -> None:
        """End the process."""
        self._process.close()

    def _alone(self, page: Page) -> Found:
        """Once more; and if it crashes again, by the parser that can't."""
        if self._hurried:
            return None
        try:
            (found,) = self._ask([page])
        except NotStarted:
            return None
        except Died as death:
            self._count("processing/died", 1)
            verdict = self._verdict(death)
            return self.read_carefully(page) if verdict is Lost.DEADLY else verdict
        return found

    def _verdict(self, death: Died) -> Lost | None:
        """On a page that has ended its process again."""
        if self._hurried:  # a stop has cut its time short
            return None
        if isinstance(death, TookTooMuch | Killed):
            return Lost.TOO_LARGE
        return Lost.TOO_SLOW if isinstance(death, TookTooLong) else Lost.DEADLY

    def _ask(self, pages: Sequence[Page], *, careful: bool = False) -> Sequence[Found]:
        try:
            self._send(pages, careful=careful)
        except UnicodeError:  # a header that can't be told
            return [None] * len(pages)
        return self._receive(pages)

    def _send(self, pages: Sequence[Page], *, careful: bool = False) -> None:
        self._prepare()
        pairs = [(lease.message, _to_be_read(fetched)) for lease, fetched in pages]
        request = Request(pairs, seconds=self._seconds(pages) - 2 * GRACE, careful=careful)
        self._tell(request, self._allowance(pages))

    def _tell(self, request: Request, seconds: float) -> None:
        if len(self._frame) > KEPT:  # of a large page
            self._frame = bytearray()
        encode_request(request, self._frame)
        self._process.send(self._frame, seconds)

    def _prepare(self) -> None:
        """A process that knows the terms. Raises NotStarted: no page is to blame for one that dies before."""
        if self._unfit >= _UNFIT:
            raise NotStarted("it can't read here")
        self._process.start()
        if self.memory is not None:
            self._process.limit(self.memory)
        if self._told == self._process.starts:
            return
        self._unfit += 1
        try:
            self._tell(Request((), self._terms, self._seconds(())), self._allowance(()))
            self._process.receive(self._allowance(()), len)
        except Died as death:
            self._count("processing/died", 1)
            raise NotStarted(f"before its first page {death}") from death
        self._told, self._unfit = self._process.starts, 0

    def _receive(self, pages: Sequence[Page]) -> Sequence[Found]:
        try:
            reply = self._process.receive(self._allowance(pages), decode_reply)
        except (msgspec.DecodeError, UnicodeError):
            reply = None
        if reply is None or len(reply.documents) != len(pages):  # nonsense
            self._process.close()
            for batch in self._out:
                batch.sent = False
            return [None] * len(pages)
        for name, n in reply.counts.items():
            self._count(name, n)
        return reply.documents

    def _allowance(self, pages: Sequence[Page]) -> float:
        """Seconds for these, and all that were handed over before."""
        if self._hurried:
            return HURRY
        return sum([batch.seconds for batch in self._out], self._seconds(pages))

    def _seconds(self, pages: Sequence[Page]) -> float:
        """What a batch may take; the process ends itself before."""
        return allowance(sizes_of(pages)) * self._patience + 2 * GRACE


def _to_be_read(fetched: Fetched) -> Fetched:
    """Nobody needs the body twice."""
    return fetched if fetched.exchange is None else msgspec.structs.replace(fetched, exchange=None)

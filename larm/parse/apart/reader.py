"""DocumentReader: hands PDF and office files to reading processes, and makes Documents of what comes back.

Such files are read by large programs that were not made for hostile files, or unpack to a thousand times their size: a crash,
a loop or a bomb must cost one document, not the crawl. Called by the threads ``larm-document-<n>``
(`larm.engine.reading_pool`), any number of them.
"""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import msgspec

from larm.config import DocumentsSettings, IndexSettings
from larm.kit.processes.helper_process import Died, HelperProcess, TookTooLong, TookTooMuch
from larm.kit.processes.helper_serve import GRACE
from larm.kit.processes.memory_budget import MemoryBudget
from larm.model.cuts import DOCUMENTS, PROCESSES
from larm.model.document import Document
from larm.model.message import URLMessage
from larm.model.outcome import Fetched
from larm.parse.apart.protocol import KINDS, PDF, Found, Request, decode_found, encode_request
from larm.parse.assembly import Assembler
from larm.parse.page import Element, Page

CHILD = "larm.parse.apart.child"
_TEXT = int(IndexSettings().text_size)
_SHARE = 0.8  # of the time-out, after which a reader gives what it has


class DocumentReader:
    """Owns the processes; they are started when they are needed."""

    def __init__(
        self,
        settings: DocumentsSettings,
        child: str = CHILD,
        *,
        text: int = _TEXT,
        effort: int = 1,
        budget: MemoryBudget | None = None,
    ) -> None:
        """``text``: characters that are read of a document, ``storage.index.text_size``; ``effort``: ``processing.effort``.

        ``budget``: grants the memory for each document; None: there is enough for all processes.
        """
        # constant after construction
        self._settings = settings
        self._text = text
        self._effort = effort
        self._budget = budget or MemoryBudget(2 * settings.processes * settings.memory, lambda: 0)
        self._room = threading.Semaphore(settings.processes)
        self._lock = threading.Lock()
        # guarded by self._lock
        self._idle = [HelperProcess(child, settings.memory) for _ in range(settings.processes)]
        self._closed = False

    def read(self, kind: str, body: bytes) -> Found:
        """What is in a document of one of `KINDS`; waits until a process is free. Never raises for what it holds.

        One whose process was ended from outside, or crashed, gets a second one: it need not be the document's fault.
        """
        with self._process() as process, self._budget.granted(self._settings.memory) as memory:
            found, again = self._ask(process, memory, kind, body)
            if again:
                found, _ = self._ask(process, memory, kind, body)
        less = memory < self._settings.memory and DOCUMENTS in found.cuts
        return msgspec.structs.replace(found, ended=True) if less else found

    def _ask(self, process: HelperProcess, memory: int, kind: str, body: bytes) -> tuple[Found, bool]:
        """(what was found, whether another try may find more)."""
        timeout = self._settings.timeout
        request = Request(kind, body, timeout * _SHARE, self._text, int(self._settings.memory), self._effort)
        try:
            process.start()
            process.limit(memory)
            return decode_found(process.ask(encode_request(request), timeout + GRACE)), False
        except (TookTooLong, TookTooMuch) as death:  # with more of it, it can be read
            return Found(warnings=(f"the reading process: {death}",), failed=True, cuts=(DOCUMENTS,)), False
        except Died as death:
            return Found(warnings=(f"the reading process: {death}",), failed=True, ended=True), True
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            process.close()
            return Found(warnings=(f"the reading process answers nonsense: {error}",), failed=True, ended=True), False

    def close(self) -> None:
        """End the processes. Whoever still reads ends his own."""
        with self._lock:
            self._closed = True
            idle = list(self._idle)
        for process in idle:
            process.close()

    @contextmanager
    def _process(self) -> Iterator[HelperProcess]:
        with self._room:
            with self._lock:
                process = self._idle.pop()  # the one that was used last: the others may never be started
            try:
                yield process
            finally:
                with self._lock:
                    self._idle.append(process)
                    closed = self._closed
                if closed:
                    process.close()


class DocumentProcessor:
    """For the types of `KINDS`."""

    def __init__(self, assembler: Assembler, reader: DocumentReader, count: Callable[[str, int], None]) -> None:
        # constant after construction
        self._assembler = assembler
        self._reader = reader
        self._count = count

    def process(self, message: URLMessage, fetched: Fetched, mime: str) -> Document:
        """See `larm.seams.Processor`. What can't be read is found by the words of its URL."""
        found = self._reader.read(KINDS[mime], fetched.body)
        self._count("processing/documents_failed" if found.failed else "processing/documents", 1)
        if found.warnings and not found.failed:
            self._count("processing/documents_flawed", 1)
        elements: list[Element] = [("a", {"href": address}, words) for address, words in found.links]
        warnings = [f"{mime}: {warning}" for warning in found.warnings]
        if found.failed and fetched.truncated:
            warnings.append("it was cut off at fetch.document_size")
        page = Page(
            found.title,
            found.text.strip(),
            "\n".join(found.headings) if KINDS[mime] == PDF else "",  # an outline: the headings of others stand in the text
            headings=found.headings,
            elements=elements,
            language=found.language,
            warnings=warnings,
            modified=found.modified,
            cuts=found.cuts,
        )
        document = self._assembler.document(message, fetched, mime, page)
        return msgspec.structs.replace(document, description=found.description, unread=found.ended)


class UnreadProcessor:
    """For the same types, where there are no processes to read them: a run that has some asks for them again."""

    def process(self, message: URLMessage, fetched: Fetched, mime: str) -> Document:  # noqa: ARG002
        """See `larm.seams.Processor`."""
        return Document(mime, cuts=(PROCESSES,))

"""The process that reads pages for a crawl: pages in, documents out, until its pipe closes. Made by `PageReader`.

A copy of larm's process, made before the crawl is loaded, or ``python -m larm.parse.reading.child MEMORY``. Of a page it makes
what the crawl itself would.
"""

import sys
from collections import Counter
from typing import Final

import msgspec

from larm.index.duplicates.novelty import page_text
from larm.kit.garbage import collect_rarely, give_back
from larm.kit.processes.frames import KEPT
from larm.kit.processes.helper_serve import serve
from larm.model import hollow
from larm.model.document import Document
from larm.model.host_resolver import parse_rules
from larm.model.link_memo import LinkMemo
from larm.model.message import URLMessage
from larm.model.outcome import Fetched
from larm.model.url import URLNormalizer
from larm.parse.apart.protocol import KINDS
from larm.parse.by_mime import NO_MEMORY, ByMime, processors
from larm.parse.reading.protocol import Reply, Request, Terms, decode_request, encode_reply, settings_of

_NOT_HERE: Final = "larm/not-here"
_LARGE: Final = 1_000_000
"""Bytes of a page whose memory is given back at once."""


class _NotHere:
    """In place of a processor of the user's own: it may want to remember, so it is in the crawl's process."""

    def process(self, message: URLMessage, fetched: Fetched, mime: str) -> Document:  # noqa: ARG002  see `larm.seams.Processor`
        return Document(_NOT_HERE)


class Child:
    """Owns the processors."""

    def __init__(self) -> None:
        self._counts: Counter[str] = Counter()
        self._terms: Terms | None = None
        self._process: ByMime | None = None
        self._reply = bytearray()  # memory that is used again

    def answer(self, request: Request) -> bytearray:
        """The frame of the reply."""
        if request.terms is not None:
            self._terms, self._process = request.terms, self._build(request.terms)
        if self._process is None or self._terms is None:
            raise ValueError("a new process must be told how to read")
        process = self._build(_carefully(self._terms)) if request.careful else self._process
        read = [process.process(message, fetched) for message, fetched in request.pages]
        if self._counts[NO_MEMORY]:
            raise MemoryError
        documents = [self._told(message, document) for (message, _), document in zip(request.pages, read, strict=True)]
        counts = dict(self._counts)
        self._counts.clear()
        if len(self._reply) > KEPT:
            self._reply = bytearray()
        encode_reply(Reply(documents, counts), self._reply)
        if any(len(fetched.body) > _LARGE for _, fetched in request.pages):
            give_back()
        return self._reply

    def _told(self, message: URLMessage, document: Document) -> Document | None:
        """What the crawl is told of a page: its text only if a storage wants it, or `HollowJudge` has to read it."""
        if self._terms is None or document.mime == _NOT_HERE or document.mime in KINDS:
            return None
        measured = page_text(message.url, document) if self._terms.judged else None
        if self._terms.text or document.mime not in hollow.PAGES or document.outside <= hollow.LONG:
            return msgspec.structs.replace(document, measured=measured)
        return msgspec.structs.replace(document, measured=measured, raw_text="", other_text="")

    def _build(self, terms: Terms) -> ByMime:
        rules = parse_rules(terms.host_rules, "host resolver")
        normalizer = URLNormalizer(rules, *terms.urls, files=terms.files, web_roots=terms.web_roots)
        settings = settings_of(terms)
        return processors(
            LinkMemo(normalizer),
            settings,
            dict.fromkeys(terms.own, _NotHere()),
            self._count,
            text=terms.text or terms.judged,
            facts=terms.text,
            agent=terms.agent,
            page_size=terms.page_size,
            rules=terms.rules,
        )

    def _count(self, name: str, n: int) -> None:
        self._counts[name] += n


def _carefully(terms: Terms) -> Terms:
    """The same, but by the parser that is all Python; selectors need the other one."""
    return msgspec.structs.replace(terms, processing={**terms.processing, "parser": "html5lib"}, rules={})


def seconds(request: Request) -> float:
    """What it may take."""
    return request.seconds


def main(memory: int) -> None:
    """The whole process; ``memory``: bytes that it may have."""
    collect_rarely()
    serve(decode_request, seconds, Child().answer, memory)


if __name__ == "__main__":
    main(int(sys.argv[1]))

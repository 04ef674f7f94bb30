"""The process that reads pages for a crawl: pages in, documents out, until its pipe closes. Made by `PageReader`.

A copy of larm's process, made before the crawl is loaded, or ``python -m larm.relief.child MEMORY``. Of a page it makes what
the crawl itself would.
"""

from __future__ import annotations

import sys
from collections import Counter

from larm.kit.frames import KEPT
from larm.kit.garbage import collect_rarely, give_back
from larm.kit.helper_serve import serve
from larm.model.host_resolver import parse_rules
from larm.model.link_memo import LinkMemo
from larm.model.url import URLNormalizer
from larm.processing.by_mime import ByMime, processors
from larm.processing.triage import HTML, LARGE
from larm.relief.protocol import Reply, Request, Terms, allowance, decode_request, encode_reply, settings_of, sizes_of


class Child:
    """Owns the processors."""

    def __init__(self) -> None:
        self._counts: Counter[str] = Counter()
        self._process: ByMime | None = None
        self._reply = bytearray()  # memory that is used again

    def answer(self, request: Request) -> bytearray:
        """The frame of the reply."""
        if request.terms is not None:
            self._process = self._build(request.terms)
        if self._process is None:
            raise ValueError("a new process must be told how to read")
        read = [self._process.process(message, fetched) for message, fetched in request.pages]
        documents = [document if document.mime in HTML else None for document in read]
        counts = dict(self._counts)
        self._counts.clear()
        if len(self._reply) > KEPT:
            self._reply = bytearray()
        encode_reply(Reply(documents, counts), self._reply)
        if any(len(fetched.body) > LARGE for _, fetched in request.pages):
            give_back()
        return self._reply

    def _build(self, terms: Terms) -> ByMime:
        normalizer = URLNormalizer(parse_rules(terms.host_rules, "host resolver"), terms.lowercase_path, files=terms.files)
        settings = settings_of(terms)
        return processors(LinkMemo(normalizer), settings, None, self._count, text=terms.text, agent=terms.agent)

    def _count(self, name: str, n: int) -> None:
        self._counts[name] += n


def seconds(request: Request) -> float:
    """What it may take."""
    return allowance(sizes_of(request.pages))


def main(memory: int) -> None:
    """The whole process; ``memory``: bytes that it may have."""
    collect_rarely()
    serve(decode_request, seconds, Child().answer, memory)


if __name__ == "__main__":
    main(int(sys.argv[1]))

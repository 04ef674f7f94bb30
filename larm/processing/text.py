"""TextProcessor: plain text. It has no title and no links. Called on the fetcher threads; keeps no state."""

from __future__ import annotations

from larm.model.document import Document
from larm.model.message import URLMessage
from larm.model.outcome import Fetched
from larm.processing.charset import text_of
from larm.processing.mime import is_binary


class TextProcessor:
    """For text/plain."""

    def process(self, message: URLMessage, fetched: Fetched, mime: str) -> Document:
        """See `larm.seams.Processor`. Bytes that are no text are stored and not read."""
        body = fetched.body
        if is_binary(body):
            return Document(mime, warnings=(f"{message.url.access}: sent as {mime}, but it is binary",))
        text, charset = text_of(body, fetched.headers.get("content-type", ""))
        return Document(mime, raw_text=text.replace("\r\n", "\n").replace("\0", "").strip(), charset=charset)

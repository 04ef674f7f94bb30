"""Which bodies may be larger than a page: PDF, books and office files, whose end has what is needed to read any of them."""

import re
from collections.abc import Sequence

_TYPE = re.compile(
    rb"content-type:[ \t]*application/(?:x-)?"
    rb"(?:pdf|epub|vnd\.(?:openxmlformats-officedocument|oasis\.opendocument|ms-[a-z]+\.[a-z]+\.macro))",
    re.IGNORECASE,
)
_PDF = b"%PDF-"


def is_document(lines: Sequence[bytes], start: bytes | bytearray) -> bool:
    """By the header lines of an answer, or by its first bytes."""
    return start.startswith(_PDF) or any(_TYPE.match(line) for line in lines)


def is_document_type(content_type: str, start: bytes) -> bool:
    """The same of a file on the disk."""
    return is_document((b"content-type:" + content_type.encode(),), start)

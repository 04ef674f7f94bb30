"""The Content-Type that a server would send with a file, by its name; empty where the bytes must tell. Pure; any thread."""

import mimetypes
from typing import Final

FOLDER: Final = "inode/directory"
"""A folder's listing: the path of each entry on a line, written as in URLs."""

_TYPES: Final = mimetypes.MimeTypes()  # Python's own table: that of the system would make each machine see other types
_WRITTEN = (
    ".adoc .asc .cfg .cnf .conf .diff .ini .log .md .markdown .me .org .patch .po .pod .properties .rst .text .toml .ts .tsx"
    " .txt .yaml .yml"
)
_TEXT: Final = frozenset(_WRITTEN.split())
"""Written for people, and either not in the table or taken for something else there."""
_MORE: Final = {
    ".atom": "application/atom+xml",
    ".docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    ".epub": "application/epub+zip",
    ".htm": "text/html",
    ".odp": "application/vnd.oasis.opendocument.presentation",
    ".ods": "application/vnd.oasis.opendocument.spreadsheet",
    ".odt": "application/vnd.oasis.opendocument.text",
    ".pptx": "application/vnd.openxmlformats-officedocument.presentationml.presentation",
    ".rdf": "application/rdf+xml",
    ".rss": "application/rss+xml",
    ".xhtml": "application/xhtml+xml",
    ".xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
}
_MARKED: Final = (b"\xef\xbb\xbf", b"\xfe\xff", b"\xff\xfe")  # text with a byte order mark may have NULs
_PACKED: Final = {"gzip": "application/gzip", "bzip2": "application/x-bzip2", "xz": "application/x-xz"}


def type_of(name: str, beginning: bytes) -> str:
    """``name`` without folders; ``beginning``: the first bytes, for a name may lie."""
    ending = name[name.rfind(".") :].lower() if "." in name[1:] else ""
    if ending in _TEXT:
        said = "text/plain"
    else:
        guessed, packing = _TYPES.guess_type("x" + ending)
        said = _PACKED.get(packing, "") if packing else _MORE.get(ending) or guessed or ""
    if said.startswith("text/") and b"\0" in beginning[:1_445] and not beginning.startswith(_MARKED):
        return ""
    return said

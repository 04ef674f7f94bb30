"""Package: the zip file that an office document is, opened with care. Used by the readers, in the reading process."""

import io
import posixpath
import struct
import zipfile
import zlib
from collections.abc import Iterator
from typing import Final, NamedTuple

from larm.parse.charset import text_of
from larm.parse.dates import seconds_of
from larm.parse.xml_tokens import END, START, TEXT, XmlTokens

_PART, _ALL = 0.15, 0.375
"""Of the memory that the process should have: the bytes of a part, unpacked, and those of all. That is what a bomb comes to."""
_EFFORT: Final = 100
"""See `XmlTokens`: what ends the reading of a document is its time."""
_UNREADABLE = (zipfile.BadZipFile, zlib.error, struct.error, EOFError, OSError, RuntimeError, ValueError)
"""What zipfile raises for a part that was damaged; NotImplementedError is among them, as a RuntimeError."""
_ABOUT: Final = ("creator", "initial-creator", "subject", "description", "keywords", "keyword")
"""Properties by which a search finds a document; authors come first, as long descriptions are cut."""
_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"


class Unreadable(Exception):  # noqa: N818
    """It is no such file; ``str()`` says why."""


class Properties(NamedTuple):
    """What a document says of itself."""

    title: str = ""
    modified: int = 0
    language: str = ""
    description: str = ""


class Package:
    """The parts of a document, as texts."""

    def __init__(self, body: bytes, memory: int) -> None:
        """``memory``: bytes that the process should have. Raises Unreadable."""
        if body.startswith(_OLE):
            raise Unreadable("it needs a password, or is of the format before 2007")
        try:
            self._zip = zipfile.ZipFile(io.BytesIO(body))
        except (zipfile.BadZipFile, ValueError, OSError, NotImplementedError) as error:
            raise Unreadable(f"no zip file, or damaged: {error}") from error
        self.names = {info.filename: info for info in self._zip.infolist()}
        self.warnings: list[str] = []
        self._cut = False
        self._made: list[XmlTokens] = []
        self._part, self._left = int(memory * _PART), int(memory * _ALL)

    @property
    def cut(self) -> bool:
        """Some part is longer, or deeper, than what is read of it."""
        return self._cut or any(tokens.given_up for tokens in self._made)

    def tokens(self, name: str) -> XmlTokens:
        """A part, as `text` has it. Raises Unreadable."""
        return self.tokens_of(self.text(name))

    def tokens_of(self, text: str) -> XmlTokens:
        """A part that was read."""
        self._made.append(XmlTokens(text, _EFFORT))
        return self._made[-1]

    def elements(self, part: str, name: str) -> Iterator[dict[str, str]]:
        """The attributes of each element of a part that is called so, whatever its prefix. Raises Unreadable."""
        tokens = self.tokens(part)
        return (tokens.attributes(rest) for kind, tag, rest in tokens if kind == START and local(tag) == name)

    def text(self, name: str) -> str:
        """A part; empty where there is none, or it can't be unpacked. Raises Unreadable if it is encrypted."""
        info = self.names.get(name)
        if info is None:
            return ""
        if info.flag_bits & 1:
            raise Unreadable("it needs a password")
        limit = min(self._part, self._left)
        try:
            with self._zip.open(info) as part:
                data = part.read(limit)
                if len(data) == limit and part.read(1):
                    self.warnings.append(f"{name} is longer than {limit} bytes")
                    self._cut = True
        except _UNREADABLE as error:
            self.warnings.append(f"{name} can't be unpacked: {error}")
            return ""
        self._left -= len(data)
        return text_of(data)[0]

    def relations(self, part: str) -> dict[str, str]:
        """Where the ids of a part lead: names of parts, or addresses."""
        folder, file = posixpath.split(part)
        found = {}
        for attributes in self.elements(posixpath.join(folder, "_rels", f"{file}.rels"), "relationship"):
            target = attributes.get("target", "")
            if attributes.get("targetmode", "").lower() != "external":
                target = posixpath.normpath(posixpath.join("/", folder, target)).lstrip("/")
            found[attributes.get("id", "")] = target
        return found

    def main(self, otherwise: str) -> str:
        """The name of the part that the document begins with (Office Open XML)."""
        for attributes in self.elements("_rels/.rels", "relationship"):
            if attributes.get("type", "").endswith("/officeDocument"):
                target = attributes.get("target", "").lstrip("/")
                return target if target in self.names else otherwise
        return otherwise

    def book(self) -> str:
        """The name of the part that tells of all others in a book (EPUB); empty where nothing says it."""
        roots = self.elements("META-INF/container.xml", "rootfile")
        return next((root["full-path"] for root in roots if root.get("full-path")), "")

    def properties(self, part: str) -> Properties:
        """Of ``docProps/core.xml``, ``meta.xml``, or the part that tells of a book."""
        found: dict[str, str] = {}
        current = ""
        for kind, name, rest in self.tokens(part):
            if kind == TEXT and current:
                found[current] = found.get(current, "") + rest
            elif kind == START:
                current = local(name)
                if current in found:
                    found[current] += " "
            elif kind == END:
                current = ""
        date = next((found[name] for name in ("modified", "date", "created", "creation-date") if name in found), "")
        about = dict.fromkeys(found.get(name, "") for name in _ABOUT)
        return Properties(found.get("title", ""), seconds_of(date), found.get("language", ""), " ".join(filter(None, about)))


def local(name: str) -> str:
    """Without its prefix; programs differ in their prefixes."""
    return name.rpartition(":")[2]


def identity(attributes: dict[str, str]) -> str:
    """The ``r:id`` of an element, whatever the prefix."""
    return next((value for name, value in attributes.items() if name.endswith(":id")), "")

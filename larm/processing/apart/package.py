"""Package: the zip file that an office document is, opened with care. Used by the readers, in the reading process."""

from __future__ import annotations

import io
import posixpath
import struct
import zipfile
import zlib
from typing import Final, NamedTuple

from larm.processing.charset import text_of
from larm.processing.dates import seconds_of
from larm.processing.xml_tokens import END, START, TEXT, XmlTokens

MAX_MEMBERS: Final = 20_000
MAX_PART: Final = 60_000_000
"""Bytes of a part, unpacked; what is longer is cut."""
MAX_TOTAL: Final = 150_000_000
"""Bytes of all parts that are read. With `MAX_PART`, what a bomb comes to."""
_UNREADABLE = (zipfile.BadZipFile, zlib.error, struct.error, EOFError, OSError, RuntimeError, ValueError)
"""What zipfile raises for a part that was damaged; NotImplementedError is among them, as a RuntimeError."""
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

    def __init__(self, body: bytes) -> None:
        """Raises Unreadable."""
        if body.startswith(_OLE):
            raise Unreadable("it needs a password, or is of the format before 2007")
        try:
            self._zip = zipfile.ZipFile(io.BytesIO(body))
        except (zipfile.BadZipFile, ValueError, OSError, NotImplementedError) as error:
            raise Unreadable(f"no zip file, or damaged: {error}") from error
        if len(self._zip.infolist()) > MAX_MEMBERS:
            raise Unreadable(f"more than {MAX_MEMBERS} parts")
        self.names = {info.filename: info for info in self._zip.infolist()}
        self.warnings: list[str] = []
        self.cut = False
        """Some part is longer than what is read of it."""
        self._left = MAX_TOTAL

    def text(self, name: str) -> str:
        """A part; empty where there is none, or it can't be unpacked. Raises Unreadable if it is encrypted."""
        info = self.names.get(name)
        if info is None:
            return ""
        if info.flag_bits & 1:
            raise Unreadable("it needs a password")
        limit = min(MAX_PART, self._left)
        try:
            with self._zip.open(info) as part:
                data = part.read(limit)
                if len(data) == limit and part.read(1):
                    self.warnings.append(f"{name} is longer than {limit} bytes")
                    self.cut = True
        except _UNREADABLE as error:
            self.warnings.append(f"{name} can't be unpacked: {error}")
            return ""
        self._left -= len(data)
        return text_of(data)[0]

    def relations(self, part: str) -> dict[str, str]:
        """Where the ids of a part lead: names of parts, or addresses."""
        folder, file = posixpath.split(part)
        tokens = XmlTokens(self.text(posixpath.join(folder, "_rels", f"{file}.rels")))
        found = {}
        for kind, name, rest in tokens:
            if kind == START and local(name) == "relationship":
                attributes = tokens.attributes(rest)
                target = attributes.get("target", "")
                if attributes.get("targetmode", "").lower() != "external":
                    target = posixpath.normpath(posixpath.join("/", folder, target)).lstrip("/")
                found[attributes.get("id", "")] = target
        return found

    def main(self, otherwise: str) -> str:
        """The name of the part that the document begins with (Office Open XML)."""
        tokens = XmlTokens(self.text("_rels/.rels"))
        for kind, name, rest in tokens:
            if kind == START and local(name) == "relationship":
                attributes = tokens.attributes(rest)
                if attributes.get("type", "").endswith("/officeDocument"):
                    target = attributes.get("target", "").lstrip("/")
                    return target if target in self.names else otherwise
        return otherwise

    def properties(self, part: str) -> Properties:
        """Of ``docProps/core.xml`` or ``meta.xml``."""
        found: dict[str, str] = {}
        current = ""
        for kind, name, rest in XmlTokens(self.text(part)):
            if kind == TEXT and current:
                found[current] = found.get(current, "") + rest
            elif kind == START:
                current = local(name)
            elif kind == END:
                current = ""
        date = next((found[name] for name in ("modified", "date", "created", "creation-date") if name in found), "")
        about = (found.get(name, "") for name in ("subject", "description", "keywords", "keyword"))
        return Properties(found.get("title", ""), seconds_of(date), found.get("language", ""), " ".join(filter(None, about)))


def local(name: str) -> str:
    """Without its prefix; programs differ in their prefixes."""
    return name.rpartition(":")[2]


def identity(attributes: dict[str, str]) -> str:
    """The ``r:id`` of an element, whatever the prefix."""
    return next((value for name, value in attributes.items() if name.endswith(":id")), "")

"""Names of files in settings. Pure, but for looking what is there; called where settings are read, on the main thread.

A relative name is meant from where it stands: beside the file that has it, or, given by an option or the environment, in the
working directory. Parts of larm look from the crawl's directory (or, as its server, from the working directory), so a name
that stands elsewhere is made whole here. A file that is only there is found as well.
"""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any, get_args, get_origin

import msgspec

from larm.errors import ConfigError

FileName = Annotated[str, msgspec.Meta(extra={"file": re.compile(r"()(.+)()")})]
"""From the crawl's directory."""
OwnFileName = Annotated[str, msgspec.Meta(extra={"file": re.compile(r"()(.+)()"), "own": True})]
"""Of what isn't a crawl's: from the working directory."""
WithSecret = Annotated[str, msgspec.Meta(extra={"file": re.compile(r"(\$\{file:)([^}]+)(\})")})]
StartName = Annotated[str, msgspec.Meta(extra={"file": re.compile(r"^(@?)((?<=@)(?!-$).+|\.\.?/.*)()$")})]
"""``@FILE`` or ``./FOLDER``; nothing else is a name of a file for sure."""


def anchored(kind: Any, value: Any, folder: Path, directory: Path) -> Any:
    """``value``, of the type ``kind``, as it stands in a file of ``folder``, for a crawl in ``directory``."""
    origin = get_origin(kind)
    if isinstance(value, str):
        extra = _extra(get_args(kind)[0] if origin is tuple else kind)  # one stands for a list of it
        base = Path() if "own" in extra else directory
        if "file" not in extra or folder.absolute() == base.absolute():
            return value
        return extra["file"].sub(lambda found: found[1] + _whole(found[2], folder, base) + found[3], value)
    if isinstance(value, dict) and isinstance(kind, type) and issubclass(kind, msgspec.Struct):
        kinds = {field.name: field.type for field in msgspec.structs.fields(kind)}
        return {name: anchored(kinds.get(name), each, folder, directory) for name, each in value.items()}
    if isinstance(value, dict) and origin is dict:
        return {name: anchored(get_args(kind)[1], each, folder, directory) for name, each in value.items()}
    if isinstance(value, list) and origin is tuple:
        return [anchored(get_args(kind)[0], each, folder, directory) for each in value]
    return value


def certificate_and_key(names: Sequence[str], key: str, folder: Path) -> tuple[Path, Path]:
    """Return the two PEM files of a setting ``key``: certificate and private key. Raises ConfigError."""
    if len(names) not in (1, 2):
        raise ConfigError(f"{key}: expected [CERTIFICATE, KEY], or one PEM file with both")
    return folder / names[0], folder / names[-1]


def named_files(kind: Any, value: Any) -> Iterator[str]:
    """Yield the names of files in settings of the type ``kind``."""
    if isinstance(value, str):
        if pattern := _extra(kind).get("file"):
            yield from (found[2] for found in pattern.finditer(value))
    elif isinstance(value, msgspec.Struct):
        for field in msgspec.structs.fields(value):
            yield from named_files(field.type, getattr(value, field.name))
    elif isinstance(value, dict | tuple):
        for each in value.values() if isinstance(value, dict) else value:
            yield from named_files(get_args(kind)[-1 if isinstance(value, dict) else 0], each)


def _extra(kind: Any) -> dict[str, Any]:
    return next((each.extra for each in getattr(kind, "__metadata__", ()) if getattr(each, "extra", None)), {})


def _whole(name: str, folder: Path, base: Path) -> str:
    path = folder / name
    if "://" in name or name.startswith("~") or (not path.exists() and (base / name).exists()):
        return name
    return str(path.absolute())

"""Secrets of config.yaml: from the environment, or from a file that nobody else can read. Called at the start, main thread.

They are put in here, on their way to who sends them; no `Config` ever has one, so no log, no figure and no archive has.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path

from larm.errors import ConfigError

_PLACE = re.compile(r"\$\{([^}]+)\}")


def revealed(text: str, key: str, directory: Path, environment: Mapping[str, str] = os.environ) -> str:
    """``${NAME}``: that variable; ``${file:PATH}``: the first line of a file, relative to ``directory``. Raises ConfigError."""

    def secret(found: re.Match[str]) -> str:
        kind, colon, path = found[1].partition(":")
        if colon and kind == "file":
            return read_private(directory / path, key).partition("\n")[0].strip("\r")
        if found[1] not in environment:
            raise ConfigError(f"{key}: the environment has no variable {found[1]}")
        return environment[found[1]]

    value = _PLACE.sub(secret, text)
    if "\n" in value or "\r" in value or "\0" in value:
        raise ConfigError(f"{key}: a line end in it would end the header")
    return value


def must_be_secret(text: str, key: str) -> None:
    """Raises ConfigError where it stands there in plain."""
    if text and not _PLACE.search(text):
        raise ConfigError(
            f"{key}: a password is not written into the configuration: ${{NAME}} takes it from the environment,"
            " ${file:PATH} from a file that only you can read"
        )


def read_private(path: Path, key: str) -> str:
    """A file with secrets. Raises ConfigError where others may read it, too."""
    try:
        if path.stat().st_mode & 0o077:
            raise ConfigError(f"{key}: {path} has secrets, and others may read it: 'chmod 600 {path}'")
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{key}: can't read {path}: {error}") from error

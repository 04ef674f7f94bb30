"""Commands of larm that a sentence advises, to be copied as they are. Pure; whoever tells a person what to do next."""

from __future__ import annotations

import shlex
from pathlib import Path


def command(*words: str, directory: Path) -> str:
    """``larm WORDS --dir DIRECTORY``, quoted for a shell; the current directory needs no ``--dir``."""
    where = () if directory == Path() else ("--dir", str(directory))
    return shlex.join(("larm", *words, *where))

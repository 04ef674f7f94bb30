"""Applicant, Mine, SavedSession: what an agent brings into its session with etcd. Values.

An agent joins with the first, says with the second how it stands, and must know the third after its process has died.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

import msgspec


class Applicant(NamedTuple):
    """What an agent joins with; constant for its process."""

    name: str
    boot: int
    """Random, or counted: no other process of this agent has it."""
    weight: float = 1.0
    settings: Mapping[str, str] = MappingProxyType({})
    """Digests of the settings that all agents share, without defaults."""
    wire: tuple[int, int] = (1, 1)
    """Wire versions that it speaks."""
    agents: int = 1
    """Members that a run needs to begin."""
    fresh: bool = False
    """The operator starts over: where no agent runs, the former cluster is forgotten."""
    continues: bool = False
    """The process that saved the session is dead: boot_id and inode are those saved, and the lock of the directory is ours."""


class Mine(NamedTuple):
    """The state of this agent's crawl, made after the last round."""

    idle: bool = False
    """Nothing is left to do here, or no page that was granted is left to do it."""
    spent: bool = False
    """It is the latter."""
    released: int = 0
    """Epoch of the view for which no foreign host is left here."""
    leaving: bool = False
    address: str = ""
    figures: bytes = b""
    limit: int = 0
    """``--max-pages`` of all agents; 0: none."""
    wants: bool = False
    """Pages are needed, and as good as none are left of those granted."""
    keep: int | None = None
    """Pages that this agent fetches at most; the rest of `Session.granted` is given back."""


class SavedSession(msgspec.Struct, frozen=True):
    """What an agent must know after its process has died."""

    cluster: str = ""
    """Empty: it was in none."""
    generation: int = 0
    epoch: int = 0
    member: bool = False
    """It was in the view of this epoch."""
    nonce: int = 0
    revision: int = 0
    """The highest revision seen. It may be saved late."""

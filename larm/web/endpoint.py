"""Endpoint: one question of the API: its path, what it is asked with and what it answers, as Structs. Pure.

`larm.web.api` describes it by these Structs, and `larm.web.api` reads and writes by them, so the description is
right.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, NamedTuple

import msgspec
from starlette.requests import Request

from larm.web.access import Kind


class Problem(msgspec.Struct, frozen=True):
    """Why there is no answer (RFC 9457)."""

    title: str
    status: int
    detail: str = ""


class ProblemError(Exception):
    """What a handler raises where the answer is a `Problem`."""

    def __init__(self, status: int, title: str, detail: str = "") -> None:
        super().__init__(title)
        self.problem = Problem(title, status, detail)


class Endpoint(NamedTuple):
    """One of them."""

    method: str
    """GET: parameters in the address; POST: as a JSON body."""
    path: str
    """Below ``/api/v1``."""
    kind: Kind
    asks: type[msgspec.Struct]
    answers: type[msgspec.Struct]
    handler: Callable[[Request, Any], Awaitable[msgspec.Struct]]
    """Its docstring is the description."""

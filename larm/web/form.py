"""Forms that a browser sends. On the event loop."""

from __future__ import annotations

from urllib.parse import parse_qsl

from starlette.requests import Request

_MOST = 100
"""Fields."""


async def form_of(request: Request) -> dict[str, str]:
    """The last value of each field; empty for what is no form. `larm.web.guard` has bounded the body."""
    if request.headers.get("content-type", "").partition(";")[0] != "application/x-www-form-urlencoded":
        return {}
    try:
        return dict(parse_qsl((await request.body()).decode("utf-8", "replace"), keep_blank_values=True, max_num_fields=_MOST))
    except ValueError:  # more of them
        return {}

"""Where larm reads a feed in another way than feedparser, and why."""

from __future__ import annotations

DIFFERENCES: dict[str, str] = {}
"""File -> reason."""

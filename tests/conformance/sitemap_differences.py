"""Where larm reads a sitemap in another way than crawler-commons, and why."""

from __future__ import annotations

DIFFERENCES: dict[tuple[str, str], str] = {}
"""(test, address of the sitemap) -> reason."""

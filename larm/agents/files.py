"""Names of the files that an agent keeps in its crawl's folder of queues, for who only looks whether they are there."""

from __future__ import annotations

IDENTITY = "agent.json"
ROSTER = "agents.json"

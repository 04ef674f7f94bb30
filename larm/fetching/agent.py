"""user_agent: who we say we are, in the User-Agent header (LARM-15). Pure; called once, by the wiring."""

from __future__ import annotations

from larm.config import Agent


def user_agent(agent: Agent, version: str) -> str:
    """``larm/0.1 (+https://example.org/about-our-crawler)``; without a contact ``larm/0.1``.

    ``version`` is shortened to its first two numbers: a patch release is not another crawler.
    """
    product = f"{agent.name}/{'.'.join(version.split('.')[:2])}"
    return f"{product} (+{agent.contact})" if agent.contact else product

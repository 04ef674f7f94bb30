"""Who we say we are."""

from __future__ import annotations

from larm.config import AgentSettings
from larm.fetch.terms import user_agent


def test_contact_is_in_the_user_agent() -> None:
    assert user_agent(AgentSettings(contact="https://example.org/bot"), "0.1.0") == "larm/0.1 (+https://example.org/bot)"


def test_without_a_contact_there_are_no_brackets() -> None:
    assert user_agent(AgentSettings(name="my-bot"), "1.2") == "my-bot/1.2"

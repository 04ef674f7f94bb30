"""What enquiries of whole crawls need."""

from tests.stories.conftest import web

__all__ = ["web"]

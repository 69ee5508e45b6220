"""Fixtures for the page, kept here because a browser is slow to import."""

from tests.tools.browser import browser, pictures, server, state, visit

__all__ = ["browser", "pictures", "server", "state", "visit"]

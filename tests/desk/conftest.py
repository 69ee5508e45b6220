"""Fixtures for the desk, kept here because a browser and a server are slow to import."""

from tests.tools.browser import browser
from tests.tools.desks import call, desk_in, desk_server, slots, unhurried_connections

__all__ = ["browser", "call", "desk_in", "desk_server", "slots", "unhurried_connections"]

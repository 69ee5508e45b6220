"""A desk for assistants: the Model Context Protocol over standard input and output.

The assistant acts as an analyst, whose token is in an environment variable. Describing and planning are
free; asking spends, so a question must name its ε, and the reply says what was spent.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any, TypeVar

from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp_types import ToolAnnotations

from discreet import __version__
from discreet._exact.sampling import SecureBits
from discreet.desk.client import RemoteDesk
from discreet.desk.shapes import ToolRequest, question_from
from discreet.errors import DiscreetError
from discreet.questions.read_back import release_from

T = TypeVar("T")

_FREE = ToolAnnotations(read_only_hint=True, open_world_hint=False)
_PAID = ToolAnnotations(read_only_hint=False, destructive_hint=True, open_world_hint=False)
_INSTRUCTIONS = """Private answers about tables whose rows are never shown. Call describe_tables first:
it lists tables, columns, what may be asked and what is left of the budget. plan_question says what a
question costs and how accurate it will be, and spends nothing. ask_question spends the ε that it names,
and nothing is refunded: ask the person you work for before you spend. Cite the guarantee and the rules
that come with an answer."""


def assistant_server(desk: RemoteDesk) -> MCPServer[Any]:
    """Return an MCP server whose tools describe a desk, and plan and ask questions there."""
    server: MCPServer[Any] = MCPServer(
        "discreet-desk", instructions=_INSTRUCTIONS, version=__version__, log_level="ERROR"
    )

    @server.tool(annotations=_FREE)
    def describe_tables() -> dict[str, Any]:
        """List the tables, columns, listed values and bounds, and what is left of the budget."""
        return _told(desk.about)

    @server.tool(annotations=_FREE)
    def plan_question(question: ToolRequest) -> dict[str, Any]:
        """Show a question's cost, whether enough is left, and the answer's accuracy. Spends nothing."""
        plan: dict[str, Any] = _told(lambda: desk.call("/api/plan", _sent(question)))
        return plan

    @server.tool(annotations=_PAID)
    def ask_question(question: ToolRequest, key: str | None = None) -> dict[str, Any]:
        """Ask a question and spend its ε, which is never refunded. Asking again with the same key is free."""
        used = key or f"{SecureBits().integer(128):032x}"
        reply = _told(lambda: desk.call("/api/ask", _sent(question), key=used), key=used)
        return {"in_words": str(release_from(reply["release"])), **reply}

    @server.tool(annotations=_FREE)
    def earlier_answers() -> dict[str, Any]:
        """List your own earlier questions and their answers, at no cost."""
        return {"answers": _told(desk.answers)}

    return server


def _sent(request: Any) -> dict[str, Any]:
    return question_from(dataclasses.asdict(request)).as_data()


def _told(call: Callable[[], T], *, key: str | None = None) -> T:
    try:
        return call()
    except DiscreetError as error:
        problem = ToolError(f"{error}" if key is None else f"{error} (asked with the key {key})")
    raise problem

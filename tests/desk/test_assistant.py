"""A real client of the Model Context Protocol, over standard input and output."""

from __future__ import annotations

import asyncio
import os
import re
import sys
from typing import Any

from mcp import Client, StdioServerParameters

from tests.tools.desks import MODE, Caller


def test_an_assistant_describes_plans_asks_and_cites(call: Caller) -> None:
    environment = {
        **os.environ,
        "DISCREET_DESK": call.url,
        "DISCREET_DESK_TOKEN": str(call.token),
    }
    server = StdioServerParameters(
        command=sys.executable, args=["-m", "discreet", "desk", "mcp"], env=environment
    )

    async def talk() -> list[Any]:
        async with Client(server) as client:
            tools = {tool.name: tool for tool in (await client.list_tools()).tools}
            free = await client.call_tool("describe_tables", {})
            plan = await client.call_tool("plan_question", {"question": MODE})
            without = {name: value for name, value in MODE.items() if name != "epsilon"}
            refused = await client.call_tool("ask_question", {"question": without})
            answer = await client.call_tool("ask_question", {"question": MODE, "key": "k1"})
            again = await client.call_tool("ask_question", {"question": MODE, "key": "k1"})
            many = {**MODE, "epsilon": 1000}
            costly = await client.call_tool("ask_question", {"question": many})
            return [tools, free, plan, refused, answer, again, costly]

    tools, free, plan, refused, answer, again, costly = asyncio.run(talk())
    assert set(tools) == {"describe_tables", "plan_question", "ask_question", "earlier_answers"}
    assert tools["plan_question"].annotations.read_only_hint
    assert not tools["ask_question"].annotations.read_only_hint
    assert not plan.is_error, plan.content
    assert "visits" in free.structured_content["tables"]
    assert plan.structured_content["cost"].startswith("ε 5 to pay, ")
    assert refused.is_error
    assert "epsilon" in str(refused.content)
    told = answer.structured_content
    assert told["release"]["answer"] == "flu"
    assert "ε = 5" in told["in_words"]
    assert again.structured_content == told
    assert re.search("asked with the key [0-9a-f]{32}", str(costly.content))

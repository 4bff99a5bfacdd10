"""Give a team tools that are no tools of its library: an API by its OpenAPI document, and a function of yours.

The API here is a service on loopback, and the models play a script, so that all of it runs offline. The tape, the
limits, the corrections of wrong calls and the review are those of every task.
"""

import asyncio
import json
from pathlib import Path

from langchain_core.messages import AIMessage

from habilis import Team, load_settings
from habilis.sources.python.langchain import LangChainTools
from habilis.testing import ScriptedModel, ScriptedService

DOCUMENT = {
    "openapi": "3.1.0",
    "paths": {
        "/stock/{item}": {
            "get": {
                "operationId": "stock",
                "summary": "How many of an item are in stock",
                "parameters": [{"name": "item", "in": "path", "required": True, "schema": {"type": "string"}}],
            }
        }
    },
}


def in_dozens(count: int) -> float:
    """Says how many dozens a count is."""
    return count / 12


def said(messages, tools, form):
    """What a model would say, by what it is asked for."""
    asked = str(messages[-1].content)
    if "<candidates>" in asked:
        return {"required_tool_names": ["api_stock", "in_dozens"]}
    if "<answer>" in asked:
        return {"status": "FINISH", "reason": "read from the stock"}
    if "<findings>" in asked:
        return {"final_answer": "1 dozen", "reasoning_summary": "12 eggs"}
    results = [message for message in messages if message.type == "tool"]
    if not results:
        return AIMessage("", tool_calls=[{"name": "api_stock", "args": {"item": "eggs"}, "id": "a"}])
    if len(results) == 1:
        count = json.loads(results[0].content)["count"]
        return AIMessage("", tool_calls=[{"name": "in_dozens", "args": {"count": count}, "id": "b"}])
    return "There is 1 dozen."


async def main() -> None:
    with ScriptedService(lambda seen: {"item": seen.path.rsplit("/", 1)[1], "count": 12}) as api:
        source = {"openapi": "stock.json", "base_url": api.url}
        settings = load_settings(overrides=[f"sources.api={json.dumps(source)}"])
        team = Team(
            settings,
            sources=[LangChainTools([in_dozens], effects="pure")],
            clients=lambda role, role_settings: ScriptedModel(script=said),
        )
        result = await team.run("How many dozens of eggs are in stock?")
    for call in result.invocations:
        print(f"{call.tool} ({call.effects})")
        print(f"called {call.tool} with {call.arguments}: {call.text}")
    print(f"{result.status}: {result.final_answer}")


if __name__ == "__main__":
    Path("stock.json").write_text(json.dumps(DOCUMENT), encoding="utf-8")
    asyncio.run(main())

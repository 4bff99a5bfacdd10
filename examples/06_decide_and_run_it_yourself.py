"""Let Habilis choose the calls and run them yourself; and do the same with a model that cannot call functions.

`Team.decide` runs nothing. Each step gives calls that fit your schemas, by id, or the answer; you give back what the
calls gave. The server here plays a model that knows nothing of functions: it is found out, and asked in plain text.
"""

import asyncio

from habilis import Team, load_settings
from habilis.demo import reply
from habilis.testing import ScriptedServer, in_plain_text

TOOL = {
    "name": "calculate_expression",
    "description": "Calculates an arithmetic expression with + - * / ** %, parentheses, sqrt() and cbrt().",
    "parameters": {"type": "object", "properties": {"expression": {"type": "string"}}, "required": ["expression"]},
}


def run_it_yourself(arguments: dict[str, str]) -> dict[str, float]:
    left, right = arguments["expression"].split("*")
    return {"result": int(left) * int(right)}


async def main() -> None:
    with ScriptedServer(in_plain_text(reply)) as server:
        team = Team(load_settings(overrides=[f"models.basic.base_url={server.base_url}", "models.basic.model=plain"]))
        step = await team.decide("What is 19 * 23?", tools=[TOOL])
        while step.status == "calls":
            results = {}
            for call in step.calls:
                results[call.id] = run_it_yourself(call.arguments)
                print(f"{call.id}: {call.name} {call.arguments} gave {results[call.id]}")
            step = await team.decide(tools=[TOOL], conversation=step.conversation, results=results)
        print(f"{step.status}: {step.answer}")
        asked = ["functions" if request.body.get("tools") else "text" for request in server.requests]
        print("asked by:", ", ".join(asked))


if __name__ == "__main__":
    asyncio.run(main())

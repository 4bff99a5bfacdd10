"""Ask a question about a file of your own, and look at the tool that was written to answer it.

Runs without a key or network: the settings file `offline` chooses the offline demonstration model.
"""

import asyncio
from pathlib import Path

from habilis import Team, load_settings

DATA = Path(__file__).parent / "data"


async def main() -> None:
    team = Team(load_settings(files=[Path("offline")]))
    result = await team.run("What is the average price in sales.csv?", files=[DATA / "sales.csv"])

    print("status:", result.status)
    print("answer:", result.final_answer)
    print("tools made:", ", ".join(result.tools_made))
    print("model calls:", result.usage.model_calls)

    for call in result.invocations:
        print(f"called {call.tool} with {call.arguments}: {call.text}")


if __name__ == "__main__":
    asyncio.run(main())

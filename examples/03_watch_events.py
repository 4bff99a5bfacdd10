"""Watch a task while it works: every step is an event, and a sink sees them all without being able to change one.

The first question of a conversation leaves a tool behind. The second one's table has semicolons, and commas in its
numbers, which that tool cannot read: the account shows it failing, being mended, passing its recorded calls again, and
answering.
"""

import asyncio
from pathlib import Path

from habilis import Team, load_settings
from habilis.core.events import Event

DATA = Path(__file__).parent / "data"


class Account:
    """A sink: anything with `emit`. This one counts events by kind."""

    def __init__(self) -> None:
        self.counts: dict[str, int] = {}

    def emit(self, event: Event) -> None:
        self.counts[event.kind] = self.counts.get(event.kind, 0) + 1


async def main() -> None:
    account = Account()
    team = Team(load_settings(files=[Path("offline")]), sinks=[account])
    await team.run("What is the average price in sales.csv?", files=[DATA / "sales.csv"], thread="prices")
    question, file = "What is the average price in sales_semicolon.csv?", DATA / "sales_semicolon.csv"
    async for event in team.stream(question, files=[file], thread="prices"):
        match event.kind if hasattr(event, "kind") else "result":
            case "tool_built":
                print(f"built     {event.tool} after {event.attempts} attempt(s)")
            case "tool_call_ended":
                print(f"called    {event.tool}: {event.error or event.text}")
            case "judged":
                print(f"judged    {event.tool}: {event.verdict} ({event.reason})")
            case "tool_enhanced":
                print(
                    f"mended    {event.tool}: {event.replayed} of {event.records} recorded calls run again, all passed"
                )
            case "reviewed":
                print(f"reviewed  {'accepted' if event.review.accepted else 'refused'}: {event.review.reason}")
            case "result":
                print(f"result    {event.status}: {event.final_answer}")
    print("events:", ", ".join(f"{kind} {n}" for kind, n in sorted(account.counts.items())))


if __name__ == "__main__":
    asyncio.run(main())

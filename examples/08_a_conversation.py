"""A conversation: a second question leans on the first, and the tool of the first serves the second.

Every turn is a task of its own in `runs/threads/<name>/`, so it can be shown, replayed and resumed. What a turn is told
of those before it is limited by `memory.max_tokens`; here it is so little that the first turn falls out of it and is
looked up again.
"""

import asyncio
from pathlib import Path

from habilis import Team, load_settings

SALES = Path(__file__).parent / "data" / "sales.csv"
QUESTIONS = ["What is the average price in sales.csv?", "And the maximum?", "times two", "minus 9.8", "What is 2+3*4?"]


async def main() -> None:
    team = Team(load_settings(overrides=["memory.max_tokens=120"]))
    for number, question in enumerate(QUESTIONS, 1):
        files = [SALES] if number == 1 else []
        result = await team.run(question, files=files, thread="sales")
        made = ", ".join(result.tools_made) or "none"
        print(f"{number}. {question}  {result.final_answer}  (tools made: {made})")
    folder = Path("runs") / "threads" / "sales" / "tasks"
    print("turns on disk:", ", ".join(sorted(path.name for path in folder.iterdir())))


if __name__ == "__main__":
    asyncio.run(main())

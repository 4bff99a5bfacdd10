"""Run a finished task again from its record: the same steps, the same answer, no model asked.

Every run keeps a tape of its model calls. A replay answers from it and runs the tools for real, so it shows whether a
change, to a prompt, a tool or Habilis itself, changes what happens. A request that the tape does not hold is named.
"""

import asyncio
import tempfile
from pathlib import Path

from habilis import Team, load_settings

DATA = Path(__file__).parent / "data"
QUESTION = "How many rows does sales.csv have?"


async def main() -> None:
    team = Team(load_settings(files=[Path("offline")]))
    with tempfile.TemporaryDirectory() as folder:
        first, second = Path(folder) / "first", Path(folder) / "second"
        live = await team.run(QUESTION, files=[DATA / "sales.csv"], run_dir=first)
        print(f"live:     {live.status}, {live.final_answer}, {live.usage.model_calls} model calls")

        again = await team.run(QUESTION, files=[DATA / "sales.csv"], run_dir=second, replay=first)
        print(f"replayed: {again.status}, {again.final_answer}")
        print("same answer:", again.final_answer == live.final_answer)

        other = await team.run(
            "How many words does notes.txt have?", files=[DATA / "notes.txt"], run_dir=Path(folder) / "x", replay=first
        )
        print(f"another question: {other.status}: {other.error}")


if __name__ == "__main__":
    asyncio.run(main())

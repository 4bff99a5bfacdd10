"""Ask the documents of a folder: passages are found by words, and the answer says where it stands.

`search_documents` is there for every task that has folders to search. The index lies in the cache folder and follows
the folder: only what changed is read again.
"""

import asyncio
import tempfile
from pathlib import Path

from habilis import Team, load_settings

HANDBOOK = """# Handbook

## Leave

Everybody has thirty days of leave a year. Who works in shifts has three more.

## Leaving

The notice period is three months, to the end of a month.
"""


async def main() -> None:
    with tempfile.TemporaryDirectory() as home:
        folder = Path(home) / "documents"
        folder.mkdir()
        (folder / "handbook.md").write_text(HANDBOOK, encoding="utf-8")
        (folder / "canteen.txt").write_text("Lunch is served from noon to two.", encoding="utf-8")
        team = Team(load_settings(files=[Path("offline")], overrides=[f"knowledge.folders=['{folder}']"]))
        for question in (
            "What does the handbook say about the notice period?",
            "When is lunch served?",
            "What does the handbook say about parking?",
        ):
            result = await team.run(question)
            print(f"{result.status}: {result.final_answer}")
            for call in result.invocations:
                found = [(passage["source"], passage["relevance"]) for passage in call.outcome.output["passages"]]
                print(f"  searched for {call.arguments['query']!r}, found {found}")


if __name__ == "__main__":
    asyncio.run(main())

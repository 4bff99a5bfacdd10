"""Two processes change one library while three read it: no reader sees half of anything, no change is lost."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from habilis.library import Library
from habilis.library.generations import Generations

from ... import nursery
from ...toolshop import put
from ..merging.conftest import adding

ROUNDS = 6
WRITER = """
import asyncio, sys
from pathlib import Path
from habilis.config import load_settings
from habilis.curation.manual.tending import Tending

async def main(library, mine):
    for name in mine:
        tending = Tending(library, load_settings(environ={}), wait_s=None)
        await tending.pin([name])
        await tending.retire([name + "_old"], "by " + name)

asyncio.run(main(Path(sys.argv[1]), sys.argv[2:]))
"""
READER = """
import sys
from pathlib import Path
from habilis.library import Library
from habilis.library.catalogue import Catalogue

path, tools, done = Path(sys.argv[1]), int(sys.argv[2]), Path(sys.argv[3])
seen = 0
for _ in range(2000):
    ended = done.exists()
    library = Library(path)
    broken, names = library.broken(), library.names()
    assert not broken, broken
    retired = library.retired()
    assert len(names) + len(retired) == tools, (len(names), len(retired))
    assert all(len(records) == 1 for _, records in retired), retired
    assert all(len(library.records(name)) == 1 for name in names)
    assert sorted(Catalogue.of(library.path).tools) == names
    seen += 1
    if ended:
        break
print(seen)
"""


async def test_no_torn_read_and_no_lost_write(tmp_path: Path) -> None:
    library, done = tmp_path / "library", tmp_path / "done"
    mine = [[f"w{writer}_{number}" for number in range(ROUNDS)] for writer in range(2)]
    for name in [name for lot in mine for name in lot]:
        for one in (name, f"{name}_old"):
            tool = await put(Library(library), adding(one) + f"# {one}\n", one)
            line = f'{{"call_id": "c", "tool": "{one}", "version": "{tool.version}", "verdict": "success"}}\n'
            (library / "records").mkdir(exist_ok=True)
            (library / "records" / f"{one}.jsonl").write_text(line)
    generations = Generations(library)
    with generations.draft() as draft:  # who reads a plain folder in the moment that it becomes a link is led on
        generations.publish(draft, {})
    count = str(4 * ROUNDS)
    writers = [_run(WRITER, str(library), *lot) for lot in mine]
    readers = [_run(READER, str(library), count, str(done)) for _ in range(3)]
    told = [writer.communicate(timeout=300) for writer in writers]
    done.touch()
    seen = [reader.communicate(timeout=300) for reader in readers]
    assert [writer.returncode for writer in writers] == [0, 0], told
    assert [reader.returncode for reader in readers] == [0, 0, 0], seen
    after = Library(library)
    assert all(after.get(name).manifest.pinned for lot in mine for name in lot)  # type: ignore[union-attr]
    assert sorted(tool.name for tool, _ in after.retired()) == sorted(f"{n}_old" for lot in mine for n in lot)
    assert after.names() == sorted(name for lot in mine for name in lot)


def _run(code: str, *words: str) -> subprocess.Popen[str]:
    return nursery.Program(
        [sys.executable, "-c", code, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )

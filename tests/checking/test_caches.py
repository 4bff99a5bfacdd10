"""Each row of the page's table of caches: what is damaged there is made anew, or passed over, or named in one line."""

from __future__ import annotations

import asyncio
import contextlib
import json
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from habilis.core.digests import digest
from habilis.core.types import Standing
from habilis.evaluation.datasets.attachments import keep
from habilis.judging import standing
from habilis.rundir import atomic_write
from habilis.runtime.packages import cache
from habilis.runtime.packages.environments import Environments
from habilis.runtime.packages.policy import EnvironmentFailed
from habilis.sandbox.inside import program
from habilis.sandbox.processes import interpreter
from habilis.sources.documents.chunks import Chunk
from habilis.sources.knowledge.store import IndexedDocument, Store
from habilis.tool_calling.strategies import Strategies

from ..marks import PROMISE
from .matrix import RIGHTS, damage, withheld
from .test_matrix import table

QUICK = ("missing", "empty", "cut", "bit", "folder", "link")


@dataclass(frozen=True)
class Cache:
    """`make` leaves the file; `use` gives what it is for and leaves it whole, None where it is passed over."""

    make: Callable[[], Path]
    use: Callable[[], object]
    right: object


def environments(home: Path, row: str) -> Cache:
    async def base() -> Path:
        interpreter_paths = (await Environments(home).ready(())).paths
        return interpreter_paths[0]

    def make() -> Path:
        cache._whole.clear()  # between two kinds of damage the file is taken away by the test itself
        folder = asyncio.run(base())
        suffix = row.removeprefix("environments/<base>")
        if suffix == "/**":
            return folder / "pydantic" / "main.py"
        (lock := folder.with_name(folder.name + suffix)).touch()
        return lock

    def use() -> object:
        cache._whole.clear()
        return cache.is_whole(asyncio.run(base()), again=True)

    return Cache(make, use, True)


def programs(home: Path) -> Cache:
    def use() -> object:
        interpreter.compiled.cache_clear()
        found = interpreter.compiled(program("guest"))
        return found == program("guest") or interpreter._is_whole(found)

    def make() -> Path:
        interpreter.compiled.cache_clear()
        return interpreter.compiled(program("guest"))

    return Cache(make, use, True)


def _again(make: Callable[[], Path], read: Callable[[], Any]) -> object:
    """What is read, once it was made anew where nothing could be read: None where that is of no use either."""
    if (found := read()) is None:
        with contextlib.suppress(OSError):
            make()
        found = read()
    return found


def judges(home: Path) -> Cache:
    path = home / "judge.json"
    told = Standing(role="review", model="m", by="probe", tells=True).model_dump(mode="json")

    def make() -> Path:
        row: dict[str, Any] = {"where": "w", "model": "m", "asked": "a", "at": time.time(), "standing": told}
        row["digest"] = digest(row)
        atomic_write(path, json.dumps(row) + "\n")
        return path

    def read() -> object:
        found = standing._read(path)
        return found and found["standing"]

    return Cache(make, lambda: _again(make, read), told)


def strategies(home: Path) -> Cache:
    async def client(_: str) -> Any:
        return SimpleNamespace(compatible=True, offline=False, where="w", name="m")

    async def quirks(_: str) -> Any:
        return SimpleNamespace(refused=frozenset())

    models: Any = SimpleNamespace(
        client=client,
        quirks=quirks,
        known_client=lambda _: SimpleNamespace(compatible=True, where="w", name="m"),
        tape=SimpleNamespace(note=lambda *_: None),
    )
    asked: Any = None
    known = Strategies(models, asked, asked, home)

    def make() -> Path:
        known._choose("react_text")
        (path,) = home.glob("*.json")
        return path

    return Cache(make, lambda: _again(make, lambda: asyncio.run(known._remembered())), "react_text")


def datasets(home: Path) -> Cache:
    content = b"\x89PNG content of a picture" * 40
    return Cache(lambda: keep(content), lambda: keep(content).read_bytes(), content)


def knowledge(home: Path) -> Cache:
    path = home / "s.sqlite"

    def use() -> object:
        try:
            store = Store(path)
        except OSError:
            store = Store(None)  # as a collection does
        if "a.md" not in store.documents():  # as a collection does, which reads what is not known
            document = IndexedDocument("a.md", 1, 1, "d")
            store.put([(document, [Chunk("pelicans " * 200, (), 1, 1, None)])])
        found = [hit.chunk.text for hit in store.search("pelicans", 1, 0.0)]
        store.close()
        return found

    def make() -> Path:
        use()
        return path

    return Cache(make, use, ["pelicans " * 200])


CACHES: dict[str, Callable[[Path], Cache]] = {
    **{
        row: lambda home, row=row: environments(home, row)  # type: ignore[misc]
        for row in ("environments/<base>/**", "environments/<base>.lock", "environments/<base>.use")
    },
    "programs/<digest>/<program>.pyc": programs,
    "judges/<digest>.json": judges,
    "strategies/<digest>.json": strategies,
    "datasets/files/<digest>": datasets,
    "knowledge/<name>.sqlite": knowledge,
}


def test_every_cache_of_the_table_is_damaged_here() -> None:
    assert {name for group, name in table() if group == "caches"} == CACHES.keys()


@pytest.mark.parametrize("row", CACHES)
@pytest.mark.parametrize("kinds", [QUICK, pytest.param(("line", *RIGHTS), marks=PROMISE)], ids=["quick", "rights"])
def test_a_damaged_cache_becomes_what_the_table_says(
    row: str, kinds: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HABILIS_CACHE_DIR", str(tmp_path / "cache"))
    (home := tmp_path / "home").mkdir()
    wrong = []
    for kind in kinds:
        it = CACHES[row](home)
        path = it.make()
        if damage(path, kind):
            found, expected = _became(it, path, kind), table()["caches", row][kind]
            if found != expected:
                wrong.append(f"{kind}: {found} instead of {expected}")
        if path.is_dir() and not path.is_symlink():
            path.rmdir()
        elif path.is_symlink() or kind in RIGHTS:
            path.unlink(missing_ok=True)
    interpreter.compiled.cache_clear()
    assert not wrong, wrong


def _became(it: Cache, path: Path, kind: str) -> str:
    """What became of the damage, once what lies there was used."""
    try:
        with withheld(kind):
            used = it.use()
    except (OSError, EnvironmentFailed) as error:
        return "named" if path.name in str(error) else f"UNNAMED {error}"
    if used is None or (used == it.right and kind in ("folder", "link") and not path.is_file()):
        return "passed over"
    if used != it.right:
        return f"WRONG {used}"
    return "whole" if kind == "read-only" else "made anew"

"""The recorded calls of these tools, repeated: each must give what it gave when it was recorded.

`python -m unittest discover tests` or `pytest` runs them. A call runs in an empty folder with the files that it had;
absolute names lie below `root/` there, names that climb out below `up/`, and are turned back in the output.
"""

from __future__ import annotations

import importlib
import json
import os
import tempfile
import unittest
from collections.abc import Iterator
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
ABOUT = json.loads((HERE / "tests.json").read_text(encoding="utf-8"))
"""The package, and by tool: its module, the file of its records, the ids of the calls to repeat."""


class RecordedCalls(unittest.TestCase):
    """One part per call."""

    def test_each_gives_what_was_recorded(self) -> None:
        runner = importlib.import_module(f"{ABOUT['package']}._calling")
        for name, row in ABOUT["tools"].items():
            tool = importlib.import_module(f"{ABOUT['package']}.tools.{row['module']}")
            records = {record["call_id"]: record for record in _records(HERE / row["records"])}
            for call_id in row["calls"]:
                with self.subTest(tool=name, call=call_id):
                    self._repeat(runner, tool, records[call_id])

    def _repeat(self, runner: Any, tool: Any, record: dict[str, Any]) -> None:
        before = Path.cwd()
        with tempfile.TemporaryDirectory() as folder:
            for name, digest in record["files"].items():
                place = Path(folder, moved(name))
                place.parent.mkdir(parents=True, exist_ok=True)
                place.write_bytes((HERE / "records" / "files" / digest).read_bytes())
            names = {text: moved(text) for text in texts(record["arguments"]) if names_file(text, record["files"])}
            arguments = with_text(record["arguments"], lambda text: names.get(text, text))
            os.chdir(folder)
            try:
                output = runner.plain(runner.call(tool, arguments))
            finally:
                os.chdir(before)
            found = with_text(output, lambda text: turned_back(text, names, str(Path(folder).resolve()), folder))
        assert equal(record["output"], found), f"recorded {record['output']!r}, now {found!r}"


def _records(path: Path) -> Iterator[dict[str, Any]]:
    for line in path.read_text(encoding="utf-8").splitlines():
        yield json.loads(line)


def moved(name: str) -> str:
    """The place below a folder of its own for a file that was called `name`."""
    parts = ["root"] if name.startswith("/") else []
    parts += ["up" if part == ".." else part for part in name.split("/") if part not in ("", ".")]
    return "/".join(parts)


def names_file(text: str, files: dict[str, str]) -> bool:
    """Whether `text` names a recorded file, or a folder above one, that lies elsewhere now."""
    below = text.rstrip("/") + "/"
    outside = bool(text.startswith("/") and text.strip("/")) or ".." in text.split("/")
    return outside and any(name == text or name.startswith(below) for name in files)


def turned_back(text: str, names: dict[str, str], *folders: str) -> str:
    """A text of an output as it was when the files lay where they did."""
    for name, new in sorted(names.items(), key=lambda pair: -len(pair[1])):
        for folder in folders:
            text = text.replace(f"{folder}/{new}", name)
        text = text.replace(f"./{new}", name).replace(new, name)
    for folder in folders:
        text = text.replace(folder, ".")
    return text


def texts(value: Any) -> Iterator[str]:
    """Every text in a JSON value."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for inner in value.values():
            yield from texts(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from texts(inner)


def with_text(value: Any, change: Any) -> Any:
    """A JSON value with every text in it changed."""
    if isinstance(value, str):
        return change(value)
    if isinstance(value, dict):
        return {key: with_text(inner, change) for key, inner in value.items()}
    if isinstance(value, list):
        return [with_text(inner, change) for inner in value]
    return value


def equal(one: Any, other: Any) -> bool:
    """Whether two outputs are the same: floating-point numbers to a relative difference of a billionth."""
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if isinstance(one, float) or isinstance(other, float):
        numbers = isinstance(one, (int, float)) and isinstance(other, (int, float))
        return numbers and bool(abs(one - other) <= 1e-9 * max(abs(one), abs(other)))
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(equal(one[key], other[key]) for key in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(equal(a, b) for a, b in zip(one, other, strict=True))
    return type(one) is type(other) and bool(one == other)


if __name__ == "__main__":
    unittest.main()

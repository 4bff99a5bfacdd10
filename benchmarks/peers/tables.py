"""What came out, as it comes: a line of JSON for each question and system, and a table of all of them."""

from __future__ import annotations

import contextlib
import json
import statistics
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

HEAD = (
    "system|right|wrong claims|no claim|calls|prompt tokens|completion tokens"
    "|seconds, median (from–to)|of them the model|tools made|tools reused"
)


class Results:
    """A file of results. An interrupted run goes on with it; one of another run is refused."""

    def __init__(self, path: Path, about: Mapping[str, Any]) -> None:
        self.path = path
        lines = list(_whole(path.read_text("utf-8"))) if path.is_file() else []
        if lines and lines[0] != {"about": dict(about)}:
            raise SystemExit(f"{path} is of another run: {json.dumps(lines[0].get('about'))}; name another --results")
        self.rows: list[dict[str, Any]] = lines[1:]
        if not lines:
            self._write({"about": dict(about)})

    def has(self, system: str, task: str) -> bool:
        return any((row["system"], row["task"]) == (system, task) for row in self.rows)

    def add(self, row: Mapping[str, Any]) -> None:
        self.rows.append(dict(row))
        self._write(row)

    def _write(self, row: Mapping[str, Any]) -> None:
        with self.path.open("a", encoding="utf-8") as stream:
            if stream.tell() and not self.path.read_bytes().endswith(b"\n"):
                stream.write("\n")  # a line that was cut off stays alone
            stream.write(json.dumps(row, ensure_ascii=False) + "\n")


def _whole(text: str) -> Iterator[dict[str, Any]]:
    """The lines that were written to their end: all but the last, where a run was killed in the middle of it."""
    for line in text.splitlines():
        with contextlib.suppress(ValueError):
            yield json.loads(line)


def table(rows: Iterable[Mapping[str, Any]], systems: Sequence[str], absent: Mapping[str, str]) -> str:
    """A Markdown table, a line for each system; a peer that is missing is named in it."""
    of = {system: [row for row in rows if row["system"] == system] for system in systems}
    heads = HEAD.split("|")
    lines = [heads, ["---"] * len(heads), *(_line(system, found) for system, found in of.items() if found)]
    shown = [f"| {' | '.join(line)} |" for line in lines]
    return "\n".join([*shown, *(f"\nnot asked: {name}: {why}" for name, why in absent.items())])


def _line(system: str, rows: Sequence[Mapping[str, Any]]) -> list[str]:
    seconds = [row["seconds"] for row in rows]
    spread = f"{statistics.median(seconds):.0f} ({min(seconds):.0f}–{max(seconds):.0f})"
    right, wrong = sum(row["right"] for row in rows), sum(row["wrong"] for row in rows)
    untold = sum(row["untold"] for row in rows)
    tokens = [f"{sum(row[kind] for row in rows):,}" for kind in ("prompt_tokens", "completion_tokens")]
    tokens[0] += f" (+ {untold} calls untold)" if untold else ""
    made, reused = sum(row.get("made", 0) for row in rows), sum(row.get("reused", 0) for row in rows)
    of_all = f"{right} of {len(rows)}"
    calls, thought = f"{sum(row['calls'] for row in rows)}", f"{statistics.median(row['model_s'] for row in rows):.0f}"
    return [
        system,
        of_all,
        f"{wrong}",
        f"{len(rows) - right - wrong}",
        calls,
        *tokens,
        spread,
        thought,
        f"{made}",
        f"{reused}",
    ]

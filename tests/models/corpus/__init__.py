"""Replies as models give them: a small grammar that makes hundreds of them from seeds, and odd ones written by hand."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from habilis.core.types import ToolSpec

HAND_WRITTEN = Path(__file__).parent / "hand_written.json"

READ = ToolSpec(
    name="read_rows",
    description="Read rows of a table.",
    parameters={
        "type": "object",
        "properties": {
            "path": {"type": "string"},
            "limit": {"type": "integer", "default": 5},
            "where": {"type": "object"},
        },
        "required": ["path"],
        "additionalProperties": False,
    },
)
SEARCH = ToolSpec(
    name="search",
    description="Search the documents.",
    parameters={"type": "object", "properties": {"query": {"type": "string"}}, "required": ["query"]},
)
TIME = ToolSpec(name="tell_time", description="The time.", parameters={"type": "object", "properties": {}})
SPECS = [READ, SEARCH, TIME]

Calls = tuple[tuple[str, dict[str, Any]], ...]


@dataclass(frozen=True)
class Sample:
    """One reply: how it is written (`text` or `react`), its text, the calls that it makes, whether it makes none
    because it is faulty (`bad`), and the answer that it gives."""

    way: str
    text: str
    calls: Calls = ()
    bad: bool = False
    answer: str | None = None
    says: tuple[str, ...] = field(default=())
    """What the feedback to a bad one must hold."""


WORDS = (
    "a.csv",
    "x = 1",
    'say "hi"',
    "it's",
    "",
    "zwei Wörter",
    "上海",
    "a\nb",
    "{not json}",
    "C:\\data",
    "f(x)",
    "Action: no",
)
THOUGHTS = (
    "",
    "I will look into the file.\n",
    "Let me see: the rows are in {a.csv}.\n\n",
    "First (of all) I read it.\nThen I count.\n",
    "Ich lese die Datei.\n",
)


def _arguments(lot: random.Random) -> tuple[str, dict[str, Any]]:
    name = lot.choice(["read_rows", "search", "tell_time"])
    if name == "tell_time":
        return name, {}
    if name == "search":
        return name, {"query": lot.choice(WORDS)}
    args: dict[str, Any] = {"path": lot.choice(WORDS)}
    if lot.random() < 0.5:
        args["limit"] = lot.choice([0, 3, -1])
    if lot.random() < 0.3:
        args["where"] = {"a": [1, None, True], "b": lot.choice(WORDS)}
    return name, args


def _json_call(lot: random.Random, name: str, args: dict[str, Any]) -> str:
    indent = lot.choice([None, 2])
    key = lot.choice(["arguments", "parameters", "args"])
    shape = lot.randrange(4)
    row: Any = {"name": name, key: args}
    if shape == 1:
        row = {"type": "function", "function": {"name": name, "arguments": json.dumps(args)}}
    elif shape == 2:
        row = [row]
    elif shape == 3:
        row = {"tool_calls": [row]}
    return json.dumps(row, ensure_ascii=lot.random() < 0.5, indent=indent)


def _named_call(lot: random.Random, name: str, args: dict[str, Any]) -> str:
    write = repr if lot.random() < 0.5 else (lambda value: json.dumps(value, ensure_ascii=False))
    return f"{name}({', '.join(f'{key}={write(value)}' for key, value in args.items())})"


def _placed_call(lot: random.Random, name: str, args: dict[str, Any]) -> str:
    known = list(next(spec for spec in SPECS if spec.name == name).parameters["properties"])
    if list(args) != known[: len(args)]:
        return _named_call(lot, name, args)
    return f"{name}({', '.join(json.dumps(value, ensure_ascii=False) for value in args.values())})"


def _wrapped(lot: random.Random, call: str) -> str:
    return lot.choice([call, f"```json\n{call}\n```", f"```\n{call}\n```", f"<tool_call>\n{call}\n</tool_call>"])


def text_samples(seed: int, count: int) -> Iterator[Sample]:
    """Calls as text, good ones and the same ones spoilt."""
    lot = random.Random(seed)
    for _ in range(count):
        rows = [_arguments(lot) for _ in range(lot.choice([1, 1, 1, 2, 3]))]
        write = lot.choice([_json_call, _named_call, _placed_call])
        thought = lot.choice(THOUGHTS)
        texts = [write(lot, name, args) for name, args in rows]
        kind = lot.randrange(6)
        if kind < 3:
            text = thought + lot.choice(["\n", "\n\n"]).join(_wrapped(lot, text) for text in texts)
            yield Sample("text", text, tuple(rows))
        elif kind == 3:
            text = f"{thought}{texts[0]}\nThat is what I called, and it gave 7."
            yield Sample("text", text, bad=not thought and write is _json_call, answer="7")
        elif kind == 4:
            yield Sample(
                "text", f"{thought}```python\n{_named_call(lot, *rows[0])}\n```", bad=True, says=("plain text",)
            )
        else:
            name = rows[0][0]
            broken = f'{{"name": "{name}", "arguments": {{"path": "a, "limit" 3}}}}'
            yield Sample("text", thought + lot.choice([broken, f"{name}(path='a"]), bad=True, says=("Nothing was run",))


def react_samples(seed: int, count: int) -> Iterator[Sample]:
    """Steps of reasoning and acting, good ones and the same ones spoilt."""
    lot = random.Random(seed)
    for _ in range(count):
        name, args = _arguments(lot)
        given = json.dumps(args, ensure_ascii=lot.random() < 0.5, indent=lot.choice([None, 2]))
        thought = lot.choice(
            ["", "Thought: I must look.\n", "I must look.\n", "<think>\nhm {x}\n</think>\nThought: Go.\n"]
        )
        kind = lot.randrange(8)
        if kind < 3:
            label = lot.choice(
                ["Action: {}\nAction Input: ", "**Action:** {}\n**Action Input:** ", "action: {}\naction_input: "]
            )
            fence = lot.choice(["{}", "```json\n{}\n```"])
            rest = lot.choice(["", "\nObservation: 7\nThought: done\nFinal Answer: 7", "\n"])
            yield Sample("react", thought + label.format(name) + fence.format(given) + rest, ((name, args),))
        elif kind == 3:
            action = json.dumps({"action": name, "action_input": args}, ensure_ascii=False)
            label = lot.choice(["Action: ", "Action:\n", ""])
            yield Sample(
                "react", thought + label + lot.choice(["{}", "```json\n{}\n```"]).format(action), ((name, args),)
            )
        elif kind == 4:
            yield Sample("react", f"{thought}Final Answer: {lot.choice(['42', 'Es sind 7.', '{1, 2}'])}", answer="")
        elif kind == 5:
            yield Sample(
                "react", f'{thought}I could send {{"action": "{name}", "action_input": {{}}}} but why.', bad=True
            )
        elif kind == 6:
            yield Sample("react", f'{thought}Action: {name}\nAction Input: {{"path": "a, 3', bad=True)
        else:
            yield Sample(
                "react",
                lot.choice(["Thought: I am thinking.", "I will call the tool now.", "Action:", "Final Answer:"]),
                bad=True,
            )


def hand_written() -> list[Sample]:
    """The odd ones, from the file beside this."""
    rows = json.loads(HAND_WRITTEN.read_text(encoding="utf-8"))
    return [
        Sample(
            row["way"],
            row["text"],
            tuple((name, args) for name, args in row.get("calls", ())),
            row.get("bad", False),
            row.get("answer"),
        )
        for row in rows
    ]


def samples() -> list[Sample]:
    """All of the corpus, always the same."""
    return [*hand_written(), *text_samples(1, 180), *react_samples(2, 180)]

"""Differential runs: a tool and the one that is to replace it, side by side on calls that nobody has made yet.

Inputs are made from recorded calls by changing one argument at a time, and from the schema's types where a call needs
no file. The choice is drawn from a seed that the tools' versions give: the same tools are always tried alike. A call
that the old tool cannot answer tells nothing; one that both answer, differently, speaks against the merge.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from habilis.contract.aliases import properties, required
from habilis.contract.records import RecordedCall, equal, is_empty, set_error
from habilis.contract.runnable import Runnable
from habilis.core.gathering import side_by_side
from habilis.core.types import CallOutcome
from habilis.library import Tool
from habilis.synthesis.replay import AT_ONCE, Replayer, compact

_SHOWN = 200
_TEXTS = ("", "a", "Zebra 12", "naïve café", "1,234.5", "-7", "x y z", "2024-02-29")
_WHOLE = (0, 1, -1, 2, 7, 10, 100, 12345)
_REAL = (0.0, 1.0, -1.5, 0.1, 3.25, 1000.5)


@dataclass(frozen=True)
class Comparison:
    """What a comparison came to. `told` of `made` calls could be compared; `against` is the first that differed."""

    made: int = 0
    told: int = 0
    against: str = ""


async def compare(
    old: Tool, new: Runnable, records: Sequence[RecordedCall], replayer: Replayer, scratch: Path, *, count: int
) -> Comparison:
    """Run `count` generated calls of `old` on both; `new` brings the alias that leads to it."""
    calls = generated(old, records, count, seed=f"{old.version}:{new.module.name}")

    async def one(number: int, call: RecordedCall) -> str | None:
        return await _difference(old.runnable, new, call, replayer, scratch / f"{number}")

    said = await side_by_side(calls, one, AT_ONCE)
    against = next((text for text in said if text), "")
    return Comparison(len(calls), sum(text is not None for text in said), against)


async def _difference(
    old: Runnable, new: Runnable, call: RecordedCall, replayer: Replayer, scratch: Path
) -> str | None:
    """What speaks against `new`, empty when the two agree, None when the call tells nothing."""
    before = await replayer.run(old, call, scratch / "old", None)
    if not _answers(before):
        return None
    now = await replayer.run(new, call, scratch / "new", None)
    assert before is not None
    if now is not None and now.error is None and equal(before.output, now.output):
        return ""
    if now is None or (now.error is not None and now.error.kind in ("denied", "unavailable")):
        return None
    again = await replayer.run(old, call, scratch / "again", None)
    if again is None or again.error is not None or not equal(again.output, before.output):
        return None  # it does not even agree with itself
    what = now.error.message if now.error is not None else compact(now.output, _SHOWN)
    first = what.splitlines()[0] if what else what
    return f"{compact(call.arguments, _SHOWN)} gave {compact(before.output, _SHOWN)}, and would give {first[:_SHOWN]}"


def _answers(outcome: CallOutcome | None) -> bool:
    if outcome is None or outcome.error is not None:
        return False
    return not set_error(outcome.output) and not is_empty(outcome.output)


def generated(tool: Tool, records: Sequence[RecordedCall], count: int, *, seed: str) -> list[RecordedCall]:
    """At most `count` calls of `tool` that differ from its recorded ones and from each other; the same for a seed."""
    lot = random.Random(seed)
    usable = [record for record in records if record.replayable and record.verdict == "success"]
    seen = [record.arguments for record in usable]
    found: list[RecordedCall] = []
    for number in range(4 * count):
        if len(found) == count:
            break
        base = usable[number % len(usable)] if usable else None
        plain = base is None or (not base.files and number % 2)
        arguments = _from_schema(tool, lot) if plain else _changed(tool, base, usable, lot)
        if arguments is None or any(arguments == known for known in seen):
            continue
        seen.append(arguments)
        files = {} if base is None or plain else base.files
        found.append(
            RecordedCall(
                call_id=f"trial-{number}", tool=tool.name, version=tool.version, arguments=arguments, files=files
            )
        )
    return found


def _from_schema(tool: Tool, lot: random.Random) -> dict[str, Any] | None:
    """Arguments by type alone: all that are required, others by lot."""
    schema = tool.input_schema
    fields, must = schema.get("properties") or {}, required(schema)
    arguments = {}
    for name in properties(schema):
        if name in must or lot.random() < 0.5:
            value = _value(fields[name], lot)
            if value is None:
                return None
            arguments[name] = value
    return arguments


def _changed(
    tool: Tool, base: RecordedCall | None, records: Sequence[RecordedCall], lot: random.Random
) -> dict[str, Any] | None:
    """The arguments of a recorded call with one changed that names no file of it."""
    assert base is not None
    names = sorted(name for name, value in base.arguments.items() if not _names_file(value, base.files))
    if not names:
        return None
    name = lot.choice(names)
    others = [record.arguments[name] for record in records if name in record.arguments]
    field = (tool.input_schema.get("properties") or {}).get(name) or {}
    return {**base.arguments, name: _varied(base.arguments[name], others, field, lot)}


def _names_file(value: Any, files: Mapping[str, str]) -> bool:
    if isinstance(value, str):
        return any(name == value or name.startswith(value.rstrip("/") + "/") for name in files)
    if isinstance(value, list):
        return any(_names_file(item, files) for item in value)
    return False


def _varied(value: Any, others: Sequence[Any], field: Mapping[str, Any], lot: random.Random) -> Any:
    """Another value of the kind of `value`."""
    if "enum" in field:
        return lot.choice(list(field["enum"]))
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return lot.choice([value + 1, value - 1, value * 2, 0, -value])
    if isinstance(value, float):
        return lot.choice([value + 0.5, value * 2, -value, 0.0])
    if isinstance(value, str):
        return lot.choice([value.upper(), value.lower(), value[:-1], f"{value}1", _counted_up(value), *others])
    if isinstance(value, list):
        return lot.choice([value[::-1], value[1:], value + value[:1]])
    return value


def _counted_up(text: str) -> str:
    return "".join(str((int(c) + 1) % 10) if c.isascii() and c.isdigit() else c for c in text)


def _value(field: Any, lot: random.Random) -> Any:
    """A value for a field by its JSON schema; None where its type is none of the plain ones."""
    if not isinstance(field, Mapping):
        return None
    if "enum" in field:
        return lot.choice(list(field["enum"]))
    if "const" in field:
        return field["const"]
    choices = [c for c in field.get("anyOf") or () if isinstance(c, Mapping) and c.get("type") != "null"]
    if choices:
        return _value(lot.choice(choices), lot)
    kind = field.get("type")
    if kind == "array":
        items = [_value(field.get("items") or {}, lot) for _ in range(lot.randint(1, 4))]
        return None if None in items else items
    plain: dict[str, Sequence[Any]] = {
        "string": _TEXTS,
        "integer": _WHOLE,
        "number": _REAL,
        "boolean": (True, False),
    }
    return lot.choice(plain[kind]) if kind in plain else None

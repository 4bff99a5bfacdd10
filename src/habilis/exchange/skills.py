"""Tools as Agent Skills (the open form of agentskills.io): a folder per tool that other agents find and can run.

`SKILL.md` has the front matter that every client reads: `name` (at most 64 lower-case letters, digits and single
hyphens; that of its folder) and `description` (at most 1,024 characters). Scripts lie in `scripts/`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from habilis.contract.aliases import kinds, required
from habilis.contract.records import RecordStore
from habilis.exchange import standalone
from habilis.exchange.parcels import Parcel, row_of
from habilis.exchange.reports import ExportedTool
from habilis.library import Tool
from habilis.library.folder import dump
from habilis.messages.naming import short_hash

MAX_NAME, MAX_DESCRIPTION = 64, 1024


class SkillsLayout:
    """One folder per tool below `folder`."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._names: dict[str, str] = {}

    def store(self, tool: Tool) -> RecordStore:
        return RecordStore(self._folder / self._name(tool) / "assets" / "records")

    def put(self, parcel: Parcel) -> ExportedTool:
        name = self._name(parcel.tool)
        folder, file = self._folder / name, script_name(parcel.tool.name)
        for inner in ("scripts", "assets"):
            (folder / inner).mkdir(parents=True, exist_ok=True)
        (folder / "scripts" / file).write_bytes(parcel.source)
        (folder / "scripts" / "run.py").write_text(runner(parcel), encoding="utf-8")
        (folder / "assets" / "manifest.json").write_text(dump(parcel.manifest), encoding="utf-8")
        (folder / "SKILL.md").write_text(skill(parcel, name), encoding="utf-8")
        records = {called: f"{name}/assets/records/{called}.jsonl" for called in parcel.records}
        return row_of(parcel, f"{name}/scripts/{file}", f"{name}/assets/manifest.json", records)

    def finish(self, parcels: Sequence[Parcel], rows: Sequence[ExportedTool]) -> list[str]:
        return []

    def _name(self, tool: Tool) -> str:
        if tool.name not in self._names:
            name = skill_name(tool.name)
            taken = name in self._names.values()
            self._names[tool.name] = f"{name[: MAX_NAME - 9].rstrip('-')}-{short_hash(tool.name)}" if taken else name
        return self._names[tool.name]


def skill_name(name: str) -> str:
    """The name of a tool as a skill may have it."""
    plain = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")
    if not plain:
        return f"tool-{short_hash(name)}"
    return plain if len(plain) <= MAX_NAME else f"{plain[: MAX_NAME - 9].rstrip('-')}-{short_hash(name)}"


def script_name(name: str) -> str:
    """The file of a tool among its skill's scripts; not that of the script that runs it."""
    return "run_tool.py" if name == "run" else f"{name}.py"


def runner(parcel: Parcel) -> str:
    """`scripts/run.py`: inline metadata (PEP 723), so that a runner such as uv finds its packages, then our program."""
    needs = json.dumps(["pydantic>=2", *parcel.manifest.requirements])
    body = Path(standalone.__file__).with_name("calling.py").read_text(encoding="utf-8")
    return f'# /// script\n# requires-python = ">=3.11"\n# dependencies = {needs}\n# ///\n{body}'


def skill(parcel: Parcel, name: str) -> str:
    """The text of `SKILL.md`."""
    manifest = parcel.manifest
    about = " ".join(manifest.description.split())
    lines = [
        "---",
        f"name: {name}",
        f"description: {_quoted(_cut(about))}",
        f"compatibility: {_quoted(_cut(_compatibility(parcel), 500))}",
        "metadata:",
        f"  habilis-tool: {_quoted(manifest.name)}",
        f"  habilis-version: {_quoted(manifest.version)}",
        "---",
        "",
        about,
        "",
        "Run it with the arguments as one JSON object; it prints its result as JSON:",
        "",
        "```sh",
        f"python scripts/run.py '{_sample(parcel)}'",
        "```",
        "",
        "A result whose `error` is set means that it did not succeed. File names mean the current folder.",
        "",
        "| argument | type | |",
        "|---|---|---|",
        *_rows(manifest.input_schema),
        "",
        f"It gives: {', '.join(f'`{field}` ({kind})' for field, kind in kinds(manifest.output_schema).items())}",
        "",
    ]
    return "\n".join(lines)


def _rows(schema: Mapping[str, Any]) -> list[str]:
    fields, must = schema.get("properties") or {}, required(schema)
    found = []
    for name, kind in kinds(schema).items():
        about = fields[name].get("description", "") if isinstance(fields[name], dict) else ""
        word = "required" if name in must else "optional"
        cell = " ".join(f"{word}. {about}".split()).replace("|", "\\|")
        found.append(f"| `{name}` | {kind.replace('|', 'or')} | {cell} |")
    return found or ["| (none) | | |"]


def _sample(parcel: Parcel) -> str:
    """Arguments to show: those of the tool's own example, else its required ones by type."""
    if parcel.manifest.examples:
        arguments = parcel.manifest.examples[0].arguments
    else:
        kinds_of = kinds(parcel.manifest.input_schema)
        values: dict[str, Any] = {"integer": 1, "number": 1.0, "boolean": True}
        arguments = {name: values.get(kinds_of[name], "…") for name in required(parcel.manifest.input_schema)}
    return json.dumps(arguments, ensure_ascii=False).replace("'", "\\u0027")


def _compatibility(parcel: Parcel) -> str:
    packages = ", ".join(["pydantic 2", *parcel.manifest.requirements])
    needs = ", ".join(str(need) for need in parcel.manifest.capabilities.needs)
    return f"Needs Python 3.11 and {packages}" + (f"; asks for {needs}" if needs else "")


def _cut(text: str, limit: int = MAX_DESCRIPTION) -> str:
    return text if len(text) <= limit else f"{text[: limit - 1].rstrip()}…"


def _quoted(text: str) -> str:
    """A text as a YAML value: JSON strings are YAML."""
    return json.dumps(text, ensure_ascii=False)

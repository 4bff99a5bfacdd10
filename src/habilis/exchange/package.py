"""Tools as a Python package: typed functions over the sources as they stand, a lock, and tests of recorded calls.

src/<package>/__init__.py   a function per tool, with the types of its input model
src/<package>/tools/        the sources, byte for byte, each with its manifest
tests/                      the recorded calls, and the program that repeats them (standard library alone)
requirements.lock           exact versions, without the address of any index
"""

from __future__ import annotations

import json
import keyword
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from habilis.config import Settings
from habilis.contract.aliases import required
from habilis.contract.records import RecordStore
from habilis.core.errors import UserError
from habilis.exchange import standalone
from habilis.exchange.locking import Locked, locked
from habilis.exchange.parcels import Parcel, row_of
from habilis.exchange.reports import ExportedTool
from habilis.library import Tool
from habilis.library.folder import dump
from habilis.messages.naming import provider_name

_PLAIN_TYPES = {"string": "str", "integer": "int", "number": "float", "boolean": "bool", "null": "None"}
_TAKEN = frozenset({"Any", "LEFT_OUT", "LeftOut", "Literal", "TYPE_CHECKING", "annotations", "call", "import_module"})
"""Names that the package's own code has."""


class PackageLayout:
    """The package called `name` below `folder`. Raises `UserError` for a name that no package can have."""

    def __init__(self, folder: Path, name: str, settings: Settings) -> None:
        self._folder, self._settings = folder, settings
        self._project = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")
        self._package = self._project.replace("-", "_")
        if not self._package.isidentifier() or keyword.iskeyword(self._package):
            raise UserError(f"{name!r} cannot name a package; give one with --name, such as my_tools")
        self._code = folder / "src" / self._package
        (self._code / "tools").mkdir(parents=True)
        (folder / "tests").mkdir()
        self._store = RecordStore(folder / "tests" / "records")
        self._modules: dict[str, str] = {}

    def store(self, tool: Tool) -> RecordStore:
        return self._store

    def put(self, parcel: Parcel) -> ExportedTool:
        module = self._module(parcel.tool.name)
        (self._code / "tools" / f"{module}.py").write_bytes(parcel.source)
        (self._code / "tools" / f"{module}.json").write_text(dump(parcel.manifest), encoding="utf-8")
        below = f"src/{self._package}/tools/{module}"
        records = {called: f"tests/records/{called}.jsonl" for called in parcel.records}
        return row_of(parcel, f"{below}.py", f"{below}.json", records)

    def finish(self, parcels: Sequence[Parcel], rows: Sequence[ExportedTool]) -> list[str]:
        lock = locked(parcels, self._settings)
        ours = Path(standalone.__file__).parent
        texts = {
            self._code / "__init__.py": self._functions(parcels),
            self._code / "_calling.py": (ours / "calling.py").read_text(encoding="utf-8"),
            self._code / "py.typed": "",
            self._code / "tools" / "__init__.py": '"""The tools as they are kept in their library."""\n',
            self._folder / "tests" / "test_recorded_calls.py": (ours / "recorded_calls.py").read_text(encoding="utf-8"),
            self._folder / "tests" / "tests.json": self._tests(parcels),
            self._folder / "pyproject.toml": self._project_file(parcels, lock),
            self._folder / "requirements.lock": lock.text,
            self._folder / "README.md": self._readme(parcels),
        }
        for path, text in texts.items():
            path.write_text(text, encoding="utf-8")
        for tool, text in lock.apart.items():
            (self._folder / f"requirements-{self._module(tool)}.lock").write_text(text, encoding="utf-8")
        return list(lock.notes)

    def _module(self, name: str) -> str:
        """The name of a tool as a module and a function."""
        if name not in self._modules:
            plain = re.sub(r"\W", "_", provider_name(name), flags=re.ASCII)
            odd = keyword.iskeyword(plain) or plain in _TAKEN or plain.startswith("__")
            plain = f"tool_{plain}" if odd else plain
            number = 1
            module = plain
            while module.lower() in {known.lower() for known in self._modules.values()}:
                number += 1
                module = f"{plain}_{number}"
            self._modules[name] = module
        return self._modules[name]

    # --- what is written

    def _functions(self, parcels: Sequence[Parcel]) -> str:
        names = [self._module(parcel.tool.name) for parcel in parcels]
        imports = "".join(f"    from {self._package}.tools import {name} as _{name}\n" for name in names)
        parts = [
            f'"""Tools of a library as functions: {len(names)} of them. Each gives the output model of its tool."""\n',
            "from __future__ import annotations\n",
            "from importlib import import_module",
            "from typing import TYPE_CHECKING, Any, Literal\n",
            f"from {self._package}._calling import LEFT_OUT, LeftOut, call\n",
            f"if TYPE_CHECKING:\n{imports}" if imports else "",
            f"__all__ = {json.dumps(names)}\n\n",
            *(function(self._module(parcel.tool.name), parcel) for parcel in parcels),
        ]
        return "\n".join(parts)

    def _tests(self, parcels: Sequence[Parcel]) -> str:
        tools = {
            parcel.tool.name: {
                "module": self._module(parcel.tool.name),
                "records": f"records/{parcel.tool.name}.jsonl",
                "calls": list(parcel.tests),
            }
            for parcel in parcels
            if parcel.tests
        }
        return json.dumps({"package": self._package, "tools": tools}, ensure_ascii=False, indent=1) + "\n"

    def _project_file(self, parcels: Sequence[Parcel], lock: Locked) -> str:
        lines = [
            "[build-system]",
            'requires = ["hatchling"]',
            'build-backend = "hatchling.build"',
            "",
            "[project]",
            f"name = {json.dumps(self._project)}",
            'version = "0.1.0"',
            f'description = "Tools of a library as functions: {len(parcels)} of them."',
            'readme = "README.md"',
            'requires-python = ">=3.11"',
            f"dependencies = {json.dumps(['pydantic>=2', *lock.together])}",
        ]
        if lock.apart:
            lines += ["", "[project.optional-dependencies]"]
            needs = {parcel.tool.name: list(parcel.manifest.requirements) for parcel in parcels}
            lines += [f"{self._module(name)} = {json.dumps(needs[name])}" for name in sorted(lock.apart)]
        lines += ["", "[tool.hatch.build.targets.wheel]", f'packages = ["src/{self._package}"]', ""]
        return "\n".join(lines)

    def _readme(self, parcels: Sequence[Parcel]) -> str:
        rows = [
            f"| `{self._module(parcel.tool.name)}` | {' '.join(parcel.manifest.description.split())} |".replace(
                "\n", " "
            )
            for parcel in parcels
        ]
        first = self._module(parcels[0].tool.name) if parcels else "…"
        lines = [
            f"# {self._project}",
            "",
            "Tools that were written by a language model and kept because they proved themselves in use.",
            "They run in your process, with your rights: read them first, or call them through Habilis, which",
            "confines each call.",
            "",
            "```sh",
            "pip install -r requirements.lock && pip install --no-deps .",
            "python -m unittest discover tests    # the recorded calls, repeated",
            "```",
            "",
            "```python",
            f"from {self._package} import {first}",
            "```",
            "",
            "| function | |",
            "|---|---|",
            *rows,
            "",
            "`habilis library import` takes them back, with their lineage; `habilis library verify` compares all files",
            "with the digests in `habilis.json`.",
            "",
        ]
        return "\n".join(lines)


def function(name: str, parcel: Parcel) -> str:
    """The source of one function."""
    schema = parcel.manifest.input_schema
    fields = schema.get("properties") or {}
    must, definitions = required(schema), schema.get("$defs") or {}
    usable = [field for field in fields if _is_parameter(field)]
    usable.sort(key=lambda field: field not in must)
    parameters = [_parameter(field, fields[field], field in must, definitions) for field in usable]
    given = ", ".join(f"{json.dumps(field)}: {field}" for field in usable)
    if len(usable) < len(fields):  # names that no parameter can have
        parameters.append("**more: Any")
        given = f"{given}, **more" if given else "**more"
    takes = f"*, {', '.join(parameters)}" if usable else ", ".join(parameters)
    head = f"def {name}({takes}) -> _{name}.OutputModel:"
    about = repr(_described(parcel))
    return (
        f"{head}\n    {about}\n"
        f'    tool = import_module("{{}}.tools.{name}".format(__name__))\n'
        f"    output: _{name}.OutputModel = call(tool, {{{given}}})\n    return output\n\n"
    )


def _described(parcel: Parcel) -> str:
    fields = parcel.manifest.input_schema.get("properties") or {}
    told = [
        f"{name}: {' '.join(about['description'].split())}"
        for name, about in fields.items()
        if isinstance(about, dict) and isinstance(about.get("description"), str)
    ]
    about = " ".join(parcel.manifest.description.split())
    return "\n\n    ".join([about, "\n    ".join(told)]) if told else about


def _is_parameter(name: str) -> bool:
    return name.isidentifier() and not keyword.iskeyword(name) and name not in (*_TAKEN, "more", "tool", "output")


def _parameter(name: str, schema: Any, must: bool, definitions: Mapping[str, Any]) -> str:
    kind = type_of(schema, definitions)
    if must:
        return f"{name}: {kind}"
    return f"{name}: {kind} | LeftOut = LEFT_OUT" if kind != "Any" else f"{name}: Any = LEFT_OUT"


def type_of(schema: Any, definitions: Mapping[str, Any], depth: int = 0) -> str:
    """The Python type of values that fit a JSON schema, as an annotation; `Any` where that is not plain to see."""
    if not isinstance(schema, Mapping) or depth > 8:
        return "Any"
    reference = schema.get("$ref")
    if isinstance(reference, str):
        return type_of(definitions.get(reference.rsplit("/", 1)[-1]), definitions, depth + 1)
    values = schema.get("enum", [schema["const"]] if "const" in schema else None)
    if isinstance(values, list):
        plain = values and all(isinstance(value, (str, int, bool)) for value in values)
        return f"Literal[{', '.join(map(repr, values))}]" if plain else "Any"
    choices = schema.get("anyOf") or schema.get("oneOf")
    if isinstance(choices, list):
        kinds = list(dict.fromkeys(type_of(choice, definitions, depth + 1) for choice in choices))
        return "Any" if "Any" in kinds else " | ".join(kinds)
    named = schema.get("type")
    if named == "array":
        return f"list[{type_of(schema.get('items'), definitions, depth + 1)}]"
    if named == "object":
        inner = schema.get("additionalProperties")
        return f"dict[str, {type_of(inner, definitions, depth + 1) if isinstance(inner, Mapping) else 'Any'}]"
    return _PLAIN_TYPES.get(named, "Any") if isinstance(named, str) else "Any"

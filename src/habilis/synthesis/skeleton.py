"""The head of a tool that a request asks for: what it is called, takes and gives, so that its writer has only the work
to write; and the head put before a module whose writer left it out.

The request settles the head, so nothing is guessed.
"""

from __future__ import annotations

import ast
import datetime
import json
import keyword
import sys
import textwrap
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from habilis.contract.contract import ContractError, read_contract
from habilis.contract.examples import META
from habilis.core.errors import WriterFailed
from habilis.core.parsing import literal_value, tree_of
from habilis.core.types import JsonSchema, ToolRequest

_TYPES = {
    "string": "str",
    "integer": "int",
    "number": "int | float",
    "boolean": "bool",
    "object": "dict",
    "array": "list",
}
_ALWAYS_THERE = frozenset({"pydantic", "pydantic_core", "typing_extensions", "annotated_types"})
_IMPORT = "from pydantic import BaseModel"
_TWO_MEANINGS = "datetime"
_HOMES = {
    "BaseModel": "pydantic",
    "Counter": "collections",
    "Decimal": "decimal",
    "Field": "pydantic",
    "Fraction": "fractions",
    "Path": "pathlib",
    "StringIO": "io",
    "defaultdict": "collections",
    "timedelta": "datetime",
}
"""Names that modules take from one place, whoever writes them."""


_READING = {
    "table": (
        "import csv\nimport io\nfrom pathlib import Path\n\n",
        """\
    text = Path({path}).read_text(encoding="utf-8-sig")
    divider = max(",;\\t|", key=text.partition("\\n")[0].count)
    rows = list(csv.DictReader(io.StringIO(text), delimiter=divider))
""",
    ),
    "json": (
        "import json\nfrom pathlib import Path\n\n",
        """\
    data = json.loads(Path({path}).read_text(encoding="utf-8-sig"))
""",
    ),
}
"""How files are read of which writers without a hint take their first line for data, or a comma for every divider."""


def skeleton(request: ToolRequest, files: Sequence[Mapping[str, Any]] = ()) -> str:
    """The module that `request` asks for, with a `run` that is still to be written.

    `files` are the task's, as prompts show them: the example may bring what the first of them begins with.
    """
    imports, reading = _reading(request, files)
    parts = [imports + _IMPORT, _meta(request, files), "", _inputs(request), "", _outputs(request), ""]
    parts += ["", "def run(input: InputModel) -> OutputModel:", f"{reading}    ..."]
    return "\n".join(parts)


def _reading(request: ToolRequest, files: Sequence[Mapping[str, Any]]) -> tuple[str, str]:
    """The imports and the first lines of a `run` that takes the path of the task's table or document; else nothing."""
    path = next((name for name, field in _fields(request.input_schema) if _is_path(name, field)), None)
    kind = files[0].get("kind") if files else None
    if path is None or kind not in _READING:
        return "", ""
    imports, lines = _READING[kind]
    lines = lines.format(path=f"input.{path}")
    if kind == "table" and (odd := files[0].get("odd", {})).get("read"):
        imports = imports.replace("import io\n", "import io\nfrom decimal import Decimal\n")
        lines += f"\n    def number(cell: str) -> Decimal:\n        return Decimal(cell{odd['read']})\n\n"
    return imports, lines


def as_asked(source: str, request: ToolRequest, files: Sequence[Mapping[str, Any]] = ()) -> str:
    """`source` with the head that its request settles. Raises `WriterFailed` for a package out of nowhere."""
    return without_strangers(completed(source, request, files))


def without_strangers(source: str) -> str:
    """`source` as it is. Raises `WriterFailed` for a package out of nowhere."""
    package = undeclared(source)
    if package:
        raise WriterFailed(
            f"The module imports {package}, which is not there: do it with Python's standard library (csv, json, "
            "statistics, datetime, re), or name the package in `dependencies`."
        )
    return source


def completed(source: str, request: ToolRequest, files: Sequence[Mapping[str, Any]] = ()) -> str:
    """`source` with those parts of its head that it lacks; as it is, if it lacks none or is no module with a `run`."""
    tree = tree_of(source)
    body = tree.body if tree is not None else []
    bound = _bound(body)
    if "run" not in bound:
        return source
    parts = {META: _meta(request, files), "InputModel": _inputs(request), "OutputModel": _outputs(request)}
    lacking = [text for name, text in parts.items() if name not in bound]
    if not lacking:
        return source
    after = max((node.end_lineno or 0 for node in body if _stays_first(node)), default=0)
    lines = source.splitlines(keepends=True)
    head = "\n\n".join([_IMPORT, *lacking])
    return f"{''.join(lines[:after])}{head}\n\n\n{''.join(lines[after:])}"


def with_imports(source: str) -> str:
    """`source` with an import for each module of the standard library and each name of `_HOMES` that it uses and never
    names otherwise.

    `json.load(file)` in a module that binds no `json` anywhere can only fail, and can only mean one thing.
    """
    tree = tree_of(source)
    if tree is None:
        return source
    named = _named(tree)
    if "*" in named:
        return source
    unbound = _used(tree) - named
    lacking = [f"import {name}\n" for name in sorted(unbound & sys.stdlib_module_names - {_TWO_MEANINGS})]
    if _TWO_MEANINGS in unbound:
        lacking.append(_import_of_datetime(tree))
    homeless = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)} - named
    lacking += [f"from {_HOMES[name]} import {name}\n" for name in sorted(homeless & _HOMES.keys())]
    if not lacking:
        return source
    after = max((node.end_lineno or 0 for node in tree.body if _stays_first(node)), default=0)
    lines = source.splitlines(keepends=True)
    return "".join([*lines[:after], *lacking, *lines[after:]])


def _used(tree: ast.Module) -> set[str]:
    """Names of which an attribute is taken."""
    return {
        node.value.id
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and isinstance(node.ctx, ast.Load)
    }


def _named(tree: ast.Module) -> set[str]:
    """Names that are bound anywhere in a module, in whatever way."""
    named: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            named.add(node.id)
        elif isinstance(node, ast.arg):
            named.add(node.arg)
        elif isinstance(node, ast.alias):
            named.add(node.asname or node.name.partition(".")[0])
        elif isinstance(name := getattr(node, "name", None), str):  # functions, classes, errors, patterns
            named.add(name)
    return named


def _import_of_datetime(tree: ast.Module) -> str:
    """The module, or the class in it that bears its name, by what is taken of it."""
    taken = {
        node.attr
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == _TWO_MEANINGS
    }
    return "import datetime\n" if taken & set(dir(datetime)) else "from datetime import datetime\n"


def undeclared(source: str) -> str:
    """A package that `source` imports without any dependency named and without a way round; empty if there is none.

    With a dependency named nothing can be said: packages bring others, under names of their own.
    """
    tree = tree_of(source)
    try:
        if tree is None or read_contract(source).requirements:
            return ""
    except ContractError:
        return ""
    guarded = {id(inner) for node in ast.walk(tree) if isinstance(node, ast.Try) for inner in ast.walk(node)}
    for node in ast.walk(tree):
        if id(node) in guarded:
            continue
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        if isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names = [node.module]
        for name in (name.partition(".")[0] for name in names):
            if name not in sys.stdlib_module_names and name not in _ALWAYS_THERE:
                return name
    return ""


def _bound(body: Sequence[ast.stmt]) -> set[str]:
    """The names that a module defines or imports at its top."""
    bound: set[str] = set()
    for node in body:
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            bound.add(node.name)
        elif isinstance(node, ast.Import | ast.ImportFrom):
            bound |= {alias.asname or alias.name for alias in node.names}
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            bound |= {target.id for target in targets if isinstance(target, ast.Name)}
    return bound


def _stays_first(node: ast.stmt) -> bool:
    """Whether Python wants this at the top: the module's words, and imports from the future."""
    if isinstance(node, ast.ImportFrom):
        return node.module == "__future__"
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and node.lineno == 1


def _meta(request: ToolRequest, files: Sequence[Mapping[str, Any]]) -> str:
    texts = {
        Path(str(file["named"])).name: f"{textwrap.dedent(str(file['begins']))}\n"
        for file in files[:1]
        if file.get("begins") and not file.get("is_dir")
    }
    arguments = {name: _placeholder(name, field, texts) for name, field in _fields(request.input_schema)}
    rows = {
        "name": request.name,
        "description": request.description,
        "dependencies": [],
        "examples": [{"arguments": arguments, **({"files": texts} if texts else {})}],
    }
    inner = "".join(f"    {json.dumps(key)}: {_python(value)},\n" for key, value in rows.items())
    return f"\n{META} = {{\n{inner}}}"


def _placeholder(name: str, field: JsonSchema, texts: Mapping[str, str]) -> Any:
    """A value of the right type, for the writer to replace where it is not a file's name."""
    kind = field.get("type")
    if kind == "string":
        return next(iter(texts), "...") if _is_path(name, field) else "..."
    return {"integer": 1, "number": 1.0, "boolean": True, "array": [], "object": {}}.get(str(kind), "...")


def _is_path(name: str, field: JsonSchema) -> bool:
    return field.get("type") == "string" and any(word in name.lower() for word in ("path", "file"))


def _inputs(request: ToolRequest) -> str:
    required = request.input_schema.get("required")
    needed = set(required) if isinstance(required, list) else set()
    lines = [
        f"    {name}: {_type(field)}" if name in needed else f"    {name}: {_type(field)} | None = None"
        for name, field in _fields(request.input_schema)
    ]
    return "\n".join(["", "class InputModel(BaseModel):", *(lines or ["    pass"])])


def _outputs(request: ToolRequest) -> str:
    fields = [(name, field) for name, field in _fields(request.output_schema) if name != "error"]
    lines = [f"    {name}: {_type(field)} | None = None" for name, field in fields]
    return "\n".join(["", "class OutputModel(BaseModel):", *lines, "    error: str | None = None"])


def _fields(schema: JsonSchema) -> list[tuple[str, JsonSchema]]:
    properties = schema.get("properties")
    rows = properties.items() if isinstance(properties, dict) else ()
    named = [(name, field) for name, field in rows if name.isidentifier() and not keyword.iskeyword(name)]
    return [(name, field if isinstance(field, dict) else {}) for name, field in named]


def _type(field: JsonSchema) -> str:
    kind = str(field.get("type"))
    items = field.get("items")
    if kind == "array" and isinstance(items, dict) and items.get("type") in _TYPES:
        return f"list[{_TYPES[str(items['type'])]}]"
    return _TYPES.get(kind, "str")


def _python(value: Any) -> str:
    """JSON as Python writes it, with double quotes."""
    text = json.dumps(value, ensure_ascii=False)
    return repr(value) if _differs(text, value) else text


def _differs(text: str, value: Any) -> bool:
    """Whether JSON's words do not mean the same in Python: true, false, null."""
    try:
        return bool(literal_value(text) != value)
    except (ValueError, SyntaxError):
        return True

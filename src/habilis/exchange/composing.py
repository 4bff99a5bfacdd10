"""Sources of tools that are put together from parts: an input model made of a schema, values, programs of ours."""

from __future__ import annotations

import ast
import keyword
import pprint
import re
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from habilis.contract.aliases import required
from habilis.core.parsing import syntax_tree
from habilis.core.types import Effects, JsonSchema
from habilis.exchange import standalone
from habilis.exchange.package import type_of

_PORTS = {"http": 80, "https": 443}
_OURS = ("schema", "json", "dict", "copy", "construct", "validate", "Any", "Literal", "Field", "Annotated")
"""Names that a field must not have."""


def input_model(schema: JsonSchema, *, exact: bool = False) -> str:
    """The input model: a field per argument, under its own name as an alias where that is no identifier.

    With `exact`, whoever reads the tool's schema finds each argument's as it is in `schema`, not as Python knows it.
    """
    fields, must = schema.get("properties") or {}, required(schema)
    extra = "allow" if exact and schema.get("additionalProperties") not in (None, False) else "forbid"
    lines = [f'    model_config = ConfigDict(extra="{extra}", populate_by_name=True)', ""]
    used: set[str] = set()
    for name, said in fields.items():
        plain = _identifier(name, used)
        kind = type_of(said, {})
        options = [] if name in must else ["default=None"]
        options += [f"alias={name!r}"] if name != plain else []
        about = said.get("description") if isinstance(said, dict) else None
        options += [f"description={' '.join(about.split())!r}"] if isinstance(about, str) and not exact else []
        kind = kind if name in must or kind == "Any" or kind.endswith("None") else f"{kind} | None"
        kind = f"Annotated[{kind}, WithJsonSchema({said!r})]" if exact and isinstance(said, dict) else kind
        lines.append(f"    {plain}: {kind} = Field({', '.join(options)})")
    return "class InputModel(BaseModel):\n" + "\n".join(lines).rstrip()


def _identifier(name: str, used: set[str]) -> str:
    """A name for a field, not in `used`, where it is then."""
    plain = re.sub(r"\W", "_", name, flags=re.ASCII).strip("_") or "field"
    odd = keyword.iskeyword(plain) or plain[0].isdigit() or plain.startswith("model_") or hasattr(dict, plain)
    plain = f"field_{plain}" if odd or plain in _OURS else plain
    while plain in used:
        plain += "_"
    used.add(plain)
    return plain


def program(file: str, without: Collection[str] = ()) -> str:
    """What one of the files in `standalone` holds, but its docstring and the functions `without`."""
    text = Path(standalone.__file__).with_name(file).read_text(encoding="utf-8")
    whole = ""
    for node in syntax_tree(text).body[2:]:  # behind the docstring and the import from __future__
        if isinstance(node, ast.FunctionDef) and node.name in without:
            continue
        apart = "\n\n\n" if isinstance(node, (ast.FunctionDef, ast.ClassDef)) else "\n"
        whole += apart + (ast.get_source_segment(text, node) or "")
    return whole.strip()


def meta_of(
    name: str, description: str, effects: Effects, url: str, secret: Mapping[str, str] | None
) -> dict[str, Any]:
    """The meta data of a tool that asks the service at `url`: it needs its host, and the variable with the `secret`."""
    needs = {"network": [host_of(url)], **({"env": [secret["env"]]} if secret else {})}
    said = {"name": name, "description": description, "dependencies": [], "effects": effects}
    return {**said, "capabilities": needs}


def module_of(about: str, imports: str, meta: Mapping[str, Any], parts: Sequence[str], call: str) -> str:
    """The source of a tool. `parts` go before `run`, in which `call` is what the arguments `given` come to."""
    run = (
        "def run(input: InputModel) -> OutputModel:\n"
        '    given = input.model_dump(mode="json", by_alias=True, exclude_unset=True)\n'
        f"    return OutputModel(**{call})"
    )
    return "\n\n\n".join([repr(about), imports, f"__TOOL_META__ = {literal(meta)}", *parts, run]) + "\n"


def asked_for(url: str, secret: Mapping[str, str] | None) -> str:
    """What such a tool needs, in words."""
    return f"asks for {host_of(url)}" + (f" and the variable {secret['env']}" if secret else "")


def literal(value: Any) -> str:
    """A value as source."""
    return pprint.pformat(value, width=100, sort_dicts=False)


def host_of(url: str) -> str:
    """The host of an address as a need: with its port where that is not the usual one."""
    parts = urlsplit(url)
    host = f"[{parts.hostname}]" if ":" in (parts.hostname or "") else parts.hostname or ""
    return host if parts.port in (None, _PORTS.get(parts.scheme)) else f"{host}:{parts.port}"

"""What a tool file must be, read from its source without running it.

A tool is one Python module with a literal `__TOOL_META__`, Pydantic classes `InputModel` and `OutputModel`, and
`run(input)`. Files of the original format, which know neither `effects` nor `examples`, are read unchanged.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from typing import Any, cast, get_args

import pydantic
from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name

from habilis.contract.bindings import Code
from habilis.contract.capabilities import Capabilities, Malformed, declared, seconds
from habilis.contract.effects import infer_effects, stronger
from habilis.contract.examples import META, Example, ExampleFlaw, read_examples
from habilis.contract.inference import inferred
from habilis.contract.literals import NotLiteral, json_plain, storable_fault
from habilis.contract.names import safe_name as safe_name
from habilis.core.errors import HabilisError
from habilis.core.parsing import syntax_tree
from habilis.core.types import Effects, Frozen

MAX_SOURCE_BYTES = 1 << 20
MAX_DESCRIPTION_CHARS = 1_000
"""Longer ones are cut: a description stands in every plan and every request that offers the tool."""


class ContractError(HabilisError):
    """The source is not a tool. The text says what to change, for the writer of the code."""


class Contract(Frozen):
    """What a tool's source says of itself. `requirements` are PEP 508.

    `effects` are the declared ones or what the source shows, whichever is stronger. `capabilities` are the declared
    ones and those that the source shows. `flaws` are those of examples that cannot be used; the tool is one all the
    same.
    """

    name: str
    description: str
    requirements: tuple[str, ...] = ()
    effects: Effects = "reads"
    examples: tuple[Example, ...] = ()
    flaws: tuple[ExampleFlaw, ...] = ()
    capabilities: Capabilities = Capabilities()

    @property
    def timeout_s(self) -> float | None:
        """Seconds that one call may take, where the tool sets its own limit."""
        return self.capabilities.timeout_s


def read_contract(source: str) -> Contract:
    """The contract of a tool's source. Raises `ContractError` with a reason that the code's writer can act on."""
    tree = _parse(source)
    meta = _meta(tree)
    _check_parts(tree)
    said = _effects(meta)
    code = Code.of(tree)
    shown = infer_effects(code)
    examples, flaws = read_examples(meta.get("examples"))
    return Contract(
        name=_name(meta),
        description=_description(meta, tree),
        requirements=read_requirements(meta.get("dependencies", ())),
        effects=stronger(said or shown, shown),
        examples=examples,
        flaws=flaws,
        capabilities=_capabilities(meta).with_inferred(inferred(code)),
    )


def declared_aliases(source: str) -> dict[str, dict[str, Any]]:
    """What a merged tool says of the tools that it replaces: by old name, how their calls become calls of its own.

    Whatever is no dict of dicts by name counts as nothing said. Raises `ContractError` like `read_contract`.
    """
    given = _meta(_parse(source)).get("aliases")
    entries = given.items() if isinstance(given, dict) else ()
    try:
        return {name: json_plain(entry) for name, entry in entries if isinstance(name, str) and isinstance(entry, dict)}
    except NotLiteral as error:
        raise ContractError(f"{META}['aliases'] {error}.") from None


def read_requirements(dependencies: object) -> tuple[str, ...]:
    """Dependencies as normalised PEP 508 requirements, in their order, each once.

    Flags, addresses and paths are refused with `ContractError`. Names of standard modules, which writers often list,
    are left out: they need no installing, and a package of such a name is not what is meant. So is a `pydantic`
    that every tool environment already holds.
    """
    if dependencies is None:
        return ()
    if not isinstance(dependencies, (list, tuple)):
        raise ContractError(f'{META}["dependencies"] must be a list of strings, not {type(dependencies).__name__}.')
    found = [str(requirement) for entry in dependencies if (requirement := _requirement(entry)) is not None]
    return tuple(dict.fromkeys(found))


def _requirement(entry: object) -> Requirement | None:
    refusal = f"Dependency {entry!r} is refused: only package names with versions, such as 'pandas>=2', are allowed"
    if not isinstance(entry, str):
        raise ContractError(f"{refusal}, given as strings.")
    text = entry.strip()
    if text.startswith("-"):
        raise ContractError(f"{refusal}; it is an installer's flag.")
    if not text or "\n" in text or "\r" in text:
        raise ContractError(f"{refusal}.")
    try:
        requirement = Requirement(text)
    except InvalidRequirement:
        what = "; it is an address or a path" if re.search(r"[/\\]|^\.", text) else ""
        raise ContractError(f"{refusal}{what}.") from None
    if requirement.url:
        raise ContractError(f"{refusal}; it is an address or a path.")
    name = canonicalize_name(requirement.name)
    if name.replace("-", "_") in sys.stdlib_module_names:
        return None
    if name == "pydantic" and not requirement.extras and requirement.specifier.contains(pydantic.VERSION):
        return None
    return requirement


def _parse(source: str) -> ast.Module:
    if len(source) > MAX_SOURCE_BYTES:
        raise ContractError("The module is longer than 1 MiB; a tool is one small module.")
    try:
        return syntax_tree(source.removeprefix("\ufeff"))
    except SyntaxError as error:
        line = f"line {error.lineno}: " if error.lineno else ""
        text = f" ({error.text.strip()})" if error.text else ""
        raise ContractError(f"The code does not parse: {line}{error.msg}{text}.") from None
    except (ValueError, RecursionError, MemoryError) as error:
        raise ContractError(f"The code does not parse: {error or type(error).__name__}.") from None


def _meta(tree: ast.Module) -> dict[str, Any]:
    value = next((v for name, v in _assignments(tree) if name == META), None)
    if value is None:
        raise ContractError(
            f'{META} is missing: put {META} = {{"name": "...", "description": "...", "dependencies": []}} '
            "at the top of the module."
        )
    try:
        meta = ast.literal_eval(value)
    except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
        raise ContractError(f"{META} must be a literal: plain strings, numbers, lists and dicts, no calls.") from None
    if not isinstance(meta, dict):
        raise ContractError(f"{META} must be a dict, not {type(meta).__name__}.")
    _check_storable({key: value for key, value in meta.items() if key != "examples"})
    return meta


def _check_storable(value: Any) -> None:
    """Raises `ContractError` for what a manifest, which holds all of the meta data, could not hold."""
    if fault := storable_fault(value):
        raise ContractError(f"{META} {fault}.")


def _assignments(tree: ast.Module) -> Iterator[tuple[str, ast.expr]]:
    for node in tree.body:
        if isinstance(node, ast.Assign):
            yield from ((t.id, node.value) for t in node.targets if isinstance(t, ast.Name))
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.value is not None:
            yield node.target.id, node.value


def _check_parts(tree: ast.Module) -> None:
    bound = set(_bound_names(tree.body))
    missing = [f"class {name}(BaseModel)" for name in ("InputModel", "OutputModel") if name not in bound]
    run = next(
        (
            n
            for n in ast.walk(tree)
            if isinstance(n, (ast.FunctionDef, ast.AsyncFunctionDef)) and n in tree.body and n.name == "run"
        ),
        None,
    )
    if "run" not in bound:
        missing.append("def run(input: InputModel) -> OutputModel")
    if missing:
        raise ContractError(f"The module lacks {', '.join(missing)} at its top level.")
    if run is not None and not _takes_one(run.args):
        raise ContractError("run must take exactly one argument: def run(input: InputModel) -> OutputModel.")


def _bound_names(body: list[ast.stmt]) -> Iterator[str]:
    """Names bound at the top level of a module, inside its `if` and `try` blocks too."""
    for node in body:
        if isinstance(node, (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
            yield node.name
        elif isinstance(node, ast.Assign):
            yield from (t.id for t in node.targets if isinstance(t, ast.Name))
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            yield node.target.id
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            yield from (alias.asname or alias.name for alias in node.names)
        elif isinstance(node, (ast.If, ast.Try)):
            for part in (node.body, node.orelse, getattr(node, "finalbody", [])):
                yield from _bound_names(part)
            for handler in getattr(node, "handlers", []):
                yield from _bound_names(handler.body)


def _takes_one(args: ast.arguments) -> bool:
    positional = [*args.posonlyargs, *args.args]
    needed = len(positional) - len(args.defaults)
    keyword_needed = sum(default is None for default in args.kw_defaults)
    return (bool(positional) or args.vararg is not None) and needed <= 1 and not keyword_needed


def _name(meta: dict[str, Any]) -> str:
    name = meta.get("name")
    if not isinstance(name, str) or not name.strip():
        raise ContractError(f'{META}["name"] must be a text that is not empty.')
    return name.strip()


def _description(meta: dict[str, Any], tree: ast.Module) -> str:
    described = meta.get("description") or ast.get_docstring(tree)
    if not isinstance(described, str) or not described.strip():
        raise ContractError(f'{META}["description"] must say in a sentence what the tool does.')
    _check_storable(described)
    words = " ".join(described.split())
    return words if len(words) <= MAX_DESCRIPTION_CHARS else f"{words[:MAX_DESCRIPTION_CHARS].rstrip()}…"


def _effects(meta: dict[str, Any]) -> Effects | None:
    """What the tool declares."""
    said = meta.get("effects")
    if said is not None and said not in get_args(Effects):
        raise ContractError(f'{META}["effects"] must be "pure", "reads" or "writes", not {said!r}.')
    return cast(Effects | None, said)


def _capabilities(meta: dict[str, Any]) -> Capabilities:
    """What the tool says that it needs; its limit of time may stand at the top of the meta data as well."""
    try:
        limit = seconds(meta.get("timeout_s"), '["timeout_s"]')
    except Malformed as error:
        raise ContractError(f"{META}{error}.") from None
    try:
        said = declared(meta.get("capabilities"))
    except Malformed as error:
        raise ContractError(f'{META}["capabilities"]{"" if str(error).startswith("[") else " "}{error}.') from None
    return said if said.timeout_s is not None else said.model_copy(update={"timeout_s": limit})

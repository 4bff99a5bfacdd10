"""What of a call may be done unasked: its tool loaded before, or all of it again after its server was killed.

Read from the syntax tree, nothing is run. A courtesy to the tool, not a wall: all of it is confined like any call.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from habilis.contract.bindings import Code
from habilis.contract.effects import infer_effects
from habilis.core.parsing import syntax_tree
from habilis.core.ports import SandboxExit
from habilis.core.types import Effects
from habilis.sandbox.processes.frames import frames_of


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_QUIET_CALLS = _words(
    "Annotated ConfigDict Counter Decimal Enum Field Fraction Literal NamedTuple NewType Path PurePath TypeAdapter "
    "TypeVar TypedDict bool compile complex date dataclass defaultdict deque dict float frozenset getLogger int "
    "len list lower namedtuple OrderedDict partial range set sorted split str timedelta tuple upper zip"
)
"""What a module may call at its top: makes values out of constants, and holds no clock, chance or file."""
_QUIET_STATEMENTS = (ast.Import, ast.ImportFrom, ast.Assign, ast.AnnAssign, ast.Expr, ast.Pass, ast.AugAssign)
_QUIET_DECORATORS = _words(
    "cache classmethod computed_field dataclass field_serializer field_validator lru_cache model_serializer "
    "model_validator property staticmethod total_ordering unique"
)


def repeatable(ended: SandboxExit, source: str) -> bool:
    """Whether a call that was broken off may be made again: it had not begun, or has no effect and no result yet."""
    begun, frames = frames_of(ended.reply or b"")
    return not begun or (not frames and effects_of(source) == "pure")


def effects_of(source: str) -> Effects:
    """What a tool of this source may do; what cannot be read may do anything."""
    try:
        return infer_effects(Code.of(syntax_tree(source)))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return "writes"


def may_be_loaded_early(source: str) -> bool:
    """Whether `source` shows no more effect than reading, and its top level is imports, definitions and constants."""
    try:
        tree = syntax_tree(source)
        return all(map(_quiet, tree.body)) and effects_of(source) != "writes"
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False


def _quiet(statement: ast.stmt) -> bool:
    if isinstance(statement, ast.ClassDef):
        heads = [*statement.bases, *(keyword.value for keyword in statement.keywords)]
        return _plain(heads) and _decorated(statement.decorator_list) and all(map(_quiet, statement.body))
    if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef)):
        given = statement.args
        heads = [*given.defaults, *(value for value in given.kw_defaults if value is not None)]
        return _plain(heads) and _decorated(statement.decorator_list)
    return isinstance(statement, _QUIET_STATEMENTS) and _plain([statement])


def _decorated(by: list[ast.expr]) -> bool:
    names = [one.func if isinstance(one, ast.Call) else one for one in by]
    arguments = [value for one in by if isinstance(one, ast.Call) for value in ast.iter_child_nodes(one)]
    return all(_last(name) in _QUIET_DECORATORS for name in names) and _plain(arguments)


def _plain(nodes: Sequence[ast.AST]) -> bool:
    calls = (node for top in nodes for node in _now(top) if isinstance(node, ast.Call))
    return all(_last(call.func) in _QUIET_CALLS | _QUIET_DECORATORS for call in calls)


def _now(node: ast.AST) -> Iterator[ast.AST]:
    """What is evaluated with `node`: not what stands in a function without a name."""
    yield node
    if not isinstance(node, ast.Lambda):
        for child in ast.iter_child_nodes(node):
            yield from _now(child)


def _last(name: ast.expr) -> str:
    return name.attr if isinstance(name, ast.Attribute) else name.id if isinstance(name, ast.Name) else ""

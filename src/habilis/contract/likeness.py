"""Tools whose code is equal but for what does not count when it runs: one digest for all of them.

Names of locals, helpers and the tool itself, docstrings, comments, formatting, annotations of functions and the order
of imports make no difference. Names of fields do: they are how a tool is called. Where two texts are taken for
different that do the same, nothing is lost but a hint; so what could change the meaning is left as it stands.
"""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from habilis.core.parsing import nodes_of, syntax_tree

_FIXED = frozenset({"InputModel", "OutputModel", "run", "__TOOL_META__"})
"""What the host knows by name."""
_SAYS_NOTHING = frozenset({"name", "description", "examples"})
"""Keys of a tool's declaration that do not change what it does."""
_SEES_NAMES = frozenset("globals locals vars eval exec dir __name__ __qualname__ __doc__ __annotations__".split())  # noqa: SIM905
_TYPES = {"List": "list", "Dict": "dict", "Set": "set", "Tuple": "tuple", "FrozenSet": "frozenset", "Type": "type"}
_UNUSED = frozenset({"__future__", "typing", "collections.abc"})
_Function = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
_Comprehension = ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp


def code_digest(source: str) -> str:
    """The digest (24 hexadecimal digits) of what `source` does, as far as its text shows; empty for no Python.

    A source that looks at its own names is equal only to itself, formatting left out.
    """
    try:
        tree = syntax_tree(source)
        if not any(_name_of(node) in _SEES_NAMES for node in nodes_of(tree)):
            tree = _normal(tree)
        said = ast.dump(tree, annotate_fields=False)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ""
    return hashlib.blake2b(said.encode("utf-8", "surrogatepass"), digest_size=12).hexdigest()


def same_code(one: str, other: str) -> bool:
    """Whether two sources are Python, and equal but for what does not count when they run."""
    return bool(digest := code_digest(one)) and digest == code_digest(other)


def _name_of(node: ast.AST) -> str:
    return node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""


@dataclass
class _Scope:
    """Names bound in one scope, each with what stands for it; empty until it is met. A class's are its own alone."""

    names: dict[str, str]
    of_class: bool = False


@dataclass
class _Imports:
    """What top-level imports bind, each with where it comes from; what of it is used."""

    origins: dict[str, str] = field(default_factory=dict)
    used: set[str] = field(default_factory=set)


def _normal(tree: ast.Module) -> ast.Module:
    imports = _Imports()
    body: list[ast.stmt] = []
    for statement in tree.body:
        if (found := _origins(statement)) is None:
            body.append(statement)
        else:
            imports.origins |= found
    bound = set(_bound(body))
    if bound & imports.origins.keys():  # a name that is more than what was imported
        return tree
    spoken = {word.arg for node in nodes_of(tree) if isinstance(node, ast.Call) for word in node.keywords if word.arg}
    kept = {name: name for name in bound & _FIXED}
    top = _Scope(dict.fromkeys(bound, "") | kept)
    renamed = _Renamer(imports, spoken, top)
    tree.body = renamed.block([_undeclared(statement) for statement in body])
    unused = {imports.origins[name] for name in imports.origins.keys() - imports.used}
    tree.body[:0] = [
        ast.Expr(ast.Constant(origin)) for origin in sorted(unused) if not origin.startswith(tuple(_UNUSED))
    ]
    return tree


def _origins(statement: ast.stmt) -> dict[str, str] | None:
    """What an import binds; None for what is no import that can be resolved by name."""
    if isinstance(statement, ast.Import) and all(one.asname or "." not in one.name for one in statement.names):
        return {one.asname or one.name: one.name for one in statement.names}
    if isinstance(statement, ast.ImportFrom) and not statement.level and statement.names[0].name != "*":
        return {one.asname or one.name: f"{statement.module}.{one.name}" for one in statement.names}
    return None


def _undeclared(statement: ast.stmt) -> ast.stmt:
    """A declaration of the tool without what it is called; other statements as they are."""
    if not (isinstance(statement, ast.Assign) and isinstance(statement.value, ast.Dict)):
        return statement
    if [_name_of(target) for target in statement.targets] == ["__TOOL_META__"]:
        rows = zip(statement.value.keys, statement.value.values, strict=True)
        left = [row for row in rows if not (isinstance(row[0], ast.Constant) and row[0].value in _SAYS_NOTHING)]
        left.sort(key=lambda row: ast.dump(row[0]) if row[0] else "")
        statement.value = ast.Dict([key for key, _ in left], [value for _, value in left])
    return statement


def _bound(body: Sequence[ast.AST]) -> Iterator[str]:
    """Names that a scope with `body` binds. What it takes from outside is not among them."""
    outer = {name for node in _own(body) if isinstance(node, ast.Global | ast.Nonlocal) for name in node.names}
    for node in _own(body):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store | ast.Del):
            names = [node.id]
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.ExceptHandler) and node.name:
            names = [node.name]
        else:
            continue
        yield from (name for name in names if name not in outer)


def _fast(body: Sequence[ast.AST]) -> Iterator[str]:
    """Names that are bound in a way that leaves them as they are: by imports further in and by patterns."""
    for node in _own(body):
        if isinstance(node, ast.Import | ast.ImportFrom):
            yield from (one.asname or one.name.split(".")[0] for one in node.names)
        elif isinstance(node, ast.MatchAs | ast.MatchStar) and node.name:
            yield node.name
        elif isinstance(node, ast.MatchMapping) and node.rest:
            yield node.rest


def _own(body: Sequence[ast.AST]) -> Iterator[ast.AST]:
    """The nodes of one scope: those of functions, classes and comprehensions within it are their own, but for `:=`."""
    todo: list[ast.AST] = list(body)
    while todo:
        node = todo.pop()
        yield node
        if isinstance(node, _Function | ast.ClassDef):
            continue
        if isinstance(node, _Comprehension):
            yield from (inner.target for inner in nodes_of(node) if isinstance(inner, ast.NamedExpr))
            continue
        todo.extend(ast.iter_child_nodes(node))


class _Imported(ast.Name):
    """A name that says where it comes from, and so may be gone on from."""


class _Renamer(ast.NodeTransformer):
    """Gives every bound name a number, in the order in which the names are met, and every imported one its origin."""

    def __init__(self, imports: _Imports, spoken: set[str], top: _Scope) -> None:
        self._imports, self._spoken, self._scopes, self._count = imports, spoken, [top], 0

    def block(self, body: list[ast.stmt]) -> list[ast.stmt]:
        if body and isinstance(body[0], ast.Expr) and isinstance(body[0].value, ast.Constant):
            body = body[1:] if isinstance(body[0].value.value, str) else body
        found = [new for one in body if (new := self.visit(one)) is not None]
        return found or [ast.Pass()]

    def name(self, said: str) -> str:
        for depth, scope in enumerate(reversed(self._scopes)):
            if said in scope.names and (depth == 0 or not scope.of_class):
                if not scope.names[said]:
                    self._count += 1
                    scope.names[said] = f"${self._count}"
                return scope.names[said]
        if said in self._imports.origins:
            self._imports.used.add(said)
            return self._imports.origins[said]
        return said

    def visit_Name(self, node: ast.Name) -> ast.AST:
        said, node.id = node.id, self.name(node.id)
        return _Imported(node.id, node.ctx) if node.id == self._imports.origins.get(said) else node

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        """`math.sqrt` is what `from math import sqrt` gives."""
        node.value = self.visit(node.value)
        return _Imported(f"{node.value.id}.{node.attr}", node.ctx) if isinstance(node.value, _Imported) else node

    def visit_Global(self, node: ast.Global) -> ast.AST:
        node.names = [self.name(name) for name in node.names]
        return node

    def visit_Nonlocal(self, node: ast.Nonlocal) -> ast.AST:
        node.names = [self.name(name) for name in node.names]
        return node

    def visit_ExceptHandler(self, node: ast.ExceptHandler) -> ast.AST:
        node.name = self.name(node.name) if node.name else None
        return self.generic_visit(node)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST | None:
        if self._scopes[-1].of_class:
            node.annotation = _Spelling().visit(node.annotation)
            return self.generic_visit(node)
        if node.value is None:
            return None
        return self.generic_visit(ast.Assign([node.target], node.value))

    def visit_Call(self, node: ast.Call) -> ast.AST:
        if _name_of(node.func) == "Field":
            node.keywords = [word for word in node.keywords if word.arg not in ("description", "title", "examples")]
        return self.generic_visit(node)

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        node.name = self.name(node.name)
        node.decorator_list = [self.visit(one) for one in node.decorator_list]
        node.bases = [self.visit(one) for one in node.bases]
        node.keywords = [self.visit(one) for one in node.keywords]
        own = {name: name for name in (*_bound(node.body), *_fast(node.body))}
        self._scopes.append(_Scope(own, of_class=True))
        node.body = self.block(node.body)
        self._scopes.pop()
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        return self._function(node)

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> ast.AST:
        return self._function(node)

    def _function(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> ast.AST:
        node.name, node.returns = self.name(node.name), None
        node.decorator_list = [self.visit(one) for one in node.decorator_list]
        self._enter(node.args, node.body)
        node.body = self.block(node.body)
        self._scopes.pop()
        return node

    def visit_Lambda(self, node: ast.Lambda) -> ast.AST:
        self._enter(node.args, [node.body])
        node.body = self.visit(node.body)
        self._scopes.pop()
        return node

    def _enter(self, args: ast.arguments, body: Sequence[ast.AST]) -> None:
        """A scope with these parameters; their defaults are still of the one around."""
        args.defaults = [self.visit(one) for one in args.defaults]
        args.kw_defaults = [self.visit(one) if one else None for one in args.kw_defaults]
        every = [*args.posonlyargs, *args.args, *args.kwonlyargs, *filter(None, (args.vararg, args.kwarg))]
        names = dict.fromkeys(_bound(body), "")
        names |= {one.arg: one.arg if one.arg in self._spoken else "" for one in every}
        names |= {name: name for name in _fast(body)}
        self._scopes.append(_Scope(names))
        for one in every:
            one.arg, one.annotation = self.name(one.arg), None

    def visit_ListComp(self, node: ast.ListComp) -> ast.AST:
        return self._comprehension(node)

    def visit_SetComp(self, node: ast.SetComp) -> ast.AST:
        return self._comprehension(node)

    def visit_GeneratorExp(self, node: ast.GeneratorExp) -> ast.AST:
        return self._comprehension(node)

    def visit_DictComp(self, node: ast.DictComp) -> ast.AST:
        return self._comprehension(node)

    def _comprehension(self, node: _Comprehension) -> ast.AST:
        """The first of what is gone through is of the scope around; all else is of the comprehension's own."""
        first = node.generators[0]
        first.iter = self.visit(first.iter)
        bound = {name: "" for part in node.generators for name in _bound([part.target])}
        self._scopes.append(_Scope(bound))
        for number, part in enumerate(node.generators):
            part.iter = part.iter if number == 0 else self.visit(part.iter)
            part.target = self.visit(part.target)
            part.ifs = [self.visit(one) for one in part.ifs]
        for name in ("key", "value", "elt"):
            if hasattr(node, name):
                setattr(node, name, self.visit(getattr(node, name)))
        self._scopes.pop()
        return node


class _Spelling(ast.NodeTransformer):
    """One spelling for one type: `Optional[int]` and `int | None`, `List[int]` and `list[int]`."""

    def visit_Name(self, node: ast.Name) -> ast.AST:
        node.id = _TYPES.get(node.id, node.id)
        return node

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        self.generic_visit(node)
        if _name_of(node.value) == "Optional":
            return ast.BinOp(node.slice, ast.BitOr(), ast.Constant(None))
        return node

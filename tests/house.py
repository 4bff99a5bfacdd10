"""The house as its imports draw it: rooms, sub-rooms and who knows whom. `python tests/house.py` prints it.

A room is a package right below `habilis`, a sub-room one further down. The modules that lie in a package itself count
as that package, so that a room's own modules and its sub-rooms may not know each other both ways either.
"""

from __future__ import annotations

import ast
from collections import Counter, defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
Arrows = dict[str, Counter[str]]
"""How often a package's modules import from another package."""


def modules(root: Path) -> dict[str, Path]:
    """Dotted name -> file of every module under `root`/src."""
    found = {}
    for path in sorted((root / "src").rglob("*.py")):
        parts = path.relative_to(root / "src").with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


@cache
def _parsed(text: str) -> ast.Module:
    """The tree of a source, which most rules look at."""
    return ast.parse(text)


def tree_of(path: Path) -> ast.Module:
    return _parsed(path.read_text(encoding="utf-8"))


def room(module: str) -> str:
    """'habilis.runtime.host' -> 'runtime'; '' for the package itself."""
    return [*module.split("."), ""][1]


def package_of(module: str, known: dict[str, Path]) -> str:
    """'habilis.runtime.egress.proxy' -> 'runtime.egress'; a module right below `habilis` is a room of its own."""
    parts = module.split(".")[1:]
    is_package = module in known and known[module].name == "__init__.py"
    return ".".join(parts if is_package or len(parts) < 2 else parts[:-1])


def _under_type_checking(tree: ast.Module) -> set[ast.AST]:
    guarded: set[ast.AST] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test):
            guarded.update(inner for statement in node.body for inner in ast.walk(statement))
    return guarded


def imports(module: str, path: Path, known: dict[str, Path], *, for_types: bool = True) -> Iterator[tuple[int, str]]:
    """Line and dotted name of each import anywhere in the file, functions included.

    `from a import b` counts as `a.b` where that is a module. Without `for_types`, what stands under
    `if TYPE_CHECKING` is left out.
    """
    tree = tree_of(path)
    skipped = set() if for_types else _under_type_checking(tree)
    package = module if path.name == "__init__.py" else module.rpartition(".")[0]
    for node in ast.walk(tree):
        if node in skipped:
            continue
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            parents = package.split(".")[: len(package.split(".")) - node.level + 1] if node.level else []
            base = ".".join([*parents, *([node.module] if node.module else [])])
            for alias in node.names:
                inner = f"{base}.{alias.name}"
                yield node.lineno, inner if inner in known else base


def arrows(root: Path) -> Arrows:
    """Which packages import which others, imports for types included, and how often. The door `habilis` is left out."""
    known = modules(root)
    found: Arrows = defaultdict(Counter)
    for module, path in known.items():
        here = package_of(module, known)
        if here:
            found[here].update(())
        for _, target in imports(module, path, known):
            there = package_of(target, known) if target.split(".")[0] == "habilis" else ""
            if here and there and there != here:
                found[here][there] += 1
    return found


def circles(graph: Arrows) -> list[str]:
    """Packages that import each other, on whatever way round; each circle is told once."""
    done: set[str] = set()
    found: list[str] = []

    def visit(package: str, trail: tuple[str, ...]) -> None:
        if package in trail:
            found.append(" -> ".join([*trail[trail.index(package) :], package]))
        elif package not in done:
            for target in sorted(graph.get(package, ())):
                visit(target, (*trail, package))
            done.add(package)

    for package in sorted(graph):
        visit(package, ())
    return found


def ranks(graph: Arrows) -> dict[str, int]:
    """How high each package stands: one above the highest that it imports. Needs a graph without circles."""

    @cache
    def rank(package: str) -> int:
        return 1 + max((rank(target) for target in graph.get(package, ())), default=-1)

    return {package: rank(package) for package in graph}


def main() -> None:
    """Print every room and sub-room with its rank, its lines, and how many imports lead out of it and into it."""
    known, graph = modules(ROOT), arrows(ROOT)
    if found := circles(graph):
        raise SystemExit("\n".join(found))
    lines: Counter[str] = Counter()
    for module, path in known.items():
        lines[package_of(module, known)] += len(path.read_text(encoding="utf-8").splitlines())
    inward: Counter[str] = Counter()
    for targets in graph.values():
        inward.update(targets)
    heights = ranks(graph)
    print(f"{'rank':>4} {'lines':>6} {'out':>5} {'in':>5}  package")
    for package in sorted(graph, key=lambda one: (-heights[one], one)):
        out = sum(graph[package].values())
        print(f"{heights[package]:>4} {lines[package]:>6} {out:>5} {inward[package]:>5}  {package}")
    pairs, total = sum(len(targets) for targets in graph.values()), sum(inward.values())
    print(f"{len(graph)} packages, {sum(lines.values())} lines, {total} imports along {pairs} arrows, no circle")


if __name__ == "__main__":
    main()

"""A machine guards the layers of ARCHITECTURE.md: it reads every import and fails on one that runs up.

Each rule is a function from a source tree to a list of complaints, so that the tests at the end can show each of
them failing on a small bad sample.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]

RANKS = {
    "core": 0,
    "config": 1,
    "values": 1,
    "rundir": 2,
    "prompts": 2,
    "demo": 2,
    "models": 3,
    "tools": 4,
    "view": 4,
    "agents": 5,
    "evolution": 6,
    "cli": 7,
}
"""A room may import itself and rooms of a lower rank; rooms of one rank do not know each other."""
ONLY_SEES = {"view": {"core", "rundir"}}
OUTSIDE_THE_HOUSE = {"testing"}
"""Rooms for tests and users: no other room may import them."""
INSIDE_THE_SANDBOX: dict[str, set[str]] = {
    "habilis.tools.sandbox.guest": {"pydantic", "pydantic_core"},
    "habilis.tools.sandbox.server": set(),
    "habilis.tools.sandbox.domains": set(),
    "habilis.tools.sandbox.rooms": set(),
    "habilis.tools.sandbox.sprouting": set(),
    "habilis.tools.sandbox.rehearsal": {"pydantic"},
    "habilis.tools.sandbox.confine": set(),
    "habilis.tools.sandbox.attack": set(),
    "habilis.tools.network.relay": set(),
    "habilis.tools.exchange.standalone.calling": {"pydantic"},
    "habilis.tools.exchange.standalone.recorded_calls": set(),
    "habilis.tools.exchange.standalone.requesting": set(),
    "habilis.tools.exchange.standalone.speaking": set(),
    "habilis.tools.documents.guest": {"lxml", "pypdf", "trafilatura"},
}
"""Programs that run inside the sandbox or elsewhere, with what each may import besides the standard library."""

MAX_LINES = 400
LONG_FILES = {
    "habilis.tools.sandbox.guest": "goes into the sandbox alone, as one file",
}
"""Files over MAX_LINES, each with the reason."""
WRITES_BY_ITSELF = {
    "habilis.rundir.files": "masks all that it writes",
    "habilis.tools.records": "masks each line",
    "habilis.tools.exchange.exporting": "masks all of an export before it is put in place",
    "habilis.tools.exchange.package": "part of an export",
    "habilis.tools.exchange.parcels": "part of an export",
    "habilis.tools.exchange.skills": "part of an export",
    "habilis.tools.exchange.importing": "a trial that is thrown away",
    "habilis.tools.gate": "a trial that is thrown away",
    "habilis.tools.trial": "a trial that is thrown away",
    "habilis.tools.replay": "a trial that is thrown away",
    "habilis.evolution.curator.merge": "a trial that is thrown away",
    "habilis.evolution.tending.merging": "a trial that is thrown away",
    "habilis.tools.packages": "names of packages",
    "habilis.tools.sandbox": "the sandbox's own programs and probes",
    "habilis.tools.network.proxy": "a certificate",
    "habilis.models.local.serving": "the log of a program of its own",
    "habilis.testing": "doubles",
}
"""Modules that write files by themselves, each with why no secret gets into what is kept."""
PROSE_CHARS = 300
SENTENCE_END = re.compile(r"[a-z\])`'\"][.!?](\s|$)")
NO_PROMPTS_THERE = ("habilis.demo", "habilis.cli")
"""The offline model is a model itself, and what the command line says is for people."""
FORBIDDEN_NAMES = {"utils", "util", "common", "helpers", "helper", "misc"}


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
    """'habilis.tools.host' -> 'tools'; '' for the package itself."""
    return [*module.split("."), ""][1]


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


def imports_that_run_up(root: Path) -> list[str]:
    known = modules(root)
    bad = []
    for module, path in known.items():
        here = room(module)
        if not here or here in OUTSIDE_THE_HOUSE or here == "__main__":
            continue
        if here not in RANKS:
            bad.append(f"{module}: room {here} has no place among the layers")
            continue
        for line, target in imports(module, path, known):
            if target.split(".")[0] != "habilis":
                continue
            there = room(target)
            allowed = there == here or (there in RANKS and RANKS[there] < RANKS[here])
            if here in ONLY_SEES and there != here:
                allowed = there in ONLY_SEES[here]
            if there in OUTSIDE_THE_HOUSE or not (allowed or target == "habilis"):
                bad.append(f"{module}:{line} imports {target}")
    return bad


def doors_that_know_more_than_the_cli(root: Path) -> list[str]:
    """main.py and evolve.py at the top see the command line alone."""
    known = modules(root)
    doors = [path for name in ("main.py", "evolve.py") if (path := root / name).is_file()]
    return [
        f"{path.name}:{line} imports {target}"
        for path in doors
        for line, target in imports(path.stem, path, known)
        if target.split(".")[0] == "habilis" and room(target) != "cli"
    ]


def luggage_in_the_sandbox(root: Path) -> list[str]:
    known = modules(root)
    return [
        f"{module}:{line} imports {target}"
        for module, extra in INSIDE_THE_SANDBOX.items()
        if module in known
        for line, target in imports(module, known[module], known)
        if target.split(".")[0] not in extra | sys.stdlib_module_names
    ]


def import_cycles(root: Path) -> list[str]:
    """Modules that import each other, imports for types alone not counted."""
    known = modules(root)
    graph = {
        m: {t for _, t in imports(m, path, known, for_types=False) if t in known and t not in (m, "habilis")}
        for m, path in known.items()
    }
    done: set[str] = set()
    cycles: list[str] = []

    def visit(module: str, trail: tuple[str, ...]) -> None:
        if module in trail:
            cycles.append(" -> ".join([*trail[trail.index(module) :], module]))
        elif module not in done:
            for target in sorted(graph[module]):
                visit(target, (*trail, module))
            done.add(module)

    for module in graph:
        visit(module, ())
    return cycles


def environment_readers(root: Path) -> list[str]:
    """Only config/variables.py reads the environment; what runs inside the sandbox reads its own."""
    names = {"environ", "environb", "getenv", "getenvb", "putenv"}
    bad = []
    for module, path in modules(root).items():
        if module == "habilis.config.variables" or module in INSIDE_THE_SANDBOX:
            continue
        for node in ast.walk(tree_of(path)):
            read = isinstance(node, ast.Attribute) and node.attr in names and ast.unparse(node.value) == "os"
            named = isinstance(node, ast.ImportFrom) and node.module == "os" and names & {a.name for a in node.names}
            if read or named:
                bad.append(f"{module}:{node.lineno} reads the environment")
    return bad


def parsers_of_python(root: Path) -> list[str]:
    """Sources are parsed in one place, one at a time: CPython 3.11 takes harm from two at once."""
    return [
        f"{module}:{node.lineno} parses Python by itself"
        for module, path in modules(root).items()
        if module != "habilis.core.parsing" and module not in INSIDE_THE_SANDBOX
        for node in ast.walk(tree_of(path))
        if isinstance(node, ast.Attribute) and ast.unparse(node) == "ast.parse"
    ]


def prompts_in_code(root: Path) -> list[str]:
    """Prose long enough to be a prompt, outside prompts/ and docstrings."""
    bad = []
    for module, path in modules(root).items():
        if module.startswith(NO_PROMPTS_THERE):
            continue
        tree = tree_of(path)
        docstrings = {n.value for n in ast.walk(tree) if isinstance(n, ast.Expr) and isinstance(n.value, ast.Constant)}
        parts_of_f_strings = {part for n in ast.walk(tree) if isinstance(n, ast.JoinedStr) for part in n.values}
        for node in ast.walk(tree):
            if isinstance(node, ast.JoinedStr):
                text = "".join(str(p.value) for p in node.values if isinstance(p, ast.Constant))
            elif isinstance(node, ast.Constant) and node not in docstrings | parts_of_f_strings:
                text = node.value if isinstance(node.value, str) else ""
            else:
                continue
            if len(text) > PROSE_CHARS and len(SENTENCE_END.findall(text)) > 1:
                bad.append(f"{module}:{node.lineno} holds a text of {len(text)} characters")
    return bad


def writers_past_the_masker(root: Path) -> list[str]:
    """What Habilis keeps goes through `rundir.files`, which masks; only what is listed writes files by itself."""
    bad = []
    for module, path in modules(root).items():
        if module in INSIDE_THE_SANDBOX or module.startswith(tuple(WRITES_BY_ITSELF)):
            continue
        for node in ast.walk(tree_of(path)):
            if not isinstance(node, ast.Call):
                continue
            name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            modes = [a.value for a in (*node.args, *(k.value for k in node.keywords)) if isinstance(a, ast.Constant)]
            opens = name == "open" and any(
                isinstance(m, str) and re.fullmatch(r"[rwxab+]*[wxa][rwxab+]*", m) for m in modes
            )
            if name in ("write_text", "write_bytes") or opens:
                bad.append(f"{module}:{node.lineno} writes a file past the masker")
    return bad


def long_files(root: Path) -> list[str]:
    sizes = {m: len(p.read_text(encoding="utf-8").splitlines()) for m, p in modules(root).items()}
    return [
        f"{m}: {n} lines, and no reason is listed" for m, n in sizes.items() if n > MAX_LINES and m not in LONG_FILES
    ]


def shapeless_names(root: Path) -> list[str]:
    return [m for m in modules(root) if FORBIDDEN_NAMES & set(m.split("."))]


def undocumented_rooms(root: Path) -> list[str]:
    """Packages whose path does not stand in ARCHITECTURE.md."""
    text = (root / "ARCHITECTURE.md").read_text(encoding="utf-8")
    packages = [p.parent.relative_to(root / "src" / "habilis").as_posix() for p in modules(root).values()]
    return [name for name in sorted(set(packages)) if name != "." and f"{name}/" not in text]


RULES = [
    imports_that_run_up,
    doors_that_know_more_than_the_cli,
    luggage_in_the_sandbox,
    import_cycles,
    environment_readers,
    parsers_of_python,
    prompts_in_code,
    writers_past_the_masker,
    long_files,
    shapeless_names,
    undocumented_rooms,
]


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.__name__)
def test_the_house_keeps_its_rules(rule) -> None:
    assert modules(ROOT), "no source found"
    assert rule(ROOT) == []


PROSE = "You are the manager of a team that answers tasks with small tools and decides what to build. " * 5
SAMPLES = {
    "a room importing a higher one": (imports_that_run_up, "core/x.py", "from habilis.agents.team import Team"),
    "an upward import inside a function": (
        imports_that_run_up,
        "models/x.py",
        "def f():\n    import habilis.tools.host",
    ),
    "an upward import for types alone": (
        imports_that_run_up,
        "tools/x.py",
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from habilis.agents import team",
    ),
    "a relative upward import": (imports_that_run_up, "core/x.py", "from ..agents import team"),
    "rooms of one rank": (imports_that_run_up, "rundir.py", "from habilis import prompts"),
    "a test double in a room": (imports_that_run_up, "cli/x.py", "from habilis.testing import ScriptedServer"),
    "a room nobody placed": (imports_that_run_up, "extras/x.py", ""),
    "the dashboard looking into tools": (imports_that_run_up, "view/x.py", "import habilis.config"),
    "a door with knowledge": (doors_that_know_more_than_the_cli, "../../main.py", "from habilis.agents import team"),
    "a guest with luggage": (luggage_in_the_sandbox, "tools/sandbox/guest.py", "import habilis.core"),
    "a guest with a library": (luggage_in_the_sandbox, "tools/sandbox/guest.py", "import jsonschema"),
    "the environment, read": (environment_readers, "cli/x.py", "import os\nprint(os.environ['HOME'])"),
    "the environment, imported": (environment_readers, "cli/x.py", "from os import getenv"),
    "a parser of one's own": (parsers_of_python, "tools/x.py", "import ast\nast.parse('1')"),
    "the environment, read beside its door": (environment_readers, "config/x.py", "import os\nos.environ"),
    "a prompt in code": (prompts_in_code, "agents/x.py", f"ask({PROSE!r})"),
    "a prompt in an f-string": (prompts_in_code, "agents/x.py", f"ask(f{PROSE + '{x}'!r})"),
    "a file past the masker": (writers_past_the_masker, "agents/x.py", "path.write_text('x')"),
    "a file past the masker, opened": (writers_past_the_masker, "cli/x.py", "open('x', mode='ab')"),
    "a file without end": (long_files, "agents/x.py", "x = 1\n" * (MAX_LINES + 1)),
    "a drawer for everything": (shapeless_names, "tools/utils.py", ""),
    "a room without a word": (undocumented_rooms, "cellar/x.py", ""),
}


def _house(root: Path, files: dict[str, str]) -> Path:
    for name, text in {"agents/team.py": "", "tools/host.py": "", "prompts.py": "", "testing.py": "", **files}.items():
        path = (root / "src" / "habilis" / name).resolve()
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    (root / "ARCHITECTURE.md").write_text("agents/ tools/ core/ cli/", encoding="utf-8")
    return root


@pytest.mark.parametrize("sample", SAMPLES)
def test_each_rule_sees_its_breach(sample: str, tmp_path: Path) -> None:
    rule, name, text = SAMPLES[sample]
    assert rule(_house(tmp_path, {})) == []
    assert rule(_house(tmp_path, {name: text}))


def test_a_cycle_is_seen_and_one_for_types_alone_is_none(tmp_path: Path) -> None:
    types_alone = "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from habilis.core.a import A"
    assert import_cycles(_house(tmp_path, {"core/a.py": "import habilis.core.b", "core/b.py": types_alone})) == []
    _house(tmp_path, {"core/b.py": "def f():\n    from habilis.core import a"})
    assert import_cycles(tmp_path) == ["habilis.core.a -> habilis.core.b -> habilis.core.a"]


def test_what_is_allowed_stays_allowed(tmp_path: Path) -> None:
    _house(
        tmp_path,
        {
            "agents/x.py": f'"""{PROSE}"""\nfrom habilis.tools import host\nfrom habilis import __version__',
            "tools/sandbox/guest.py": "import os, json, pydantic\nos.environ.get('HABILIS_IN')",
            "config/variables.py": "import os\nos.environ",
            "demo/x.py": f"x = {PROSE!r}",
            "agents/y.py": f"words = {'one two three ' * 50!r}",
        },
    )
    rules = [rule for rule in RULES if rule is not undocumented_rooms]
    assert [complaint for rule in rules for complaint in rule(tmp_path)] == []

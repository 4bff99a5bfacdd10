"""A machine guards the layers of ARCHITECTURE.md: it reads every import and fails on one that runs up.

Each rule is a function from a source tree to a list of complaints, so that the tests at the end can show each of
them failing on a small bad sample.
"""

from __future__ import annotations

import ast
import re
import sys
from collections import Counter, defaultdict
from pathlib import Path

import pytest

from .house import ROOT, arrows, circles, imports, modules, room, tree_of

RANKS = {
    "core": 0,
    "values": 1,
    "schemas": 1,
    "questions": 2,
    "config": 1,
    "rundir": 2,
    "demo": 3,
    "prompts": 2,
    "sandbox": 3,
    "telemetry": 3,
    "messages": 3,
    "models": 4,
    "judging": 5,
    "tool_calling": 5,
    "contract": 5,
    "library": 6,
    "grounding": 7,
    "inputs": 7,
    "runtime": 7,
    "checking": 8,
    "rules": 8,
    "synthesis": 8,
    "sources": 8,
    "context": 9,
    "curation": 9,
    "exchange": 9,
    "terminal": 8,
    "evaluation": 10,
    "agents": 10,
    "training": 11,
    "view": 11,
    "cli": 12,
}
"""A room may import itself and rooms of a lower rank; rooms of one rank do not know each other."""
ONLY_SEES = {"view": {"core", "rundir", "telemetry", "library", "curation"}}
OUTSIDE_THE_HOUSE = {"testing"}
"""Rooms for tests and users: no other room may import them."""
INSIDE_THE_SANDBOX: dict[str, set[str]] = {
    "habilis.sandbox.inside.guest": {"pydantic", "pydantic_core"},
    "habilis.sandbox.inside.server": set(),
    "habilis.sandbox.inside.domains": set(),
    "habilis.sandbox.inside.rooms": set(),
    "habilis.sandbox.inside.sprouting": set(),
    "habilis.sandbox.inside.rehearsal": {"pydantic"},
    "habilis.sandbox.inside.confine": set(),
    "habilis.sandbox.inside.attack": set(),
    "habilis.sandbox.inside.relay": set(),
    "habilis.sandbox.zygote.zygote": set(),
    "habilis.sandbox.zygote.newborn": set(),
    "habilis.sandbox.zygote.mounting": set(),
    "habilis.synthesis.crowd_tool": {"pydantic"},
    "habilis.exchange.standalone.calling": {"pydantic"},
    "habilis.exchange.standalone.recorded_calls": set(),
    "habilis.exchange.standalone.requesting": set(),
    "habilis.exchange.standalone.speaking": set(),
    "habilis.sources.documents.guest": {"lxml", "pypdf", "trafilatura"},
}
"""Programs that run inside the sandbox or elsewhere, with what each may import besides the standard library."""

MAX_LINES = 400
MAX_ROOM_LINES = 7_000
MOST_NAMESAKES = 4
"""`source` is one of each kind of source, by habit."""
LONG_FILES = {
    "habilis.core.events": "all that may happen, a few lines each",
    "habilis.sandbox.inside.guest": "goes into the sandbox alone, as one file",
}
"""Files over MAX_LINES, each with the reason."""
WRITES_BY_ITSELF = {
    "habilis.rundir.files": "masks all that it writes",
    "habilis.rundir.store.files": "contents by their digest, masked by whoever gives them",
    "habilis.rundir.datafiles": "the user's own files, as they are",
    "habilis.contract.records": "masks each line",
    "habilis.exchange.exporting": "masks all of an export before it is put in place",
    "habilis.exchange.package": "part of an export",
    "habilis.exchange.parcels": "part of an export",
    "habilis.exchange.skills": "part of an export",
    "habilis.exchange.importing": "a trial that is thrown away",
    "habilis.synthesis.confirming": "a trial that is thrown away",
    "habilis.synthesis.crowds": "a trial that is thrown away",
    "habilis.synthesis.gate": "a trial that is thrown away",
    "habilis.synthesis.trial": "a trial that is thrown away",
    "habilis.synthesis.replay": "a trial that is thrown away",
    "habilis.sources.knowledge.sums": "a checksum",
    "habilis.curation.merging.merge": "a trial that is thrown away",
    "habilis.curation.manual.merging": "a trial that is thrown away",
    "habilis.runtime.packages": "names of packages",
    "habilis.sandbox": "the sandbox's own programs and probes",
    "habilis.runtime.egress.proxy": "a certificate",
    "habilis.models.local.serving": "the log of a program of its own",
    "habilis.testing": "doubles",
}
"""Modules that write files by themselves, each with why no secret gets into what is kept."""
PORTS_OF_A_ROOM = {
    "habilis.contract.runnable.Describer": "speaks of tools as the contract knows them",
    "habilis.evaluation.scoring.scorers.Judge": "speaks of rows and scores",
    "habilis.training.runners.job.BatchRunner": "speaks of jobs",
    "habilis.training.runners.program.TaskProgram": "speaks of a task's process",
    "habilis.training.shelf.StepAbsorber": "speaks of steps and their ends",
    "habilis.questions.world.Family": "a seam inside the demonstration model",
    "habilis.models.structured.Exchanger": "a seam inside the room of models",
}
"""Ports that speak in the words of one room, and stand beside these."""
PROSE_CHARS = 300
SENTENCE_END = re.compile(r"[a-z\])`'\"][.!?](\s|$)")
NO_PROMPTS_THERE = ("habilis.demo", "habilis.questions", "habilis.cli")
"""The offline model and what it reads questions by are a model themselves; what the command line says is for people."""
FORBIDDEN_NAMES = {"utils", "util", "common", "helpers", "helper", "misc"}


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


def rooms_in_a_circle(root: Path) -> list[str]:
    """Rooms and sub-rooms that know each other both ways, imports for types included."""
    return circles(arrows(root))


def twin_classes(root: Path) -> list[str]:
    """Public classes that share a name. Programs that run behind the wall or elsewhere are worlds of their own."""
    homes: dict[str, list[str]] = defaultdict(list)
    for module, path in modules(root).items():
        if module not in INSIDE_THE_SANDBOX:
            for node in tree_of(path).body:
                if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                    homes[node.name].append(module)
    return [f"{name} is a class of {', '.join(places)}" for name, places in homes.items() if len(places) > 1]


def worn_names(root: Path) -> list[str]:
    """Names that more than `MOST_NAMESAKES` modules bear."""
    known = modules(root)
    borne = Counter(m.rpartition(".")[2] for m, path in known.items() if path.name != "__init__.py")
    return [f"{count} modules are called {name}" for name, count in borne.items() if count > MOST_NAMESAKES]


def crowded_rooms(root: Path) -> list[str]:
    """Rooms that hold more lines than anyone can keep in mind."""
    lines: Counter[str] = Counter()
    for module, path in modules(root).items():
        lines[room(module)] += len(path.read_text(encoding="utf-8").splitlines())
    return [f"{name}: {count} lines" for name, count in lines.items() if count > MAX_ROOM_LINES]


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


def ports_elsewhere(root: Path) -> list[str]:
    """Public protocols stand in core/ports.py, with what each may raise; a room's own only where it says why."""
    return [
        f"{module}:{node.lineno} is a port of its own: {node.name}"
        for module, path in modules(root).items()
        if module != "habilis.core.ports" and module not in INSIDE_THE_SANDBOX
        for node in tree_of(path).body
        if isinstance(node, ast.ClassDef) and any(ast.unparse(base).startswith("Protocol") for base in node.bases)
        if not node.name.startswith("_") and f"{module}.{node.name}" not in PORTS_OF_A_ROOM
    ]


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
    rooms_in_a_circle,
    twin_classes,
    worn_names,
    crowded_rooms,
    environment_readers,
    parsers_of_python,
    prompts_in_code,
    writers_past_the_masker,
    ports_elsewhere,
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
        "def f():\n    import habilis.runtime.host",
    ),
    "an upward import for types alone": (
        imports_that_run_up,
        "runtime/x.py",
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from habilis.agents import team",
    ),
    "a relative upward import": (imports_that_run_up, "core/x.py", "from ..agents import team"),
    "rooms of one rank": (imports_that_run_up, "rundir.py", "from habilis import prompts"),
    "a test double in a room": (imports_that_run_up, "cli/x.py", "from habilis.testing import ScriptedServer"),
    "a room and its sub-room, both ways": (
        rooms_in_a_circle,
        "core/deep/x.py",
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from habilis.core import y\n",
    ),
    "two classes of one name": (twin_classes, "models/x.py", "class Team: ..."),
    "a name that everyone bears": (worn_names, "config/words.py", ""),
    "a room without end": (crowded_rooms, "runtime/x.py", "x = 1\n" * (MAX_ROOM_LINES + 1)),
    "a room nobody placed": (imports_that_run_up, "extras/x.py", ""),
    "the dashboard looking into tools": (imports_that_run_up, "view/x.py", "import habilis.config"),
    "a door with knowledge": (doors_that_know_more_than_the_cli, "../../main.py", "from habilis.agents import team"),
    "a guest with luggage": (luggage_in_the_sandbox, "sandbox/inside/guest.py", "import habilis.core"),
    "a guest with a library": (luggage_in_the_sandbox, "sandbox/inside/guest.py", "import jsonschema"),
    "the environment, read": (environment_readers, "cli/x.py", "import os\nprint(os.environ['HOME'])"),
    "the environment, imported": (environment_readers, "cli/x.py", "from os import getenv"),
    "a parser of one's own": (parsers_of_python, "runtime/x.py", "import ast\nast.parse('1')"),
    "the environment, read beside its door": (environment_readers, "config/x.py", "import os\nos.environ"),
    "a prompt in code": (prompts_in_code, "agents/x.py", f"ask({PROSE!r})"),
    "a prompt in an f-string": (prompts_in_code, "agents/x.py", f"ask(f{PROSE + '{x}'!r})"),
    "a file past the masker": (writers_past_the_masker, "agents/x.py", "path.write_text('x')"),
    "a file past the masker, opened": (writers_past_the_masker, "cli/x.py", "open('x', mode='ab')"),
    "a port in a room": (ports_elsewhere, "cli/x.py", "class Screen(Protocol): ..."),
    "a file without end": (long_files, "agents/x.py", "x = 1\n" * (MAX_LINES + 1)),
    "a drawer for everything": (shapeless_names, "runtime/utils.py", ""),
    "a room without a word": (undocumented_rooms, "cellar/x.py", ""),
}


def _house(root: Path, files: dict[str, str]) -> Path:
    for name, text in {
        "agents/team.py": "class Team: ...",
        "core/y.py": "import habilis.core.deep.z",
        "core/deep/z.py": "",
        **{f"{one}/words.py": "" for one in ("core", "agents", "models", "cli")},
        "runtime/host.py": "",
        "prompts.py": "",
        "testing.py": "",
        **files,
    }.items():
        path = (root / "src" / "habilis" / name).resolve()
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    (root / "ARCHITECTURE.md").write_text("agents/ runtime/ core/ core/deep/ models/ cli/", encoding="utf-8")
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
            "agents/x.py": f'"""{PROSE}"""\nfrom habilis.runtime import host\nfrom habilis import __version__',
            "sandbox/inside/guest.py": "import os, json, pydantic\nos.environ.get('HABILIS_IN')",
            "config/variables.py": "import os\nos.environ",
            "demo/x.py": f"x = {PROSE!r}",
            "agents/y.py": f"words = {'one two three ' * 50!r}",
        },
    )
    rules = [rule for rule in RULES if rule is not undocumented_rooms]
    assert [complaint for rule in rules for complaint in rule(tmp_path)] == []

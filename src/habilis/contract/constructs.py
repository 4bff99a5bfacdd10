"""What a tool's source should not hold, found without running it: each with its line and what to write instead.

A courtesy to the sandbox and to the writer, who learns at once what would fail or be refused later. It is no boundary:
whoever wants to hide something from it can, and meets the sandbox.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from habilis.contract.bindings import Bindings, Code
from habilis.contract.capabilities import Capabilities, inside
from habilis.contract.inference import NETWORK_MODULES, OF_OTHER_USE, inferred
from habilis.core.parsing import nodes_of
from habilis.core.types import Frozen

_MODULES = {
    "habilis": "a tool cannot use the program that runs it; write what it needs in the module itself",
    "__main__": "a tool has no business with the process that runs it",
    "ctypes": "no foreign code by hand: take a package that does it, as a dependency",
    "_ctypes": "no foreign code by hand: take a package that does it, as a dependency",
    "cffi": "no foreign code by hand: take a package that does it, as a dependency",
    "pip": 'nothing is installed at run time: name packages in __TOOL_META__["dependencies"]',
    "ensurepip": 'nothing is installed at run time: name packages in __TOOL_META__["dependencies"]',
}
_NAMES = {
    **dict.fromkeys(
        ("sys.settrace", "sys.setprofile", "threading.settrace", "threading.setprofile", "sys.monitoring"),
        "no tracing: a tool has no business with the interpreter that runs it",
    ),
    **dict.fromkeys(
        ("gc.get_objects", "gc.get_referrers", "sys._getframe", "sys._current_frames", "sys.addaudithook"),
        "a tool has no business with the objects of the process that runs it",
    ),
    "__builtins__": "call built-in functions by their names",
}
_INSIDE = {
    "__subclasses__": "no search through the interpreter's classes: import what is needed by its name",
    "__globals__": "no way round through another module's names: import what is needed",
    "__builtins__": "call built-in functions by their names",
}
_RUNNING = {"eval", "exec"}
_IMPORTING = {"__import__", "importlib.import_module"}
_WRITING_METHODS = {"write_text", "write_bytes", "touch", "mkdir", "unlink", "rmdir"}
_WRITING = {"os.remove", "os.unlink", "os.rmdir", "os.mkdir", "os.makedirs", "os.removedirs", "shutil.rmtree"}
_OWN_PLACES = ("/tmp", "/dev/null", "/dev/stdout", "/dev/stderr")
_INSTALLING = re.compile(r"\bpip3?\b.{0,20}\binstall\b|\b(?:apt-get|apt|conda|uv pip|npm)\s+(?:-\w+\s+)*install\b")
_FORK_BOMB = re.compile(r":\(\)\s*\{\s*:\s*\|\s*:\s*&\s*\}\s*;\s*:")


class Construct(Frozen):
    """One thing found, at a line of the source. As text it tells the writer what to change."""

    line: int
    reason: str

    def __str__(self) -> str:
        return f"line {self.line}: {self.reason}"


def constructs(code: Code, capabilities: Capabilities) -> tuple[Construct, ...]:
    """What stands in a tool's source and should not, in the order of its lines. `capabilities` are all it asks for."""
    bindings = code.bindings
    found = [*_imported(bindings), *_unasked_network(code, capabilities), *_forks_in_loops(code)]
    for node in code.nodes:
        if isinstance(node, (ast.Name, ast.Attribute)):
            found += _named(node, bindings)
        elif isinstance(node, ast.Call):
            found += _called(node, bindings)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and _FORK_BOMB.search(node.value):
            found.append(Construct(line=node.lineno, reason="a fork bomb; a tool may start few processes"))
    return tuple(sorted(dict.fromkeys(found), key=lambda one: one.line))


def _imported(bindings: Bindings) -> Iterator[Construct]:
    for module, line in bindings.modules.items():
        top = module.split(".")[0]
        if (why := _MODULES.get(top)) and (module == top or top not in bindings.modules):
            yield Construct(line=line, reason=f"import of {top}: {why}")


def _unasked_network(code: Code, capabilities: Capabilities) -> Iterator[Construct]:
    """A module that needs the network, where neither the tool nor its source says which hosts."""
    modules = code.bindings.modules
    module = next((one for one in modules if one in NETWORK_MODULES - OF_OTHER_USE), None)
    if module is None or capabilities.network or inferred(code).network:
        return
    yield Construct(
        line=modules[module],
        reason=f'{module} needs the network: name the hosts in __TOOL_META__["capabilities"] = '
        '{"network": ["api.example.org"]}, or ["*"] when they come as arguments',
    )


def _forks_in_loops(code: Code) -> Iterator[Construct]:
    for loop in code.nodes:
        if isinstance(loop, (ast.While, ast.For)):
            for node in nodes_of(loop):
                if isinstance(node, ast.Call) and code.bindings.dotted(node.func) in ("os.fork", "os.forkpty"):
                    yield Construct(line=node.lineno, reason="a fork in a loop; a tool may start few processes")


def _named(node: ast.Name | ast.Attribute, bindings: Bindings) -> Iterator[Construct]:
    name = bindings.dotted(node) or ""
    if why := _NAMES.get(name) or (_INSIDE.get(node.attr) if isinstance(node, ast.Attribute) else None):
        yield Construct(line=node.lineno, reason=f"{name or getattr(node, 'attr', '')}: {why}")


def _called(node: ast.Call, bindings: Bindings) -> Iterator[Construct]:
    name = bindings.dotted(node.func) or ""
    first = bindings.text(node.args[0]) if node.args else None
    if name in _RUNNING and node.args and first is None:
        why = "text that comes from outside is not run as code; ast.literal_eval reads values, ast.parse formulas"
        yield Construct(line=node.lineno, reason=f"{name} of what the source does not hold: {why}")
    if name in _IMPORTING and first is not None and (why := _MODULES.get(first.split(".")[0], "")):
        yield Construct(line=node.lineno, reason=f"import of {first}: {why}")
    if name == "sys.modules.get" and first in ("__main__", "habilis"):
        yield Construct(line=node.lineno, reason=f"sys.modules: {_MODULES['__main__']}")
    target = _written(node, name, first, bindings)
    if target and target.startswith("/") and not any(inside(target, place) for place in _OWN_PLACES):
        why = "a tool writes in its working folder alone; use a relative name"
        yield Construct(line=node.lineno, reason=f"writing to {target}: {why}")
    if _installs(node, name, bindings):
        yield Construct(line=node.lineno, reason=f"installing at run time: {_MODULES['pip'].partition(': ')[2]}")


def _written(node: ast.Call, name: str, first: str | None, bindings: Bindings) -> str | None:
    """The literal path that a call writes to, if it does and there is one."""
    if name in _WRITING:
        return first
    if name in ("open", "io.open", "codecs.open"):
        modes = [*node.args[1:2], *(k.value for k in node.keywords if k.arg == "mode")]
        return first if any(set(bindings.text(mode) or "") & set("wax+") for mode in modes) else None
    on = node.func.value if isinstance(node.func, ast.Attribute) else None
    if isinstance(node.func, ast.Attribute) and node.func.attr in _WRITING_METHODS and isinstance(on, ast.Call):
        of_path = bindings.dotted(on.func) in ("pathlib.Path", "Path") and on.args
        return bindings.text(on.args[0]) if of_path else None
    return None


def _installs(node: ast.Call, name: str, bindings: Bindings) -> bool:
    """Whether a call hands an installer's command to a shell or to a process."""
    if not name.startswith(("subprocess.", "os.", "asyncio.create_subprocess")):
        return False
    words: list[str] = []
    for argument in node.args:
        parts = argument.elts if isinstance(argument, (ast.List, ast.Tuple)) else [argument]
        words += [bindings.text(part) or "?" for part in parts]
    return bool(_INSTALLING.search(" ".join(words)))

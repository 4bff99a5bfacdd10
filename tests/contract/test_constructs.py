"""What a tool should not hold is told to its writer with the line and a way out; honest tools pass."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from habilis.contract.bindings import Code
from habilis.contract.capabilities import Capabilities
from habilis.contract.constructs import constructs
from habilis.demo.toolbox import source_for
from habilis.demo.understanding import all_operations
from habilis.questions.operations import fields_of, request_for

ROOT = Path(__file__).resolve().parents[2]
FAULTS = {
    "import habilis": "import of habilis",
    "from habilis.runtime import host": "import of habilis",
    "import importlib\nimportlib.import_module('habilis.config')": "import of habilis.config",
    "__import__('habilis')": "import of habilis",
    "import __main__": "the process that runs it",
    "import ctypes": "take a package",
    "from cffi import FFI": "take a package",
    "import pip": "dependencies",
    "import subprocess\nsubprocess.run(['pip', 'install', 'x'])": "dependencies",
    "import subprocess, sys\nsubprocess.check_call([sys.executable, '-m', 'pip', 'install', 'x'])": "dependencies",
    "import os\nos.system('pip3 install -q x')": "dependencies",
    "import os\nwhile True:\n    os.fork()": "a fork in a loop",
    "from os import fork as f\nfor _ in range(9):\n    f()": "a fork in a loop",
    "import os\nos.system(':(){ :|:& };:')": "a fork bomb",
    "eval(input.formula)": "eval of what the source does not hold",
    "exec(open(input.path).read())": "exec of what the source does not hold",
    "import builtins\nbuiltins.eval(input.formula)": "eval of what the source does not hold",
    "import sys\nsys.settrace(print)": "no tracing",
    "from threading import setprofile\nsetprofile(print)": "no tracing",
    "import gc\nfor o in gc.get_objects(): pass": "the objects of the process",
    "import sys\nsys._getframe(1).f_locals": "the objects of the process",
    "().__class__.__base__.__subclasses__()": "import what is needed by its name",
    "print(__builtins__)": "built-in functions by their names",
    "(lambda: 0).__globals__": "import what is needed",
    "open('/etc/cron.d/x', 'w')": "writing to /etc/cron.d/x",
    "from pathlib import Path\nPath('/root/.bashrc').write_text('x')": "writing to /root/.bashrc",
    "import shutil\nshutil.rmtree('/home')": "writing to /home",
    "PLACE = '/srv/out'\nimport os\nos.makedirs(PLACE)": "writing to /srv/out",
    "import requests\nrequests.get(input.url)": "name the hosts",
    "from urllib.request import urlopen\nurlopen(input.url)": "name the hosts",
}
HONEST = [
    "import ast\nast.literal_eval(input.text)",
    "eval('1 + 1')",
    "frame.eval('a + b')",
    "import os\nif os.fork() == 0: pass",
    "open('/tmp/x', 'w')",
    "open('out.csv', 'w')",
    "open('/etc/hosts')",
    "import subprocess\nsubprocess.run(['git', 'log'])",
    "import requests\nrequests.get('https://api.example.org/x')",
    "import socket\nsocket.inet_aton(input.text)",
    "text = 'pip install this'",
    "import re\nre.compile('eval')",
    "import importlib\nimportlib.import_module('json')",
]


@pytest.mark.parametrize(("source", "reason"), FAULTS.items(), ids=FAULTS)
def test_each_is_named_with_its_line(source: str, reason: str) -> None:
    found = constructs(Code.of(ast.parse(f"# a comment\n{source}")), Capabilities())
    assert any(reason in str(one) for one in found), found
    assert all(str(one).startswith(f"line {one.line}: ") and one.line > 1 for one in found)


@pytest.mark.parametrize("source", HONEST)
def test_what_is_only_alike_passes(source: str) -> None:
    assert constructs(Code.of(ast.parse(source)), Capabilities()) == ()


def test_a_tool_that_says_where_it_reaches_may_reach() -> None:
    tree = ast.parse("import requests\nrequests.get(input.url)")
    assert constructs(Code.of(tree), Capabilities(network=("*",))) == ()


def tool_sources() -> Iterator[tuple[str, str]]:
    """Every tool in this tree: what the offline model writes, and whole ones in tests, examples and benchmarks. Those
    of the sandbox's tests are meant to be bad."""
    for operation in all_operations():
        request = request_for(operation, "")
        names = [one["name"] for one in request["parameters"]]
        fields = fields_of(operation, names, [request["returns"][0]["name"]])
        assert fields is not None
        for robust in (False, True):
            yield operation.key, source_for(operation, request["name"], request["description"], fields, robust=robust)
    for folder in ("tests", "examples", "benchmarks"):
        for path in sorted((ROOT / folder).rglob("*.py")):
            for node in ast.walk(ast.parse(path.read_text())):
                text = node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""
                if "def run(" in text and "InputModel" in text and "sandbox" not in path.parts:
                    yield str(path.relative_to(ROOT)), text


def test_no_honest_tool_of_this_tree_is_refused() -> None:
    seen, refused = 0, []
    for name, source in tool_sources():
        try:
            tree = ast.parse(source)
        except SyntaxError:
            continue
        seen += 1
        # an early file says nowhere which hosts it reaches; new ones are asked to
        refused += [f"{name}: {one}" for one in constructs(Code.of(tree), Capabilities(network=("*",)))]
    assert seen > 55
    assert refused == []

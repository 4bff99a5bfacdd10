"""Whether an attempt began. One whose own code fails, or never comes to the point, shows nothing about the sandbox.

The runner marks each attempt: right before its decisive statement it makes the file `.began` in its workspace, and an
error that is the attempt's own (a name that is not defined, a call with wrong arguments) is noted in `.fault`, even
where the attempt swallows it. An attempt whose decisive statement is not the last one that does something says
`began()` itself. It may be said many times, and by a child.
"""

from __future__ import annotations

import ast
import re
import textwrap
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from hostile.attack import Attack

BEGAN, FAULT = ".began", ".fault"
NEVER = "it never came to the point"
OWN_ERRORS = "NameError|ImportError|ModuleNotFoundError|AttributeError|SyntaxError|TypeError|KeyError|IndexError"
OWN_ERRORS += "|AssertionError|ArgumentError|ValueError|UnboundLocalError|IndentationError"
OWN_NUMBERS = ("EINVAL", "EFAULT", "EBADF", "ENOTTY", "E2BIG", "ENOEXEC", "ENOTSOCK", "ENOSYS")
"""Errors by which the kernel says that a call makes no sense, before it asks whether the caller may make it."""
HEAD = f'''
import errno
_OWN = (NameError, ImportError, AttributeError, SyntaxError, TypeError, LookupError, AssertionError, ValueError,
    ctypes.ArgumentError)
_told = []

def _note(place, text=""):
    handle = os.open(_told[0] + "/" + place, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
    os.write(handle, text.encode("utf-8", "replace")[:300])
    os.close(handle)

def began():
    if len(_told) == 1:
        _note("{BEGAN}")
        _told.append(True)

def _fault():
    error = sys.exc_info()[1]
    number = errno.errorcode.get(error.errno, "") if isinstance(error, OSError) else ""
    if isinstance(error, _OWN) or number in {OWN_NUMBERS}:
        _note("{FAULT}", f"{{type(error).__name__}} {{error}}\\n")

def run(input: InputModel) -> OutputModel:
    _told[:] = [input.s["workspace"]]
    try:
        return attempt(input.s)
    except BaseException:
        _fault()
        raise

def attempt(s):
'''
PASSIVE = ("OutputModel", "append", "exists", "decode", "sorted", "len", "sleep", "wait", "join", "noted", "_exit")
"""Functions that attempts call once all is done."""


def marked(source: str) -> str:
    """The body `source`, with its marks, as the body of `attempt`."""
    tree = ast.parse(f"def attempt(s):\n{textwrap.indent(textwrap.dedent(source), '    ')}")
    for node in ast.walk(tree):
        if isinstance(node, ast.ExceptHandler) and swallows_all(node):
            node.body.insert(0, said("_fault"))
    if not any(isinstance(node, ast.Name) and node.id == "began" for node in ast.walk(tree)):
        function = tree.body[0]
        assert isinstance(function, ast.FunctionDef)
        block, place = decisive(function.body)
        block.insert(place, said("began"))
    return ast.unparse(tree).partition("\n")[2]


def swallows_all(handler: ast.ExceptHandler) -> bool:
    """Whether it catches errors that it does not name."""
    return handler.type is None or (isinstance(handler.type, ast.Name) and handler.type.id.endswith("Exception"))


def said(name: str) -> ast.stmt:
    return ast.Expr(ast.Call(ast.Name(name, ast.Load()), [], []))


def decisive(block: list[ast.stmt]) -> tuple[list[ast.stmt], int]:
    """The block and the place in it of the last statement that does something; inside of what only repeats it."""
    place = max((n for n, statement in enumerate(block) if not is_passive(statement)), default=0)
    found = block[place]
    if isinstance(found, ast.Try) or (isinstance(found, ast.For) and not own_calls(found.iter)):
        return decisive(found.body)
    return block, place


def is_passive(statement: ast.stmt) -> bool:
    """Whether `statement` only waits, ends or says what came of it."""
    if isinstance(statement, ast.While):
        return not own_calls(statement.test) and all(is_passive(inner) for inner in statement.body)
    return isinstance(statement, (ast.Expr, ast.Return, ast.Pass)) and not own_calls(statement)


def own_calls(node: ast.AST) -> list[str]:
    """The functions that are called in `node` but those that change nothing."""
    calls = [inner.func for inner in ast.walk(node) if isinstance(inner, ast.Call)]
    names = [func.attr if isinstance(func, ast.Attribute) else getattr(func, "id", "?") for func in calls]
    return [name for name in names if name not in (*PASSIVE, "items", "range", "zip")]


def faults(attack: Attack, level: str, workspace: Path, printed: str) -> list[str]:
    """Why `attack` shows nothing, if it does not."""
    expected = attack.told_at(level)
    found = [] if (workspace / BEGAN).exists() else [NEVER]
    return found + [
        f"it failed by itself: {text}" for text in own_errors(workspace, printed) if not foreseen(text, expected)
    ]


def own_errors(workspace: Path, printed: str) -> Iterator[str]:
    """Errors of the attempt's own: those noted, and those that a thread or a program of it printed."""
    with suppress(OSError):
        yield from (workspace / FAULT).read_text(errors="replace").splitlines()
    for found in re.finditer(rf"^({OWN_ERRORS}): .*", printed, re.MULTILINE):
        yield found[0].replace(":", "", 1)


def foreseen(text: str, expected: str) -> bool:
    """Whether what the model must be told names this very error."""
    kind, _, message = text.partition(" ")
    words: Sequence[str] = (kind, message.partition("] ")[2].partition(":")[0])
    return any(word and re.search(rf"\b{re.escape(word)}\b", expected) for word in words)


CONTROLS = tuple(
    Attack(name, "", "(output|crashed|denied): ", source)
    for name, source in {
        "control: a name that is not defined": "return OutputModel(value=missing.call())",
        "control: a swallowed fault": "try:\n    missing.call()\nexcept Exception:\n    pass\n"
        "return OutputModel(value=[])",
        "control: a fault in a child": "if os.fork() == 0:\n    missing.call()\nos.wait()\n"
        "return OutputModel(value=[])",
        "control: a fault in a thread": "import threading\nt = threading.Thread(target=lambda: missing.call())\n"
        "t.start()\nt.join()\nreturn OutputModel(value=[])",
        "control: a wrong constant": "return OutputModel(value=os.lseek(0, 0, 99))",
        "control: a fact that is missing": "return OutputModel(value=open(s['nowhere']).read())",
        "control: an end before the point": "if s:\n    return OutputModel(value=[])\nos.setuid(0)",
        "control: a loop over nothing": "for path in []:\n    os.unlink(path)\nreturn OutputModel(value=[])",
        "control: stopped by what comes first": "open('missing')\nos.setuid(0)",
    }.items()
)
"""Attempts that are none: each must be found out."""

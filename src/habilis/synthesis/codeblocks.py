"""The module in a writer's reply, however it is wrapped: in a fence, in tags, in JSON, or in nothing but words.

What counts is the last block that is a whole module, one that parses and defines `run`. Without one the last Python
block counts, so that its writer is told what is wrong with it.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from textwrap import dedent

from habilis.contract.contract import MAX_SOURCE_BYTES
from habilis.contract.examples import META
from habilis.core.errors import WriterFailed
from habilis.core.parsing import syntax_tree

_FENCE = re.compile(r"^[ \t]*(`{3,}|~{3,})[ \t]*([\w+-]*)[^\n]*$", re.MULTILINE)
_PYTHON = frozenset({"python", "py", "python3", "tool_code"})
_TAGS = ("code", "python", "tool_code", "tool", "module")
_RUN = re.compile(r"^(?:async[ \t]+)?def[ \t]+run\b", re.MULTILINE)
_LOOKS_WHOLE = re.compile(r"^(?:async[ \t]+)?def[ \t]+run\b|^__TOOL_META__\b", re.MULTILINE)
_BEGINS = re.compile(
    r"^(?:import[ \t]+[\w.]+[ \t]*(?:$|[,;#]|as\b)|from[ \t]+[\w.]+[ \t]+import\b|class[ \t]+\w+[ \t]*[(:]"
    r"|(?:async[ \t]+)?def[ \t]+\w+[ \t]*\(|__TOOL_META__\b|@\w|[rR]?\"\"\"|[rR]?'''|#)",
    re.MULTILINE,
)
_WORDS = (ast.Name, ast.Tuple, ast.Compare)
_TRIES = 8
"""From how many lines on a reply without any fence is parsed."""
MAX_BARE_CHARS = 200_000
MAX_FED_BACK_CHARS = 20_000


@dataclass(frozen=True)
class _Block:
    """A fenced block: the word behind its fence, and what stands in it."""

    tag: str
    text: str


def extract_code(reply: str) -> str:
    """The last whole module in `reply`, else its last ```python block (`py` and `python3` count as well, a missing
    last fence is forgiven).

    Raises `WriterFailed` when there is neither.
    """
    blocks = list(_blocks(reply))
    python = [block.text for block in blocks if block.tag in _PYTHON]
    others = [block.text for block in blocks if block.tag not in _PYTHON]
    code = _last_module(python) or _last_module(_widened(reply)) or _last_module(map(dedent, python))
    code = code or _last_module(others)
    code = code or _last_module(_tagged(reply)) or _last_module(_in_json(reply, others))
    code = code or next((text for text in reversed(python) if _LOOKS_WHOLE.search(text)), None)
    code = code or _bare(reply) or next(reversed(python), None)
    if code is None or not code.strip():
        raise WriterFailed("The reply holds no ```python block with code in it.")
    return code.rstrip() + "\n"


def _blocks(reply: str) -> Iterator[_Block]:
    """The fenced blocks of `reply`; one that was never closed ends where the next Python block begins, or the reply."""
    opened: re.Match[str] | None = None
    for fence in _FENCE.finditer(reply):
        if opened is None:
            opened = fence
        elif not fence[2] and fence[1].startswith(opened[1]):
            yield _Block(opened[2].lower(), reply[opened.end() + 1 : fence.start()])
            opened = None
        elif fence[2].lower() in _PYTHON and fence[1] == opened[1]:
            yield _Block(opened[2].lower(), reply[opened.end() + 1 : fence.start()])
            opened = fence
    if opened is not None:
        yield _Block(opened[2].lower(), reply[opened.end() + 1 :].rstrip().removesuffix(opened[1]))


def _widened(reply: str) -> list[str]:
    """From the first Python fence to the last bare one: a module may hold fences in its own texts."""
    fences = list(_FENCE.finditer(reply))
    first = next((fence for fence in fences if fence[2].lower() in _PYTHON), None)
    last = next((fence for fence in reversed(fences) if not fence[2]), None)
    return [reply[first.end() + 1 : last.start()]] if first and last and last.start() > first.end() else []


def _tagged(reply: str) -> Iterator[str]:
    """What stands between tags such as `<code>` and their last end."""
    for tag in _TAGS:
        opened = re.search(rf"<{tag}(?:\s[^>\n]{{0,200}})?>[ \t]*\n?", reply)
        end = reply.rfind(f"</{tag}>")
        if opened and end > opened.end():
            yield reply[opened.end() : end]


def _in_json(reply: str, blocks: Sequence[str]) -> list[str]:
    """The texts of an object that is the reply, or one of its blocks."""
    found: list[str] = []
    for text in (reply.strip(), *(block.strip() for block in blocks)):
        if not text.startswith("{"):
            continue
        try:
            value = json.loads(text, strict=False)
        except (ValueError, RecursionError):
            continue
        texts = [said for said in value.values() if isinstance(said, str)]
        found += [block.text for said in texts for block in _blocks(said) if block.tag in _PYTHON]
        found += texts
    return found


def _bare(reply: str) -> str | None:
    """The module in a reply without a fence, words before and after it left out."""
    if len(reply) > MAX_BARE_CHARS or not _RUN.search(reply):
        return None
    starts = [0, *(match.start() for match in _BEGINS.finditer(reply))]
    for _ in range(_TRIES):
        if not starts:
            break
        module, reached = _module_from(reply[starts[0] :])
        if module is not None:
            return module
        past = starts[0] + reached
        starts = [start for start in starts[1:] if start >= past]
    begins = _BEGINS.search(reply)
    return reply[begins.start() :] if begins and META in reply else None


def _module_from(text: str) -> tuple[str | None, int]:
    """The module that `text` begins with, words after it left out, or how far it could be read as code."""
    tree, wrong = _parsed(text)
    if tree is not None:
        return (_without_words(text, tree), 0) if _defines_run(tree) else (None, len(text))
    lines = text.splitlines(keepends=True)
    end = min(max(wrong - 1, 0), len(lines))
    reached = sum(map(len, lines[:end]))
    while end and lines[end - 1].strip() and not lines[end - 1][0].isspace():
        end -= 1  # of the words' first lines some may read like code
    kept, dropped = "".join(lines[:end]), lines[end:]
    if not _RUN.search(kept) or any(line[0] in " \t" and line.strip() for line in dropped):
        return None, reached
    tree, _ = _parsed(kept)
    return (kept, 0) if tree is not None and _defines_run(tree) else (None, reached)


def _without_words(text: str, tree: ast.Module) -> str:
    """`text` without words at its end that happen to parse, such as `Done`."""
    body = list(tree.body)
    while body and isinstance(last := body[-1], ast.Expr) and isinstance(last.value, _WORDS):
        body.pop()
    if len(body) == len(tree.body) or not body:
        return text
    return "".join(text.splitlines(keepends=True)[: body[-1].end_lineno])


def _last_module(texts: Iterable[str]) -> str | None:
    for text in reversed(list(texts)):
        if _RUN.search(text) and len(text) <= MAX_SOURCE_BYTES:
            tree, _ = _parsed(text)
            if tree is not None and _defines_run(tree):
                return text
    return None


def _parsed(text: str) -> tuple[ast.Module | None, int]:
    """The tree of `text`; where it does not parse, the line from which on it does not."""
    try:
        return syntax_tree(text.removeprefix("\ufeff")), 0
    except SyntaxError as error:
        return None, error.lineno or 0
    except (ValueError, RecursionError, MemoryError):
        return None, 0


def _defines_run(tree: ast.Module) -> bool:
    return any(isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and node.name == "run" for node in tree.body)


def without_code(reply: str) -> str:
    """What stands in `reply` beside its blocks of Python."""
    for block in list(_blocks(reply)):
        if block.tag in _PYTHON or _RUN.search(block.text):
            reply = reply.replace(block.text, "\n")
    return reply


def ends_a_block(text: str) -> bool:
    """Whether every block of code in `text` is closed, and there is one: what was cut came after it."""
    fences = len(_FENCE.findall(text))
    return fences > 0 and fences % 2 == 0


def fed_back(reason: str, source: str) -> str:
    """What the next attempt is told: why the last one failed, and the code that did."""
    if not source or len(source) > MAX_FED_BACK_CHARS:
        return reason
    return f"{reason}\n\nThe version that failed:\n```python\n{source.strip()}\n```"

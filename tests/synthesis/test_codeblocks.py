"""The module in a reply: what a user would lose is a tool that was written, and thrown away for its wrapping."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from habilis.core.errors import WriterFailed
from habilis.synthesis.codeblocks import extract_code

MODULE = '''import csv

from pydantic import BaseModel

__TOOL_META__ = {"name": "count", "description": "Counts.", "dependencies": []}


class InputModel(BaseModel):
    path: str


class OutputModel(BaseModel):
    count: int | None = None


def run(input: InputModel) -> OutputModel:
    """Count."""
    with open(input.path) as file:
        return OutputModel(count=sum(1 for _ in csv.reader(file)))
'''
OTHER = MODULE.replace("Counts.", "Counts other things.")
USE = "run(InputModel(path='a.csv'))\n"


def fenced(tag: str, code: str = MODULE) -> str:
    return f"```{tag}\n{code}```\n"


@pytest.mark.parametrize(
    "reply",
    [
        MODULE,
        f"Here is the tool:\n\n{MODULE}",
        f"# The tool\n\nSure! It's done from scratch.\n\n{MODULE}\nThis tool counts rows; it doesn't fail.\n",
        f"{MODULE}\nDone\n",
        f"{MODULE}\nNote: it counts rows.\nIt works.",
        f"{MODULE}```\n",
        fenced(""),
        fenced("Python"),
        fenced("tool_code"),
        fenced("text"),
        fenced("{.python}"),
        f"~~~\n{MODULE}~~~",
        f"Here:\n```python\n{MODULE}",
        f"Here:\n```\n{MODULE}",
        fenced("python") + "Use it so:\n" + fenced("python", USE),
        fenced("python") + "Use it so:\n" + fenced("", USE),
        fenced("python", "import csv\n") + fenced("python"),
        fenced("python", OTHER) + "Better:\n" + fenced("python"),
        fenced("python") + "Its output:\n" + fenced("python", "this is {no code"),
        f"{MODULE}\nUse it so:\n```python\n{USE}```\n",
        json.dumps({"code": MODULE}),
        "```json\n" + json.dumps({"name": "count", "code": MODULE}) + "\n```",
        json.dumps({"code": fenced("python")}),
        f"<code>\n{MODULE}</code>",
        f'<tool name="count">\n{MODULE}</tool>\nDone.',
        "- the tool:\n" + "".join(f"   {line}" for line in fenced("python").splitlines(keepends=True)),
    ],
)
def test_a_module_is_found_in_any_wrapping(reply: str) -> None:
    assert extract_code(reply).strip() == MODULE.strip()


def test_a_fence_in_the_text_of_a_module_does_not_cut_it() -> None:
    code = MODULE.replace('"""Count."""', '"""Count.\n\n```\nx\n```\n"""').replace("    x", "x")
    assert extract_code(fenced("python", code)) == code


@pytest.mark.parametrize(
    "reply",
    [
        "I cannot write this tool.",
        "You could def run it yourself.\ndef run is the name.",
        '```json\n{"code": 1}\n```',
        "<code></code>",
        f"{{{MODULE}",
    ],
)
def test_a_reply_without_a_module_is_none(reply: str) -> None:
    if "__TOOL_META__" in reply:  # it is told what does not parse
        assert "def run" in extract_code(reply)
    else:
        with pytest.raises(WriterFailed, match="no ```python block"):
            extract_code(reply)


def test_a_mistake_in_a_bare_module_is_told_and_not_cut_off() -> None:
    broken = f"{MODULE}\ndef more(:\n    return 1\n"
    assert extract_code(broken) == broken


def test_the_block_that_looks_like_the_module_is_told_of_and_not_its_use() -> None:
    broken = MODULE.replace("def run(", "def run((")
    assert extract_code(fenced("python", broken) + fenced("python", USE)) == broken


_LINES = some.lists(
    some.sampled_from(
        [
            "# a comment",
            "TEXT = '''\nsome `words` here\n'''",
            "import json",
            "NAMES = ['é', \"it's\", '<code>', '{']",
            "def helper(value):\n    return value\n",
            "if True:\n    LIMIT = 3\n",
            "",
            '"""words"""',
        ]
    ),
    max_size=6,
).map("\n".join)
_WRAPPERS: list[Callable[[str], str]] = [
    lambda code: f"```python\n{code}```\n",
    lambda code: f"Here.\n\n```Python\n{code}```\nDone.",
    lambda code: f"~~~py\n{code}~~~",
    lambda code: f"```\n{code}```",
    lambda code: f"```python\n{code}",
    lambda code: f"```python\nimport csv\n```\nand\n```python\n{code}```\nthen\n```python\nprint(1)\n```",
    lambda code: code,
    lambda code: f"<code>\n{code}</code>",
    lambda code: json.dumps({"code": code}),
    lambda code: f"Here is the tool you asked for:\n\n{code}",
    lambda code: f"{code}\nThis is the tool, and it's yours.\n",
]


@settings(deadline=None)
@given(_LINES, _LINES, some.sampled_from(_WRAPPERS))
def test_whatever_the_module_it_comes_back_letter_by_letter(
    before: str, after: str, wrapped: Callable[[str], str]
) -> None:
    code = f"import csv\n{before}\ndef run(input):\n    return input\n{after}\n"
    assert extract_code(wrapped(code)).rstrip() == code.rstrip()


_ENDLESS = ("```python\n", "<code>", "def run(x):\n", "import csv\nwords and words\n", "{", "```\n")


@pytest.mark.parametrize("piece", _ENDLESS)
def test_a_reply_without_end_is_read_in_one_go(piece: str) -> None:
    reply = piece * (400_000 // len(piece))
    with contextlib.suppress(WriterFailed):
        assert extract_code(reply).strip() in reply

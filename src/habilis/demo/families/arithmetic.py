"""Arithmetic expressions, in symbols and in words, with numbers or with what another tool finds."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass, field
from functools import cache

from habilis.core.parsing import expression_tree
from habilis.questions.declared import operations_of, read_family
from habilis.questions.language import DATE, NUMBER, words
from habilis.questions.prompts import SeenFile
from habilis.questions.world import DemoCall, FilledOperation, World, columns

EXPRESSION, FIRST_IS_MORE = operations_of(read_family("arithmetic"))

_PHRASE_ENDS = (
    r"(?=\s+(?:times|plus|minus|divided by|multiplied by|mod|modulo|squared|cubed|to the power|raised to|[-+*/×÷^·])\s"
    r"|\s+(?:squared|cubed)$|\)|$)"
)
_TOKENS: tuple[tuple[str, str], ...] = (
    (r"\*\*|\^|(?:raised )?to the power(?: of)?\b|raised to\b", "**"),
    (r"multiplied (?:by|with)\b|times\b|×|\*|·", "*"),
    (r"divided by\b|÷|/", "/"),
    (r"plus\b|\+", "+"),
    (r"minus\b|−|-", "-"),
    (r"mod(?:ulo)?\b", "%"),
    (r"squared\b", "** 2"),
    (r"cubed\b", "** 3"),
    (r"(?:the )?square root of\b|sqrt(?: of\b)?|√", "sqrt"),
    (r"(?:the )?cube root of\b|cbrt(?: of\b)?", "cbrt"),
    (r"half (?:of )?", "1 / 2 *"),
    (r"(?:twice|double) ", "2 *"),
    (r"(?:%|percent|per cent) of\b", "/ 100 *"),
    (r"\(", "("),
    (r"\)", ")"),
)
_END = r"(?:highest|lowest|largest|smallest|biggest|greatest|maximum|minimum|max|min|average|mean|median)"
_REWRITTEN: tuple[tuple[str, str], ...] = (
    (rf"(?:the )?difference between (?:the )?({_END}) and (?:the )?({_END}) (.+)", r"(\1 \3) - (\2 \3)"),
    (r"(?:the )?product of (.+?) and (.+)", r"(\1) * (\2)"),
    (r"(?:the )?quotient of (.+?) and (.+)", r"(\1) / (\2)"),
    (r"(?:the )?difference (?:of|between) (.+?) and (.+)", r"(\1) - (\2)"),
    (r"(?:the )?(?:remainder|rest) (?:of|when) (.+?) (?:is )?divided by (.+)", r"(\1) mod (\2)"),
    (r"(.+?) (?:increased|raised) by (\S+) ?(?:%|percent)", r"(\1) * (1 + (\2) / 100)"),
    (r"increase (.+?) by (\S+) ?(?:%|percent)", r"(\1) * (1 + (\2) / 100)"),
    (r"(.+?) (?:decreased|reduced|lowered) by (\S+) ?(?:%|percent)", r"(\1) * (1 - (\2) / 100)"),
    (r"(?:decrease|reduce|lower) (.+?) by (\S+) ?(?:%|percent)", r"(\1) * (1 - (\2) / 100)"),
    (r"what (?:percent|percentage|per cent) of (.+?) is (.+)", r"(\2) / (\1) * 100"),
    (r"(?:percent|percentage) of (.+?) is (.+)", r"(\2) / (\1) * 100"),
    (r"add (.+?) (?:and|to) (.+)", r"(\1) + (\2)"),
    (r"subtract (.+?) from (.+)", r"(\2) - (\1)"),
    (r"multiply (.+?) (?:by|with|and) (.+)", r"(\1) * (\2)"),
    (r"divide (.+?) by (.+)", r"(\1) / (\2)"),
    (r"(?:result|value) of (.+)", r"\1"),
    (r"how much is (.+)", r"\1"),
    (r"(.+?) is what (?:percent|percentage|per cent) of (.+)", r"(\1) / (\2) * 100"),
)


@cache
def _patterns(said: tuple[tuple[str, str], ...]) -> list[tuple[re.Pattern[str], str]]:
    return [(re.compile(pattern, re.IGNORECASE), meant) for pattern, meant in said]


@dataclass
class _Writing:
    """An expression as it is put together. `closing` counts functions whose operand comes next."""

    pieces: list[str] = field(default_factory=list)
    calls: list[DemoCall] = field(default_factory=list)
    functions: int = 0
    operators: int = 0

    def operand(self, text: str) -> None:
        self.pieces.append(text + ")" * self.functions)
        self.functions = 0


class Arithmetic:
    """Family of arithmetic expressions. Dates are none of its business, although they look like subtractions."""

    operations = (EXPRESSION, FIRST_IS_MORE)

    def read(self, phrase: str, world: World) -> DemoCall | None:
        text = phrase.strip()
        if re.search(DATE, text, re.IGNORECASE) or any(_is_named(text, file) for file in world.files):
            return None
        for pattern, rewritten in _patterns(_REWRITTEN):
            if pattern.fullmatch(text):
                inner = self.read(pattern.sub(rewritten, text, count=1), world)
                if inner:
                    return inner
        writing = _write(text, world)
        if writing is None or not writing.operators:
            return None
        expression = " ".join(writing.pieces)
        if not _valid(expression, len(writing.calls)):
            return None
        value: str | FilledOperation = (
            FilledOperation(expression, tuple(writing.calls)) if writing.calls else expression
        )
        return DemoCall(EXPRESSION, {"expression": value})


def _is_named(text: str, file: SeenFile) -> bool:
    """Whether a column of a table that `text` names has an operator in its name: "plus ones"."""
    named = [" ".join(words(name)) for name in columns(file)]
    return any(re.search(r"\b(?:plus|minus|times)\b", name) and name in " ".join(words(text)) for name in named)


def _write(text: str, world: World) -> _Writing | None:
    """`text` as a Python expression; None when a part of it is neither number, operator nor a phrase that is one."""
    writing = _Writing()
    text = re.sub(r"(?<=[0-9)]) ?[x×] ?(?=[0-9(])", " * ", text, flags=re.IGNORECASE)
    text = re.sub(r"[,]? ?=$", "", text)
    at = 0
    while at < len(text):
        if text[at].isspace():
            at += 1
            continue
        after_operand = bool(writing.pieces) and writing.pieces[-1][-1] in "0123456789})"
        rest = text[at:]
        match = re.match(NUMBER.removeprefix("[-+−]?"), rest, re.IGNORECASE)
        if match and not re.match(r"[\w.]", rest[match.end() :]):
            if after_operand:
                return None
            writing.operand(match[0].replace(",", ""))
            at += match.end()
            continue
        token = next(((m, sign) for one, sign in _patterns(_TOKENS) if (m := one.match(rest))), None)
        if token:
            at += token[0].end()
            _put(token[1], writing)
            continue
        phrase = re.match(rf"\S.*?{_PHRASE_ENDS}", rest, re.IGNORECASE)
        value = world.amount(phrase[0]) if phrase and not after_operand and phrase[0] != text else None
        if phrase is None or value is None:
            return None
        if isinstance(value, DemoCall):
            writing.calls.append(value)
            writing.operand(f"{{{len(writing.calls) - 1}}}")
        else:
            writing.operand(str(value))
        at += phrase.end()
    return writing


def _put(sign: str, writing: _Writing) -> None:
    if sign in ("sqrt", "cbrt"):
        writing.pieces.append(f"{sign}(")
        writing.functions += 1
        writing.operators += 1
    elif sign == "(":
        if writing.functions:  # the function's own bracket
            writing.functions -= 1
        else:
            writing.pieces.append("(")
    else:
        writing.pieces.append(sign)
        writing.operators += sign != ")"


def _valid(expression: str, calls: int) -> bool:
    try:
        filled = expression.format(*(["1"] * calls)) if calls else expression
        tree = expression_tree(filled)
    except (SyntaxError, ValueError, IndexError, KeyError, MemoryError, RecursionError):
        return False
    return not any(_leaves_open(node) for node in ast.walk(tree))


def _leaves_open(node: ast.AST) -> bool:
    """Whether this is Python, but no arithmetic: "2 (1 + 2)" looks like a call."""
    called = isinstance(node, ast.Call) and not isinstance(node.func, ast.Name)
    return called or isinstance(node, ast.Starred | ast.keyword | ast.Tuple)

"""Forms that a text argument may have, told from the texts alone: a date, an identifier, an arithmetic expression."""

from __future__ import annotations

import ast
import datetime
import re
from typing import Any

from habilis.core.parsing import expression_tree

LARGEST = 10.0**12
_SUM = re.compile(r"[\d\s.+\-*/()]+")
_MOMENT = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d)?")
_OPERATORS = (ast.Add, ast.Sub, ast.Mult, ast.Div, ast.Pow)


def mask(value: Any) -> str:
    """The form of a text: letters and digits by kind, everything else as it stands."""
    if not isinstance(value, str):
        return ""
    return "".join(_kind(character) for character in value)


def as_date(value: Any) -> datetime.date | None:
    """The date that a text of the form 2024-02-29 is."""
    if not isinstance(value, str) or not re.fullmatch(r"\d{4}-\d\d-\d\d", value):
        return None
    try:
        return datetime.date.fromisoformat(value)
    except ValueError:
        return None


def as_moment(value: Any) -> datetime.datetime | None:
    """The moment that a text of the form 2024-02-29T13:45:00 is, with or without seconds, or with a blank in it."""
    if not isinstance(value, str) or not _MOMENT.fullmatch(value):
        return None
    try:
        return datetime.datetime.fromisoformat(value)
    except ValueError:
        return None


def brackets_match(text: str) -> bool:
    """Whether each bracket that opens in `text` is closed, and by its like."""
    closing = {")": "(", "]": "[", "}": "{", ">": "<"}
    opened: list[str] = []
    for character in text:
        if character in closing.values():
            opened.append(character)
        elif character in closing and (not opened or opened.pop() != closing[character]):
            return False
    return not opened


def is_sum(value: Any) -> bool:
    """Whether a text is an arithmetic expression with an operator in it."""
    if not isinstance(value, str) or len(value) > 200 or not _SUM.fullmatch(value) or as_date(value):
        return False
    tree = _tree(value)
    return tree is not None and any(isinstance(node, ast.BinOp) for node in ast.walk(tree))


def value_of(text: Any) -> bool:
    """Whether an arithmetic expression has a value, of a size that everybody can write."""
    tree = _tree(text)
    try:
        return tree is not None and abs(_value(tree)) < LARGEST
    except (ZeroDivisionError, OverflowError, ValueError, TypeError):
        return False


def _tree(text: str) -> ast.expr | None:
    try:
        return expression_tree(text.strip())
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _value(node: ast.expr) -> float:
    if isinstance(node, ast.Constant) and isinstance(node.value, (int, float)):
        return float(node.value)
    if isinstance(node, ast.UnaryOp):
        return -_value(node.operand) if isinstance(node.op, ast.USub) else _value(node.operand)
    if not isinstance(node, ast.BinOp) or not isinstance(node.op, _OPERATORS):
        raise ValueError
    left, right = _value(node.left), _value(node.right)
    if isinstance(node.op, ast.Pow):
        if abs(right) > 12:
            raise ValueError
        return float(left**right)
    if isinstance(node.op, ast.Div):
        return left / right
    return (
        left + right if isinstance(node.op, ast.Add) else left - right if isinstance(node.op, ast.Sub) else left * right
    )


def _kind(character: str) -> str:
    if character.isdigit():
        return "9"
    return "A" if character.isupper() else "a" if character.isalpha() else character

"""A tool call's arguments: from the text that a model sent to a JSON object, repaired only when that is unambiguous.

What is accepted beyond strict JSON, and nothing else:
- nothing at all, blank text or `null`: no arguments, `{}`;
- a code fence around the object, or the object as a JSON string (encoded twice);
- line breaks and tabs standing raw inside strings;
- a comma before a closing bracket;
- brackets that are closed once too often at the end;
- brackets left open at the end, if the text stops right behind a whole string, word or bracket (behind a bare
  number it may have been cut) and the reply was not cut at its token limit;
- a Python literal: single quotes, True, False, None.
Everything else is a problem that names the position. Names given twice with different values are one too.
"""

from __future__ import annotations

import ast
import json
import math
import re
from collections.abc import Iterator
from typing import Any

from habilis.core.parsing import expression_tree

_FENCE = re.compile(r"\A\s*```[a-zA-Z0-9_-]*\s*\n(.*?)\n?\s*```\s*\Z", re.DOTALL)
_SURPLUS = re.compile(r"\A[\s}\]]*\Z")
MAX_DEPTH = 200
_NEXT = re.compile(r"\s*(\S?)")
_CLOSER = {"{": "}", "[": "]"}


class ArgumentsUnreadable(ValueError):
    """The text is no JSON object and cannot be read as one without guessing. Its text is for the model."""


def read_arguments(raw: Any, *, cut: bool = False) -> dict[str, Any]:
    """The arguments in `raw` as a dict. `cut`: the reply ended at its token limit, so nothing is closed for it.

    Raises `ArgumentsUnreadable` naming the position.
    """
    if raw is None or isinstance(raw, dict):
        return _shallow(raw or {})
    if not isinstance(raw, str):
        raise ArgumentsUnreadable(f"the arguments must be a JSON object, not {kind_of(raw)}")
    text = raw.strip().lstrip("\ufeff").strip()
    if text in ("", "null", "None"):
        return {}
    fenced = _FENCE.match(text)
    text = fenced.group(1).strip() if fenced else text
    try:
        value = _load(text)
    except json.JSONDecodeError as error:
        value = _repaired(text, error, cut)
    if isinstance(value, str) and value.strip().startswith("{"):
        return read_arguments(value, cut=cut)
    if not isinstance(value, dict):
        raise ArgumentsUnreadable(f"the arguments must be a JSON object, not {kind_of(value)}")
    return _shallow(value)


def _shallow(arguments: dict[str, Any]) -> dict[str, Any]:
    """`arguments`, unless they are nested so deep that something that walks through them could break off."""
    level: list[Any] = [arguments]
    for _ in range(MAX_DEPTH):
        level = [
            item
            for node in level
            for item in (node.values() if isinstance(node, dict) else node)
            if isinstance(item, (dict, list))
        ]
        if not level:
            return arguments
    raise ArgumentsUnreadable(f"the arguments are nested too deeply, more than {MAX_DEPTH} levels")


def _repaired(text: str, error: json.JSONDecodeError, cut: bool) -> Any:
    for attempt in (_without_surplus, _without_commas, *(() if cut else (_closed,)), python_literal):
        try:
            value = attempt(text)
        except (ValueError, RecursionError):
            continue
        if isinstance(value, dict):
            return value
    near = text[max(0, error.pos - 20) : error.pos + 20].replace("\n", "\\n")
    raise ArgumentsUnreadable(
        f"the arguments are not valid JSON: {error.msg} at line {error.lineno} column {error.colno}"
        f" (character {error.pos}), near {near!r}"
    )


def _load(text: str) -> Any:
    try:
        return json.loads(
            text, strict=False, object_pairs_hook=_unique, parse_constant=_no_constant, parse_float=_finite
        )
    except RecursionError:
        raise ArgumentsUnreadable("the arguments are nested too deeply") from None
    except (json.JSONDecodeError, ArgumentsUnreadable):
        raise
    except ValueError as error:  # a number of thousands of digits
        raise ArgumentsUnreadable(f"the arguments are not valid JSON: {error}") from None


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in pairs:
        if name in found and found[name] != value:
            raise ArgumentsUnreadable(f"the arguments name {name!r} twice with different values")
        found[name] = value
    return found


def _no_constant(word: str) -> Any:
    raise ArgumentsUnreadable(f"the arguments hold {word}, which JSON does not know")


def _finite(digits: str) -> float:
    number = float(digits)
    if math.isinf(number):
        raise ArgumentsUnreadable(f"the number {digits[:40]} in the arguments is too large")
    return number


def decoder() -> json.JSONDecoder:
    """JSON as it is read here: raw line breaks in strings, no name twice with different values, no NaN."""
    return json.JSONDecoder(strict=False, object_pairs_hook=_unique, parse_constant=_no_constant, parse_float=_finite)


def _without_surplus(text: str) -> Any:
    value, end = decoder().raw_decode(text)
    if not _SURPLUS.match(text[end:]):
        raise ValueError("something follows the object")
    return value


def _without_commas(text: str) -> Any:
    return _load(drop_trailing_commas(text))


def _closed(text: str) -> Any:
    text = text.rstrip()
    missing = _open_brackets(text)
    if not missing or not re.search(r"""(?:["}\]]|\b(?:true|false|null))\Z""", text):
        raise ValueError("not an object that only lacks its end")
    return _load(drop_trailing_commas(text + missing))


def python_literal(text: str) -> Any:
    """`text`, a literal of Python, as the JSON value that it is. Raises `ValueError`, `RecursionError`."""
    tree = parsed_expression(text)
    try:
        value = ast.literal_eval(tree)
        json.dumps(value, allow_nan=False)
    except (TypeError, MemoryError) as error:
        raise ValueError(str(error)) from None
    for node in ast.walk(tree):
        if isinstance(node, ast.Dict):
            _unique_names(node)
    return json.loads(json.dumps(value))


def parsed_expression(text: str) -> ast.expr:
    """`text` as one Python expression, which is not evaluated. Raises `ValueError` that says where it breaks off."""
    try:
        return expression_tree(text)
    except SyntaxError as error:
        raise ValueError(f"{error.msg} at line {error.lineno} column {error.offset}") from None
    except (MemoryError, RecursionError):
        raise ValueError("nested too deeply") from None


def _unique_names(node: ast.Dict) -> None:
    names = [key.value for key in node.keys if isinstance(key, ast.Constant)]
    if not all(isinstance(name, str) for name in names) or len(set(names)) != len(node.keys):
        raise ValueError("names that are no text, or double")


def drop_trailing_commas(text: str) -> str:
    """`text` without the commas, outside strings, that stand right before a closing bracket."""
    kept: list[str] = []
    for index, char, inside in _walk(text):
        if char == "," and not inside and _closes_after(text, index + 1):
            continue
        kept.append(char)
    return "".join(kept)


def _closes_after(text: str, at: int) -> bool:
    """Whether a closing bracket comes next, blanks passed over."""
    after = _NEXT.match(text, at)
    return after is not None and after[1] in ("}", "]")


def _open_brackets(text: str) -> str:
    """The closing brackets that `text` lacks, innermost first; nothing if a string is open or brackets disagree."""
    stack: list[str] = []
    within = False
    for _, char, inside in _walk(text):
        within = inside
        if inside:
            continue
        if char in _CLOSER:
            stack.append(_CLOSER[char])
        elif char in "}]" and (not stack or stack.pop() != char):
            return ""
    return "" if within else "".join(reversed(stack))


def _walk(text: str) -> Iterator[tuple[int, str, bool]]:
    """Each character with its place and whether a JSON string is open at it (the closing quote is outside)."""
    inside = escaped = False
    for index, char in enumerate(text):
        if inside:
            if escaped:
                escaped = False
            elif char == "\\":
                escaped = True
            elif char == '"':
                inside = False
        elif char == '"':
            inside = True
        yield index, char, inside


def kind_of(value: Any) -> str:
    """What JSON calls `value`, with its article."""
    if isinstance(value, bool):
        return "a boolean"
    names = {
        str: "a string",
        list: "an array",
        int: "a number",
        float: "a number",
        type(None): "null",
        dict: "an object",
    }
    return names.get(type(value), type(value).__name__)


def strict_arguments(raw: Any) -> dict[str, Any] | None:
    """The arguments in `raw` if they are a JSON object or nothing at all; None if only `read_arguments` may tell."""
    if raw is None or isinstance(raw, dict):
        return raw or {}
    if not isinstance(raw, str):
        return None
    try:
        value = _load(raw) if raw.strip() else {}
    except ValueError:
        return None
    return value if isinstance(value, dict) else None

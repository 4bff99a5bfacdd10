"""Settings by dotted key: which there are, what each takes, and trees of them made flat and back."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from functools import lru_cache
from types import NoneType
from typing import Any, Literal, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from habilis.config.settings import Settings
from habilis.core.errors import UserError


def all_keys() -> dict[str, tuple[Any, str]]:
    """Every dotted key with its default and its description, in the order of the fields."""
    return {dotted: (value, info.description or "") for dotted, (value, info) in _fields().items()}


@lru_cache(maxsize=1)
def _fields() -> Mapping[str, tuple[Any, FieldInfo]]:
    """Every dotted key with its default and its field."""
    found: dict[str, tuple[Any, FieldInfo]] = {}

    def walk(model: BaseModel, prefix: str) -> None:
        for name, info in type(model).model_fields.items():
            value = getattr(model, name)
            if isinstance(value, BaseModel):
                walk(value, f"{prefix}{name}.")
            else:
                found[prefix + name] = (value, info)

    walk(Settings(), "")
    return found


def is_text(dotted: str) -> bool:
    """Whether the setting takes text alone (`str`, words to choose from, or the value of a header)."""
    if dotted not in _fields():
        return ".headers." in dotted
    kind = _fields()[dotted][1].annotation
    kinds = set(get_args(kind) or (kind,)) - {NoneType}
    return kinds == {str} or all(isinstance(k, str) or get_origin(k) is Literal for k in kinds)


def inside(dotted: str, key: str) -> bool:
    """Whether the setting is one of the group `key`."""
    return dotted.startswith(key + ".")


def _is_open(dotted: str) -> bool:
    """Whether the setting is a mapping with keys of the user's own."""
    return dotted.endswith((".headers", ".options")) or dotted in OPEN_GROUPS


OPEN_GROUPS = ("sources", "tool_sets")
"""Settings at the top whose entries bear names of the user's own; files and overrides merge them entry by entry."""


def check_key(dotted: str, origin: str) -> None:
    """Raises `UserError`, which names the nearest one, where there is no such setting."""
    known = _fields()
    if dotted in known or any(inside(dotted, k) for k in known if _is_open(k)):
        return
    if any(inside(k, dotted) for k in known):
        raise UserError(f"{origin}: {dotted} is a group of settings; give one of its keys")
    near = difflib.get_close_matches(dotted, known, 1, 0.6)
    raise UserError(
        f"{origin}: unknown setting {dotted}"
        + (f"; did you mean {near[0]}?" if near else "; see 'habilis config show'")
    )


def flatten(tree: Mapping[str, Any], prefix: str = "") -> list[tuple[str, Any]]:
    """Dotted key and value of each setting in a tree of mappings."""
    rows: list[tuple[str, Any]] = []
    for key, value in tree.items():
        dotted = f"{prefix}{key}"
        if dotted in OPEN_GROUPS and isinstance(value, dict | None):
            rows += [(f"{dotted}.{name}", entry) for name, entry in (value or {}).items()]
        elif isinstance(value, dict) and not _is_open(dotted):
            rows += flatten(value, dotted + ".")
        elif value is not None or dotted in _fields():  # a group with all its keys commented out is empty
            rows.append((dotted, value))
    return rows


def put(tree: dict[str, Any], dotted: str, value: Any) -> None:
    """Puts a value at its place in a tree of mappings. Raises `UserError` where the tree has a value on the way."""
    *parents, leaf = dotted.split(".")
    for part in parents:
        if tree.get(part) is None:
            tree[part] = {}
        tree = tree[part]
        if not isinstance(tree, dict):
            raise UserError(f"{dotted}: {part} is a single setting, not a group")
    tree[leaf] = value

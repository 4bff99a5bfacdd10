"""Settings by dotted key: which there are, what each takes, and trees of them made flat and back."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from functools import lru_cache
from types import NoneType
from typing import Any, Literal, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from habilis.config.models import ROLES
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
    return dotted.endswith((".headers", ".options", ".prices")) or dotted in OPEN_GROUPS


OPEN_GROUPS = ("sources", "tool_sets")
"""Settings at the top whose entries bear names of the user's own; files and overrides merge them entry by entry."""


def check_key(dotted: str, origin: str) -> None:
    """Raises `UserError`, which names the nearest one, where there is no such setting."""
    known = _fields()
    if dotted in known or any(inside(dotted, k) for k in known if _is_open(k)):
        return
    if any(inside(k, dotted) for k in known):
        raise UserError(f"{origin}: {dotted} is a group of settings; give one of its keys")
    check_removed([(dotted, origin)])
    near = difflib.get_close_matches(dotted, known, 1, 0.6)
    raise UserError(
        f"{origin}: unknown setting {dotted}"
        + (f"; did you mean {near[0]}?" if near else "; see 'habilis config show'")
    )


REMOVED = {
    **{
        f"limits.reply_seconds.{purpose}": "set limits.reply_seconds instead, one number for all"
        for purpose in ("plan", "step", "code", "calls", "review", "answer", "summary")
    },
    **{
        f"limits.reply_tokens.{purpose}": "set limits.reply_tokens instead, one number for all but code"
        for purpose in ("plan", "step", "calls", "review", "answer", "summary")
    },
    "limits.reply_tokens.code": "set limits.code_tokens instead",
    "limits.reply_tokens.thinking": "set limits.thinking_tokens instead",
    "limits.max_failed_rounds": "it is always 3; remove it",
    "limits.repeat_stop": "it is always 4; remove it",
    "limits.correction_retries": "it is always 3; remove it",
    "tools.summarise_results": "over-long results are always summarised before they are cut; remove it",
    "tools.only_tool": "a call of an unknown tool is always sent back with the names of those there are; remove it",
    **{f"models.{role}.react_form": "for completion, set strategy: react_completion; remove it" for role in ROLES},
    **{f"models.{role}.image_detail": "set images to it instead (none, low, high or auto)" for role in ROLES},
    "tools.package_list": "set tools.packages to the list instead",
    "writer.kind": "set writer.command instead: [codex] for the Codex CLI, empty for the builder role",
    "limits.repeat_warning": "a repeated call is always warned of from the second one on; remove it",
    "limits.max_empty_replies": "it is always 10; remove it",
    "limits.max_bound_tools": "it is always 20; remove it",
    "limits.max_parts": "it is always 3; remove it",
    "limits.max_enhancements": "it is always 2; remove it, or set tools.synthesis: false to have none",
    "sandbox.cpu_s": "a call may compute as long as sandbox.tool_timeout_s says; remove it",
    "sandbox.open_files": "it is always 256; remove it",
    "sandbox.output_mb": "it is always 8; remove it",
    "sandbox.warm_idle_s": "it is always 300; remove it",
    "capabilities.effects": "a declared effect counts only if it is stronger than what the source shows; remove it",
    "capabilities.read": "what capabilities.read_list names may be read; remove it, or empty the list",
    "tools.telling_calls": "writers are always asked for such calls; remove it",
    "tools.build_attempts": "it is always 3; remove it",
    "tools.enhance_attempts": "it is always 3; remove it",
    "writer.timeout_s": "it is always 1200; remove it",
    "memory.max_work_tokens": "it is always 100000; remove it, or set models.basic.token_limit",
    "knowledge.chunk_tokens": "it is always 300; remove it",
    "knowledge.max_file_mb": "it is always 20; remove it",
    "web.max_page_mb": "it is always 5; remove it",
    "web.timeout_s": "it is always 30; remove it",
    "web.search.key_env": "the key is that in the environment variable TAVILY_API_KEY; remove it",
    "web.search.max_results": "it is always 5; remove it",
    "evolution.trial_calls": "it is always 6; remove it",
    "evolution.retire_calls": "it is always 10; remove it",
    "evolution.retire_below": "it is always 0.3; remove it",
    "evolution.share_builds": "builds are always shared; remove it",
    "evolution.egl_flat_steps": "set evolution.train_steps instead, or end the run with Ctrl-C or evolution.stop_file",
    "evolution.absorb_timeout_s": "it is always 20; remove it",
    "scoring.concurrency": "it is always 8; remove it",
    "exchange.serve_calls": "it is always 8; remove it",
    "models.local.check_memory": "memory is always looked at, unless models.local.gpu_layers is set; remove it",
    "models.local.parallel": "it is always 1; for more, serve the model yourself and set models.basic.base_url instead",
    "models.local.start_timeout_s": "it is always 600; remove it",
    "models.local.hub_url": "set the environment variable HF_ENDPOINT instead",
    "models.local.hub_token_env": "the token is that in the environment variable HF_TOKEN; remove it",
    "datasets.hub_url": "set the environment variable HF_ENDPOINT instead",
    "datasets.hub_token_env": "the token is that in the environment variable HF_TOKEN; remove it",
}
"""Settings of earlier versions, and what to do about each where it still stands somewhere."""


def check_removed(named: Iterable[tuple[str, str]]) -> None:
    """Raises `UserError` for the settings that are gone, of dotted keys with their origins: of a file all at once."""
    if gone := [f"{origin}: {key} is no longer a setting: {REMOVED[key]}" for key, origin in named if key in REMOVED]:
        raise UserError(" · ".join(gone))


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

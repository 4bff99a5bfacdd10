"""Settings as they may be written and shown: without secrets."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

KEY_NAME = re.compile(r"(?i)(^|[_\-.])(api[_-]?key|key|secret|password|passwd|authorization|credential|token)s?$")
KEY_VALUE = re.compile(r"(?i)^(sk|pk|rk|ghp|gho|xox[abp]|AIza|hf|eyJ)[-_A-Za-z0-9]{12,}|^(bearer|basic)\s+\S+")
_URL_USER = re.compile(r"(?<=://)[^/?#\s]*@")
_FLAG = re.compile(r"(?i)^(--?[\w-]*(?:key|token|secret|password)[\w-]*)(=.*)?$", re.S)
MASK = "***"
"""For what may be anything: what is known to be a secret stands as its name (`habilis.core.masker`)."""


def masked(tree: Mapping[str, Any]) -> dict[str, Any]:
    """A copy of settings that may be written and shown: header values and whatever looks like a key become `***`."""
    return {key: _masked(key, value) for key, value in tree.items()}


def _masked(name: str, value: Any) -> Any:
    if isinstance(value, Mapping):
        hide = name == "headers"
        return {key: MASK if hide else _masked(str(key), inner) for key, inner in value.items()}
    if isinstance(value, str):
        if KEY_NAME.search(name) or KEY_VALUE.search(value):
            return MASK
        if name == "api_key_env" and not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]{0,60}", value):
            return MASK
        return _URL_USER.sub(f"{MASK}@", value)
    if isinstance(value, Sequence):
        return _masked_arguments(value)
    return value


def _masked_arguments(values: Sequence[Any]) -> list[Any]:
    """A list, an argument vector perhaps: `--api-key X` and `--api-key=X` lose their X."""
    shown: list[Any] = []
    hide = False
    for value in values:
        flag = _FLAG.match(value) if isinstance(value, str) else None
        if hide:
            shown.append(MASK)
        elif flag and flag[2]:
            shown.append(f"{flag[1]}={MASK}")
        else:
            shown.append(_masked("", value))
        hide = bool(flag and not flag[2]) and not hide
    return shown


def flagged(values: Sequence[Any]) -> Iterator[str]:
    """What an argument vector holds that is hidden: X of `--api-key X` and of `--api-key=X`."""
    for value, shown in zip(values, _masked_arguments(values), strict=True):
        if shown == value or not isinstance(value, str):
            continue
        if shown == MASK:
            yield value
        elif shown.endswith(f"={MASK}"):
            yield value.partition("=")[2]

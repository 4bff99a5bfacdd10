"""Which value counts: command line (`--set`), then files (`-c`, later ones over earlier ones), then the environment,
then the default that stands in the field. An unknown key is an error that names it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml
from pydantic import ValidationError

from habilis.config.files import read_yaml, settings_in
from habilis.config.keys import check_key, check_removed, flatten, inside, is_text, put
from habilis.config.models import api_of
from habilis.config.settings import Settings
from habilis.config.variables import environment
from habilis.core.errors import UserError

ENV_PREFIX = "HABILIS_"
Override = str | tuple[str, Any]
"""What comes before files: `key=value` as people write it, or a dotted key with its value."""


@dataclass(frozen=True)
class Loaded:
    """Settings and, by dotted key, the word that says where each value came from."""

    settings: Settings
    origins: dict[str, str]


def load_settings(
    files: Sequence[Path] = (), overrides: Sequence[Override] = (), environ: Mapping[str, str] | None = None
) -> Settings:
    """Settings from command line, files, environment and defaults. Raises `UserError` naming a bad file or key."""
    return load_with_origins(files, overrides, environ).settings


def load_with_origins(
    files: Sequence[Path] = (), overrides: Sequence[Override] = (), environ: Mapping[str, str] | None = None
) -> Loaded:
    """Like `load_settings`, with the origin of each value for `habilis config show`."""
    rows = _from_environment(environment() if environ is None else environ)
    for path in files:
        rows += [(dotted, value, f"file {path}") for dotted, value in flatten(settings_in(path))]
    rows += _from_overrides(overrides)
    merged: dict[str, Any] = {}
    origins: dict[str, str] = {}
    check_removed((dotted, origin) for dotted, _, origin in rows)
    for dotted, value, origin in rows:
        check_key(dotted, origin)
        put(merged, dotted, value)
        origins[dotted] = origin
    _without_openai(merged, origins)
    try:
        settings = Settings.model_validate(merged)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        dotted = ".".join(str(part) for part in first["loc"])
        origin = origins.get(dotted) or next((o for k, o in origins.items() if inside(dotted, k)), "settings")
        raise UserError(f"{origin}: {dotted}: {first['msg'].removeprefix('Value error, ')}") from None
    settings.models.remember_origins(origins)
    return Loaded(settings, origins)


def _without_openai(merged: dict[str, Any], origins: dict[str, str]) -> None:
    """OPENAI_BASE_URL and OPENAI_MODEL mean nothing to another provider."""
    basic = merged.get("models", {}).get("basic") or {}
    if api_of(basic.get("provider") or "auto") == "openai":
        return
    for name in ("base_url", "model"):
        if origins.get(f"models.basic.{name}", "").startswith("environment OPENAI_"):
            del basic[name], origins[f"models.basic.{name}"]


Row = tuple[str, Any, str]
"""Dotted key, value, origin."""


def _from_environment(environ: Mapping[str, str]) -> list[Row]:
    plain = (("OPENAI_BASE_URL", "base_url"), ("OPENAI_MODEL", "model"))
    rows: list[Row] = [(f"models.basic.{key}", environ[n], f"environment {n}") for n, key in plain if environ.get(n)]
    for name, text in sorted(environ.items()):
        if name.startswith(ENV_PREFIX) and name not in _OWN_VARIABLES and text.strip():
            dotted = name.removeprefix(ENV_PREFIX).lower().replace("__", ".")
            rows.append((dotted, _parse(dotted, text, f"environment {name}"), f"environment {name}"))
    return rows


_OWN_VARIABLES = {"HABILIS_CACHE_DIR", "HABILIS_DATA_DIR", "HABILIS_IN", "HABILIS_OUT", "HABILIS_QUESTION"}


def _from_overrides(overrides: Sequence[Override]) -> list[Row]:
    rows: list[Row] = []
    for item in overrides:
        if not isinstance(item, str):
            rows.append((*item, "command line"))
            continue
        dotted, equals, text = (part.strip() for part in item.partition("="))
        if not equals or not dotted:
            raise UserError(f"--set {item}: expected key=value, for example limits.max_rounds=20")
        rows.append((dotted, _parse(dotted, text, "command line"), "command line"))
    return rows


def _parse(dotted: str, text: str, origin: str) -> Any:
    """The value that `text` means: YAML, but text as it stands where the setting is text; empty means unset."""
    check_key(dotted, origin)
    if not text.strip():
        return None
    if is_text(dotted):
        return text
    try:
        return read_yaml(text)
    except yaml.YAMLError:
        return text

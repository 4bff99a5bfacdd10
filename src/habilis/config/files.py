"""Files of settings: where shipped ones lie, and how one is read."""

from __future__ import annotations

import re
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any, Literal

import yaml

from habilis.core.errors import UserError


@cache
def shipped(kind: Literal["prompts", "configs"]) -> Path:
    """Folder of shipped prompts or configs: inside the wheel, else at the top of the source tree."""
    inside = Path(str(resources.files("habilis"))) / "_shipped" / kind
    return inside if inside.is_dir() else Path(__file__).resolve().parents[3] / kind


def settings_in(path: Path) -> dict[str, Any]:
    """The tree of settings in a file, which may be named like a shipped one. Raises `UserError` where it has none."""
    path = path.expanduser()
    candidates = [path, path.with_name(f"{path.name}.yaml")]
    if len(path.parts) == 1:  # a bare name may mean a shipped file; a path means what it says
        candidates += [shipped("configs") / candidate.name for candidate in candidates]
    found = next((p for p in candidates if p.is_file()), None)
    if found is None:
        known = ", ".join(sorted(p.stem for p in shipped("configs").glob("*.yaml")))
        raise UserError(f"settings file {path} does not exist; shipped ones: {known}")
    try:
        data = read_yaml(found.read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise UserError(f"settings file {path}: {error.strerror}") from None
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise UserError(f"settings file {path} is not YAML: {' '.join(str(error).split())}") from None
    if data is None:
        return {}
    if not isinstance(data, dict):
        raise UserError(f"settings file {path} must hold a mapping of settings, not {type(data).__name__}")
    return data


class _Loader(yaml.SafeLoader):
    """YAML in which `off`, `on`, `yes` and `no` are words, as in YAML 1.2, so that `sandbox: {mode: off}` works."""


_Loader.yaml_implicit_resolvers = {
    first: [pair for pair in pairs if pair[0] != "tag:yaml.org,2002:bool"]
    for first, pairs in yaml.SafeLoader.yaml_implicit_resolvers.items()
}
_Loader.add_implicit_resolver("tag:yaml.org,2002:bool", re.compile("true|True|TRUE|false|False|FALSE"), list("tTfF"))


def read_yaml(text: str) -> Any:
    """Plain data. Raises `yaml.YAMLError`."""
    return yaml.load(text, _Loader)  # a SafeLoader: plain data alone

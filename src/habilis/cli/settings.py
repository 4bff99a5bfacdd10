"""`habilis config`: each setting with its origin, and a commented file to start from."""

from __future__ import annotations

import json
import sys
from argparse import Namespace
from pathlib import Path
from typing import Any

from habilis.config import BASIC_DEFAULTS, ROLES, Loaded, all_keys
from habilis.core.errors import UserError
from habilis.rundir import atomic_write, masked
from habilis.terminal.choices import load
from habilis.terminal.wording import plain

HEAD = """\
# Settings of Habilis. Take the '#' away in front of what you want to change and hand the file over:
#     habilis run -c {name} "…"
# Each line stands for itself; what is not set here comes from the environment, else from the default shown.
# The command line wins over files: --set limits.max_rounds=20. See 'habilis config show' for what is in force.
"""
ROLES_NOTE = """
# The same keys exist for the roles {roles}.
# What a role leaves out it takes from models.basic. For example:
#models.builder.model: a-model-that-writes-code-well
"""


def show(args: Namespace) -> int:
    """Print each value in force and where it came from; secrets are masked."""
    loaded = load(args)
    rows = values(loaded)
    if args.json:
        print(json.dumps({k: {"value": v, "origin": o} for k, v, o in rows}, ensure_ascii=False, indent=2))
        return 0
    roles = [f"models.{role}." for role in ROLES if role != "basic"]
    if not args.all:
        rows = [row for row in rows if row[2] != "default" or not row[0].startswith(tuple(roles))]
    key_width = max(len(key) for key, _, _ in rows)
    texts = ["" if value is None else json.dumps(value, ensure_ascii=False) for _, value, _ in rows]
    value_width = min(40, max(len(text) for text in texts))
    for (key, _, origin), text in zip(rows, texts, strict=True):
        print(plain(f"{key:<{key_width}}  {text:<{value_width}}  {origin}"))
    if not args.all and sys.stdout.isatty():
        print("\nOther roles take what they leave out from models.basic; --all shows them too.")
    return 0


def values(loaded: Loaded) -> list[tuple[str, Any, str]]:
    """Every dotted key with its value in force (masked) and its origin."""
    tree = masked(loaded.settings.model_dump(mode="json"))
    basic = BASIC_DEFAULTS.model_dump(mode="json")
    rows = []
    for key in all_keys():
        value: Any = tree
        for part in key.split("."):
            value = value[part]
        if value is None and key.startswith("models.basic."):
            value = basic[key.rsplit(".", 1)[-1]]
        origins = [origin for k, origin in loaded.origins.items() if k == key or k.startswith(f"{key}.")]
        rows.append((key, value, origins[-1] if origins else "default"))
    return rows


def init(args: Namespace) -> int:
    """Write a file of all settings, commented out. Raises `UserError` rather than overwrite, unless forced."""
    path = Path(args.path)
    if path.is_dir():
        raise UserError(f"{path} is a folder; give a file name, for example {path / 'habilis.yaml'}")
    if path.exists() and not args.force:
        raise UserError(f"{path} exists; give another name, or --force to overwrite it")
    try:
        atomic_write(path, sample(path.name))
    except OSError as error:
        raise UserError(f"cannot write {path}: {error.strerror}") from None
    print(f"wrote {plain(str(path))}; use it with -c {plain(str(path))}")
    return 0


def sample(name: str) -> str:
    """The text of a settings file in which every line is commented out."""
    basic = BASIC_DEFAULTS.model_dump(mode="json")
    lines = [HEAD.format(name=name)]
    group = ""
    for key, (default, description) in all_keys().items():
        section, _, leaf = key.rpartition(".")
        if section.startswith("models.") and section != "models.basic":
            if group == "models.basic":
                lines.append(ROLES_NOTE.format(roles=", ".join(role for role in ROLES if role != "basic")))
            group = section
            continue
        if section != group:
            lines.append(f"\n# --- {section or 'folders'} ---")
            group = section
        value = basic[leaf] if section == "models.basic" else default
        shown = json.dumps(value, ensure_ascii=False) if value not in (None, ()) else "[]" if value == () else ""
        lines += [f"# {description}", f"#{key}: {shown}".rstrip()]
    return "\n".join(lines) + "\n"

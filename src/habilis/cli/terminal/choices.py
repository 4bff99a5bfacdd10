"""What the words of a command line mean: settings, files, the library of a task."""

from __future__ import annotations

import json
from argparse import Namespace
from pathlib import Path
from typing import Any

from habilis.cli.terminal.wording import seconds_of
from habilis.config import Loaded, Settings, load_with_origins
from habilis.core.errors import UserError
from habilis.rundir import TaskDir, masked


def load(args: Namespace, chosen: dict[str, Any] | None = None) -> Loaded:
    """The settings that `args` mean; `chosen` are those that a resumed run was started with, unless -c is given."""
    overrides = [
        f"{key}={value if isinstance(value, str) else json.dumps(value)}" for key, value in (chosen or {}).items()
    ]
    overrides = [] if args.config else overrides
    overrides += args.set
    if getattr(args, "output", None):
        overrides.append(f"runs_dir={args.output}")
    if isinstance(names := getattr(args, "tools", None), str) and not (args.decide and is_functions(names)):
        overrides.append(f"tools.use={json.dumps([name.strip() for name in names.split(',') if name.strip()])}")
    if getattr(args, "knowledge", None):  # absolute: the task may be resumed from another folder
        overrides.append(f"knowledge.folders={json.dumps([str(Path(name).absolute()) for name in args.knowledge])}")
    if getattr(args, "max_tokens", None) is not None:
        overrides.append(f"limits.max_tokens={args.max_tokens}")
    if getattr(args, "max_time", None):
        overrides.append(f"limits.max_time_s={seconds_of(args.max_time, '--max-time')}")
    for name in args.config:
        if Path(name).is_dir():
            raise UserError(f"settings file {name} is a folder; give a YAML file")
    return load_with_origins([Path(name) for name in args.config], overrides)


def library_meant(args: Namespace) -> tuple[Settings, Path]:
    """The settings in force, and the library that `args` mean: the one of single tasks unless it is named."""
    settings = load(args).settings
    return settings, Path(args.library) if args.library else Path(settings.runs_dir) / "library"


def check_file(name: str) -> None:
    """Raises `UserError` when the file or folder that --file names is not there or cannot be read."""
    path = Path(name)
    try:
        if not path.exists():
            raise UserError(f"--file {name}: no such file or folder")
        if path.is_file():
            path.open("rb").close()
        elif path.is_dir():
            next(path.iterdir(), None)
        else:
            raise UserError(f"--file {name}: a pipe or device; write what it gives into a file first")
    except OSError as error:
        raise UserError(f"--file {name}: {error.strerror}") from None
    except ValueError:
        raise UserError(f"--file {name!r}: not a file name") from None


def library_of(task: TaskDir) -> str | None:
    """The library that `task` was started with, if it was named then; a relative one is the default of its place."""
    stored = task.load_task()
    library = stored[1].get("library") if stored else None
    return library if isinstance(library, str) and Path(library).is_absolute() else None


def chosen_settings(loaded: Loaded) -> dict[str, Any]:
    """The settings that a person gave by command line or file, without secrets, for a later resume."""
    tree = loaded.settings.model_dump(mode="json")
    chosen: dict[str, Any] = {}
    for dotted, origin in loaded.origins.items():
        if origin.startswith("environment") or ".headers" in dotted or dotted == "runs_dir":
            continue
        value: Any = tree
        for part in dotted.split("."):
            value = value[part] if isinstance(value, dict) and part in value else None
        if value is not None and masked({dotted.rsplit(".", 1)[-1]: value}) == {dotted.rsplit(".", 1)[-1]: value}:
            chosen[dotted] = value
    return chosen


def is_functions(said: str) -> bool:
    """Whether what --tools says is a file of function schemas; else it is names of sources and tool sets."""
    return said == "-" or said.endswith(".json") or "/" in said or Path(said).is_file()

"""What the words of a command line mean: settings, files, the library of a task."""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path
from typing import Any

from habilis.config import REMOVED, EvolutionSettings, LimitsSettings, Loaded, Override, Settings, load_with_origins
from habilis.core.errors import UserError
from habilis.rundir import TaskDir, masked


def load(args: Namespace, chosen: dict[str, Any] | None = None) -> Loaded:
    """The settings that `args` mean; `chosen` are those that a resumed run was started with, unless -c is given."""
    recorded = {} if args.config else chosen or {}
    overrides: list[Override] = [*((key, value) for key, value in recorded.items() if key not in REMOVED), *args.set]
    if getattr(args, "output", None):
        overrides.append(("runs_dir", args.output))
    if isinstance(names := getattr(args, "tools", None), str) and not (args.decide and is_functions(names)):
        overrides.append(("tools.use", [name.strip() for name in names.split(",") if name.strip()]))
    if getattr(args, "knowledge", None):  # absolute: the task may be resumed from another folder
        overrides.append(("knowledge.folders", [str(Path(name).absolute()) for name in args.knowledge]))
    group, fields = ("evolution", EvolutionSettings) if args.command == "evolve" else ("limits", LimitsSettings)
    options = {name: getattr(args, name, None) for name in fields.model_fields}  # those that are settings by their name
    overrides += [(f"{group}.{name}", value) for name, value in options.items() if value is not None]
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

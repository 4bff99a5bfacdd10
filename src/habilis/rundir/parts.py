"""The parts of a run's folder: what may lie there, and its record as text."""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from habilis.core.errors import PlaceError, UserError
from habilis.core.place import place_error
from habilis.rundir.files import one_line
from habilis.rundir.names import GENERATIONS, LIBRARY
from habilis.rundir.plain import check_plain_file, check_plain_folder

MAX_RUN_BYTES, MAX_YAML_DEPTH = 16 << 20, 60
"""Bytes and levels of `run.yaml`: more than settings ever come to."""


def check_parts(run: Path) -> None:
    """Raises `UserError` for a link, a pipe or a device among the parts of the run in `run`.

    What tools and users put into a workspace is not looked at here, and the link to the library in force must lead to
    a generation of the run's own.
    """
    for folder, folders, files in os.walk(run, onerror=_unreadable):
        for name in (*folders, *files):
            path = Path(folder, name)
            if path.parent == run and name == LIBRARY and _leads_to_generation(path):
                continue
            (check_plain_folder if name in folders else check_plain_file)(path)
        if Path(folder).parent == run / "tasks":
            folders[:] = [name for name in folders if name != "workspace"]


def _leads_to_generation(link: Path) -> bool:
    return link.is_symlink() and re.fullmatch(rf"{GENERATIONS}/\d{{4,}}", str(link.readlink())) is not None


def _unreadable(error: OSError) -> None:
    raise UserError(f"{error.filename} cannot be read: {error.strerror}")


def as_yaml(record: Mapping[str, Any]) -> str:
    """A run's record as it is written."""
    import yaml

    dumper = getattr(yaml, "CSafeDumper", yaml.SafeDumper)  # twenty times as fast where it is there
    text: str = yaml.dump(dict(record), Dumper=dumper, allow_unicode=True, sort_keys=False)
    return text


def plain_yaml(text: str, *, known: bool) -> Any:
    """What `text` says as YAML. Raises ValueError.

    Where it is not `known` to be ours, its events are looked at first: libyaml's composer calls itself for each level,
    and ends the interpreter on a text that is nested deep enough; and an alias can stand for a billion others.
    """
    import yaml

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        depth = 0
        for event in () if known else yaml.parse(text, loader):
            depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
            if depth > MAX_YAML_DEPTH or isinstance(event, yaml.AliasEvent):
                raise ValueError("it is nested too deep, or holds aliases, which Habilis never writes")
        return yaml.load(text, loader)
    except yaml.YAMLError as error:
        raise ValueError(one_line(error)) from None


@cache
def versions() -> dict[str, str]:
    """Versions of what a run's outcome may depend on."""
    import platform
    from importlib.metadata import PackageNotFoundError, version

    found = {"python": platform.python_version(), "platform": platform.platform(terse=True)}
    for package in ("habilis", "langgraph", "langchain-core", "langchain-openai", "pydantic"):
        with contextlib.suppress(PackageNotFoundError):
            found[package] = version(package)
    return found


def make_folder(path: Path) -> None:
    """Make a folder of a run, if it is not there. Raises `UserError`, `PlaceError`."""
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise unwritable(path, error) from None


def unwritable(path: Path, error: OSError) -> UserError | PlaceError:
    """What a person is told of a folder that cannot be made: by another choice, or by mending this machine."""
    if (place := place_error(error)) is not None:
        return place
    reason = "a file of that name is in the way" if isinstance(error, FileExistsError) else error.strerror
    return UserError(f"cannot write the folder {path}: {reason}; choose another with --output or --run-dir")

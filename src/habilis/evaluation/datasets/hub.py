"""Data sets from the Hugging Face hub, as files in the cache (extra `datasets`: huggingface_hub).

`hub:OWNER/NAME[@REVISION][:PATH]` names one, and the name of a benchmark (`hub:gaia`) its usual repository. PATH is a
file, or a pattern of files, of the repository. Files are downloaded as they are, so that attachments stand beside the
table; the table is then read like any other.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path, PurePosixPath

from habilis.config import cache_dir, hub_address, key
from habilis.core.errors import UserError
from habilis.evaluation.datasets.formats import ENDINGS
from habilis.evaluation.datasets.published import BENCHMARKS, of_repository

PREFIX = "hub:"
_NAME = re.compile(r"([\w.-]+/[\w.-]+)(?:@([\w./-]+))?(?::(\S.*))?")


@dataclass(frozen=True)
class HubSource:
    """A place on the hub. `path` is a file or pattern, None for what the repository usually holds."""

    repository: str
    revision: str | None = None
    path: str | None = None


def is_hub(path: str) -> bool:
    """Whether `path` names a place on the hub and no file."""
    return path.startswith(PREFIX)


def parsed(path: str) -> HubSource:
    """The place that `path` names. Raises `UserError`."""
    text = path.removeprefix(PREFIX).strip()
    if text in BENCHMARKS and not BENCHMARKS[text].hub:
        raise UserError(f"{path}: {text} is not on the hub as published; fetch its repository and name the file")
    if text in BENCHMARKS:
        return HubSource(BENCHMARKS[text].hub[0])
    found = _NAME.fullmatch(text)
    if found is None:
        raise UserError(
            f"{path}: expected hub:OWNER/NAME[@REVISION][:FILE], or hub: and one of {', '.join(BENCHMARKS)}"
        )
    return HubSource(found[1], found[2], found[3])


def fetch(path: str) -> list[Path]:
    """The data files behind `path`, downloaded unless they are there. Raises `UserError`: what is missing, what to do.

    The environment names hub and token in the variables of `huggingface_hub`: HF_ENDPOINT, HF_TOKEN.
    """
    source = parsed(path)
    try:
        from huggingface_hub import constants, snapshot_download
        from huggingface_hub.errors import GatedRepoError, HfHubHTTPError, RepositoryNotFoundError
    except ModuleNotFoundError:
        raise UserError(
            f"{path}: reading from the hub needs huggingface_hub; install it: pip install 'habilis[datasets]'"
        ) from None
    constants.HF_HUB_DISABLE_TELEMETRY = True  # it asks the public hub for more, whatever hub is set
    folder = cache_dir() / "datasets" / "hub" / source.repository.replace("/", "--") / (source.revision or "main")
    known = of_repository(source.repository)
    wanted = [source.path] if source.path else list(known.patterns if known else [f"*{end}" for end in ENDINGS])
    beside = [f"{PurePosixPath(source.path).parent}/*"] if source.path and known and known.attached else []
    try:
        snapshot_download(
            source.repository,
            repo_type="dataset",
            revision=source.revision,
            allow_patterns=[*wanted, *beside],
            local_dir=folder,
            token=key("HF_TOKEN") or False,
            endpoint=hub_address(),
        )
    except GatedRepoError:
        raise UserError(
            f"{path}: its owners ask for consent first; accept their conditions on the hub, then put a token into "
            "the environment as HF_TOKEN"
        ) from None
    except RepositoryNotFoundError:
        raise UserError(f"{path}: the hub has no such data set, or it is private and HF_TOKEN is not set") from None
    except (HfHubHTTPError, OSError, ValueError) as error:
        raise UserError(f"{path}: the hub could not be read: {' '.join(str(error).split())[:300]}") from None
    return tables(folder, path, wanted)


def tables(folder: Path, name: str, wanted: list[str] | None = None) -> list[Path]:
    """The files of `folder` that hold the rows: one, or the numbered parts of one.

    Of several kinds `metadata.*` wins, then the first ending of `reading.ENDINGS`. Raises `UserError` when it is not
    clear which is meant. A link that leads out of the folder is passed over: it would show others your own files.
    """
    home = folder.resolve()
    found = [
        path
        for path in sorted(folder.rglob("*"))
        if path.is_file()
        and path.resolve().is_relative_to(home)
        and path.suffix.lower() in ENDINGS
        and not any(part.startswith(".") for part in path.relative_to(folder).parts)
        and (wanted is None or any(fnmatch(path.relative_to(folder).as_posix(), pattern) for pattern in wanted))
    ]
    if named := [path for path in found if path.stem == "metadata"]:
        found = named
    groups: dict[Path, list[Path]] = {}
    for path in found:
        whole = re.sub(r"-\d{5}-of-\d{5}(-[0-9a-f]+)?$", "", path.stem)
        groups.setdefault(path.parent / whole, []).append(path)
    if len(groups) == 1:
        parts = next(iter(groups.values()))
        return parts if len({part.suffix for part in parts}) == 1 else parts[:1]
    if not groups:
        raise UserError(f"{name}: no file of data in there ({', '.join(ENDINGS)})")
    shown = ", ".join(path.relative_to(folder).as_posix() for path in found[:5])
    raise UserError(f"{name}: several files of data; name one ({shown}{', …' if len(found) > 5 else ''})")

"""The file of a local model: by path, or by its place on a hub; looked at before anything is started."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

from habilis.config import LocalSettings, hub_address, key
from habilis.core.errors import UserError
from habilis.models.local.gguf import Head, NotReadable, read_head

_HUB = re.compile(r"([\w.-]+/[\w.-]+?)(?:@([\w./-]+))?:(\S+\.gguf)")
"""OWNER/REPO[@REVISION]:FILE"""


def check(model: str | None, role: str, settings: LocalSettings) -> None:
    """Raises `UserError` if `model` is none, or names a file that is not there or is no model. Fetches nothing."""
    if not model:
        raise UserError(f"no model is named: set models.{role}.model to a GGUF file, or OWNER/REPO:FILE of a hub")
    if on_hub(model) is None:
        looked_at(_own(model))


def find(model: str, settings: LocalSettings) -> Path:
    """The file of `model`, fetched where it is on a hub and settings allow. Raises `UserError`."""
    place = on_hub(model)
    return _own(model) if place is None else _fetched(model, place, settings)


def on_hub(model: str) -> tuple[str, str | None, str] | None:
    """Repository, revision and file if `model` names a place on a hub; a file that is there is no such place."""
    found = _HUB.fullmatch(model)
    if found is None or Path(model).expanduser().exists():
        return None
    return found[1], found[2], found[3]


def looked_at(path: Path) -> Head:
    """The head of the model at `path`. Raises `UserError` if it is no model."""
    try:
        return read_head(path)
    except NotReadable as unfit:
        raise UserError(f"{path} is not a model that can be served: {unfit}; a GGUF file is needed") from None
    except OSError as error:
        raise UserError(f"the model {path} cannot be read: {error.strerror}") from None


def check_memory(path: Path, head: Head, settings: LocalSettings) -> None:
    """Raises `UserError` if the model at `path` is too big for what memory is free now."""
    needed, free = head.memory(settings.context_tokens), available_memory()
    if not settings.gpu_layers and free is not None and needed > free:
        raise UserError(
            f"the model {path.name} needs about {_gb(needed)} of memory and {_gb(free)} are free: take a smaller one, "
            "or a smaller models.local.context_tokens; if a GPU holds it, set models.local.gpu_layers"
        )


def available_memory() -> int | None:
    """Bytes that can be had now, by the machine and by what it allows this process; None where nobody knows."""
    found: list[int] = []
    try:
        for line in Path("/proc/meminfo").read_text(encoding="ascii").splitlines():
            if line.startswith("MemAvailable:"):
                found.append(int(line.split()[1]) * 1024)
        group = Path("/proc/self/cgroup").read_text(encoding="utf-8").strip().rpartition(":")[2]
        folder = Path("/sys/fs/cgroup") / group.lstrip("/")
        limit = (folder / "memory.max").read_text(encoding="ascii").strip()
        if limit != "max":
            found.append(max(0, int(limit) - int((folder / "memory.current").read_text(encoding="ascii"))))
    except (OSError, ValueError, IndexError):
        pass
    if not found and hasattr(os, "sysconf") and "SC_PHYS_PAGES" in os.sysconf_names:
        found.append(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    return min(found, default=None)


def _own(model: str) -> Path:
    path = Path(model).expanduser()
    if path.is_file():
        return path.absolute()
    if path.is_dir():
        inside = ", ".join(sorted(one.name for one in path.glob("*.gguf"))[:5])
        raise UserError(f"the model {path} is a folder; name a file in it{f': {inside}' if inside else ''}")
    raise UserError(f"the model {path} does not exist; name a GGUF file, or OWNER/REPO:FILE of a hub")


def _fetched(model: str, place: tuple[str, str | None, str], settings: LocalSettings) -> Path:
    try:
        from huggingface_hub import hf_hub_download
        from huggingface_hub.errors import GatedRepoError, HfHubHTTPError, LocalEntryNotFoundError
    except ModuleNotFoundError:
        raise UserError(f"{model}: a hub is read by huggingface_hub; install it: pip install huggingface-hub") from None
    from huggingface_hub import constants

    constants.HF_HUB_DISABLE_TELEMETRY = True  # it asks the public hub for more, whatever hub is set
    repository, revision, file = place
    asked: dict[str, Any] = {"repo_id": repository, "filename": file, "revision": revision}
    try:
        return Path(hf_hub_download(**asked, local_files_only=True))
    except LocalEntryNotFoundError:
        if not settings.download:
            raise UserError(
                f"{model} is not on this machine; models.local.download=true fetches it once, into the hub's own cache"
            ) from None
    try:
        token = key("HF_TOKEN") or False
        return Path(hf_hub_download(**asked, token=token, endpoint=hub_address()))
    except GatedRepoError:
        raise UserError(
            f"{model}: its owners ask for consent first; accept their conditions on the hub, then put a token into "
            "the environment as HF_TOKEN"
        ) from None
    except (HfHubHTTPError, LocalEntryNotFoundError, OSError, ValueError) as error:
        raise UserError(f"{model}: the hub could not be read: {' '.join(str(error).split())[:300]}") from None


def _gb(size: int) -> str:
    return f"{size / (1 << 30):.1f} GB"

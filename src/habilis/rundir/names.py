"""Names of runs and tasks that are safe as folders."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from datetime import datetime

from habilis.core.errors import UserError

LIBRARY, GENERATIONS, THREADS = "library", "generations", "threads"


def run_name(label: str, now: datetime) -> str:
    """The default name of a run, `YYYYMMDD-HHMMSS-<slug of label>`."""
    slug = slugify(label)
    return now.strftime("%Y%m%d-%H%M%S") + (f"-{slug}" if slug else "")


def slugify(text: str) -> str:
    """A short name from words of any script: lower case, words joined by '-', at most 30 characters and 80 bytes."""
    words = re.findall(r"[^\W_]+", unicodedata.normalize("NFC", text[:400]).lower())
    slug = ""
    for word in words:
        longer = f"{slug}-{word}" if slug else word
        if len(longer) > 30 or len(longer.encode()) > 80:
            break
        slug = longer
    if not slug and words:
        slug = words[0][:30].encode()[:80].decode("utf-8", "ignore")
    return slug


def safe_id(task_id: str) -> str:
    """A folder name for `task_id`: itself where it is one, else a cleaned form and a short hash."""
    if re.fullmatch(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,79}", task_id):
        return task_id
    clean = re.sub(r"[^A-Za-z0-9._-]+", "_", task_id).strip("._-")[:60]
    digest = hashlib.sha256(task_id.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    return f"{clean}-{digest}" if clean else f"task-{digest}"


def check_run_name(name: str) -> None:
    """Raises `UserError` unless `name` can be a run's folder: a plain name, not hidden, not the library's."""
    if name.lower() == LIBRARY:
        raise UserError("no run may be called 'library': runs/library is the library of single tasks")
    if name.lower() == GENERATIONS:
        raise UserError("no run may be called 'generations': runs/generations holds those of runs/library")
    if name.lower() == THREADS:
        raise UserError("no run may be called 'threads': runs/threads holds the conversations")
    if not _is_plain(name):
        raise UserError(f"{name!r} cannot name a run: give a plain folder name")


def check_thread_name(name: str) -> None:
    """Raises `UserError` unless `name` can be a conversation's folder: a plain name, not hidden."""
    if not _is_plain(name):
        raise UserError(f"{name!r} cannot name a thread: give a plain name, without slashes or a dot in front")


def check_library_name(name: str) -> None:
    """Raises `UserError` unless `name` can be that of a library in a store: a plain name, not hidden."""
    if not _is_plain(name):
        raise UserError(
            f"{name!r} cannot name a library in a store: give a plain name, without slashes or a dot in front"
        )


def _is_plain(name: str) -> bool:
    odd = not name or name.startswith((".", "-")) or re.search(r"[/\\\x00-\x1f\x7f]", name)
    return not odd and name == name.strip() and len(name.encode("utf-8", "surrogateescape")) <= 200

"""The mark of what was made here: a code over a file's content that only the user's own key can make.

The key is 32 random bytes in `key` in the user's data folder (`HABILIS_DATA_DIR`, else `~/.local/share/habilis`), made
once, for the user's eyes alone. The code is HMAC-SHA-256 (RFC 2104), hexadecimal. Nothing of a path goes into it: a run
that is moved or renamed stays its owner's.
"""

from __future__ import annotations

import contextlib
import hashlib
import hmac
import json
import os
import re
import secrets
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from habilis.config import data_dir
from habilis.core.errors import UserError
from habilis.rundir.plain import open_plain, read_plain

KEY_BYTES = 32
FIELD = "mark"


def new() -> str:
    """A name for a new run that nothing else has; its mark and those of its tasks are made over it."""
    return secrets.token_hex(8)


def marked(text: str, mark: str | None) -> bytes:
    """The text of a run's record with its mark in the last line; as it is where the run is not ours (`mark` None)."""
    content = text.encode("utf-8", "surrogatepass")
    code = mark_of(f"run {mark}", content) if mark is not None else ""
    return content + (f"{FIELD}: '{mark} {code}'\n".encode() if code else b"")


def mark_in(content: bytes) -> str | None:
    """The name in the last line of a run's record if that is its mark, and one of this user's; None otherwise."""
    text, _, last = content.removesuffix(b"\n").rpartition(b"\n")
    found = re.fullmatch(rb"mark: '([0-9a-f]{16}) ([0-9a-f]{64})'", last)
    if found is None:
        return None
    mark, code = found[1].decode(), found[2].decode()
    return mark if fits(f"run {mark}", text + b"\n", code) else None


def mark_of(what: str, content: bytes) -> str:
    """The mark of `content` as a `what` (run, task, turn); "" where no key can be kept. Raises `UserError`."""
    key = _key()
    return hmac.new(key, what.encode() + b"\0" + content, hashlib.sha256).hexdigest() if key else ""


def fits(what: str, content: bytes, mark: Any) -> bool:
    """Whether `mark` is that of `content`. Raises `UserError` for a key that cannot be used."""
    return isinstance(mark, str) and bool(mark) and hmac.compare_digest(mark.encode(), mark_of(what, content).encode())


def record_bytes(record: Mapping[str, Any]) -> bytes:
    """A JSON-plain record, apart from its mark, in one spelling."""
    rest = {name: value for name, value in record.items() if name != FIELD}
    return json.dumps(rest, sort_keys=True, separators=(",", ":"), default=str).encode("ascii")


def why_none() -> str:
    """Why this user has no key, "" with one."""
    if data_dir() is None:
        return "you have no home folder; set HABILIS_DATA_DIR"
    try:
        return "" if _key() else f"no key can be kept in {data_dir()}; set HABILIS_DATA_DIR"
    except UserError as error:
        return str(error)


def _key() -> bytes | None:
    """The user's key, made if there is none; None where none can be kept.

    Raises `UserError` for one that others may have read or written.
    """
    folder = data_dir()
    if folder is None:
        return None
    path = folder / "key"
    with contextlib.suppress(FileNotFoundError, NotADirectoryError):
        return _read(path)
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        _make(path)
    except OSError:
        return None
    return _read(path)


def _read(path: Path) -> bytes:
    try:
        descriptor = open_plain(path, os.O_RDONLY)
    except (FileNotFoundError, NotADirectoryError):
        raise
    except OSError as error:
        raise UserError(f"your key {path} cannot be read: {error.strerror}") from None
    with os.fdopen(descriptor, "rb") as stream:
        status, key = os.fstat(descriptor), stream.read(KEY_BYTES + 1)
    if status.st_mode & 0o077 or status.st_uid != os.geteuid():
        raise UserError(f"your key {path} is open to others: chown it to you and chmod 600 it, or remove it")
    if len(key) != KEY_BYTES:
        raise UserError(f"{path} is not a key of Habilis; remove it, and use --trust once for each of your runs")
    return key


def _make(path: Path) -> None:
    """Put a new key at `path`, whole or not at all; one that somebody else has just made stays. Raises OSError."""
    aside = path.with_name(f".key.{os.getpid()}.{secrets.token_hex(4)}")
    descriptor = os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    try:
        with os.fdopen(descriptor, "wb") as out:
            out.write(secrets.token_bytes(KEY_BYTES))
            out.flush()
            os.fsync(out.fileno())
        with contextlib.suppress(FileExistsError):
            os.link(aside, path)
    finally:
        aside.unlink(missing_ok=True)


def digest_of_file(path: Path) -> str:
    """SHA-256 of a plain file, "" where there is none. Raises OSError."""
    try:
        return hashlib.sha256(read_plain(path)).hexdigest()
    except FileNotFoundError:
        return ""

"""The Python that tools run on: the one that runs us, without its site-packages, started as cheaply as it can be."""

from __future__ import annotations

import hashlib
import importlib.util
import marshal
import os
import sys
import sysconfig
from functools import lru_cache
from pathlib import Path

from habilis.config import cache_dir
from habilis.core.errors import PlaceError

FLAGS = ("-s", "-P", "-S", "-B")
"""No user site, no script folder on the path, no site module, no bytecode written. The environment is honoured, since
it is made by us: it holds PYTHONHASHSEED, so that equal runs print their sets in equal order."""

FIXED_VARIABLES = {
    "PATH": "/usr/local/bin:/usr/bin:/bin",
    "HOME": "/tmp",
    "TMPDIR": "/tmp",
    "USER": "habilis",
    "LOGNAME": "habilis",
    "LANG": "C.UTF-8",
    "PYTHONHASHSEED": "0",
    "PYTHONUTF8": "1",
    "PYDANTIC_DISABLE_PLUGINS": "__all__",
    # number crunchers start a thread per processor, each with a stack and an arena of address space
    **dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "4"),
    "MALLOC_ARENA_MAX": "2",
}
"""The whole environment of a tool, but for the names that it is granted."""


@lru_cache(maxsize=1)
def python() -> Path:
    """The base interpreter's own file, links resolved."""
    base = getattr(sys, "_base_executable", None) or sys.executable
    return Path(base).resolve()


@lru_cache(maxsize=1)
def python_paths() -> tuple[Path, ...]:
    """What must be readable for the interpreter to run: its whole prefix, or its parts where that holds more."""
    prefix = Path(sys.base_prefix).resolve()
    home = Path("~").expanduser().resolve()  # itself for a user who has none
    if prefix in (home, home / ".local", Path("/"), *home.parents):
        library = Path(sysconfig.get_path("stdlib")).resolve()
        shared = Path(str(sysconfig.get_config_var("LIBDIR"))) / str(sysconfig.get_config_var("INSTSONAME"))
        return tuple(p for p in (python(), library, shared) if p.exists())
    outside = () if python().is_relative_to(prefix) else (python(),)
    return (prefix, *outside)


@lru_cache(maxsize=8)
def compiled(source: Path) -> Path:
    """Bytecode of one of our own scripts, kept in the cache; the script itself where no cache can be written.

    What lies in the cache is looked at once in each process, and made anew where it is damaged.
    """
    text = source.read_bytes()
    magic = importlib.util.MAGIC_NUMBER
    digest = hashlib.sha256(magic + sys.version.encode() + text).hexdigest()[:16]
    try:
        folder = cache_dir() / "programs" / digest
        target = folder / f"{source.stem}.pyc"
        if _is_whole(target):
            return target
        body = marshal.dumps(compile(text, source.name, "exec", dont_inherit=True, optimize=0))
        folder.mkdir(parents=True, exist_ok=True)
        folder.chmod(0o755)
        aside = folder / f"{source.stem}.{os.getpid()}"
        aside.write_bytes(magic + _UNCHECKED + _sum_of(body) + body)
        aside.chmod(0o644)
        aside.rename(target)
    except (OSError, PlaceError):
        return source
    return target


_UNCHECKED = (1).to_bytes(4, "little")
"""Flags of bytecode that bears a digest which Python itself does not look at (PEP 552)."""


def _sum_of(body: bytes) -> bytes:
    return hashlib.sha256(body).digest()[:8]


def _is_whole(target: Path) -> bool:
    """Whether the bytecode in `target` is as it was written: its head bears a digest of the rest."""
    try:
        data = target.read_bytes()
    except FileNotFoundError:
        return False
    return data[8:16] == _sum_of(data[16:])

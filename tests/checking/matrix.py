"""Files damaged one at a time: a run, a training, a conversation and a library as real runs leave them."""

from __future__ import annotations

import contextlib
import ctypes
import io
import json
import os
import re
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from habilis.cli import main

RIGHTS = ("unreadable", "read-only")
KINDS = ("missing", "empty", "cut", "bit", "line", "folder", "link", *RIGHTS)
_CAPABILITIES_V3, _PASSES_BY_MODES = 0x20080522, 1 << 1 | 1 << 2  # CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH
GROUPS = ("training", "task", "conversation", "library")
ROWS = [
    {"id": "ar", "question": "What is 2+3*4?", "answer": "14"},
    {"id": "gcd", "question": "What is the gcd of 12 and 18?", "answer": "6"},
]


@dataclass(frozen=True)
class Said:
    code: int
    out: str
    err: str


def habilis(*words: str) -> Said:
    """One command in this process."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = main(list(words))
    return Said(code, out.getvalue(), err.getvalue())


@contextlib.contextmanager
def like_others() -> Iterator[None]:
    """In this thread, and those that it starts, root may read and write only what its owner may (capset(2)). What the
    sandbox gave to other users is closed to it then, so that a call of a tool may fail as well."""
    libc = ctypes.CDLL(None, use_errno=True)
    header, sets = (ctypes.c_uint32 * 2)(_CAPABILITIES_V3, 0), (ctypes.c_uint32 * 6)()
    assert libc.capget(header, sets) == 0
    before = sets[0]
    sets[0] = before & ~_PASSES_BY_MODES
    assert libc.capset(header, sets) == 0
    try:
        yield
    finally:
        sets[0] = before
        assert libc.capset(header, sets) == 0


class World:
    """A folder that is put back as it was before each case."""

    def __init__(self, home: Path) -> None:
        self.home, self.kept = home / "work", home / "kept"
        self.home.mkdir(parents=True)
        with contextlib.chdir(self.home):
            self._make()
            self.counts = counts(habilis("runs", "show", "b"))
        shutil.copytree(self.home, self.kept, symlinks=True)

    def _make(self) -> None:
        """A training stopped in its second task, a task stopped half way, a conversation of one turn, a library."""
        Path("rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in ROWS))
        first = ("evolve", "--dataset", "rows.jsonl", "--run-name", "b", "--batch-size", "1", "--json", "--quiet")
        assert habilis(*first, "--max-tokens", "5500").code == 4
        assert habilis("run", ROWS[0]["question"], "--run-dir", "runs/q", "--max-tokens", "1400", "--quiet").code == 4
        assert habilis("run", ROWS[0]["question"], "--thread", "t", "--quiet").code == 0
        assert habilis("run", ROWS[1]["question"], "--quiet", "--run-dir", "runs/other").code == 0

    @contextlib.contextmanager
    def fresh(self) -> Iterator[Path]:
        shutil.rmtree(self.home, ignore_errors=True)
        shutil.copytree(self.kept, self.home, symlinks=True)
        with contextlib.chdir(self.home):
            yield self.home

    def files(self, group: str) -> list[str]:
        """Every file that `group` left behind, by its name below the folder."""
        roots = {
            "training": ["runs/b"],
            "task": ["runs/q"],
            "conversation": ["runs/threads/t"],
            "library": ["runs/library", "runs/generations"],
        }[group]
        found = []
        for root in roots:
            if (self.kept / root).is_symlink():
                found.append(root)
            for folder, folders, names in os.walk(self.kept / root):
                links = [name for name in folders if (Path(folder) / name).is_symlink()]
                found += [str((Path(folder) / name).relative_to(self.kept)) for name in (*names, *links)]
        return sorted(set(found))


def patterns(name: str) -> tuple[str, str]:
    """A file's name with what differs from run to run left out: of a training's tasks by how they stand, and of any."""
    told = re.sub(r"/tasks/ar/", "/tasks/<ended>/", re.sub(r"/tasks/gcd/", "/tasks/<open>/", name))
    return _plain(told), _plain(re.sub(r"/tasks/<(ended|open)>/", "/tasks/<id>/", told))


def _plain(name: str) -> str:
    name = re.sub(r"/tasks/(task|0001)/", "/tasks/<id>/", name)
    name = re.sub(r"runs/(b|q|threads/t)/", "", name).removeprefix("runs/")
    name = re.sub(r"[0-9a-f]{64}", "<digest>", name)
    name = re.sub(r"builds/(ar|gcd)", "builds/<task>", name)
    name = re.sub(r"(generations|steps)/\d{4}", r"\1/<n>", name)
    name = re.sub(r"step-\d{4}", "step-<n>", name)
    return re.sub(r"(evaluate_arithmetic_expression|compute_greatest_common_divisor)", "<tool>", name)


def withheld(kind: str) -> contextlib.AbstractContextManager[None]:
    """In which a file's rights mean to root what they mean to anybody, where the damage is of rights."""
    return like_others() if kind in RIGHTS else contextlib.nullcontext()


def damage(path: Path, kind: str) -> bool:
    """Do it; False where it makes no difference to this file."""
    link = path.is_symlink()
    data = b"" if link else path.read_bytes()
    if kind in ("empty", "cut", "bit", "line", *RIGHTS) and (link or not data):
        return False
    if kind == "line" and path.suffix not in (".jsonl", ".json", ".yaml", ".py"):
        return False
    if kind in RIGHTS:
        path.chmod(0 if kind == "unreadable" else 0o444)
        with withheld(kind), pytest.raises(PermissionError):
            path.open("rb" if kind == "unreadable" else "r+b")
        return True
    path.unlink()
    if kind == "folder":
        path.mkdir()
    elif kind == "link":
        path.symlink_to("nowhere")
    elif kind == "empty":
        path.write_bytes(b"")
    elif kind == "cut":
        path.write_bytes(data[: len(data) // 2])
    elif kind == "bit":
        at = _letter(data)
        path.write_bytes(data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :])
    elif kind == "line":
        lines = data.split(b"\n")
        lines.insert(len(lines) // 2, b'{"damaged')
        path.write_bytes(b"\n".join(lines))
    return True


def _letter(data: bytes) -> int:
    """The place of a letter or digit near the middle: the bit that hurts is one that leaves the form as it is."""
    middle = len(data) // 2
    return next((at for at in range(middle, len(data)) if chr(data[at]).isalnum() and data[at] < 128), middle)


def counts(shown: Said) -> list[str]:
    """The lines of a training that is looked at which count something."""
    return [line for line in shown.out.splitlines() if line.startswith(("tasks ", "cost "))]


ACTIONS: dict[str, list[tuple[str, ...]]] = {
    "training": [
        ("runs", "show", "b"),
        ("runs", "check", "b"),
        ("evolve", "--resume", "--run-name", "b", "--max-tokens", "1000000", "--json"),
    ],
    "task": [
        ("runs", "show", "q"),
        ("runs", "check", "q"),
        ("runs", "resume", "q", "--set", "limits.max_tokens=100000", "--json"),
    ],
    "conversation": [
        ("threads", "show", "t"),
        ("runs", "check", "t"),
        ("run", "What is 2+3*4?", "--thread", "t", "--json"),
    ],
    "library": [
        ("library", "list"),
        ("library", "doctor"),
        # The long way: the trial of the short one needs a folder that the sandbox gave to another user (`like_others`).
        ("run", "What is 2+3*4?", "--json", "--run-dir", "runs/next", "--set", "tools.short_way=false"),
    ],
}
"""What a person does: look, check, and go on. The last one is what must come out right."""


def outcome(group: str, name: str, said: list[Said]) -> str:
    """What became of the damage, by what was said of the file."""
    last = said[-1]
    text = "\n".join(one.err + one.out for one in said)
    leaf = Path(name).name if group != "library" or name != "runs/library" else "library"
    told = [line for line in text.splitlines() if leaf in line and "run_dir" not in line]
    if last.code in (2, 5):
        said_at_the_end = (last.err + last.out).splitlines()
        return "named" if any(leaf in line for line in said_at_the_end) else "UNNAMED " + last.err[-200:]
    if last.code:
        return f"CODE {last.code} {last.err[-300:]}"
    if any(word in line for line in told for word in ("restored", "leads to generation", "puts the link back")):
        return "restored"
    if any("anew" in line or "its tape" in line for line in told):
        return "made anew"
    return "named" if told else "silent"

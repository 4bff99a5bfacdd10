"""What calls must not leave in their workspace, looked for after each: whoever reads it next, outside, trusts it.

The workspace is judged whole every time. A link that ends inside may pass through something that a later call changes,
so no verdict is kept. What was there before the first call, which is the user's own, stays as it was.
"""

from __future__ import annotations

import os
import stat
import struct
import sys
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from habilis.sandbox.ownership.workspace import FILE, FOLDER, Survey, sane
from habilis.sandbox.processes.walking import fwalk, remove, too_deep

PASSES = 8
SLACK_NS = 50_000_000
"""Time stamps of files come in steps of up to ten milliseconds."""
ACCESS, DEFAULT = "system.posix_acl_access", "system.posix_acl_default"
NAMED = (0x02, 0x08)
"""Tags of a named user and a named group. Source: acl(5), and linux/posix_acl_xattr.h for the layout."""
Attributes = dict[str, bytes]


@dataclass(frozen=True)
class Baseline:
    """What of a workspace is the user's own though no call may leave such a thing. By name: where links that lead out
    end. By inode: modes, and extended attributes."""

    links: dict[str, str] = field(default_factory=dict)
    modes: dict[int, int] = field(default_factory=dict)
    attributes: dict[int, Attributes] = field(default_factory=dict)
    inherited: frozenset[tuple[int, int]] = frozenset()

    @classmethod
    def of(cls, began: Survey, known: Baseline | None = None, judged: Survey | None = None) -> Baseline:
        """What `began`, taken when no call runs, found; what is as it was when last `judged` is `known`."""
        known = known or cls()
        before = judged or Survey(began.workspace, 0, {}, {}, {}, {})
        root = os.path.realpath(began.workspace)
        links = {name: end for name, end in known.links.items() if name in began.links}
        links |= {n: end_of(root, n) for n, text in began.links.items() if before.links.get(n) != text}
        same = {state[0] for name, state in began.states.items() if before.states.get(name) == state}
        attributes = {inode: found for inode, found in known.attributes.items() if inode in same}
        attributes |= {s[0]: found for n, s in began.states.items() if s[0] not in same and (found := read(root, n))}
        top = [began.states[""]] if began.states else []
        inherited = [attributes.get(state[0], {}).get(DEFAULT, b"") for state in top]
        return cls(
            {name: end for name, end in links.items() if not is_below(end, root)},
            {state[0]: state[1] for state in (*began.odd.values(), *top)},
            attributes,
            named_in(b"".join(inherited)),
        )

    def foreign(self, inode: int, found: Attributes) -> list[str]:
        """Which of the attributes `found` at `inode` are not the user's."""
        own = self.attributes.get(inode, {})
        return [
            name
            for name, value in found.items()
            if own.get(name) != value
            and not (self.inherited and name in (ACCESS, DEFAULT) and named_in(value) <= self.inherited)
        ]


@dataclass(frozen=True)
class WorkspaceJudge:
    """Judges one workspace, whose calls may read `files`. `began` is how it was before the calls that ran since."""

    began: Survey
    baseline: Baseline
    files: Sequence[Path] = ()

    def settled(self, *, alone: bool) -> Survey:
        """The workspace, with what must not be in it taken away.

        Unless it is `alone`, other calls work in it now: then links that lead out go, and the rest waits until the
        last has ended, since pipes and modes may be in use.
        """
        now = Survey.of(self.began.workspace)
        for _ in range(PASSES):  # what is taken away, or can be entered now, may change where a link ends
            if not self._is_wrong(now, alone):
                break
            self._mend(now, alone)
            now = Survey.of(self.began.workspace)
        return now

    def _is_wrong(self, now: Survey, alone: bool) -> bool:
        root = os.path.realpath(now.workspace)
        if any(self._leads_out(name, text, root) for name, text in now.links.items()):
            return True
        if not alone:
            return False
        modes = self.baseline.modes
        itself = [state for state in (now.states.get(""),) if state is not None]
        if any(modes.get(inode) != mode for inode, mode, _ in (*now.odd.values(), *itself)):
            return True
        return any(
            self.baseline.foreign(state[0], read(root, name))
            for name, state in now.states.items()
            if state != self.began.states.get(name) or state[2] > self.began.taken - SLACK_NS
        )

    def _leads_out(self, name: str, text: str, root: str) -> bool:
        given = [str(path) for path in self.files]
        if text in given and not is_below(text, root):  # nothing on the way can be changed
            return False
        end = end_of(root, name)
        if is_below(end, root) or self.baseline.links.get(name) == end:
            return False
        return not any(is_below(end, os.path.realpath(path)) for path in given)

    def _mend(self, now: Survey, alone: bool) -> None:
        """One walk by open folders: a call that works here meanwhile may exchange names."""
        workspace = now.workspace.resolve()
        if alone:
            with suppress(OSError):
                self._mend_one(str(workspace), None, FOLDER)
        for where, folders, names, here in fwalk(workspace):
            for name in (*folders, *names):
                inside = os.path.relpath(os.path.join(where, name), workspace)  # noqa: PTH118 - hot loop
                with suppress(OSError):
                    about = os.stat(name, dir_fd=here, follow_symlinks=False)
                    mode, own = about.st_mode, self.baseline.modes.get(about.st_ino) == about.st_mode
                    if stat.S_ISLNK(mode):
                        if self._leads_out(inside, os.readlink(name, dir_fd=here), str(workspace)):
                            os.unlink(name, dir_fd=here)
                    elif own or not alone:
                        continue
                    elif stat.S_ISDIR(mode) and too_deep(where, workspace):
                        remove(name, within=here)
                    elif stat.S_ISDIR(mode) or stat.S_ISREG(mode):
                        self._mend_one(name, here, FOLDER if stat.S_ISDIR(mode) else FILE)
                    else:
                        os.unlink(name, dir_fd=here)

    def _mend_one(self, name: str, folder: int | None, needed: int) -> None:
        """Give a file or folder the mode and the attributes that it may have, never what a link leads to."""
        if sys.platform != "linux":
            return
        handle = os.open(name, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=folder)
        try:
            about, path = os.fstat(handle), f"/proc/self/fd/{handle}"
            for attribute in self.baseline.foreign(about.st_ino, all_attributes(path)):
                with suppress(OSError):
                    os.removexattr(path, attribute)
            about = os.fstat(handle)  # without an ACL the group's bits mean something else
            own = self.baseline.modes.get(about.st_ino)
            wanted = sane(about.st_mode, needed) if own is None else stat.S_IMODE(own)
            if wanted != stat.S_IMODE(about.st_mode):
                os.chmod(path, wanted)  # noqa: PTH101
        finally:
            os.close(handle)


def end_of(root: str, name: str) -> str:
    """Where the link `name` in `root` ends, by all links on the way; for one that never ends, a place outside."""
    try:
        path = os.path.join(root, name)  # noqa: PTH118 - hot loop
        try:
            return os.path.realpath(path, strict=True)
        except FileNotFoundError:
            return os.path.realpath(path)
    except (OSError, ValueError):
        return "/"


def is_below(path: str, root: str) -> bool:
    """Whether `path`, free of links, is `root` or lies in it."""
    return path == root or path.startswith(root.rstrip("/") + "/")


def read(root: str, name: str) -> Attributes:
    """The extended attributes of `name` in `root` that a call could have set."""
    return all_attributes(os.path.join(root, name) if name else root, follow=False)  # noqa: PTH118 - hot loop


def all_attributes(path: str, *, follow: bool = True) -> Attributes:
    """The extended attributes of `path` that users can set; none where there are none, or they cannot be read."""
    if sys.platform != "linux":
        return {}
    try:
        return {
            name: os.getxattr(path, name, follow_symlinks=follow)
            for name in os.listxattr(path, follow_symlinks=follow)
            if name.startswith("user.") or name in (ACCESS, DEFAULT, "security.capability")
        }
    except OSError:
        return {}


def named_in(acl: bytes) -> frozenset[tuple[int, int]]:
    """The users and groups that the ACL `acl` names, as pairs of tag and number."""
    entries = struct.iter_unpack("<HHI", acl[4 : 4 + (len(acl) - 4) // 8 * 8]) if len(acl) > 4 else ()
    return frozenset((tag, number) for tag, _, number in entries if tag in NAMED)

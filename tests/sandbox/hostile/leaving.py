"""Attempts to leave something in the workspace that misleads, or lets in, whoever comes next: calls in a row, too."""

from __future__ import annotations

import textwrap

from hostile.attack import Attack

DONE = r'output: "done"$'
DONE_OR_REFUSED = r'output: "done"$|(denied|crashed): .*(not permitted|not supported|Permission denied|cross-device)'
RETURN = "\nreturn OutputModel(value='done')"
AWAY = "/../../../../home/canary.txt"
"""From a folder in the workspace: the foreign file. From one four folders down: a place inside."""
ACL = """
import struct
def acl(*entries):
    return struct.pack("<I", 2) + b"".join(struct.pack("<HHI", tag, bits, who) for tag, bits, who in entries)
NOBODY = 2 ** 32 - 1
# a user namespace knows no other user than the caller
OPEN = acl((1, 6, NOBODY), (2, 7, os.getuid()), (4, 4, NOBODY), (16, 7, NOBODY), (32, 4, NOBODY))
"""


def leaving(name: str, harm: str, *calls: str, told: str = DONE, **more: object) -> Attack:
    """The last of `calls` is the attempt, the others come before it."""
    *before, last = (textwrap.dedent(call).strip("\n") + RETURN for call in calls)
    return Attack(name, harm, told, last, before=tuple(before), **more)  # type: ignore[arg-type]


def link(name: str, *calls: str, told: str = DONE) -> Attack:
    return leaving(f"a link {name}", "whoever reads the workspace next reads a foreign file", *calls, told=told)


def mode(name: str, *calls: str) -> Attack:
    harm = "other users change what a task relies on, or its host cannot read what was made"
    return leaving(name, harm, *calls)


def attribute(name: str, source: str, told: str = DONE_OR_REFUSED) -> Attack:
    harm = "another user is let in by what no list of files shows"
    return leaving(name, harm, f"{ACL}open('own', 'w').close()\nos.mkdir('sub')\n{source}", told=told)


DOWN = "os.makedirs('d/e/f/g')\n"
LINKS = (
    link(
        "through a link that becomes a folder",
        f"{DOWN}os.symlink('d/e/f/g', 'hop')\nos.symlink('hop{AWAY}', 'way')",
        "os.unlink('hop')\nos.mkdir('hop')",
    ),
    link(
        "through two links, the inner one turned",
        f"{DOWN}os.symlink('d/e/f/g', 'in')\nos.symlink('in', 'hop')\nos.symlink('hop{AWAY}', 'way')",
        "os.unlink('in')\nos.mkdir('in')",
    ),
    link(
        "through a folder that is exchanged for a link",
        f"{DOWN}os.symlink('d/e/f/g{AWAY}', 'way')",
        "os.rename('d', 'old')\nos.makedirs('x/e/f')\nos.symlink('../../../y', 'x/e/f/g')\nos.mkdir('y')\n"
        "os.symlink('x', 'd')",
    ),
    link(
        "through a folder, renamed",
        f"{DOWN}os.symlink('d/e/f/g', 'hop')\nos.symlink('hop{AWAY}', 'way')\nos.mkdir('flat')",
        "os.rename('hop', 'gone')\nos.rename('flat', 'hop')",
    ),
    link(
        "through names exchanged in one step",
        f"{DOWN}os.symlink('d/e/f/g', 'hop')\nos.symlink('hop{AWAY}', 'way')\nos.mkdir('flat')",
        "worked(libc.renameat2(-100, b'hop', -100, b'flat', 2))",
    ),
    link(
        "in three calls",
        f"{DOWN}os.symlink('d/e/f/g', 'hop')",
        f"os.symlink('hop{AWAY}', 'way')",
        "os.unlink('hop')\nos.mkdir('hop')",
    ),
    link(
        "by its absolute name, in three calls",
        f"{DOWN}os.symlink('d/e/f/g', 'hop')\nos.symlink(s['workspace'] + '/hop{AWAY}', 'way')",
        "os.unlink('hop')",
        "os.mkdir('hop')",
    ),
    link(
        "that leads to a link",
        "os.mkdir('end')\nos.symlink('end', 'b')\nos.symlink('b', 'way')",
        "os.unlink('b')\nos.symlink(s['home'], 'b')",
    ),
    link(
        "in a ring that is opened",
        "os.symlink('b', 'a')\nos.symlink('a', 'b')",
        "os.path.lexists('a') and os.unlink('a')\nos.symlink(s['home'], 'a')",
    ),
    link("to what is not there yet", f"os.symlink('later{AWAY}', 'way')", "os.mkdir('later')"),
    link("by the root of a process", "os.symlink('/proc/self/root' + s['canary'], 'way')"),
    link("by a descriptor", "os.symlink('/proc/self/fd/3', 'way')"),
    link("by the folder of a process", "os.symlink('/proc/self/cwd/../../../home/canary.txt', 'way')"),
    link("of sixty steps up", "os.symlink('../' * 60 + s['canary'][1:], 'way')"),
    link(
        "a hundred folders down",
        "for n in range(95):\n    os.mkdir('n')\n    os.chdir('n')\nos.symlink(s['home'], 'way')",
    ),
    link(
        "in a folder that nobody may enter", "os.mkdir('shut')\nos.symlink(s['home'], 'shut/way')\nos.chmod('shut', 0)"
    ),
    link("among a thousand", "for n in range(999): os.symlink('.', f'l{n}')\nos.symlink(s['ssh'], 'l999')"),
    link("with a name of control characters", "os.symlink(s['ssh'], b'a\\n\\x1b[2J\\xff')"),
    link(
        "that is exchanged all the time",
        """
        import time
        os.mkdir("real")
        os.symlink(s["home"], "way")
        for _ in range(2000):
            worked(libc.renameat2(-100, b"real", -100, b"way", 2))
        """,
    ),
)
MODES = (
    mode("a file that all may write", "os.umask(0)\nos.close(os.open('wide', os.O_CREAT, 0o666))"),
    mode("a program that all may write", "os.umask(0)\nos.close(os.open('wide', os.O_CREAT, 0o777))"),
    mode("a folder that all may write", "os.umask(0)\nos.mkdir('wide', 0o777)"),
    mode("a folder that hands its group on", "os.umask(0)\nos.mkdir('wide')\nos.chmod('wide', 0o3777)"),
    mode("a file that its owner cannot read", "os.close(os.open('shut', os.O_CREAT, 0))"),
    mode(
        "folders in folders that nobody may enter",
        "os.makedirs('a/b/c')\nos.chmod('a/b/c', 0)\nos.chmod('a/b', 0)\nos.chmod('a', 0)",
    ),
    mode("the workspace itself, open to all", "os.chmod('.', 0o777)"),
    mode("the workspace itself, shut", "os.chmod('.', 0)"),
    mode("a wide file, made wide by the call after", "open('own', 'w').close()", "os.chmod('own', 0o666)"),
)
ATTRIBUTES = (
    attribute("an access list of a file", "os.setxattr('own', 'system.posix_acl_access', OPEN)"),
    attribute(
        "an access list by an open file",
        "handle = os.open('own', os.O_RDWR)\nos.setxattr(handle, 'system.posix_acl_access', OPEN)",
    ),
    attribute(
        "an access list that a folder hands on",
        "began()\nos.setxattr('sub', 'system.posix_acl_default', OPEN)\nopen('sub/new', 'w').close()",
    ),
    attribute("an access list of the workspace itself", "os.setxattr('.', 'system.posix_acl_access', OPEN)"),
    attribute("an access list that the workspace hands on", "os.setxattr('.', 'system.posix_acl_default', OPEN)"),
    attribute(
        "rights of a program",
        "rights = struct.pack('<5I', 0x02000001, 0xFFFFFFFF, 0, 0, 0)\n"
        "began()\nos.setxattr('own', 'security.capability', rights)",
    ),
    attribute("a note that no list shows", "os.setxattr('own', 'user.note', b'x' * 2000)"),
    attribute("a note of the system's", "os.setxattr('own', 'trusted.overlay.opaque', b'y')"),
)
THINGS = (
    leaving(
        "a socket left behind",
        "who opens it fails",
        "import stat\nos.mknod('s', 0o666 | stat.S_IFSOCK)",
        told=DONE_OR_REFUSED,
    ),
    leaving(
        "pipes in many places",
        "whoever reads the workspace waits for ever",
        "os.makedirs('results/deep')\nfor place in ('results', 'results/deep'):\n    os.mkfifo(place + '/a.csv')",
        told=DONE_OR_REFUSED,
    ),
    leaving(
        "a device of no number",
        "whoever lays folders over each other sees files vanish",
        "import stat\nos.mknod('gone', 0o666 | stat.S_IFCHR, 0)",
        told=DONE_OR_REFUSED,
    ),
    leaving(
        "a second name of the foreign file, by its descriptor",
        "a second name makes it writable",
        "handle = os.open(s['given'], os.O_RDONLY)\n"
        "worked(libc.linkat(-100, f'/proc/self/fd/{handle}'.encode(), -100, b'hard', 0x400))",
        told=DONE_OR_REFUSED + "|denied|crashed: .*(No such|cross-device)",
    ),
    leaving(
        "a second name outside, of a file inside",
        "what is inside is changed from outside",
        "open('own', 'w').close()\nos.link('own', s['home'] + '/new')",
        told=r"(denied|crashed): .*(No such|cross-device|Permission|not permitted)",
    ),
    leaving(
        "a name that makes a line of its own",
        "a list of files says what the tool wants",
        "open('a.csv\\nerror: none\\x1b[2J', 'w').close()",
    ),
    leaving(
        "names that look alike",
        "one is taken for the other",
        "import unicodedata\n"
        "for name in ('R.csv', 'r.csv', 'é', unicodedata.normalize('NFD', 'é'), 'a\\u200b', 'a'):\n"
        "    open(name, 'x').close()",
    ),
    leaving(
        "files that claim a terabyte",
        "a copy of the workspace fills the disk",
        "for n in range(9): open(f'{n}', 'wb').truncate(60 << 20)",
        settings={"file_mb": 64},
    ),
)
ATTACKS: tuple[Attack, ...] = (*LINKS, *MODES, *ATTRIBUTES, *THINGS)

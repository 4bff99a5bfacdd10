"""A workspace after calls: whoever reads it next must find nothing that leads elsewhere, or that others may change."""

from __future__ import annotations

import os
import stat
import struct
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from habilis.contract.runnable import Runnable
from habilis.runtime.calls import CallSpec
from habilis.runtime.host import ToolHost
from habilis.sandbox.ownership.judging import ACCESS, DEFAULT, Baseline, WorkspaceJudge
from habilis.sandbox.ownership.workspace import Survey, changed

from .conftest import value_of

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the sandbox needs Linux")
SECRET = "not yours"
USERS = struct.pack("<I", 2) + b"".join(
    struct.pack("<HHI", tag, bits, who)
    for tag, bits, who in ((1, 6, 2**32 - 1), (2, 7, 4242), (4, 4, 2**32 - 1), (16, 7, 2**32 - 1), (32, 4, 2**32 - 1))
)
"""An ACL that gives user 4242 everything."""


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    folder = tmp_path / "outside"
    folder.mkdir()
    (folder / "secret.txt").write_text(SECRET)
    return folder


def judged(workspace: Path, leave: Callable[[], None], *, alone: bool = True, files: tuple[Path, ...] = ()) -> Survey:
    """What is found after a call that does `leave`."""
    began = Survey.of(workspace)
    baseline = Baseline.of(began)
    leave()
    return WorkspaceJudge(began, baseline, files).settled(alone=alone)


def acl_possible(folder: Path) -> bool:
    with suppress(OSError):
        os.setxattr(folder, "user.try", b"x")
        os.removexattr(folder, "user.try")
        return True
    return False


FIRST_AND_SECOND = {
    "a folder on the way becomes another": (
        "os.makedirs('a/b/c')\nos.symlink('a/b/c/../../../notes', 'way')",
        "import shutil\nshutil.rmtree('a')\nos.makedirs('z')\nos.symlink('z', 'a')\nos.makedirs('z/b')\n"
        "os.symlink('.', 'z/b/c')",
    ),
    "a link on the way becomes a folder": (
        "os.makedirs('x/y/z')\nos.symlink('x/y/z', 'hop')\nos.symlink('hop/../../../secret.txt', 'way')",
        "os.unlink('hop')\nos.mkdir('hop')",
    ),
    "the folder around it moves up": (
        "os.makedirs('x/y')\nos.symlink('../../outside/secret.txt', 'x/y/way')",
        "try: os.rename('x/y', 'y')\n"  # a folder keeps its parent at some levels
        "except OSError: os.rename('x', 'z'), os.symlink('z', 'x')",
    ),
    "a chain, whose last link changes": (
        "open('end', 'w').close()\nos.symlink('end', 'c')\nos.symlink('c', 'b')\nos.symlink('b', 'way')",
        "os.unlink('c')\nos.symlink(os.path.abspath('..') + '/outside/secret.txt', 'c')",
    ),
    "its name means nothing yet": (
        "os.symlink('later/../../outside/secret.txt', 'way')",
        "os.mkdir('later')",
    ),
}


@pytest.mark.parametrize("how", FIRST_AND_SECOND)
async def test_a_link_that_a_later_call_turns_outward_is_gone(
    how: str, level: str, host_with: Callable[..., ToolHost], tool: Callable[..., Runnable], workspace: Path
) -> None:
    """A person, a record or the next task would read a foreign file by it."""
    first, second = FIRST_AND_SECOND[how]
    host = host_with(level)
    for body in (first, second):
        done = await host.call(
            CallSpec(tool(f"import os\n{body}\nreturn OutputModel(value='done')"), {}, workspace=workspace)
        )
        assert value_of(done) == "done", "it did not begin"
        assert out_of(workspace) == []


def out_of(workspace: Path) -> list[str]:
    """The links in `workspace` that lead out of it, as any reader would follow them."""
    root = os.path.realpath(workspace)
    found = [Path(where, name) for where, folders, names in os.walk(root) for name in (*folders, *names)]
    return [str(path) for path in found if not os.path.realpath(path).startswith(root)]


async def test_modes_attributes_and_acls_do_not_stay(
    level: str, host_with: Callable[..., ToolHost], tool: Callable[..., Runnable], workspace: Path
) -> None:
    """Other users of the machine could read, or exchange, what a later call and the user rely on."""
    body = f"""
    import os, stat
    os.umask(0)
    os.close(os.open("wide", os.O_CREAT | os.O_WRONLY, 0o666))
    os.close(os.open("program", os.O_CREAT | os.O_WRONLY, 0o777))
    os.close(os.open("closed", os.O_CREAT | os.O_WRONLY, 0))
    os.mkdir("open", 0o777)
    os.mkdir("shut", 0)
    done = 0
    for place in ("wide", "open", "."):
        for name, value in (("{ACCESS}", {USERS!r}), ("{DEFAULT}", {USERS!r}), ("user.note", b"x")):
            try:
                os.setxattr(place, name, value)
                done += 1
            except OSError:
                pass
    try:
        os.chmod(".", 0o777)
    except OSError:
        pass
    return OutputModel(value=done)
    """
    began = stat.S_IMODE(workspace.stat().st_mode)
    outcome = await host_with(level).call(CallSpec(tool(body), {}, workspace=workspace))
    if level == "bubblewrap" and acl_possible(workspace):
        assert value_of(outcome), "no attribute was set"
    names = ("wide", "program", "closed", "open", "shut")
    modes = {name: stat.S_IMODE((workspace / name).stat().st_mode) for name in names}
    assert not {name: oct(mode) for name, mode in modes.items() if mode & 0o022 or not mode & 0o400}
    assert modes["program"] & 0o100, "a program of an honest tool stays one"
    assert modes["open"] & modes["shut"] & 0o700 == 0o700
    assert stat.S_IMODE(workspace.stat().st_mode) == began
    assert {name: os.listxattr(path) for name in (".", "wide", "open") if os.listxattr(path := workspace / name)} == {}


def test_attributes_that_a_later_call_sets_are_seen(workspace: Path) -> None:
    if not acl_possible(workspace):
        pytest.skip("this file system keeps no attributes")
    file = workspace / "old.csv"
    file.write_text("x")
    assert os.listxattr(file) == []
    judged(workspace, lambda: os.setxattr(file, ACCESS, USERS))
    assert os.listxattr(file) == []
    judged(workspace, lambda: os.setxattr(workspace, DEFAULT, USERS))
    (workspace / "new").write_text("x")
    assert os.listxattr(workspace) + os.listxattr(workspace / "new") == []


def test_what_the_user_put_there_stays_as_it_was(workspace: Path, outside: Path) -> None:
    """A folder that somebody serves may hold links, wide modes and attributes of their own."""
    given = outside / "given.csv"
    given.write_text("x")
    (workspace / "data").symlink_to(outside)
    (workspace / "given.csv").symlink_to(given)
    (workspace / "shared.csv").write_text("x")
    (workspace / "shared.csv").chmod(0o666)
    os.mkfifo(workspace / "pipe")
    with suppress(OSError):
        os.setxattr(workspace / "shared.csv", "user.origin", b"here")
    own = os.listxattr(workspace / "shared.csv")

    def leave() -> None:
        (workspace / "mine.csv").write_text("y")
        (workspace / "same").symlink_to(given)
        (workspace / "out").symlink_to(outside / "secret.txt")
        (workspace / "shared.csv").write_text("z")

    now = judged(workspace, leave, files=(given,))
    assert set(now.links) == {"data", "given.csv", "same"}
    assert stat.S_IMODE((workspace / "shared.csv").stat().st_mode) == 0o666
    assert os.listxattr(workspace / "shared.csv") == own
    assert (workspace / "pipe").exists()


def test_a_users_link_that_is_turned_elsewhere_goes(workspace: Path, outside: Path) -> None:
    (workspace / "hop").mkdir()
    (workspace / "data").symlink_to("hop/../../outside")

    def leave() -> None:
        (workspace / "hop").rmdir()
        (workspace / "deep" / "er").mkdir(parents=True)
        (workspace / "hop").symlink_to(".")

    assert "data" not in judged(workspace, leave).links


ODD_LINKS = {
    "to the root of a process": "/proc/self/root/etc",
    "to a descriptor": "/proc/self/fd/0",
    "to the working folder of a process": "/proc/self/cwd",
    "to a device": "/dev/null",
    "to itself": "link",
    "upward, and back by name": "../outside/../workspace/../outside",
    "of many steps": "/".join([".."] * 60),
}


@pytest.mark.parametrize("where", ODD_LINKS)
def test_an_odd_link_is_gone(where: str, workspace: Path, outside: Path) -> None:
    judged(workspace, lambda: (workspace / "link").symlink_to(ODD_LINKS[where]))
    assert not (workspace / "link").is_symlink()


def test_links_that_stay_inside_stay(workspace: Path) -> None:
    def leave() -> None:
        (workspace / "data").mkdir()
        (workspace / "data" / "v2.csv").write_text("x")
        (workspace / "latest.csv").symlink_to("data/v2.csv")
        (workspace / "data" / "up").symlink_to("../latest.csv")
        (workspace / "absolute").symlink_to(workspace / "data")

    assert set(judged(workspace, leave).links) == {"latest.csv", "data/up", "absolute"}


def test_while_other_calls_run_links_go_and_pipes_stay(workspace: Path, outside: Path) -> None:
    def leave() -> None:
        (workspace / "out").symlink_to(outside)
        os.mkfifo(workspace / "pipe")

    judged(workspace, leave, alone=False)
    assert [path.name for path in workspace.iterdir()] == ["pipe"]


def test_a_name_with_a_line_feed_is_one_line(workspace: Path) -> None:
    """A list of what a tool made is read line by line: a name must not make a line of its own."""
    before = Survey.of(workspace)
    (workspace / "a\nerror: b\x1b[2J\u2028c").write_text("x")
    assert changed(before.files, Survey.of(workspace).files) == ("a\\nerror: b\\x1b[2J\\u2028c",)


@pytest.fixture
def exchanging(workspace: Path, outside: Path) -> Iterator[list[int]]:
    """A folder and a link outward whose names are exchanged all the time; how often, so far."""
    import ctypes

    libc = ctypes.CDLL(None)
    (workspace / "real").mkdir()
    (workspace / "real" / "own.txt").write_text("x")
    rounds, end = [0], threading.Event()
    names = [os.fsencode(workspace / name) for name in ("real", "link")]

    def exchange() -> None:
        while not end.is_set():
            for name in ("real", "link"):  # one of them is the folder
                with suppress(FileExistsError):
                    (workspace / name).symlink_to(outside)
            rounds[0] += libc.renameat2(-100, names[0], -100, names[1], 2) == 0

    thread = threading.Thread(target=exchange)
    thread.start()
    yield rounds
    end.set()
    thread.join()


def test_nothing_outside_is_listed_or_touched_while_names_are_exchanged(
    exchanging: list[int], workspace: Path, outside: Path
) -> None:
    """A survey that follows an exchanged name tells a model what lies in a foreign folder."""
    (outside / "wide").write_text("x")
    (outside / "wide").chmod(0o666)
    began = Survey.of(workspace)
    judge = WorkspaceJudge(began, Baseline())
    looks = 0
    while exchanging[0] < 300 or looks < 100:
        now = judge.settled(alone=True)
        assert not [name for name in now.files if "secret" in name or "wide" in name]
        looks += 1
    assert sorted(path.name for path in outside.iterdir()) == ["secret.txt", "wide"]
    assert stat.S_IMODE((outside / "wide").stat().st_mode) == 0o666

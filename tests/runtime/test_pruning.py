"""Pruning gives room back and takes nothing that anybody uses: a running task must not lose its packages."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from habilis.runtime.packages.cache import MARK, EnvironmentCache, beside
from habilis.runtime.packages.environments import base_name
from habilis.runtime.packages.pruning import Going, PruningRule, going, in_use, kept, leftovers, packages_in, take_away

NOW = 2_000_000_000.0
DAY = 86_400.0
Make = Callable[..., Path]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "environments"


@pytest.fixture
def make(folder: Path) -> Make:
    """Makes an environment of that age and size, used by nobody."""

    def make_environment(name: str, *, days: float = 0, size: int = 100) -> Path:
        def fill(aside: Path) -> None:
            (aside / "data").write_bytes(b"x" * size)
            (aside / "alpha_beta-1.0.dist-info").mkdir()

        cache = EnvironmentCache(folder)
        path = cache.ensure(name, fill, threading.Event())
        cache.let_go(name)
        os.utime(path / MARK, (NOW - days * DAY, NOW - days * DAY))
        return path

    return make_environment


def name_of(kind: str, digit: str) -> str:
    return f"{kind}-{digit * 16}"


def names(gone: list[Going]) -> list[str]:
    return [f"{one.path.name[:5]} {one.why}" for one in gone]


def test_what_is_there_is_listed_with_packages_size_and_use(folder: Path, make: Make) -> None:
    mark = make(name_of("set", "1"), days=3) / MARK
    lock = make(name_of("lock", "2"))
    (lock / "environment").write_text(name_of("set", "1"))
    (lock / "lock.in").write_text("alpha-beta\nother>=1\n")
    make(base_name(), days=9)
    first, second = kept(folder)
    assert (first.name, first.packages, first.bytes) == (
        name_of("set", "1"),
        ("alpha-beta==1.0",),
        100 + mark.stat().st_size,
    )
    assert (first.asked, first.used, first.stays) == (("alpha-beta, other>=1",), NOW - 3 * DAY, "")
    assert (second.name, second.stays) == (base_name(), "base")
    assert packages_in(second.path) == ("alpha-beta==1.0",)
    assert kept(folder / "nowhere") == []


def test_old_ones_go_and_the_base_of_this_installation_stays(folder: Path, make: Make) -> None:
    old, young = make(name_of("set", "1"), days=40), make(name_of("set", "2"), days=1)
    former, base = make(name_of("base", "3"), days=40), make(base_name(), days=400)
    lock = make(name_of("lock", "4"), days=40)
    go = going(folder, PruningRule(older_than_s=30 * DAY), NOW)
    assert sorted(names(go)) == ["base- age", "lock- age", "set-1 age"]
    assert all(take_away(one) for one in go)
    assert [path.exists() for path in (old, young, former, base, lock)] == [False, True, False, True, False]
    assert sorted(p.name for p in folder.iterdir() if p.name.startswith(old.name)) == []
    assert leftovers(folder) == []


def test_the_longest_unused_go_until_the_rest_fits(folder: Path, make: Make) -> None:
    for digit, days in (("1", 5), ("2", 1), ("3", 9)):
        make(name_of("set", digit), days=days, size=1000)
    assert names(going(folder, PruningRule(max_bytes=1500), NOW)) == ["set-3 size", "set-1 size"]
    assert names(going(folder, PruningRule(max_bytes=3500), NOW)) == []


def test_what_a_process_uses_stays_until_it_ends(folder: Path, make: Make) -> None:
    name = name_of("set", "1")
    path = make(name, days=40)
    script = (
        "import sys; from pathlib import Path; from habilis.runtime.packages.cache import EnvironmentCache\n"
        "cache = EnvironmentCache(Path(sys.argv[1])); assert cache.use(sys.argv[2])\n"
        "print('in use', flush=True); sys.stdin.readline()\n"
    )
    user = subprocess.Popen(
        [sys.executable, "-c", script, str(folder), name], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert user.stdout is not None
    assert user.stdout.readline() == "in use\n"
    os.utime(path / MARK, (NOW - 40 * DAY, NOW - 40 * DAY))
    assert in_use(path)
    assert going(folder, PruningRule(older_than_s=DAY, max_bytes=0), NOW) == []
    assert not take_away(Going(path, 0, "age"))  # chosen before the process came
    assert path.is_dir()
    user.communicate("done\n")
    assert names(going(folder, PruningRule(older_than_s=DAY), NOW)) == ["set-1 age"]
    assert take_away(Going(path, 0, "age"))
    assert not path.exists()


def test_using_it_makes_it_young_again(folder: Path, make: Make) -> None:
    path = make(name_of("set", "1"))
    os.utime(path / MARK, (1, 1))
    assert EnvironmentCache(folder).use(path.name)
    assert (path / MARK).stat().st_mtime > 1_000_000_000


def test_leftovers_go_whenever_something_is_pruned(folder: Path, make: Make) -> None:
    whole = make(name_of("set", "1"))
    torn = make(name_of("set", "2"))
    (torn / MARK).unlink()
    aside = folder / f"{name_of('set', '3')}.abc123"
    aside.mkdir()
    (aside / "half").touch()
    gone = folder / ".gone-x1"
    gone.mkdir()
    for kind in ("lock", "use"):
        beside(folder / name_of("set", "4"), kind).touch()
    (folder / "mine.txt").touch()
    go = going(folder, PruningRule(), NOW)
    assert {one.why for one in go} == {"leftover"}
    assert all(take_away(one) for one in go)
    left = sorted(path.name for path in folder.iterdir())
    assert left == ["mine.txt", whole.name, f"{whole.name}.lock", f"{whole.name}.use"]


def test_a_folder_being_built_is_no_leftover(folder: Path, make: Make) -> None:
    name, seen = name_of("set", "1"), []

    def fill(aside: Path) -> None:
        seen.extend(leftovers(folder))
        seen.append(take_away(Going(aside, 0, "leftover")))

    EnvironmentCache(folder).ensure(name, fill, threading.Event())
    assert seen == [False]
    assert (folder / name / MARK).is_file()


def test_who_asks_for_a_pruned_one_gets_it_anew(folder: Path, make: Make) -> None:
    path = make(name_of("set", "1"), days=40)
    cache = EnvironmentCache(folder)
    assert take_away(Going(path, 0, "age"))
    assert not cache.use(path.name)
    cache.ensure(path.name, lambda aside: (aside / "new").touch(), threading.Event())
    assert (path / "new").is_file()
    assert in_use(path)
    del cache
    assert not in_use(path)

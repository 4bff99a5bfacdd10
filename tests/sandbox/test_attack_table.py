"""Every attempt of the table, at each back end of this machine, as root and as an ordinary user.

Each asserts that the host is unharmed (`hostile/scene.py` says what is looked at), that nothing was got, and what the
model is told. The hosts are processes of their own, one for each user, which run attempt after attempt.
"""

from __future__ import annotations

import itertools
import json
import os
import re
import select
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import habilis
from habilis.sandbox.backends.probing import missing

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))  # the table is read by the hosts too, which are no tests

from hostile.attack import Attack  # noqa: E402
from hostile.beginning import CONTROLS, NEVER  # noqa: E402
from hostile.table import ATTACKS, CATEGORIES  # noqa: E402

OTHER_USER = 65534
PATIENCE_S = 120.0
AS_ROOT = os.name == "posix" and os.getuid() == 0
BACK_ENDS = ("bubblewrap", "landlock", "zygote")
"""A zygote makes a sandbox of the level of bubblewrap."""
TIMES_OVER = (1, 1, 4, 16, 16)
"""How often, and with how many times its time, an attempt is made whose time was over before anything could be told."""
Ask = Callable[..., dict[str, Any]]
"""Asks the host of a user: user, level, way, the attempt's name and, where it is not once, how many times its time."""

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the sandbox needs Linux")


class HostProcess:
    """A host that runs as one user. `ask` has it try one attempt."""

    def __init__(self, user: str) -> None:
        command, self._folder = python_of(user), Path(f"/tmp/habilis-attacks-{user}-{os.getpid()}")
        for folder in (self._folder, self._folder / "cache"):
            folder.mkdir()
            if user == "ordinary" and AS_ROOT:
                os.chown(folder, OTHER_USER, OTHER_USER)
        self._process = subprocess.Popen(
            [*command, "-m", "hostile.runner", str(self._folder)],
            env={
                "PYTHONPATH": ":".join([str(HERE), *library_paths()]),
                "HOME": str(self._folder),
                "HABILIS_CACHE_DIR": str(self._folder / "cache"),
                "PATH": os.environ.get("PATH", "/usr/bin:/bin"),
            },
            cwd="/",
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            start_new_session=True,
        )

    def ask(self, level: str, way: str, name: str, times: int = 1, patience_s: float = PATIENCE_S) -> dict[str, Any]:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        assert self._process.poll() is None, "the host did not survive an earlier attempt"
        self._process.stdin.write(f"{level} {way} {times} {name}\n".encode())
        self._process.stdin.flush()
        ready, _, _ = select.select([self._process.stdout], [], [], patience_s * times)
        assert ready, "the host hangs"
        line = self._process.stdout.readline()
        assert line, "the host did not survive"
        answer: dict[str, Any] = json.loads(line)
        return answer

    def close(self) -> None:
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                pipe.close()
        self._process.kill()
        self._process.wait()
        shutil.rmtree(self._folder, ignore_errors=True)


def python_of(user: str) -> list[str]:
    """The command of a Python that `user` may run with our packages; skips the test where there is none."""
    if user == "root" or not AS_ROOT:
        return [sys.executable]
    prefix = ["setpriv", f"--reuid={OTHER_USER}", f"--regid={OTHER_USER}", "--clear-groups"]
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    for candidate in (str(Path(sys.executable).resolve()), f"/usr/bin/{version}", f"/usr/local/bin/{version}"):
        works = "import habilis, hostile.table, pydantic, yaml, os, sys; assert os.access(sys.executable, os.X_OK)"
        paths = {"PYTHONPATH": ":".join([str(HERE), *library_paths()])}
        try:
            tried = subprocess.run([*prefix, candidate, "-c", works], env=paths, capture_output=True, timeout=30)
        except OSError:
            continue
        if tried.returncode == 0:
            return [*prefix, candidate]
    pytest.skip("no Python here that another user may run")


def library_paths() -> list[str]:
    """Where the packages lie that run this test."""
    return [str(Path(habilis.__file__).parents[1]), *(p for p in sys.path if p.endswith("site-packages"))]


@pytest.fixture(scope="module")
def ask() -> Iterator[Ask]:
    """Asks the host of a user; hosts start when first asked, and anew when one did not survive."""
    hosts: dict[str, HostProcess] = {}

    def ask_host(user: str, level: str, way: str, name: str, times: int = 1) -> dict[str, Any]:
        if user not in hosts:
            hosts[user] = HostProcess(user)
        try:
            return hosts[user].ask(level, way, name, times)
        except AssertionError:
            hosts.pop(user).close()
            raise

    yield ask_host
    for host in hosts.values():
        host.close()


def attempts() -> Iterator[Any]:
    """Every attempt at every level, as every user, warm and cold, with what is known to get through as strict expected
    failures. All are tried warm but those whose call has a door."""
    for level, user, way in itertools.product(BACK_ENDS, ("root", "ordinary"), ("warm", "cold")):
        for number, attack in enumerate(ATTACKS):
            if attack.granted and way == "warm":
                continue  # a call with a door is cold
            if attack.warm and way == "cold":
                continue  # there is neither server nor neighbour
            marks = _when(attack, number, level, user, way)
            if reason := attack.reason_to_fail(holding(level), user):
                marks.append(pytest.mark.xfail(strict=holding(level) not in attack.by_chance, reason=reason))
            yield pytest.param(attack, level, user, way, marks=marks, id=f"{level}-{user}-{way}-{attack.name}")


def _when(attack: Attack, number: int, level: str, user: str, way: str) -> list[pytest.MarkDecorator]:
    """The quick run makes every other attempt at one back end, as one user, warm if it can. Continuous integration
    makes the others so, and all of them warm, as root, in a zygote's sandbox, which is of the level of bubblewrap;
    cold, which takes an interpreter, every other one at one back end, and each that has a door at each."""
    other_half = level == "zygote" or (level == "bubblewrap") == (user == "root")
    rare = attack.slow or other_half or (way == "cold" and not attack.granted)
    rare |= attack.costly and (level, user, way) != ("bubblewrap", "ordinary", "warm")
    if not rare and number // 2 % 2 == 0 and ((level == "landlock") == bool(number % 2) or attack.granted):
        return []
    if way == "warm":
        its_turn = level == "zygote"
    else:
        its_turn = attack.granted or (number % 2 == 0 and BACK_ENDS[number // 2 % len(BACK_ENDS)] == level)
    promised = not rare or (user == "root" and its_turn)
    return [pytest.mark.slow, *([pytest.mark.promise] if promised else [])]


def holding(back_end: str) -> str:
    """The level that a back end gives."""
    return "bubblewrap" if back_end == "zygote" else back_end


def skip_unless_possible(level: str, user: str) -> None:
    if problem := missing(level):
        pytest.skip(f"{level}: {problem}")
    if user == "root" and not AS_ROOT:
        pytest.skip("only root can try it as root")


def in_time(ask: Ask, user: str, level: str, way: str, attack: Attack) -> dict[str, Any]:
    """What came of an attempt; on a busy machine its time may be over before it begins, or before it is done."""
    answer: dict[str, Any] = {}
    to_be_stopped = "timeout" in attack.told_at(holding(level))
    for times in TIMES_OVER:
        answer = ask(user, level, way, attack.name, times)
        if not answer["told"].startswith("timeout: ") or (to_be_stopped and answer["faults"] != [NEVER]):
            break
    return answer


@pytest.mark.parametrize(("attack", "level", "user", "way"), tuple(attempts()))
def test_an_attempt_fails_and_the_model_learns_why(ask: Ask, attack: Attack, level: str, user: str, way: str) -> None:
    skip_unless_possible(level, user)
    answer = in_time(ask, user, level, way, attack)
    assert answer["faults"] == [], f"{attack.name} is no attempt: {answer['faults']}; told: {answer['told'][:500]}"
    assert answer["harms"] == [], f"{attack.harm}: {answer['harms']}; told: {answer['told'][:500]}"
    assert re.match(attack.told_at(holding(level)), answer["told"]), f"{attack.harm}? told: {answer['told'][:800]}"
    if attack.silent:
        assert not re.search(attack.silent, answer["told"]), f"{attack.harm}; told: {answer['told'][:2000]}"


@pytest.mark.parametrize("name", [control.name for control in CONTROLS])
def test_an_attempt_that_failed_by_itself_is_no_attempt(ask: Ask, name: str) -> None:
    """A table of attempts that never began would praise a sandbox that is none."""
    level = next((level for level in ("bubblewrap", "landlock") if not missing(level)), "bubblewrap")
    skip_unless_possible(level, "ordinary")
    answer = ask("ordinary", level, "warm", name)
    assert answer["faults"], answer["told"]


@pytest.mark.parametrize("level", BACK_ENDS)
@pytest.mark.parametrize("user", ["root", "ordinary"])
def test_all_is_given_back_once_the_server_has_ended(ask: Ask, level: str, user: str) -> None:
    """Nothing is left of a server that many attempts went through: no process, no file, no file's owner."""
    skip_unless_possible(level, user)
    assert ask(user, level, "warm", "end")["harms"] == []


def test_the_table_is_whole() -> None:
    """SECURITY.md counts the attempts; names are unique, since the hosts are asked by name."""
    assert len({attack.name for attack in ATTACKS}) == len(ATTACKS)
    page = (HERE.parents[1] / "SECURITY.md").read_text(encoding="utf-8")
    for category, attacks in CATEGORIES.items():
        known = len({attack.name for attack in attacks if attack.known})
        assert re.search(rf"^\| {category} \| {len(attacks)} \| {known} \|", page, re.MULTILINE), category
    assert f"{len(ATTACKS)} attempts" in page


@pytest.mark.parametrize("level", BACK_ENDS)
@pytest.mark.parametrize("user", ["root", "ordinary"])
def test_a_granted_host_is_reached_over_http_and_verified_tls(ask: Ask, level: str, user: str) -> None:
    """The attempts of the table would fail as well where nothing is reached at all."""
    skip_unless_possible(level, user)
    if shutil.which("openssl") is None:
        pytest.skip("needs openssl to make a certificate")
    answer = ask(user, level, "cold", "reach")
    assert answer["told"] == 'output: ["granted", "granted", "SSLCertVerificationError"]'
    assert answer["harms"] == []

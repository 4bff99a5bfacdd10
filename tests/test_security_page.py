"""SECURITY.md names each promise with the tests that attack it, and this holds the page to it.

The table is read strictly: a test that is not there or is switched off, an attempt that nobody makes, a level or a user
at which one is known to get through, a promise of the older table without a row: each is a complaint.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests" / "sandbox"))  # the attack table is a package of its own

from hostile.attack import Attack  # noqa: E402
from hostile.table import CATEGORIES  # noqa: E402

TITLE = "## Promises and the tests that attack them"
HEAD = ["promise", "level", "user", "attacked by", "exceptions"]
LEVELS_HEAD = ["promise", "`bubblewrap`", "`landlock`", "`unconfined`, `off`"]
ATTACKED, OTHERS = ("bubblewrap", "landlock"), ("off", "host")
"""Levels at which the attack table is tried; and no sandbox at all, or what Habilis itself does whatever the level."""
USERS = ("root", "ordinary")
NOTHING = "—"
_TEST = re.compile(r"`(tests/[\w/]+\.py)::(test_\w+)`")
_ATTEMPT = re.compile(r'"([^"]+)" \(([a-z ]+)\)')
Categories = Mapping[str, Sequence[Attack]]


@dataclass(frozen=True)
class Row:
    """One promise, the places where it holds, what attacks it there, and where it does not hold."""

    promise: str
    levels: tuple[str, ...]
    users: tuple[str, ...]
    attacks: tuple[str, ...]
    exceptions: str

    @property
    def everywhere(self) -> bool:
        """Whether there is no level with walls and no user for whom it does not hold."""
        return ("host" in self.levels or set(ATTACKED) <= set(self.levels)) and set(self.users) == set(USERS)


def table_under(page: str, head: list[str]) -> list[list[str]]:
    """The cells of the one table with this head, without it. Raises ValueError for none, or a row that does not fit."""
    lines = page.splitlines()
    starts = [n for n, line in enumerate(lines) if _cells(line) == head]
    if len(starts) != 1:
        raise ValueError(f"{len(starts)} tables begin with {head}")
    rows = []
    for line in lines[starts[0] + 2 :]:
        if not line.startswith("|"):
            break
        if len(_cells(line)) != len(head):
            raise ValueError(f"not {len(head)} cells: {line[:80]}")
        rows.append(_cells(line))
    return rows


def _cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip().strip("|").split("|")] if line.startswith("|") else []


def promises(page: str) -> list[Row]:
    """The rows of the table of promises. Raises ValueError where it is not there."""
    if TITLE not in page:
        raise ValueError(f"no section {TITLE!r}")
    rows = []
    for promise, levels, users, attacks, exceptions in table_under(page.partition(TITLE)[2], HEAD):
        named = [tuple(part.strip() for part in cell.split(",")) for cell in (levels, users)]
        rows.append(Row(promise, named[0], named[1], tuple(attacks.split("; ")), exceptions))
    return rows


def complaints(page: str, root: Path, categories: Categories) -> list[str]:
    """All that is wrong with the table of promises on `page`."""
    try:
        rows, older = promises(page), table_under(page, LEVELS_HEAD)
    except ValueError as error:
        return [str(error)]
    found = [f"{row.promise[:60]}: {fault}" for row in rows for fault in faults_of(row, root, categories)]
    return found + missing(rows, older) + twice(rows) + contradictions(rows, older) + unsaid(rows, categories)


def faults_of(row: Row, root: Path, categories: Categories) -> Iterator[str]:
    """What is wrong with one row by itself."""
    if not all((row.promise, row.exceptions, row.attacks[0])):
        yield "an empty cell"
    yield from (f"no level {level!r}" for level in row.levels if level not in ATTACKED + OTHERS)
    yield from (f"no user {user!r}" for user in row.users if user not in USERS)
    if not row.everywhere and row.exceptions in (NOTHING, ""):
        yield "it does not say what does not hold elsewhere"
    yield from (f"attacked twice by {one}" for one in {one for one in row.attacks if row.attacks.count(one) > 1})
    for one in row.attacks:
        if test := _TEST.fullmatch(one):
            yield from faults_of_test(root / test[1], test[2])
        elif attempt := _ATTEMPT.fullmatch(one):
            yield from faults_of_attempt(row, attempt[1], categories.get(attempt[2], ()))
        else:
            yield f"neither test nor attempt: {one}"
    if not any(map(_TEST.fullmatch, row.attacks)):
        yield from (f"no attempt is made at {level}" for level in row.levels if level in OTHERS)


def faults_of_attempt(row: Row, name: str, category: Sequence[Attack]) -> Iterator[str]:
    """What is wrong with an attempt of the attack table as the attacker of `row`."""
    attack = next((attack for attack in category if attack.name == name), None)
    if attack is None:
        yield f"no attempt {name!r} in that category"
        return
    for level in row.levels:
        for user in row.users:
            if attack.reason_to_fail(level, user):
                yield f"{name!r} is known to get through at {level} as {user}"


def faults_of_test(path: Path, name: str) -> Iterator[str]:
    """What is wrong with a test as an attacker: it is not there, or switched off."""
    if not path.is_file():
        yield f"no file {path.name}"
        return
    tree = parsed(path)
    test = next((node for node in tree.body if isinstance(node, FUNCTIONS) and node.name == name), None)
    if test is None:
        yield f"no {name} in {path.name}"
        return
    marks = [node.value for node in tree.body if isinstance(node, ast.Assign) and _names(node) == ["pytestmark"]]
    marks += [
        statement.value for block in (tree.body, test.body) for statement in block if isinstance(statement, ast.Expr)
    ]
    if any(map(switches_off, [*test.decorator_list, *(part for mark in marks for part in _parts(mark))])):
        yield f"{name} is switched off"


FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


@cache
def parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def _names(node: ast.Assign) -> list[str]:
    return [target.id for target in node.targets if isinstance(target, ast.Name)]


def _parts(mark: ast.expr) -> list[ast.expr]:
    return list(mark.elts) if isinstance(mark, (ast.List, ast.Tuple)) else [mark]


def switches_off(node: ast.expr) -> bool:
    """Whether a mark, or a call in the body, keeps a test from failing whatever the machine is like."""
    called = node.func if isinstance(node, ast.Call) else node
    last = ast.unparse(called).rpartition("pytest.")[2].removeprefix("mark.")
    if last == "skipif" and isinstance(node, ast.Call) and node.args:
        return isinstance(node.args[0], ast.Constant) and bool(node.args[0].value)
    return last in ("skip", "xfail", "fail") and "pytest" in ast.unparse(called)


def missing(rows: Sequence[Row], older: Sequence[Sequence[str]]) -> list[str]:
    """Promises of the table of levels without a row."""
    have = {row.promise for row in rows}
    return [f"no row for the promise {cells[0]!r}" for cells in older if cells[0] not in have]


def twice(rows: Sequence[Row]) -> list[str]:
    """The same promise twice for one place."""
    places = [(row.promise, level, user) for row in rows for level in row.levels for user in row.users]
    return [f"said twice: {place}" for place in sorted(set(places)) if places.count(place) > 1]


def contradictions(rows: Sequence[Row], older: Sequence[Sequence[str]]) -> list[str]:
    """Levels that a row names and the table of levels denies."""
    columns = {"bubblewrap": 1, "landlock": 2, "off": 3}
    denied = {(cells[0], level) for cells in older for level, n in columns.items() if cells[n] == "no"}
    named = [(row.promise, level) for row in rows for level in row.levels]
    return [f"the table of levels denies it: {place}" for place in named if place in denied]


def unsaid(rows: Sequence[Row], categories: Categories) -> list[str]:
    """Attempts that are known to get through and stand in no last cell; and those there that do not get through."""
    said = {found for row in rows for found in _ATTEMPT.findall(row.exceptions)}
    known = {(attack.name, name) for name, attacks in categories.items() for attack in attacks if attack.known}
    found = [f"known to get through, and not said: {name!r} ({category})" for name, category in sorted(known - said)]
    return found + [f"said to get through, and not known to: {name!r} ({category})" for name, category in said - known]


# ---- the page


def test_each_promise_is_attacked_where_it_is_made() -> None:
    page = (ROOT / "SECURITY.md").read_text(encoding="utf-8")
    assert complaints(page, ROOT, CATEGORIES) == []
    assert len(promises(page)) >= 25


# ---- what it would say of a page that is wrong

CASES = {
    "hostile": (
        Attack("held", "", "", ""),
        Attack("through", "", "", "", known={"landlock": "no wall"}),
        Attack("through as root", "", "", "", known={"bubblewrap/root": "no wall"}),
    )
}
TESTS = """
import sys
import pytest
@pytest.mark.skipif(sys.platform != "linux", reason="")
def test_there(): ...
@pytest.mark.skip
def test_skipped(): ...
@pytest.mark.xfail(strict=True, reason="later")
async def test_expected_to_fail(): ...
@pytest.mark.skipif(True, reason="")
def test_never(): ...
def test_skips_itself():
    pytest.skip("no")
def test_skips_at_times():
    if not sys.argv:
        pytest.skip("no")
"""
GOOD = 'walls hold | bubblewrap, landlock | root, ordinary | "held" (hostile); `tests/test_a.py::test_there` | —'
GAPS = 'gaps are said | host | root, ordinary | `tests/test_a.py::test_skips_at_times` | "through" (hostile)'
MORE = 'more gaps | bubblewrap | ordinary | "through as root" (hostile) | "through as root" (hostile)'


def page_of(*rows: str, older: str = "| walls hold | yes | yes | no |") -> str:
    def table(head: list[str], lines: Sequence[str]) -> list[str]:
        return [f"| {' | '.join(head)} |", "|" + " --- |" * len(head), *lines, ""]

    return "\n".join([*table(LEVELS_HEAD, [older]), TITLE, "", *table(HEAD, [f"| {row} |" for row in rows])])


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "test_a.py").write_text(TESTS)
    (tmp_path / "tests" / "test_b.py").write_text("import pytest\npytestmark = [pytest.mark.skip]\ndef test_b(): ...")
    return tmp_path


def test_a_page_that_is_right_is_let_pass(root: Path) -> None:
    assert complaints(page_of(GOOD, GAPS, MORE), root, CASES) == []


@pytest.mark.parametrize(
    ("old", "new", "complaint"),
    [
        ("test_a.py::test_there", "test_a.py::test_gone", "no test_gone in test_a.py"),
        ("test_a.py::test_there", "test_none.py::test_there", "no file test_none.py"),
        ("test_there", "test_skipped", "test_skipped is switched off"),
        ("test_there", "test_expected_to_fail", "test_expected_to_fail is switched off"),
        ("test_there", "test_never", "test_never is switched off"),
        ("test_there", "test_skips_itself", "test_skips_itself is switched off"),
        ("test_a.py::test_there", "test_b.py::test_b", "test_b is switched off"),
        ('"held"', '"healed"', "no attempt 'healed' in that category"),
        ("(hostile); ", "(friendly); ", "no attempt 'held' in that category"),
        ('"held" (hostile); ', '"through" (hostile); ', "'through' is known to get through at landlock as root"),
        ('"held" (hostile); ', '"through as root" (hostile); ', "known to get through at bubblewrap as root"),
        ('"held" (hostile); ', '"held" (hostile); "held" (hostile); ', "attacked twice by"),
        ('"held" (hostile); ', "a person who looked; ", "neither test nor attempt: a person who looked"),
        ("bubblewrap, landlock", "bubblewrap, landlord", "no level 'landlord'"),
        ("bubblewrap, landlock | root", "landlock | root", "it does not say what does not hold elsewhere"),
        ("bubblewrap, landlock | root, ordinary", "bubblewrap, landlock | root", "it does not say what does not hold"),
        ('root, ordinary | "held"', 'root, guest | "held"', "no user 'guest'"),
        ("bubblewrap, landlock | root", "bubblewrap, landlock, off | root", "the table of levels denies it"),
        ("; `tests/test_a.py::test_there` | —", " |  ", "an empty cell"),
        ("walls hold | bubblewrap", "walls stand | bubblewrap", "no row for the promise 'walls hold'"),
        (' | "through" (hostile)', " | —", "known to get through, and not said: 'through' (hostile)"),
        (' | "through" (hostile)', ' | "through" (hostile), "held" (hostile)', "and not known to: 'held' (hostile)"),
        ("gaps are said | host", "walls hold | bubblewrap", "said twice: ('walls hold', 'bubblewrap', 'ordinary')"),
        (" | —", " | — | and more", "not 5 cells: | walls hold"),
        (TITLE, "## Promises", "no section"),
        ("| promise | level |", "| promises | level |", "0 tables begin with"),
    ],
)
def test_each_fault_is_found(root: Path, old: str, new: str, complaint: str) -> None:
    page = page_of(GOOD, GAPS, MORE)
    assert old in page
    found = complaints(page.replace(old, new, 1), root, CASES)
    assert any(complaint in text for text in found), found


def test_a_level_without_walls_is_attacked_by_a_test(root: Path) -> None:
    row = 'anything | host | root, ordinary | "held" (hostile) | —'
    assert "anything: no attempt is made at host" in complaints(page_of(GOOD, GAPS, MORE, row), root, CASES)

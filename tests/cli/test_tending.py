"""`habilis library`: what a person sees of a library and does to it. Tools run in the real sandbox where they run."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from habilis.cli import main
from habilis.cli.commands import WORK
from habilis.cli.completion import bash, commands, fish, zsh
from habilis.cli.parser import build
from habilis.library import Library
from habilis.library.generations import Generations
from habilis.rundir.seals import sealed, unsealed
from habilis.terminal.tables import columns_of, cut, table

from ..curation.manual.conftest import Desk
from ..curation.merging.conftest import adding

VERBS = [words.removeprefix("library ") for words, work in WORK.items() if work.startswith("curating.")]
Captured = pytest.CaptureFixture[str]
Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
async def _desk(tmp_path: Path) -> Desk:
    return await Desk(tmp_path).laid()


@pytest.fixture
def desk(_desk: Desk, monkeypatch: pytest.MonkeyPatch) -> Desk:
    monkeypatch.chdir(_desk.folder)
    return _desk


@pytest.fixture
def run(desk: Desk, capsys: Captured) -> Run:
    def words(*said: str) -> tuple[int, str, str]:
        code = main(["library", *said, "--library", str(desk.library)])
        out, err = capsys.readouterr()
        return code, out, err

    return words


def test_the_tools_are_listed_whole_when_piped_and_one_document_with_json(run: Run) -> None:
    code, out, _ = run("list")
    assert code == 0
    assert out.splitlines()[0].split() == ["NAME", "CALLS", "GOOD", "EFFECTS", "DESCRIPTION"]
    assert "count_words  2      100 %  pure       Count the words of a text." in out
    assert [row["name"] for row in json.loads(run("list", "--json")[1])["tools"]] == [
        "add_numbers",
        "count_words",
        "plus",
    ]
    assert run("list", "--names")[1] == "add_numbers\ncount_words\nplus\n"
    assert "1 of 3 tools" in run("list", "--limit", "1")[1]
    assert [
        row["name"] for row in json.loads(run("list", "--sort", "calls", "--limit", "1", "--json")[1])["tools"]
    ] == ["add_numbers"]


def test_broken_files_are_listed_with_the_reason_and_told_by_doctor(run: Run, desk: Desk) -> None:
    (desk.library / "broken.py").write_text("no python here\n")
    assert "broken" in run("list")[1]
    code, out, _ = run("doctor")
    assert code == 1
    assert "error    broken.py:" in out
    assert "it holds 4 tools, its report says 3" in out
    assert run("check", "broken", "--no-load")[0] == 1


def test_all_about_one_tool_is_shown_under_any_of_its_names(run: Run) -> None:
    assert run("merge", "add_numbers", "plus", "--json")[0] == 0
    code, out, _ = run("show", "plus")
    assert code == 0
    assert "tool       add_numbers@" in out
    assert "replaces   plus@" in out
    assert "its work is done by add_numbers; 3 calls by it" in out
    assert "└─ plus@" in out
    assert "def run(input: InputModel) -> OutputModel:" in out
    shown = json.loads(run("show", "add_numbers", "--json")[1])
    assert shown["lineage"]["parents"][0]["tool"].startswith("plus@")
    assert shown["calls"]["tasks"] == ["t1"]
    assert run("show", "plus", "--code")[1].startswith("from pydantic import BaseModel")
    code, _, err = run("show", "count_wrods")
    assert (code, "did you mean count_words?" in err) == (2, True)


def test_a_tool_out_of_use_is_shown_with_the_reason(run: Run) -> None:
    run("retire", "plus", "--reason", "add_numbers does it")
    assert "place      retired: add_numbers does it" in run("show", "plus")[1]
    found = json.loads(run("search", "add numbers together", "--unused", "--json")[1])
    assert [(row["name"].partition("@")[0], row["place"]) for row in found] == [
        ("plus", "retired"),
        ("add_numbers", ""),
    ]


def test_a_search_says_why(run: Run) -> None:
    code, out, _ = run("search", "how many words", "--why")
    assert code == 0
    assert "count_words(text)" in out
    assert "in name, description" in out
    code, out, _ = run("search", "zzz")
    assert (code, out.strip()) == (0, "nothing fits: no tool of the library shares a word with that")
    assert run("search", "zzz", "--json")[:2] == (0, "[]\n")


def test_the_history_names_what_was_imported(desk: Desk, run: Run) -> None:
    with desk.generations.draft() as folder:
        desk.generations.publish(folder, {"import": ["their-tools", "mcp:https://tools.example/mcp"], "tools": 3})
    assert "imported from their-tools, mcp:https://tools.example/mcp" in run("history")[1]


def test_what_the_history_and_the_difference_of_two_generations_tell(run: Run) -> None:
    run("retire", "count_words", "--reason", "no need")
    run("merge", "plus", "add_numbers")
    code, out, _ = run("history")
    assert code == 0
    assert "by hand: retire count_words (no need)" in out
    assert "step 1 of a run" in out
    assert "retired: no need" in run("history", "count_words")[1]
    rows = {row["tool"]: row for row in json.loads(run("diff", "2", "4", "--json")[1])}
    assert rows["count_words"]["text"] == "retired: no need"
    assert rows["plus"]["text"] == "merged into add_numbers: its work is done by add_numbers"
    assert rows["add_numbers"]["text"].startswith("does the work of plus")
    assert run("diff", "4", "4")[1] == "the same tools in both\n"
    assert run("diff", "9", "4")[0] == 2


def test_a_library_without_generations_is_read_and_says_so_where_they_are_asked_for(run: Run, desk: Desk) -> None:
    plain = desk.folder / "plain"
    plain.mkdir()
    (plain / "mine.py").write_text(adding("mine"))
    words = ("--library", str(plain))
    assert main(["library", "list", *words]) == 0
    assert main(["library", "doctor", *words]) == 1
    assert main(["library", "history", *words]) == 2
    generation = ("--library", str(desk.generations.path(1)))
    assert main(["library", "list", *generation]) == 0
    assert main(["library", "stats", *generation]) == 0
    assert main(["library", "retire", "add_numbers", "--reason", "x", *generation]) == 2


@pytest.mark.sandbox
def test_check_and_test_run_tools_in_the_sandbox_and_say_what_fails(run: Run, desk: Desk) -> None:
    assert run("check")[1] == "3 tools checked, none not sound\n"
    assert run("test", "add_numbers")[:2] == (
        0,
        "TOOL         PASSED  FAILED  NEITHER  WHAT\nadd_numbers  6\n1 tool, 6 recorded calls repeated, none failed\n",
    )
    record = desk.library / "records" / "plus.jsonl"
    lines = record.read_bytes().splitlines(keepends=True)
    record.write_bytes(b"".join(sealed(unsealed(line).replace(b'"value":4', b'"value":5')) for line in lines))
    code, out, _ = run("test")
    assert code == 1
    assert 'plus {"a": 1, "b": 3} gave {"value": 5, "error": null} and gives {"value": 4, "error": null}' in out
    report = json.loads(run("test", "--json")[1])
    assert (report["tested"], report["bad"]) == (3, 1)


@pytest.mark.sandbox
def test_tools_that_do_the_same_are_proposed_and_merged_through_the_gate_alone(run: Run, desk: Desk) -> None:
    code, out, _ = run("dedupe", "--json")
    assert code == 0
    (pair,) = json.loads(out)["pairs"]
    assert (sorted(pair["tools"]), pair["verdict"]) == (["add_numbers", "plus"], "same")
    assert pair["recorded"] == 9
    assert pair["generated"] >= 5
    assert desk.names() == ["add_numbers", "count_words", "plus"]
    code, _, err = run("merge", "count_words", "plus")
    assert code == 1
    assert "no one way leads from its fields" in err
    code, out, _ = run("merge", "count_words", "plus", "--json")
    assert (code, json.loads(out)["refused"]) == (1, "count_words, plus stay as they are")


@pytest.mark.sandbox
def test_a_file_and_a_tool_of_a_run_are_promoted(run: Run, desk: Desk) -> None:
    file = desk.folder / "thrice.py"
    file.write_text(adding("thrice").replace("input.a + input.b", "3 * input.a"))
    code, out, _ = run("promote", str(file), "--as", "three_times")
    assert code == 0
    assert "own example passed" in out
    assert "three_times" in run("list", "--names")[1]
    assert run("promote", "absent.py")[0] == 2
    assert run("promote", "no_run:tool")[0] == 2


def test_a_change_says_what_it_did_and_rollback_undoes_it(run: Run, desk: Desk) -> None:
    code, out, _ = run("retire", "plus", "--reason", "no", "--dry-run")
    assert (code, desk.names()) == (0, ["add_numbers", "count_words", "plus"])
    assert out.endswith("retire plus: nothing was changed (--dry-run); there would be 2 tools\n")
    code, out, _ = run("retire", "plus", "--reason", "no")
    assert out.splitlines()[-1] == "retire plus: generation 3, 2 tools"
    report = json.loads(run("rollback", "--json")[1])
    assert (report["generation"], report["tools"]) == (4, 3)
    assert run("pin", "plus")[1].endswith("pin plus: generation 5, 3 tools\n")
    assert "nothing to do" in run("pin", "plus")[1]
    assert Generations(desk.library).current() == 5
    assert run("retire", "plus", "--reason", " ")[0] == 2


def test_old_generations_are_packed_and_a_rollback_unpacks_them(run: Run, desk: Desk) -> None:
    run("retire", "plus", "--reason", "no")
    run("pin", "count_words")
    assert run("prune", "--keep", "1", "--dry-run")[1].startswith("would be packed: 1, 2, 3;")
    assert json.loads(run("prune", "--keep", "1", "--json")[1])["packed"] == [1, 2, 3]
    assert desk.generations.numbers() == [4]
    assert desk.names() == ["add_numbers", "count_words"]
    code, _, _ = run("rollback", "2")
    assert (code, desk.names()) == (0, ["add_numbers", "count_words", "plus"])
    assert run("prune", "--keep", "0")[0] == 2


@pytest.mark.parametrize("words", WORK)
def test_every_command_has_something_that_does_it(words: str) -> None:
    module, _, name = WORK[words].rpartition(".")
    assert callable(getattr(import_module(f"habilis.cli.{module}"), name))


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_has_help_json_and_an_answer_where_there_is_no_library(verb: str, capsys: Captured) -> None:
    assert main(["library", verb, "--help"]) == 0
    assert "--json" in capsys.readouterr().out
    more = {"merge": ["a", "b"], "search": ["q"], "promote": ["x.py"], "rollback": [], "revive": ["x"], "show": ["x"]}
    taken = ["x", "--reason", "y"] if verb in ("retire", "quarantine") else ["x"] if "pin" in verb else []
    more["prune"] = ["--keep", "1"]
    code = main(["library", verb, *more.get(verb, taken), "--library", "/nowhere/at/all"])
    assert code == 2
    assert "no library at /nowhere/at/all" in capsys.readouterr().err


def test_a_table_fits_the_terminal_in_any_script() -> None:
    rows = [
        ("解析日期", "12", "把一段文字里的日期都找出来，并且按顺序列出"),
        ("parse_dates", "3", "Find the dates in a text."),
    ]
    for width in (30, 40, 80):
        lines = table(("NAME", "N", "DESCRIPTION"), rows, width)
        assert all(columns_of(line) <= width for line in lines)
    assert table(("NAME", "N", "DESCRIPTION"), rows)[1].endswith("按顺序列出")
    assert columns_of(cut("日本語の名前", 5)) == 5
    assert "\x1b" not in "".join(table(("A", "B"), [("\x1b[31mred", "x")]))


def test_completion_knows_every_command_and_option() -> None:
    known = list(commands(build()))
    paths = [one.path for one in known]
    assert {path for path in paths[1:] if not any(other.startswith(f"{path} ") for other in paths)} == set(WORK)
    for script in (bash(known), zsh(known), fish(known)):
        assert "library show" in script
        assert "merge-policy" in script


@pytest.mark.parametrize(
    ("typed", "offered"),
    [
        (["lib"], ["library"]),
        (["library", "ret"], ["retire"]),
        (["library", "list", "--so"], ["--sort"]),
        (["library", "list", "--sort", ""], ["name", "calls", "success"]),
        (["library", "show", "cou"], ["count_words"]),
        (["completion", "f"], ["fish"]),
    ],
)
def test_bash_completes_commands_options_values_and_names_of_tools(
    typed: list[str], offered: list[str], desk: Desk, tmp_path: Path
) -> None:
    words: Any = ["habilis", *typed]
    if "show" in typed:
        words = ["habilis", "library", "show", "--library", str(desk.library), typed[-1]]
    quoted = " ".join(f"'{word}'" for word in words)
    habilis = f'habilis() {{ "{sys.executable}" -m habilis "$@"; }}\n'
    script = f"{habilis}{bash(list(commands(build())))}\nCOMP_WORDS=({quoted})\nCOMP_CWORD={len(words) - 1}\n"
    done = subprocess.run(
        ["bash", "-c", f'{script}_habilis\nprintf "%s\\n" "${{COMPREPLY[@]}}"'],
        capture_output=True,
        text=True,
        check=True,
        cwd=tmp_path,
    )
    assert done.stdout.split() == offered


def test_a_library_that_a_person_tends_opens_as_before(run: Run, desk: Desk) -> None:
    run("pin", "plus")
    assert Library(desk.library).get("plus").manifest.pinned  # type: ignore[union-attr]


def test_figures_are_the_same_from_files_and_from_the_catalogue(desk: Desk, run: Run) -> None:
    before = json.loads(run("stats", "--json")[1])
    assert run("pin", "plus")[0] == 0
    after = json.loads(run("stats", "--json")[1])
    assert (before["pinned"], after["pinned"]) == (0, 1)
    whole = {"tools", "calls", "success", "by_effects", "by_origin", "by_model", "packages", "most_called"}
    assert {key: after[key] for key in whole} == {key: before[key] for key in whole}
    (desk.library.resolve() / ".catalogue.json").unlink()
    anew = json.loads(run("stats", "--json")[1])
    assert {key: anew[key] for key in whole} == {key: after[key] for key in whole}


def test_a_shell_that_completes_names_does_not_wait_for_what_changes_tools(desk: Desk) -> None:
    look = f"['library', 'list', '--names', '--library', {str(desk.library)!r}]"
    code = f"import sys; from habilis.cli import main; main({look}); print('habilis.curation.curator' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == [*sorted(desk.now().names()), "False"]

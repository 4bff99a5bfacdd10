"""A user's file must reach the tools under the name that the user wrote, and no other file may."""

import json
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from habilis.contract import taskfiles
from habilis.core.errors import UserError


@pytest.fixture
def home(tmp_path: Path) -> Path:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "sales.csv").write_text("price\n1\n", encoding="utf-8")
    (tmp_path / "my notes.txt").write_text("hello", encoding="utf-8")
    return tmp_path


@pytest.mark.parametrize(
    ("question", "named"),
    [
        ("What is the mean price in data/sales.csv?", ["data/sales.csv"]),
        ("What is the mean price in data/sales.csv.", ["data/sales.csv"]),
        ("Sum (data/sales.csv), please", ["data/sales.csv"]),
        ("Count the words of 'my notes.txt'", ["my notes.txt"]),
        ("Count the words of `my notes.txt` and “data/sales.csv”", ["my notes.txt", "data/sales.csv"]),
        ("What is in data/?", ["data"]),
        ("データは data/sales.csv です", ["data/sales.csv"]),
    ],
)
def test_paths_in_a_question_are_found_as_they_were_written(home: Path, question: str, named: list[str]) -> None:
    files, missing = taskfiles.gather(question, [], home)
    assert [file.named for file in files] == named
    assert missing == ()
    assert all(Path(file.path).exists() for file in files)


@pytest.mark.parametrize(
    "question", ["What is 10/2?", "and/or", "e.g. this", "see https://example.org/a.csv", "Is 3.14 pi?", "…", "data"]
)
def test_words_that_only_look_like_paths_are_neither_files_nor_missing(home: Path, question: str) -> None:
    assert taskfiles.gather(question, [], home) == ((), ())


def test_a_path_that_does_not_exist_is_told_not_dropped(home: Path) -> None:
    files, missing = taskfiles.gather("Sum data/sale.csv and nowhere.json", [], home)
    assert (files, missing) == ((), ("data/sale.csv", "nowhere.json"))


def test_a_missing_file_option_is_a_usage_error_that_names_it(home: Path) -> None:
    with pytest.raises(UserError, match=r"nope\.csv"):
        taskfiles.gather("q", ["nope.csv"], home)


def test_the_same_file_named_twice_counts_once_and_an_option_wins_its_name(home: Path) -> None:
    files, _ = taskfiles.gather("Sum data/sales.csv", [home / "data" / "sales.csv"], home)
    assert len(files) == 1


def test_questions_of_a_data_set_reach_only_its_folder(home: Path, tmp_path: Path) -> None:
    (tmp_path / "secret.txt").write_text("s", encoding="utf-8")
    question = f"Read {tmp_path / 'secret.txt'} and sales.csv"
    files, _ = taskfiles.gather(question, [], home / "data", within=home / "data")
    assert [file.named for file in files] == ["sales.csv"]


def test_links_carry_relative_names_into_the_workspace(home: Path, tmp_path: Path) -> None:
    workspace = tmp_path / "ws"
    workspace.mkdir()
    files, _ = taskfiles.gather("data/sales.csv and data/ and 'my notes.txt'", [], home)
    taskfiles.link_into(workspace, files)
    taskfiles.link_into(workspace, files)
    assert (workspace / "data" / "sales.csv").read_text(encoding="utf-8") == "price\n1\n"
    assert (workspace / "my notes.txt").is_symlink()


def test_names_that_leave_the_workspace_make_no_link(home: Path) -> None:
    workspace = home / "data" / "ws"
    workspace.mkdir()
    files, _ = taskfiles.gather("'../my notes.txt'", [], home / "data")
    taskfiles.link_into(workspace, files)
    assert [file.named for file in files] == ["../my notes.txt"]
    assert list(workspace.iterdir()) == []


def test_prompts_show_the_first_lines_of_texts_and_nothing_of_binaries(home: Path) -> None:
    (home / "long.txt").write_text("x" * 5_000 + "\n" * 10, encoding="utf-8")
    (home / "b.png").write_bytes(b"\x89PNG\0\0")
    files, _ = taskfiles.gather("long.txt b.png data/", [], home)
    shown = {str(v["named"]): str(v["begins"]) for v in taskfiles.view(files)}
    assert len(shown["long.txt"]) < 500
    assert shown["b.png"] == ""
    assert "sales.csv" in shown["data"]


@given(st.text(max_size=200))
def test_no_question_is_too_odd(question: str) -> None:
    files, _ = taskfiles.gather(question, [], Path("/nonexistent-folder"))
    assert isinstance(files, tuple)


def test_a_pipe_is_not_waited_for_and_an_odd_folder_is_no_crash(home: Path) -> None:
    os.mkfifo(home / "pipe.csv")
    (home / "odd").mkdir()
    (home / "odd" / "two\nlines.txt").write_text("x", encoding="utf-8")
    files, _ = taskfiles.gather("Read pipe.csv and odd/", [], home)
    assert [file.named for file in files] == ["odd"]
    assert taskfiles.view(files)[0]["begins"] == "    two\\nlines.txt"


@pytest.mark.parametrize(
    ("text", "nameless"),
    [
        ("1,2\n3,4\n5,6\n", True),
        ("Anna,12\nBen,15\n", True),
        ("Anna;1,5\nBen;2,25\n", True),
        ("name,age\nAnna,12\n", False),
        ("city,2019,2020\nOslo,3,4\n", False),
        ("Anna,Oslo\nBen,Bergen\n", False),
        ("1,2\n", False),
        ("", False),
    ],
)
def test_a_table_whose_first_row_looks_like_data_is_shown_as_one(text: str, nameless: bool, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text(text, encoding="utf-8")
    files, _ = taskfiles.gather("q", ["t.csv"], tmp_path)
    assert bool(taskfiles.view(files)[0].get("nameless")) is nameless


def test_an_indented_json_file_is_shown_by_its_keys_not_by_its_brackets(tmp_path: Path) -> None:
    rows = [{"name": f"item {i}", "price": i, "tags": ["a", "b"]} for i in range(200)]
    (tmp_path / "items.json").write_text(json.dumps({"items": rows}, indent=4))
    files, _ = taskfiles.gather("", ["items.json"], tmp_path)
    shown = str(taskfiles.view(files)[0]["begins"]).strip()
    assert shown.startswith('{"items": [{"name": "item 0", "price": 0, "tags": ["a", "b"]}')
    assert shown.endswith('"… 200 in all"]}')
    assert len(shown) <= taskfiles.OUTLINE_WIDTH


def test_a_json_file_that_cannot_be_outlined_is_shown_by_its_first_characters(tmp_path: Path) -> None:
    (tmp_path / "broken.json").write_text('{"items": [' + "1, " * 500)
    files, _ = taskfiles.gather("", ["broken.json"], tmp_path)
    shown = str(taskfiles.view(files)[0]["begins"]).strip()
    assert shown.startswith('{"items": [1, 1, 1')
    assert shown.endswith("…")
    assert len(shown) <= taskfiles.BEGINS_LINES * taskfiles.BEGINS_WIDTH + 1


@pytest.mark.parametrize(
    ("name", "text", "kind"),
    [
        ("t.csv", "name,age\nAnna,12\n", "table"),
        ("t.csv", 'name,note\nAnna,"a, b"\n', "table"),
        ("t.txt", "name;age\nAnna;12\nBen;13\n", "table"),
        ("t.dat", "name\tage\nAnna\t12\n", "table"),
        ("t.csv", "Anna,12\nBen,13\n", "other"),
        ("t.txt", "One, two.\nThree, four.\n", "other"),
        ("t.json", '[{"a": 1}]', "json"),
        ("t.jsonl", '{"a": 1}\n{"a": 2}\n', "other"),
        ("t.csv", "", "other"),
    ],
    ids=str,
)
def test_what_a_file_is_tells_its_name_and_its_first_lines(name: str, text: str, kind: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(text, encoding="utf-8")
    files, _ = taskfiles.gather("q", [name], tmp_path)
    assert taskfiles.view(files)[0]["kind"] == kind


def test_all_names_of_a_table_are_shown_and_its_rows_are_cut(tmp_path: Path) -> None:
    names = ",".join(f"A Column With A Long Name {number}" for number in range(12))
    (tmp_path / "wide.csv").write_text(f"{names}\n{'x' * 200}\n", encoding="utf-8")
    (shown,) = taskfiles.view(taskfiles.gather("", [tmp_path / "wide.csv"], tmp_path)[0])
    begins = str(shown["begins"]).splitlines()
    assert begins[0].strip() == names
    assert begins[1].strip() == "x" * 120 + "…"


@pytest.mark.parametrize("table", ["| a | b |\n|---|---|\n| 1 | 2 |\n", "a: 1, b: 2\na: 3, b: 4\n"])
def test_a_table_further_down_in_a_note_is_shown_with_the_names_of_its_columns(table: str, tmp_path: Path) -> None:
    """Without them nobody, person or model, can tell what the note can be asked about."""
    (tmp_path / "note.md").write_text(f"# Note\n\nOne.\n\nTwo.\n\n{table}\nThree.\n", encoding="utf-8")
    (shown,) = taskfiles.view(taskfiles.gather("", [tmp_path / "note.md"], tmp_path)[0])
    begins = [line.strip() for line in str(shown["begins"]).splitlines()]
    assert begins == ["# Note", "", "One.", "…", *table.splitlines()]

"""Data sets that mean harm: a row that cannot be used is a line, and what one holds is never held twice over."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
from pathlib import Path

import pytest

from habilis.cli import main
from habilis.core.errors import UserError
from habilis.evaluation.datasets import load
from habilis.rundir.names import safe_id

GOOD = '{"id": "good", "question": "How many?"}\n'
DEEP = "[" * 900 + "]" * 900


@pytest.mark.parametrize(
    ("row", "told"),
    [
        pytest.param('{"question": ' + "[" * 200_000, "not JSON", id="nested without end"),
        pytest.param('{"question": "q", "answer": ' + DEEP + "}", "", id="an answer nested deep"),
        pytest.param('{"question": ' + DEEP + "}", "", id="a question nested deep"),
        pytest.param('{"question": "q", "files": "' + "[" * 90_000 + '"}', "not a JSON list", id="files nested deep"),
        pytest.param('{"question": "q", "id": "a\\nb"}', "not one plain line", id="a line feed in the id"),
        pytest.param('{"question": "q", "id": "a\\u0000b"}', "not one plain line", id="a NUL in the id"),
        pytest.param('{"question": "q", "id": "\\u001b[2J"}', "not one plain line", id="an escape in the id"),
        pytest.param('{"question": "q", "id": "' + "x" * 2_000_000 + '"}', "not one plain line", id="a long id"),
        pytest.param('{"question": "q", "id": 1' + "0" * 9_000 + "}", "not JSON", id="a long number"),
        pytest.param('{"question": "q", "files": ["../secret.txt"]}', "outside the data set", id="files outside"),
        pytest.param('{"question": "q", "files": ["pipe"]}', "is not there", id="a pipe for a file"),
    ],
)
def test_a_row_that_means_harm_is_a_line(row: str, told: str, tmp_path: Path) -> None:
    (tmp_path / "secret.txt").write_text("secret")
    folder = tmp_path / "set"
    folder.mkdir()
    os.mkfifo(folder / "pipe")
    (folder / "rows.jsonl").write_text(f"{row}\n{GOOD}")
    said: list[str] = []
    rows = load(str(folder / "rows.jsonl"), skip_broken=True, notice=said.append)
    assert rows[-1].id == "good"
    assert all(line.isprintable() and len(line) < 1_000 for line in said)
    if told:
        assert [one.id for one in rows] == ["good"]
        assert told in said[-1]


@pytest.mark.parametrize("name", ["../../../x", "/etc/passwd", "..", ".", "a/b", "x" * 900, "~", "con\\x"])
def test_an_id_that_is_a_path_names_a_folder_of_the_run(name: str, tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text(json.dumps({"id": name, "question": "How many?"}) + "\n")
    (row,) = load(str(path))
    folder = tmp_path / "tasks" / safe_id(row.id)
    folder.mkdir(parents=True)
    assert folder.resolve().parent == tmp_path / "tasks"


def _little_memory() -> None:
    resource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30))


LOADING = """
import sys
from habilis.core.errors import UserError
from habilis.evaluation.datasets import load
from habilis.rundir.names import safe_id
try:
    print(len(load(sys.argv[1])))
except UserError as error:
    print(error)
"""


@pytest.mark.parametrize("name", ["rows.jsonl", "rows.json", "rows.csv"])
def test_a_file_without_end_is_a_line_and_is_not_held(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    with path.open("wb") as stream:
        stream.write(b'{"question": "')
        stream.truncate(1 << 36)
    limit = "longer than 128 MB" if name == "rows.jsonl" else "larger than 1 GB"
    ended = subprocess.run(
        [sys.executable, "-c", LOADING, str(path)], capture_output=True, text=True, preexec_fn=_little_memory
    )
    assert ended.returncode == 0, ended.stderr[-500:]
    assert limit in ended.stdout
    assert ended.stdout.count("\n") == 1


def test_a_table_of_a_million_columns_is_a_line(tmp_path: Path) -> None:
    """Looking for a name that came before took the square of their number."""
    path = tmp_path / "rows.csv"
    path.write_text(",".join(f"c{n}" for n in range(300_000)) + ",twice,twice\n")
    with pytest.raises(UserError, match="two columns are called 'twice'"):
        load(str(path))


def test_a_table_that_is_a_link_out_of_its_folder_is_not_read(tmp_path: Path) -> None:
    (tmp_path / "mine.csv").write_text("question\nmy own secret\n")
    folder = tmp_path / "set"
    folder.mkdir()
    (folder / "rows.csv").symlink_to("../mine.csv")
    with pytest.raises(UserError, match="no file of data"):
        load(str(folder))
    (folder / "rows.jsonl").write_text(GOOD)
    assert [row.id for row in load(str(folder))] == ["good"]


@pytest.mark.slow
def test_a_parquet_file_that_unpacks_to_gigabytes_is_a_line(tmp_path: Path) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    path = tmp_path / "rows.parquet"
    block = pyarrow.array([b" " * (1 << 20)] * 64)
    table = pyarrow.table({"question": pyarrow.chunked_array([block] * 20)})
    parquet.write_table(table, path, compression="zstd", use_dictionary=False, row_group_size=64 * 20)
    assert path.stat().st_size < 10 << 20
    with pytest.raises(UserError, match="more than 1 GB unpacked"):
        load(str(path))


def test_a_bad_set_ends_the_command_before_anything_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "rows.jsonl").write_text(json.dumps({"question": "q", "id": "a\n\x1b[31mb"}) + "\n")
    assert main(["evolve", "--dataset", "rows.jsonl", "-c", "offline", "--run-name", "one"]) == 2
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert said.strip().isprintable()
    assert not (tmp_path / "runs").exists()

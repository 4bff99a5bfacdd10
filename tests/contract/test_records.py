"""Recorded calls: what a later replay needs is kept, and nothing that lies outside the task."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from habilis.contract import records
from habilis.contract.paths import FileRefused, read_confined
from habilis.contract.records import RecordStore, equal, is_empty, recorded, set_error
from habilis.core.masker import Masker
from habilis.core.types import CallOutcome, Invocation
from habilis.library import Library
from habilis.rundir import files
from habilis.synthesis.scratch import moved_names, scratch_name

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=10),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
    max_leaves=12,
)


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    folder = tmp_path / "workspace"
    folder.mkdir()
    return folder


def call(arguments: dict[str, Any] | None = None, **fields: Any) -> Invocation:
    outcome = {"output": {"result": 1}, "level": "bubblewrap"} | fields.pop("outcome", {})
    return Invocation(
        call_id=fields.pop("call_id", "c1"),
        tool="count_rows",
        version="v1",
        arguments=arguments or {},
        outcome=CallOutcome(**outcome),
        verdict=fields.pop("verdict", "success"),
        **fields,
    )


def kept(invocation: Invocation, workspace: Path, *files: Path) -> dict[str, bytes]:
    record, contents = recorded(invocation, workspace=workspace, files=files)
    assert record.replayable, record.why_not
    return contents


def why_not(invocation: Invocation, workspace: Path, *files: Path) -> str:
    record, contents = recorded(invocation, workspace=workspace, files=files)
    assert contents == {}
    return record.why_not or ""


def test_a_task_file_is_kept_under_the_name_in_the_arguments(workspace: Path, tmp_path: Path) -> None:
    file = tmp_path / "sales.csv"
    file.write_text("price\n1\n")
    (workspace / "sales.csv").symlink_to(file)
    opened = {"opened": (str(file),)}
    assert kept(call({"path": "sales.csv"}, outcome=opened), workspace, file) == {"sales.csv": b"price\n1\n"}
    assert kept(call({"path": str(file)}, outcome=opened), workspace, file) == {str(file): b"price\n1\n"}
    assert kept(call({"paths": [{"p": "./sales.csv"}]}), workspace, file) == {"./sales.csv": b"price\n1\n"}


def test_a_file_in_a_folder_that_is_named_is_kept_below_that_name(workspace: Path, tmp_path: Path) -> None:
    folder = tmp_path / "data"
    (folder / "deep").mkdir(parents=True)
    (folder / "a.csv").write_text("a")
    (folder / "deep" / "b.csv").write_text("b")
    contents = kept(call({"folder": f"{folder}/"}, outcome={"opened": (f"{folder}/a.csv",)}), workspace, folder)
    assert contents == {f"{folder}/a.csv": b"a", f"{folder}/deep/b.csv": b"b"}


def test_a_file_of_the_workspace_that_the_tool_finds_by_itself_is_kept(workspace: Path) -> None:
    (workspace / "notes.txt").write_text("n")
    assert kept(call({}, outcome={"opened": ("notes.txt",)}), workspace) == {"notes.txt": b"n"}


def test_what_a_call_made_is_no_input_of_it(workspace: Path) -> None:
    (workspace / "out.csv").write_text("made")
    assert kept(call({"path": "out.csv"}, effects="writes", outcome={"made": ("out.csv",)}), workspace) == {}


def test_calls_that_cannot_be_repeated_say_why(workspace: Path, tmp_path: Path) -> None:
    (workspace / "a.csv").write_text("changed")
    (tmp_path / "hard_coded.csv").write_text("x")
    changed = call({"path": "a.csv"}, effects="writes", outcome={"opened": ("a.csv",), "made": ("a.csv",)})
    assert "changed a file" in why_not(changed, workspace)
    outside = call({"path": "a.csv"}, effects="writes", outcome={"level": "off"})
    assert "outside the workspace" in why_not(outside, workspace)
    unnamed = call({}, outcome={"opened": (str(tmp_path / "hard_coded.csv"),)})
    assert "do not name" in why_not(unnamed, workspace, tmp_path / "hard_coded.csv")


def test_nothing_outside_the_task_is_read_even_by_a_link_that_a_tool_left(workspace: Path, tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("secret")
    (workspace / "link").symlink_to(tmp_path / "secret")
    for name in ("link", str(tmp_path / "secret"), "../secret", "/", ".."):
        assert kept(call({"path": name}), workspace) == {}
    assert "outside" in why_not(call({}, outcome={"opened": ("link",)}), workspace)
    os.mkfifo(workspace / "pipe")
    assert "not a plain file" in why_not(call({"path": "pipe"}), workspace)


def test_a_text_that_is_no_file_name_is_only_an_argument(workspace: Path) -> None:
    assert kept(call({"text": "a\0b", "long": "x" * 5000, "lines": "a\nb", "dot": ".", "n": 3}), workspace) == {}


def test_the_workspace_is_a_dot_in_the_record(workspace: Path) -> None:
    record, _ = recorded(call(outcome={"output": {"saved": f"{workspace}/a.png"}}), workspace=workspace)
    assert record.output == {"saved": "./a.png"}


def test_a_call_with_too_much_content_is_recorded_without_it(tmp_path: Path, workspace: Path) -> None:
    (workspace / "big.csv").write_bytes(b"x" * 11_000_000)
    record, contents = recorded(call({"path": "big.csv"}), workspace=workspace)
    assert not record.replayable
    assert contents == {}
    store = RecordStore(tmp_path / "records", max_call=10, max_library=15)
    assert store.keep({"a": b"12345678901"})[1] == "its files hold more than 10 bytes"
    assert store.keep({"a": b"1234567890"})[1] is None
    assert store.keep({"a": b"1234567890", "b": b""})[1] is None, "the same content is kept once"
    assert store.keep({"a": b"other text"})[1] == "the library's records hold 15 bytes already"


def test_content_is_found_by_its_digest_and_only_if_it_is_whole(tmp_path: Path) -> None:
    store = RecordStore(tmp_path / "records")
    digests, _ = store.keep({"a.csv": b"abc"})
    assert store.content(digests["a.csv"]) == b"abc"
    (tmp_path / "records" / "files" / digests["a.csv"]).write_bytes(b"abd")
    assert store.content(digests["a.csv"]) is None
    assert store.content("../../etc/passwd") is None


def test_a_torn_line_loses_only_itself(tmp_path: Path) -> None:
    library = Library(tmp_path / "tools")
    library.record(call(call_id="c1"), workspace=tmp_path)
    with library.store.path("count_rows").open("ab") as stream:
        stream.write(b'{"call_id": "c2", "to')
    library.record(call(call_id="c3"), workspace=tmp_path)
    assert [record.call_id for record in library.records("count_rows")] == ["c1", "c3"]


def turned(line: bytes, what: bytes, to: bytes) -> bytes:
    assert line.count(what) == 1
    return line.replace(what, to)


@pytest.mark.parametrize("how", ["append", "extend"])
def test_a_call_in_which_one_letter_changed_is_passed_over_and_the_log_names_its_line(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, how: str
) -> None:
    """Tools would be held to a result that no call ever gave."""
    store = RecordStore(tmp_path)
    calls = [recorded(call(call_id=name, outcome={"output": {"result": 12}}), workspace=tmp_path)[0] for name in "ab"]
    if how == "append":
        for one in calls:
            store.append(one)
    else:
        store.extend("count_rows", calls)
    first, second = store.path("count_rows").read_bytes().splitlines(keepends=True)
    store.path("count_rows").write_bytes(first + turned(second, b'"result":12', b'"result":13'))
    assert [one.call_id for one in store.read("count_rows")] == ["a"]
    assert f"{store.path('count_rows')} line 2" in caplog.text
    assert "checksum" in caplog.text


def test_a_call_of_an_earlier_version_without_checksum_is_read(tmp_path: Path) -> None:
    record, _ = recorded(call(), workspace=tmp_path)
    (tmp_path / "count_rows.jsonl").write_text(json.dumps(record.model_dump()) + "\n")
    assert RecordStore(tmp_path).read("count_rows") == [record]


def test_a_secret_that_became_known_later_is_masked_and_the_calls_still_count(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    masker = Masker()
    monkeypatch.setattr(records, "MASKER", masker)
    monkeypatch.setattr(files, "MASKER", masker)
    store = RecordStore(tmp_path)
    for name in "ab":
        store.append(recorded(call({"key": f"open-sesame-{name}"}, call_id=name), workspace=tmp_path)[0])
    masker.add("KEY", "open-sesame-a")
    store.extend("count_rows", [recorded(call(call_id="c"), workspace=tmp_path)[0]])
    assert b"open-sesame-a" not in store.path("count_rows").read_bytes()
    assert [one.call_id for one in store.read("count_rows")] == ["a", "b", "c"]


def test_recorded_again_a_call_takes_the_verdict_and_keeps_its_files(tmp_path: Path, workspace: Path) -> None:
    library = Library(tmp_path / "tools")
    (workspace / "a.csv").write_text("first")
    library.record(call({"path": "a.csv"}, verdict=None), workspace=workspace)
    (workspace / "a.csv").write_text("changed since")
    again = library.record(call({"path": "a.csv"}, verdict="failure"), workspace=workspace)
    assert library.records("count_rows") == [again]
    assert again.verdict == "failure"
    assert library.content(again.files["a.csv"]) == b"first"


@pytest.mark.parametrize("output", [float("nan"), float("inf"), "\ud800", "计算", {"k": [1, None]}])
def test_any_output_comes_back_as_it_was(tmp_path: Path, output: Any) -> None:
    library = Library(tmp_path / "tools")
    library.record(call(outcome={"output": output}), workspace=tmp_path)
    assert equal(library.records("count_rows")[0].output, output)


def test_a_file_of_bounded_size_is_read(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"abc")
    assert read_confined(tmp_path / "a", [tmp_path], 3) == b"abc"
    with pytest.raises(FileRefused, match="larger than 2 bytes"):
        read_confined(tmp_path / "a", [tmp_path], 2)
    with pytest.raises(FileRefused, match="cannot be read"):
        read_confined(tmp_path / "none", [tmp_path], 2)
    with pytest.raises(FileRefused):
        read_confined(tmp_path, [tmp_path], 2)


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        (1, 1.0, True),
        (0.1 + 0.2, 0.3, True),
        (1.0, 1.0 + 1e-8, False),
        (0.0, 1e-300, False),
        (10**400, 1.5, False),
        (10**20, 10**20 + 1, False),
        (True, 1, False),
        (None, 0, False),
        ("1", 1, False),
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}, True),
        ({"a": None}, {}, False),
        ([1, 2], [2, 1], False),
        ([1], [1, 1], False),
        (float("inf"), float("inf"), True),
        (float("inf"), 1e308, False),
    ],
)
def test_equality_of_outputs(one: Any, other: Any, same: bool) -> None:
    assert equal(one, other) is same
    assert equal(other, one) is same


@given(JSON, JSON)
def test_equality_is_reflexive_and_symmetric(one: Any, other: Any) -> None:
    assert equal(one, one)
    assert equal(one, other) == equal(other, one)


@given(st.dictionaries(st.text(max_size=5), JSON, max_size=5))
def test_equality_ignores_the_order_of_keys(value: dict[str, Any]) -> None:
    assert equal(value, dict(reversed(value.items())))


@given(st.floats(allow_nan=False, allow_infinity=False, min_value=1e-200, max_value=1e200))
def test_numbers_are_equal_to_a_billionth(number: float) -> None:
    assert equal(number, number * (1 + 5e-10))
    assert not equal(number, number * (1 + 5e-9))


@pytest.mark.parametrize("output", [None, "", "  ", {}, {"result": None, "error": None}, {"result": "  "}])
def test_nothing_is_nothing(output: Any) -> None:
    assert is_empty(output)


@pytest.mark.parametrize("output", [0, False, [], {"result": 0}, {"rows": []}, {"found": False, "text": None}])
def test_an_empty_list_zero_and_false_are_answers(output: Any) -> None:
    assert not is_empty(output)
    assert set_error(output) is None


@pytest.mark.parametrize(
    ("name", "moved"),
    [
        ("a.csv", "a.csv"),
        ("./d/a.csv", "d/a.csv"),
        ("/data/a.csv", "root/data/a.csv"),
        ("../a.csv", "up/a.csv"),
        ("d/../../a.csv", "d/up/up/a.csv"),
    ],
)
def test_names_that_lead_out_are_moved_below_the_scratch_workspace(name: str, moved: str) -> None:
    assert scratch_name(name) == moved


@given(st.text(alphabet="ab./", max_size=20))
def test_no_name_leads_out_of_a_scratch_workspace(name: str) -> None:
    moved = Path("/scratch") / scratch_name(name)
    assert ".." not in moved.parts
    assert moved.is_relative_to("/scratch")


def test_a_folder_above_a_recorded_file_is_moved_with_it() -> None:
    files = {"/data/x/a.csv": "d"}
    arguments = {
        "folder": "/data/x/",
        "file": "/data/x/a.csv",
        "other": "/data/xy",
        "separator": "/",
        "url": "http://a/b",
        "up": "a",
    }
    assert moved_names(arguments, files) == {"/data/x/": "root/data/x", "/data/x/a.csv": "root/data/x/a.csv"}

"""Checkpoints of strangers: nothing that they name is imported or called, whatever way it is named in."""

from __future__ import annotations

import contextlib
import json
import os
import pickle
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import ormsgpack
import psutil
import pytest
from langchain_core.messages import AIMessage, AIMessageChunk, HumanMessage, SystemMessage, ToolMessage
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from langgraph.types import Interrupt

from habilis.agents.checkpoints import NewestCheckpoints, unusable
from habilis.agents.plainstate import Foreign, PlainSerializer
from habilis.core.errors import UserError

PERMISSIVE = JsonPlusSerializer(allowed_msgpack_modules=True, allowed_json_modules=True, pickle_fallback=True)
"""As LangGraph reads by default, and with all that it can be told to read: the control that an attack is alive."""
OLD = JsonPlusSerializer(allowed_msgpack_modules=True)
Ran = Callable[[Path], bool]
CONFIG: Any = {"configurable": {"thread_id": "task", "checkpoint_ns": ""}}


class _Shell:
    def __init__(self, command: str) -> None:
        self.command = command

    def __reduce__(self) -> tuple[Any, ...]:
        return os.system, (self.command,)


def extension(code: int, *parts: Any) -> tuple[str, bytes]:
    return "msgpack", ormsgpack.packb({"x": ormsgpack.Ext(code, ormsgpack.packb(parts))})


def inside_a_message(command: str) -> tuple[str, bytes]:
    shell = ormsgpack.Ext(0, ormsgpack.packb(("os", "system", command)))
    fields = {"content": "x", "additional_kwargs": {"y": shell}}
    return extension(5, "langchain_core.messages.human", "HumanMessage", fields, "model_validate_json")


ATTACKS: dict[str, Callable[[str], tuple[str, bytes]]] = {
    "a constructor with one argument": lambda command: extension(0, "os", "system", command),
    "a constructor with arguments": lambda command: extension(1, "os", "system", [command]),
    "a constructor with names": lambda command: extension(2, "subprocess", "Popen", {"args": command, "shell": True}),
    "Pydantic 1": lambda command: extension(4, "subprocess", "Popen", {"args": command, "shell": True}),
    "Pydantic 2": lambda command: extension(5, "subprocess", "Popen", {"args": command, "shell": True}, "x"),
    "a snapshot around it": lambda command: (
        "msgpack",
        ormsgpack.packb(ormsgpack.Ext(7, extension(0, "os", "system", command)[1])),
    ),
    "within a message": inside_a_message,
    "JSON with a constructor": lambda command: (
        "json",
        json.dumps({"lc": 2, "type": "constructor", "id": ["os", "system"], "args": [command]}).encode(),
    ),
    "a pickle": lambda command: ("pickle", pickle.dumps(_Shell(command))),
}


@pytest.fixture
def ran() -> Ran:
    """Tells whether the payload's command was run. A program that was started without waiting is waited for; those that
    were there before, of other tests, are not."""
    others = {child.pid for child in psutil.Process().children()}

    def look(canary: Path) -> bool:
        for child in psutil.Process().children():
            if child.pid not in others:
                with contextlib.suppress(ChildProcessError):
                    os.waitpid(child.pid, 0)
        return canary.exists()

    return look


@pytest.mark.filterwarnings("ignore::ResourceWarning")
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("attack", ATTACKS)
def test_no_value_of_a_checkpoint_calls_anything(tmp_path: Path, ran: Ran, attack: str) -> None:
    control, canary = tmp_path / "control", tmp_path / "canary"
    PERMISSIVE.loads_typed(ATTACKS[attack](f"touch {control}"))
    assert ran(control), "the payload is dead: nothing is shown by refusing it"
    with pytest.raises(Foreign):
        PlainSerializer().loads_typed(ATTACKS[attack](f"touch {canary}"))
    assert not ran(canary)


@pytest.mark.parametrize("attack", [name for name in ATTACKS if name not in ("JSON with a constructor", "a pickle")])
@pytest.mark.parametrize("place", ["checkpoint", "write"])
@pytest.mark.filterwarnings("ignore::ResourceWarning")
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_no_column_of_a_file_of_checkpoints_calls_anything(tmp_path: Path, ran: Ran, attack: str, place: str) -> None:
    """Through the saver that a resume opens, in the state and in what nodes had written."""
    path, canary = stored(tmp_path / "checkpoints.sqlite"), tmp_path / "canary"
    kind, raw = ATTACKS[attack](f"touch {canary}")
    with sqlite3.connect(path) as connection:
        if place == "checkpoint":
            connection.execute("UPDATE checkpoints SET type = ?, checkpoint = ?", (kind, raw))
        else:
            row = ("task", "", "1", "t", "", 0, "messages", kind, raw)
            connection.execute("INSERT INTO writes VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", row)
    connection.close()
    with pytest.raises(UserError, match="never writes") as refused, NewestCheckpoints.at(path) as saver:
        saver.get_tuple(CONFIG)
    assert "\n" not in str(refused.value)
    assert not ran(canary)


def checkpoint(messages: Any = ()) -> Any:
    return {
        "v": 4,
        "ts": "2026-01-01",
        "id": "1",
        "channel_values": {"messages": list(messages)},
        "channel_versions": {"messages": "1"},
        "versions_seen": {},
        "updated_channels": None,
    }


def stored(path: Path, messages: Any = ()) -> Path:
    with NewestCheckpoints.at(path) as saver:
        saver.put(CONFIG, checkpoint(messages), {"source": "loop", "step": 1, "parents": {}}, {})
    return path


MESSAGES = [
    HumanMessage("q", id="1"),
    AIMessage(
        "a",
        tool_calls=[{"name": "t", "args": {"x": [1, {"y": None}]}, "id": "c"}],
        usage_metadata={"input_tokens": 1, "output_tokens": 2, "total_tokens": 3},
        response_metadata={"finish_reason": "stop"},
        additional_kwargs={"reasoning_content": "平均"},
    ),
    ToolMessage("r", tool_call_id="c", artifact={"z": 1.5}),
    SystemMessage([{"type": "text", "text": "s"}]),
]


@pytest.mark.parametrize("value", [MESSAGES, (Interrupt(value={"question": "?"}, id="i"),), None, "x", {"a": [1, 2.5]}])
def test_what_earlier_versions_wrote_is_read_as_it_was_and_the_other_way_round(value: Any) -> None:
    held = list(value) if isinstance(value, tuple) else value
    assert PlainSerializer().loads_typed(OLD.dumps_typed(value)) == held
    assert OLD.loads_typed(PlainSerializer().dumps_typed(value)) == held
    assert PlainSerializer().loads_typed(PlainSerializer().dumps_typed(value)) == held


def test_a_message_of_a_clients_own_class_is_kept_as_its_kind() -> None:
    (found,) = PlainSerializer().loads_typed(PlainSerializer().dumps_typed([AIMessageChunk("part")]))
    assert (type(found), found.content) == (AIMessage, "part")


def test_what_no_resume_could_read_is_not_written() -> None:
    with pytest.raises(TypeError, match="set"):
        PlainSerializer().dumps_typed({"seen": {1, 2}})


def test_a_file_of_before_the_last_column_is_read(tmp_path: Path) -> None:
    path = tmp_path / "old.sqlite"
    connection = sqlite3.connect(path)
    connection.executescript(
        """CREATE TABLE checkpoints (
                thread_id TEXT NOT NULL,
                checkpoint_ns TEXT NOT NULL DEFAULT '',
                checkpoint_id TEXT NOT NULL,
                parent_checkpoint_id TEXT,
                type TEXT,
                checkpoint BLOB,
                metadata BLOB,
                PRIMARY KEY (thread_id, checkpoint_ns, checkpoint_id)
        );
        CREATE TABLE writes (
                thread_id TEXT NOT NULL,
                checkpoint_ns TEXT NOT NULL DEFAULT '',
                checkpoint_id TEXT NOT NULL,
                task_id TEXT NOT NULL,
                idx INTEGER NOT NULL,
                channel TEXT NOT NULL,
                type TEXT,
                value BLOB,
                PRIMARY KEY (thread_id, checkpoint_ns, checkpoint_id, task_id, idx)
        );
        ALTER TABLE writes ADD COLUMN task_path TEXT NOT NULL DEFAULT '';
        """
    )
    row = ("task", "", "1", None, *OLD.dumps_typed(checkpoint(MESSAGES)), b"{}")
    connection.execute("INSERT INTO checkpoints VALUES (?, ?, ?, ?, ?, ?, ?)", row)
    connection.commit()
    connection.close()
    with NewestCheckpoints.at(path) as saver:
        found = saver.get_tuple(CONFIG)
    assert found is not None
    assert found.checkpoint["channel_values"]["messages"] == MESSAGES


SCHEMAS = {
    "a trigger": "CREATE TRIGGER t AFTER INSERT ON writes BEGIN UPDATE checkpoints SET metadata = 'x'; END",
    "a view": "ALTER TABLE writes RENAME TO w; CREATE VIEW writes AS SELECT * FROM w",
    "a virtual table": "CREATE VIRTUAL TABLE f USING fts5(x)",
    "a column that is computed": "ALTER TABLE writes ADD COLUMN y AS (hex(zeroblob(1000)))",
    "another table": "CREATE TABLE more (x)",
    "an index that computes": "CREATE INDEX i ON writes (upper(channel))",
    "one table less": "DROP TABLE writes",
}


@pytest.mark.parametrize("odd", SCHEMAS)
def test_a_file_of_another_form_is_refused(tmp_path: Path, odd: str) -> None:
    path = stored(tmp_path / "checkpoints.sqlite")
    connection = sqlite3.connect(path)
    connection.executescript(SCHEMAS[odd])
    connection.close()
    with pytest.raises(UserError, match="never writes"), NewestCheckpoints.at(path):
        pass


@pytest.mark.parametrize("ending", ["", "-wal", "-shm", "-journal"])
def test_no_link_in_the_place_of_sqlites_files_is_followed(tmp_path: Path, ending: str) -> None:
    path, outside = tmp_path / "checkpoints.sqlite", tmp_path / "outside"
    outside.write_text("precious")
    path.with_name(path.name + ending).symlink_to(outside)
    with pytest.raises(UserError, match="link"), NewestCheckpoints.at(path):
        pass
    assert outside.read_text() == "precious"


def test_a_journal_that_has_another_file_deleted_is_refused(tmp_path: Path) -> None:
    """SQLite rolls such a journal back and deletes the file that it names when nothing else needs it."""
    victim = tmp_path / "thesis.txt"

    def laid(path: Path) -> Path:
        victim.write_text("precious")
        path.write_bytes(page := _database(path))
        name = str(victim).encode()
        checksum = sum(int.from_bytes(bytes([b]), signed=True) for b in name) & 0xFFFFFFFF
        magic = bytes.fromhex("d9d505f920a163d7")
        head = magic + b"".join(n.to_bytes(4) for n in (0, 7, len(page) // 4096, 512, 4096)) + bytes(484)
        lock_page = ((0x40000000 // 4096) + 1).to_bytes(4)
        tail = lock_page + name + len(name).to_bytes(4) + checksum.to_bytes(4) + magic
        path.with_name(f"{path.name}-journal").write_bytes(head + tail)
        return path

    with sqlite3.connect(laid(tmp_path / "control.sqlite")) as control:
        control.execute("SELECT * FROM sqlite_schema").fetchall()
    control.close()
    assert not victim.exists(), "the journal is dead: nothing is shown by refusing it"
    path = laid(tmp_path / "checkpoints.sqlite")
    with pytest.raises(UserError, match="journal"), NewestCheckpoints.at(path):
        pass
    assert victim.read_text() == "precious"


def _database(path: Path) -> bytes:
    fresh = path.with_name("fresh.sqlite")
    fresh.unlink(missing_ok=True)
    connection = sqlite3.connect(fresh)
    connection.execute("CREATE TABLE x (y)")
    connection.commit()
    connection.close()
    return fresh.read_bytes()


SHAPES: dict[str, Any] = {
    "no object": [1],
    "values in a list": {**checkpoint(), "channel_values": []},
    "versions of no kind": {**checkpoint(), "channel_versions": {"messages": []}},
    "no id": {**checkpoint(), "id": 7},
}


@pytest.mark.parametrize("shape", SHAPES)
def test_a_checkpoint_of_another_shape_is_refused(tmp_path: Path, shape: str) -> None:
    path = stored(tmp_path / "checkpoints.sqlite")
    with sqlite3.connect(path) as connection:
        packed = ormsgpack.packb(SHAPES[shape])
        connection.execute("UPDATE checkpoints SET type = 'msgpack', checkpoint = ?", (packed,))
    connection.close()
    with pytest.raises(UserError, match="never writes"), NewestCheckpoints.at(path) as saver:
        saver.get_tuple(CONFIG)


@pytest.mark.parametrize("raw", [b"\xdd\xff\xff\xff\xff", b"\x91" * 100_000 + b"\x01", b"", b"\xc1"])
def test_bytes_that_are_no_state_are_refused(raw: bytes) -> None:
    with pytest.raises(Foreign):
        PlainSerializer().loads_typed(("msgpack", raw))


def test_a_turned_bit_within_a_value_is_seen_and_a_value_without_checksum_is_read(tmp_path: Path) -> None:
    path = stored(tmp_path / "checkpoints.sqlite", [HumanMessage("How many apples?")])
    assert unusable(path) == ""
    with contextlib.closing(sqlite3.connect(path)) as connection:
        ((kind, before),) = connection.execute("SELECT type, checkpoint FROM checkpoints").fetchall()
        turned = before.replace(b"apples", b"applez")
        assert PlainSerializer().loads_typed(("msgpack", turned))["channel_values"], "the form is as it was"
        connection.execute("UPDATE checkpoints SET checkpoint = ?", (turned,))
        connection.commit()
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)], "SQLite sees nothing"
    assert "does not fit its checksum" in unusable(path)
    with contextlib.closing(sqlite3.connect(path)) as connection:
        connection.execute("UPDATE checkpoints SET checkpoint = ?, type = 'msgpack'", (before,))
        connection.commit()
    assert kind.startswith("msgpack ")
    assert unusable(path) == ""

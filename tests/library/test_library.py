"""A library keeps every tool whole, whatever happens to the process, the disk or the files in it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from habilis.contract.contract import read_contract
from habilis.contract.runnable import Description
from habilis.core.errors import UserError
from habilis.core.types import CallOutcome, Invocation
from habilis.library import LayeredLibrary, Library, Origin

from .. import nursery

Source = Callable[..., str]
EMPTY_SCHEMA: dict[str, Any] = {"type": "object", "properties": {"path": {"type": "string"}}}


def described(name: str = "count_rows") -> Description:
    return Description(name=name, description="", input_schema=EMPTY_SCHEMA, output_schema={"type": "object"})


def add(library: Library, source: str, name: str = "count_rows", **origin: Any) -> Any:
    return library.add(source, described(name), read_contract(source), name=name, origin=Origin(**origin))


def replaced(library: Library, source: str, name: str = "count_rows") -> Any:
    return library.replace(name, source, described(name), read_contract(source), origin=Origin(how="enhanced"))


def invocation(tool: Any, call_id: str = "c1", verdict: Any = "success", **fields: Any) -> Invocation:
    outcome = fields.pop("outcome", CallOutcome(output={"result": 2}, level="bubblewrap"))
    return Invocation(call_id=call_id, tool=tool.name, version=tool.version, outcome=outcome, verdict=verdict, **fields)


@pytest.fixture
def library(tmp_path: Path) -> Library:
    return Library(tmp_path / "tools")


def test_a_tool_lies_in_the_folder_with_its_manifest(library: Library, source_of: Source) -> None:
    tool = add(library, source_of(), task="t1", writer="said", model="m", smoke="passed")
    assert (library.path / "count_rows.py").read_text() == source_of()
    manifest = json.loads((library.path / "count_rows.json").read_text())
    assert manifest["format"] == 1
    assert manifest["digest"].startswith(tool.version)
    assert manifest["origin"]["task"] == "t1"
    assert manifest["status"] == "private"
    assert Library(library.path).get("count_rows") == tool
    assert tool.card.parameters == ("path",)
    assert tool.spec.name == "count_rows"
    assert tool.runnable.module == library.path / "count_rows.py"


def test_a_manifest_of_an_earlier_version_is_read_and_written_without_what_is_gone(
    library: Library, source_of: Source
) -> None:
    add(library, source_of())
    path = library.path / "count_rows.json"
    written = json.loads(path.read_text())
    assert "trusted_effects" not in written
    path.write_text(
        json.dumps({key: value for key, value in written.items() if key != "crc32"} | {"trusted_effects": "pure"})
    )
    kept = Library(library.path).get("count_rows")
    assert kept is not None
    assert kept.effects == written["effects"]


def test_schemas_come_back_with_their_nulls(library: Library, source_of: Source) -> None:
    schema = {"type": "object", "properties": {"a": {"type": "string", "default": None}}}
    description = Description(name="count_rows", description="", input_schema=schema, output_schema={})
    library.add(source_of(), description, read_contract(source_of()), name="count_rows")
    tool = Library(library.path).get("count_rows")
    assert tool is not None
    assert tool.input_schema == schema


def test_a_library_that_is_not_there_is_empty_and_stays_unmade(library: Library) -> None:
    assert library.names() == []
    assert library.broken() == []
    assert library.get("count_rows") is None
    assert not library.path.exists()


def test_a_broken_file_is_reported_and_skipped_and_kept(library: Library, source_of: Source) -> None:
    add(library, source_of())
    (library.path / "half.py").write_text("def run(:")
    (library.path / "bytes.py").write_bytes(b"\xff\xfe\x00")
    add(library, source_of("spoilt"), "spoilt")
    (library.path / "spoilt.json").write_text("{")
    (library.path / "link.py").symlink_to("/etc/passwd")
    (library.path / "folder.py").mkdir()
    assert library.names() == ["count_rows"]
    assert {broken.file for broken in library.broken()} == {"half.py", "bytes.py", "spoilt.py", "link.py", "folder.py"}
    assert (library.path / "half.py").exists()
    assert (library.path / "spoilt.py").exists()


@pytest.mark.parametrize("name", ["../outside", "/etc/passwd", "a/b", "", ".hidden", "records/x", "\0"])
def test_a_crafted_name_never_leaves_the_folder(library: Library, source_of: Source, name: str) -> None:
    add(library, source_of())
    (library.path.parent / "outside.py").write_text(source_of("outside"))
    assert library.get(name) is None
    assert library.records(name) == []
    with pytest.raises(ValueError, match="cannot be a tool's name"):
        add(library, source_of(), name)
    with pytest.raises(KeyError):
        library.archive(name, "because")
    assert (library.path.parent / "outside.py").exists()


@pytest.mark.parametrize("name", ["json", "class", "pydantic", "__init__", "records", "archive"])
def test_a_tool_may_be_called_like_a_module_or_a_folder_of_ours(library: Library, source_of: Source, name: str) -> None:
    with library.reserve(name) as free:
        add(library, source_of(), free)
    assert library.names() == [free]
    assert library.record(invocation(library.get(free)), workspace=library.path).tool == free


def test_names_are_given_once(library: Library, source_of: Source) -> None:
    with library.reserve("count rows") as first, library.reserve("count-rows") as second:
        assert (first, second) == ("count_rows", "count_rows_v02")
        add(library, source_of(), first)
        with Library(library.path).reserve("count_rows") as third:
            assert third == "count_rows_v03"
    with library.reserve("count_rows") as again:
        assert again == "count_rows_v02"


def test_a_preset_keeps_its_name(library: Library) -> None:
    with library.reserve("ask_user") as name:
        assert name == "ask_user_v02"


def test_a_name_taken_in_between_is_not_overwritten(library: Library, source_of: Source) -> None:
    add(library, source_of())
    with pytest.raises(FileExistsError):
        add(library, source_of(body="    return OutputModel()"))
    assert (library.path / "count_rows.py").read_text() == source_of()


def test_a_better_version_keeps_the_old_one_in_the_archive(library: Library, source_of: Source) -> None:
    old = add(library, source_of())
    better = source_of(body="    return OutputModel(result=1)")
    tool = replaced(library, better)
    assert tool.version != old.version
    assert (library.path / "count_rows.py").read_text() == better
    assert (library.path / "archive" / f"count_rows.{old.version}.py").read_text() == source_of()
    kept = json.loads((library.path / "archive" / f"count_rows.{old.version}.json").read_text())
    assert kept["reason"] == f"replaced by {tool.version}"


def test_an_archived_tool_is_gone_from_the_names_and_whole_in_the_archive(library: Library, source_of: Source) -> None:
    tool = add(library, source_of())
    library.record(invocation(tool), workspace=library.path)
    path = library.archive("count_rows", "it was never called")
    assert library.names() == []
    assert path.read_text() == source_of()
    assert json.loads(path.with_suffix(".json").read_text())["reason"] == "it was never called"
    assert path.with_suffix(".records.jsonl").exists()
    assert library.records("count_rows") == []


def test_a_change_cut_short_leaves_a_whole_tool(library: Library, source_of: Source) -> None:
    """The manifest of the new version is there, its source is not: the old version must go on working."""
    old = add(library, source_of())
    before = (library.path / "count_rows.py").read_text()
    replaced(library, source_of(body="    return OutputModel(result=1)"))
    (library.path / "count_rows.py").write_text(before)
    tool = Library(library.path).get("count_rows")
    assert tool is not None
    assert (tool.version, tool.input_schema) == (old.version, old.input_schema)


KILLED = """
import os, sys
from pathlib import Path
import habilis.rundir.files as files
import habilis.library.folder as folder
from habilis.contract.contract import read_contract
from habilis.runtime.host import Description
from habilis.library import Library
library, die_at, source = Library(Path(sys.argv[1])), int(sys.argv[2]), sys.stdin.read()
writes = 0
plain = folder.atomic_write
def counted(path, text, **options):
    global writes
    writes += 1
    if writes == die_at:
        (path.parent / f".{path.name}.aside").write_bytes(b"half")
        os.kill(os.getpid(), 9)
    plain(path, text, **options)
folder.atomic_write = counted
library.replace("count_rows", source, Description(name="count_rows", description="", input_schema={}, output_schema={}),
                read_contract(source))
"""


@pytest.mark.parametrize("die_at", [1, 2, 3, 4])
def test_killed_between_aside_and_rename_the_tool_is_whole(library: Library, source_of: Source, die_at: int) -> None:
    old = add(library, source_of())
    better = source_of(body="    return OutputModel(result=1)")
    ended = nursery.run(
        [sys.executable, "-c", textwrap.dedent(KILLED), str(library.path), str(die_at)], input=better.encode()
    )
    assert ended.returncode == -signal.SIGKILL
    tool = Library(library.path).get("count_rows")
    assert tool is not None
    assert tool.version == old.version
    assert tool.source() == source_of()
    assert replaced(Library(library.path), better).source() == better


DISK_FULL = """
import resource, signal, sys
from pathlib import Path
from habilis.contract.contract import read_contract
from habilis.runtime.host import Description
from habilis.library import Library
library, source = Library(Path(sys.argv[1])), sys.stdin.read()
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (200, 200))
try:
    library.replace("count_rows", source,
                    Description(name="count_rows", description="", input_schema={}, output_schema={}),
                    read_contract(source))
except OSError as error:
    print(type(error).__name__)
"""


def test_a_full_disk_leaves_the_tool_whole_and_no_litter(library: Library, source_of: Source) -> None:
    old = add(library, source_of())
    ended = nursery.run(
        [sys.executable, "-c", DISK_FULL, str(library.path)],
        input=source_of(body="    return OutputModel(result=1)").encode(),
    )
    assert ended.stdout.decode().strip() == "OSError", ended.stderr.decode()
    tool = Library(library.path).get("count_rows")
    assert tool is not None
    assert tool.version == old.version
    assert not list(library.path.rglob("*.tmp"))


def test_a_killed_build_gives_its_name_back(library: Library) -> None:
    code = (
        "import sys\nfrom pathlib import Path\nfrom habilis.library import Library\n"
        "with Library(Path(sys.argv[1])).reserve('count_rows') as name:\n"
        "    print(name, flush=True)\n    sys.stdin.read()\n"
    )
    with nursery.Program(
        [sys.executable, "-c", code, str(library.path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as building:
        assert building.stdout is not None
        assert building.stdout.readline().strip() == b"count_rows"
        with library.reserve("count_rows") as other:
            assert other == "count_rows_v02"
        building.kill()
    with library.reserve("count_rows") as free:
        assert free == "count_rows"


def test_a_call_that_a_resumed_task_records_again_stands_there_once(library: Library, source_of: Source) -> None:
    """Killed or not, a task leaves the same behind."""
    tool = add(library, source_of())
    library.record(invocation(tool), workspace=library.path)
    before = [path.read_bytes() for path in sorted(library.path.rglob("count_rows*")) if path.is_file()]
    Library(library.path).record(invocation(tool), workspace=library.path)
    assert [path.read_bytes() for path in sorted(library.path.rglob("count_rows*")) if path.is_file()] == before


def test_two_processes_record_side_by_side(library: Library, source_of: Source) -> None:
    tool = add(library, source_of())
    code = (
        "import sys\nfrom pathlib import Path\nfrom habilis.core.types import CallOutcome, Invocation\n"
        "from habilis.library import Library\nlibrary = Library(Path(sys.argv[1]))\n"
        "tool = library.get('count_rows')\n"
        "for n in range(15):\n"
        "    library.record(Invocation(call_id=f'{sys.argv[2]}{n}', tool=tool.name, version=tool.version,\n"
        "        outcome=CallOutcome(output=1, level='x'), verdict='success'), workspace=library.path)\n"
    )
    both = [nursery.Program([sys.executable, "-c", code, str(library.path), who]) for who in "ab"]
    assert [process.wait() for process in both] == [0, 0]
    assert len(library.records("count_rows")) == 30
    counted = library.get("count_rows")
    assert counted is not None
    assert counted.counters == {"calls": 30, "success": 30}
    assert counted.version == tool.version


def test_counters_count_each_call_once(library: Library, source_of: Source) -> None:
    tool = add(library, source_of())
    library.record(invocation(tool, verdict=None), workspace=library.path)
    library.record(invocation(tool, verdict="failure"), workspace=library.path)
    library.record(invocation(tool, "c2", "success"), workspace=library.path)
    kept = library.get("count_rows")
    assert kept is not None
    assert {key: value for key, value in kept.counters.items() if value} == {"calls": 2, "failure": 1, "success": 1}
    better = replaced(library, source_of(body="    return OutputModel(result=1)"))
    assert better.counters == {}, "trust in one version is no trust in the next"


async def test_a_file_dropped_in_is_described_once_and_then_known(
    library: Library, source_of: Source, in_process_host: Any
) -> None:
    library.path.mkdir(parents=True)
    (library.path / "my tool.py").write_bytes(b"\xef\xbb\xbf" + source_of("dropped").replace("\n", "\r\n").encode())
    assert library.names() == []
    assert [tool.name for tool in await library.describe_missing(in_process_host)] == ["my tool"]
    again = Library(library.path)
    assert again.names() == ["my tool"]
    assert await again.describe_missing(in_process_host) == []
    assert in_process_host.described == ["my tool"]
    tool = again.get("my tool")
    assert tool is not None
    assert tool.origin.how == "adopted"
    assert tool.spec.name.startswith("my_tool_")
    assert again.get(tool.spec.name) == tool, "a call names the tool as the model knows it"


async def test_a_dropped_file_that_cannot_be_loaded_says_why_and_is_asked_once(
    library: Library, source_of: Source, in_process_host: Any
) -> None:
    library.path.mkdir(parents=True)
    (library.path / "bad.py").write_text("raise RuntimeError('no such thing')\n" + source_of())
    assert await library.describe_missing(in_process_host) == []
    assert "no such thing" in library.broken()[0].reason
    assert await library.describe_missing(in_process_host) == []
    assert in_process_host.described == ["bad"]


async def test_a_library_that_cannot_be_written_is_used_all_the_same(
    library: Library, source_of: Source, in_process_host: Any
) -> None:
    library.path.mkdir(parents=True)
    (library.path / "count_rows.py").write_text(source_of())
    (library.path / ".lock").mkdir()  # nobody can open it for writing, not even root
    assert [tool.name for tool in await library.describe_missing(in_process_host)] == ["count_rows"]
    assert library.names() == ["count_rows"]
    assert not (library.path / "count_rows.json").exists()


async def test_files_that_are_no_tools_are_reported_and_passed_over(
    library: Library, source_of: Source, in_process_host: Any, caplog: pytest.LogCaptureFixture
) -> None:
    add(library, source_of())
    (library.path / "torn.py").write_bytes(b"\xff\x00(")
    (library.path / "piped.py").write_text(source_of("piped"))
    os.mkfifo(library.path / "piped.json")
    await library.describe_missing(in_process_host)
    assert library.names() == ["count_rows"]
    assert {file.file for file in library.broken()} == {"torn.py", "piped.py"}
    assert all(any(name in line for line in caplog.messages) for name in ("torn.py", "piped.py"))


async def test_a_tool_taken_away_while_it_is_described_ends_nothing(
    library: Library, source_of: Source, in_process_host: Any
) -> None:
    for name in ("one", "two"):
        library.path.mkdir(parents=True, exist_ok=True)
        (library.path / f"{name}.py").write_text(source_of(name))
    assert len(library.broken()) == 2
    (library.path / "one.py").unlink()
    assert [tool.name for tool in await library.describe_missing(in_process_host)] == ["two"]


def test_a_file_does_not_pass_for_an_empty_library(tmp_path: Path) -> None:
    (tmp_path / "sales.csv").write_text("a,b\n")
    with pytest.raises(UserError, match="not a folder"):
        Library(tmp_path / "sales.csv")


async def test_an_edited_tool_is_described_anew(library: Library, source_of: Source, in_process_host: Any) -> None:
    add(library, source_of())
    (library.path / "count_rows.py").write_text(source_of(fields="    path: str\n    skip: int = 0"))
    assert library.get("count_rows") is None
    await library.describe_missing(in_process_host)
    tool = library.get("count_rows")
    assert tool is not None
    assert tool.card.parameters == ("path", "skip")


def test_a_thousand_known_tools_load_without_a_process(library: Library, source_of: Source) -> None:
    for number in range(1000):
        name = f"tool_{number}"
        source = source_of(name)
        manifest = json.dumps({
            "name": name, "description": "d", "digest": _digest(source), "input_schema": EMPTY_SCHEMA,
            "output_schema": {},
        })  # fmt: skip
        library.path.mkdir(exist_ok=True, parents=True)
        (library.path / f"{name}.py").write_text(source)
        (library.path / f"{name}.json").write_text(manifest)
    started: list[str] = []
    sys.addaudithook(lambda event, _: started.append(event) if event in ("subprocess.Popen", "os.fork") else None)
    assert len(library.cards()) == 1000
    assert started == []


def _digest(source: str) -> str:
    import hashlib

    return hashlib.sha256(source.encode()).hexdigest()


async def test_private_tools_shadow_public_ones(tmp_path: Path, source_of: Source, put_tool: Any) -> None:
    private, public = Library(tmp_path / "private"), Library(tmp_path / "public")
    await put_tool(public, source_of("both"), "both")
    await put_tool(public, source_of("only_public"), "only_public")
    mine = await put_tool(private, source_of("both", body="    return OutputModel()"), "both")
    library = LayeredLibrary(private, public)
    assert library.names() == ["both", "only_public"]
    assert library.get("both") == mine
    found = library.get("only_public")
    assert found is not None
    assert found.layer == "public"
    assert [card.name for card in library.search("only public", 5)] == ["only_public"]
    assert LayeredLibrary(private).names() == ["both"]


async def test_calls_of_a_public_tool_are_recorded_in_private(tmp_path: Path, source_of: Source, put_tool: Any) -> None:
    private, public = Library(tmp_path / "private"), Library(tmp_path / "public")
    tool = await put_tool(public, source_of(), "count_rows")
    public.record(invocation(tool, "old"), workspace=tmp_path)
    library = LayeredLibrary(private, public)
    library.record(invocation(tool, "new"), workspace=tmp_path)
    assert [call.call_id for call in library.records("count_rows")] == ["old", "new"]
    assert [call.call_id for call in public.records("count_rows")] == ["old"]
    assert library.record_of("count_rows", "new") is not None


async def test_the_search_follows_the_library(tmp_path: Path, source_of: Source, put_tool: Any) -> None:
    private = Library(tmp_path / "private")
    library = LayeredLibrary(private)
    assert library.search("count rows", 5) == []
    await put_tool(private, source_of(), "count_rows")
    assert [card.name for card in library.search("count rows", 5)] == ["count_rows"]
    private.archive("count_rows", "done")
    assert library.search("count rows", 5) == []


def test_what_a_killed_process_left_aside_is_swept_up_later(library: Library) -> None:
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    left, fresh = library.path / ".aside" / f"{gone.pid}-old", library.path / ".aside" / f"{os.getpid()}-mine"
    left.mkdir(parents=True)
    fresh.mkdir()
    for folder in (left, fresh):
        os.utime(folder, (time.time() - 7200,) * 2)
    with library.aside() as folder:
        assert folder.is_dir()
    assert not left.exists()
    assert fresh.exists()
    assert not folder.exists()

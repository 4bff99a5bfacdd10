"""Handing a library on, in each form: what comes back is the same, what is nobody's business stays here."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from habilis.contract.records import RecordedCall
from habilis.core.errors import UserError
from habilis.exchange.exporting import digests_below
from habilis.exchange.package import type_of
from habilis.exchange.reports import MANIFEST, ExportManifest
from habilis.exchange.skills import skill_name
from habilis.exchange.verifying import verified
from habilis.library import Library
from habilis.library.folder import dump

KINDS = ("folder", "package", "skills")


@pytest.fixture
async def filled(exchange: Any) -> Any:
    """A library of two tools, with calls: a plain one, one by a file, one that holds an address."""
    double = await exchange.has(exchange.double(), "double_it", task="t1", parents=("older@aaaa",))
    shout = await exchange.has(exchange.shout(), "shout")
    exchange.called(double, "c1", {"result": 6, "error": None}, number=3)
    exchange.workspace.mkdir(exist_ok=True)
    (exchange.workspace / "a.txt").write_text("hello")
    (exchange.workspace / "b.txt").write_text("to ada@example.org")
    exchange.called(shout, "c2", {"result": "HELLO", "error": None}, path="a.txt")
    exchange.called(shout, "c3", {"result": "TO ADA@EXAMPLE.ORG", "error": None}, path="b.txt")
    asked = shout.manifest.model_copy(update={"answered": ("What does ada@example.org shout?",)})
    (exchange.ours / "shout.json").write_text(dump(asked), encoding="utf-8")
    return exchange


@pytest.mark.parametrize("kind", KINDS)
async def test_what_is_exported_and_imported_is_the_same(filled: Any, kind: str) -> None:
    report = await filled.give(kind, filled.home / "out")
    assert [tool.name for tool in report.tools] == ["double_it", "shout"]
    back = await filled.take(filled.home / "out", into=filled.home / "back")
    assert {line.ending for line in back.lines} == {"imported"}
    assert filled.digests(filled.home / "back") == filled.digests(filled.ours)
    tool = Library(filled.home / "back").get("double_it")
    assert tool is not None
    assert (tool.origin.task, tool.origin.parents) == ("t1", ("older@aaaa",))
    assert [call.output for call in Library(filled.home / "back").records("double_it")] == [
        {"result": 6, "error": None}
    ]
    again = await filled.take(filled.home / "out")
    assert [line.ending for line in again.lines] == ["same", "same"]


@pytest.mark.parametrize("kind", KINDS)
async def test_no_file_of_an_export_holds_what_looks_like_a_secret(filled: Any, kind: str) -> None:
    report = await filled.give(kind, filled.home / "out")
    texts = [path.read_text() for path in (filled.home / "out").rglob("*") if path.is_file()]
    assert texts
    assert not [text for text in texts if "ada@example.org" in text.lower()]
    assert sum(tool.redacted for tool in report.tools) == 1
    assert any("redacted" in note for note in report.notes)


async def test_a_redacted_call_is_marked_and_no_test_unless_it_gives_the_same(filled: Any) -> None:
    rows = "    return OutputModel(result=len(open(input.path, encoding='utf-8').read().splitlines()))"
    count = await filled.has(filled.source("count_rows", body=rows), "count_rows")
    filled.called(count, "c4", {"result": 1, "error": None}, path="b.txt")
    await filled.give("package", filled.home / "out")
    tests = json.loads((filled.home / "out" / "tests" / "tests.json").read_text())["tools"]
    assert {name: row["calls"] for name, row in tests.items()} == {
        "count_rows": ["c4"],
        "double_it": ["c1"],
        "shout": ["c2"],
    }
    lines = (filled.home / "out" / "tests" / "records" / "shout.jsonl").read_text().splitlines()
    calls = {call["call_id"]: call for call in map(json.loads, lines)}
    assert calls["c2"]["redacted"] == []
    assert (calls["c3"]["redacted"], calls["c3"]["why_not"]) == (["emails"], "it was redacted")


@pytest.mark.parametrize("kind", KINDS)
async def test_without_records_no_word_of_a_user_is_in_it(filled: Any, kind: str) -> None:
    await filled.give(kind, filled.home / "out", records=False)
    text = "".join(path.read_text() for path in (filled.home / "out").rglob("*") if path.is_file())
    assert "hello" not in text.lower()
    assert "What does" not in text
    assert verified(filled.home / "out").differences == ()


async def test_a_tool_whose_source_holds_a_key_is_left_out_and_named(filled: Any) -> None:
    body = "    key = 'ghp_abcdefghijklmnopqrstuvwx'\n    return OutputModel(result=len(key))"
    await filled.has(filled.double("leaky", body=body), "leaky")
    report = await filled.give("folder", filled.home / "out")
    assert [tool.name for tool in report.tools] == ["double_it", "shout"]
    assert report.left_out == ("leaky is left out: its source holds what looks like a secret (line 16: token)",)


async def test_a_call_that_reached_hosts_is_not_made_again_to_be_handed_on_or_taken_over(filled: Any) -> None:
    tool = Library(filled.ours).get("double_it")
    assert tool is not None
    given = {"arguments": {"number": 9}, "output": {"result": 18, "error": None}, "granted": ("network example.org",)}
    online = RecordedCall(call_id="c9", tool="double_it", version=tool.version, verdict="success", **given)
    Library(filled.ours).store.append(online)
    await filled.give("folder", filled.home / "out")
    await filled.take(filled.home / "out", into=filled.home / "back")
    assert ("double_it", {"number": 9}) not in filled.host.ran
    assert "c9" in [call.call_id for call in Library(filled.home / "back").records("double_it")]


async def test_nothing_is_made_of_no_tools(exchange: Any) -> None:
    exchange.ours.mkdir()
    report = await exchange.give("package", exchange.home / "out")
    assert report.tools == ()
    assert not (exchange.home / "out").exists()


@pytest.mark.parametrize("kind", KINDS)
async def test_an_export_says_what_was_changed_in_it(filled: Any, kind: str) -> None:
    out = filled.home / "out"
    await filled.give(kind, out)
    manifest = ExportManifest.model_validate_json((out / MANIFEST).read_bytes())
    assert manifest.files == digests_below(out)
    good = verified(out)
    assert (good.kind, good.tools, good.differences) == (kind, 2, ())
    source = out / manifest.tools[0].source
    source.write_text(source.read_text() + "\n")
    (out / "more.txt").write_text("x")
    (out / "endless").symlink_to("/dev/zero")
    gone = out / manifest.tools[1].manifest
    gone.unlink()
    told = verified(out).differences
    assert f"{manifest.tools[0].source}: it is not what was exported" in told
    assert "more.txt: nothing is told of it" in told
    assert f"{manifest.tools[1].manifest}: it is not there" in told
    assert "endless: nothing is told of it" in told
    assert len(told) == 5


async def test_a_library_is_verified_by_its_own_digests(filled: Any) -> None:
    assert verified(filled.ours).differences == ()
    (filled.ours / "shout.py").write_text("x = 1")
    files = filled.ours / "records" / "files"
    next(iter(sorted(files.iterdir()))).write_bytes(b"other")
    with (filled.ours / "records" / "double_it.jsonl").open("a") as stream:
        stream.write("no json\n")
    told = verified(filled.ours).differences
    assert len(told) == 3
    assert told[0].startswith("shout.py: ")
    assert told[2] == "records/double_it.jsonl: line 2 is no recorded call"
    with pytest.raises(UserError, match="neither a library nor an export"):
        verified(filled.workspace)


@pytest.mark.parametrize("kind", KINDS)
async def test_the_same_library_gives_the_same_export(filled: Any, kind: str) -> None:
    await filled.give(kind, filled.home / "one" / "tools")
    await filled.give(kind, filled.home / "two" / "tools")
    assert digests_below(filled.home / "one") == digests_below(filled.home / "two")
    manifests = [(filled.home / where / "tools" / MANIFEST).read_bytes() for where in ("one", "two")]
    assert manifests[0] == manifests[1]


async def test_what_is_there_is_not_overwritten_unless_asked_and_then_set_aside(filled: Any) -> None:
    out = filled.home / "out"
    out.mkdir()
    await filled.give("folder", out, names=["shout"])
    with pytest.raises(UserError, match="there already"):
        await filled.give("folder", out)
    for number in (1, 2):
        report = await filled.give("folder", out, replace=True)
        assert report.archived == f"{out}.before-0{number}"
    assert Library(filled.home / "out.before-01").names() == ["shout"]
    assert Library(out).names() == ["double_it", "shout"]
    assert not list(filled.home.glob(".*.tmp"))


async def test_a_failed_export_leaves_nothing(filled: Any) -> None:
    with pytest.raises(UserError, match="no tool nothing"):
        await filled.give("folder", filled.home / "out", names=["nothing"])
    with pytest.raises(UserError, match="cannot name a package"):
        await filled.give("package", filled.home / "out", name="123")
    assert sorted(path.name for path in filled.home.iterdir()) == ["ours", "workspace"]


async def test_a_package_has_typed_functions_and_passes_its_own_tests(filled: Any) -> None:
    out = filled.home / "My tools"
    await filled.give("package", out)
    code = (out / "src" / "my_tools" / "__init__.py").read_text()
    assert "def double_it(*, number: int) -> _double_it.OutputModel:" in code
    assert "ghp" not in (out / "requirements.lock").read_text()
    assert all("==" in line for line in (out / "requirements.lock").read_text().splitlines())
    env = {"PYTHONPATH": f"{out / 'src'}:{':'.join(sys.path)}", "PYTHONDONTWRITEBYTECODE": "1"}
    words = [sys.executable, "-m", "unittest", "discover", "tests"]
    done = subprocess.run(words, cwd=out, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "Ran 1 test" in done.stderr
    ask = "import my_tools; print(my_tools.double_it(number=21).result)"
    done = subprocess.run([sys.executable, "-c", ask], env=env, capture_output=True, text=True, check=False)
    assert done.stdout.strip() == "42", done.stderr
    (out / "src" / "my_tools" / "tools" / "double_it.py").write_text(
        filled.double(body="    return OutputModel(result=1)")
    )
    done = subprocess.run(words, cwd=out, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "recorded {'result': 6" in done.stderr


async def test_odd_names_become_functions_of_their_own(filled: Any) -> None:
    for name in ("class", "1st", "Double_it", "温度", "call"):
        await filled.has(filled.double(name), name)
    await filled.give("package", filled.home / "out")
    tree = ast.parse((filled.home / "out" / "src" / "out" / "__init__.py").read_text())
    functions = [node.name for node in tree.body if isinstance(node, ast.FunctionDef)]
    assert len({name.lower() for name in functions}) == 7
    back = await filled.take(filled.home / "out", into=filled.home / "back")
    assert {line.ending for line in back.lines} <= {"imported", "same"}
    assert set(Library(filled.home / "back").names()) <= set(Library(filled.ours).names())


async def test_a_skill_has_the_front_matter_that_clients_read_and_runs(filled: Any) -> None:
    out = filled.home / "out"
    await filled.give("skills", out)
    folder = out / "double-it"
    _, front, body = (folder / "SKILL.md").read_text().split("---\n", 2)
    about = yaml.safe_load(front)
    assert about["name"] == folder.name
    assert about["description"] == "Do double_it."
    assert about["metadata"]["habilis-tool"] == "double_it"
    assert "| `number` | integer | required. |" in body
    words = [sys.executable, "scripts/run.py", '{"number": 4}']
    done = subprocess.run(words, cwd=folder, capture_output=True, text=True, check=False)
    assert json.loads(done.stdout) == {"result": 8, "error": None}, done.stderr
    done = subprocess.run([*words[:2], '{"number": "x"}'], cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 2


@pytest.mark.parametrize(
    ("name", "skill"),
    [("count_rows", "count-rows"), ("_A__b_", "a-b"), ("x" * 80, "x" * 55), ("温度", "tool-")],
)
def test_names_of_skills_are_those_that_the_format_allows(name: str, skill: str) -> None:
    made = skill_name(name)
    assert made.startswith(skill)
    assert len(made) <= 64
    assert "--" not in made
    assert not made.endswith("-")


@pytest.mark.parametrize(
    ("schema", "kind"),
    [
        ({"type": "string"}, "str"),
        ({"type": "array", "items": {"type": "number"}}, "list[float]"),
        ({"anyOf": [{"type": "integer"}, {"type": "null"}]}, "int | None"),
        ({"enum": ["a", "b'\n"]}, "Literal['a', \"b'\\n\"]"),
        ({"type": "object", "additionalProperties": {"type": "boolean"}}, "dict[str, bool]"),
        ({"$ref": "#/$defs/Row"}, "dict[str, Any]"),
        ({"$ref": "#/$defs/Loop"}, "Any"),
        ({"type": ["string", "integer"]}, "Any"),
        ({}, "Any"),
    ],
)
def test_types_of_functions_are_those_of_the_schema(schema: dict[str, Any], kind: str) -> None:
    definitions = {"Row": {"type": "object", "properties": {}}, "Loop": {"$ref": "#/$defs/Loop"}}
    assert type_of(schema, definitions) == kind


def test_programs_of_exports_need_nothing_of_this_one() -> None:
    from habilis.exchange import standalone

    for path in Path(standalone.__file__).parent.glob("*.py"):
        assert "habilis" not in path.read_text().lower(), path.name

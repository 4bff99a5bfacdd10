"""What a tool may do and what comes back, whatever it does."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest

from habilis.contract.capabilities import Grant
from habilis.contract.runnable import Description, Runnable
from habilis.contract.taskfiles import link_into
from habilis.core.locations import located
from habilis.core.types import CallError, TaskFile
from habilis.runtime.calls import CallSpec
from habilis.runtime.host import ToolHost

pytestmark = pytest.mark.sandbox
MakeTool = Callable[..., Runnable]


async def test_task_files_are_read_where_they_lie_and_by_their_links(
    level: str, host_with: Callable[..., ToolHost], tool: MakeTool, workspace: Path, tmp_path: Path
) -> None:
    hidden = tmp_path / "hidden"
    hidden.mkdir()
    (hidden / "data.csv").write_text("a,b")
    (hidden / "data.csv").chmod(0o600)
    (hidden / "other.csv").write_text("not given")
    folder = hidden / "folder"
    (folder / "deep").mkdir(parents=True)
    (folder / "deep" / "x.txt").write_text("deep")
    (folder / "deep").chmod(0o700)
    hidden.chmod(0o700)
    (workspace / "data.csv").symlink_to(hidden / "data.csv")
    (workspace / "folder").symlink_to(folder)
    body = f"""
    texts = [open(input.path).read(), open("data.csv").read(), open("folder/deep/x.txt").read()]
    try:
        texts.append(open({str(hidden / "other.csv")!r}).read())
    except OSError:
        texts.append("hidden")
    return OutputModel(value=texts)
    """
    files = [hidden / "data.csv", folder]
    outcome = await host_with(level).call(
        CallSpec(tool(body), {"path": str(files[0])}, workspace=workspace, files=files)
    )
    assert outcome.output == {"value": ["a,b", "a,b", "deep", "hidden"], "error": None}
    assert outcome.opened == (str(hidden / "data.csv"), str(folder / "deep" / "x.txt"))
    assert outcome.made == ()
    assert (hidden / "data.csv").stat().st_mode & 0o777 == 0o600


async def test_files_that_lie_elsewhere_here_are_read_by_the_names_that_the_task_has_for_them(
    level: str, host_with: Callable[..., ToolHost], tool: MakeTool, workspace: Path, tmp_path: Path
) -> None:
    """A task that runs on another machine than the one that asked knows its files by their paths there."""
    laid = tmp_path / "laid"
    (laid / "folder").mkdir(parents=True)
    (laid / "data.csv").write_text("a,b")
    (laid / "folder" / "x.txt").write_text("deep")
    asked = [Path("/data/of another machine/data.csv"), Path("/data/of another machine/folder")]
    body = """
    return OutputModel(value=[open(input.path).read(), open("data.csv").read(), open("folder/x.txt").read()])
    """
    with located({str(path): str(laid / path.name) for path in asked}):
        link_into(workspace, [TaskFile(named=path.name, path=str(path)) for path in asked])
        outcome = await host_with(level).call(
            CallSpec(tool(body), {"path": str(asked[0])}, workspace=workspace, files=asked)
        )
        assert outcome.output == {"value": ["a,b", "a,b", "deep"], "error": None}
        assert outcome.opened == (str(asked[0]), str(asked[1] / "x.txt")), "as on the machine that asked"
        by_link = await host_with(level).call(
            CallSpec(tool(body), {"path": "data.csv"}, workspace=workspace, files=asked)
        )
        assert by_link.output == outcome.output


async def test_a_database_among_the_files_counts_as_opened(
    host: ToolHost, tool: MakeTool, workspace: Path, tmp_path: Path
) -> None:
    import sqlite3

    database = tmp_path / "data.db"
    connection = sqlite3.connect(database)
    connection.execute("create table t (x)")
    connection.close()
    body = """
    import sqlite3
    with sqlite3.connect(f"file:{input.path}?mode=ro", uri=True) as db:
        return OutputModel(value=[row[0] for row in db.execute("select name from sqlite_master")])
    """
    outcome = await host.call(CallSpec(tool(body), {"path": str(database)}, workspace=workspace, files=[database]))
    assert outcome.output == {"value": ["t"], "error": None}
    assert outcome.opened == (str(database),)


async def test_a_tool_named_like_a_standard_module_loads(host: ToolHost, tool: MakeTool, workspace: Path) -> None:
    body = "import json\nreturn OutputModel(value=json.dumps([1]))"
    outcome = await host.call(CallSpec(tool(body, name="json"), {}, workspace=workspace))
    assert outcome.output == {"value": "[1]", "error": None}


async def test_an_async_tool_runs(host: ToolHost, tool: MakeTool, workspace: Path) -> None:
    module = """
    import asyncio
    from pydantic import BaseModel
    class InputModel(BaseModel): ...
    class OutputModel(BaseModel):
        value: int
    async def run(input):
        await asyncio.sleep(0)
        return OutputModel(value=1)
    """
    assert (await host.call(CallSpec(tool(module=module), {}, workspace=workspace))).output == {"value": 1}


async def test_wrong_arguments_are_all_named_and_the_tool_does_not_run(
    host: ToolHost, tool: MakeTool, workspace: Path
) -> None:
    outcome = await host.call(CallSpec(tool("open('ran', 'w')"), {"path": 5, "number": "many"}, workspace=workspace))
    assert outcome.error is not None
    assert outcome.error.kind == "invalid_arguments"
    assert "path" in outcome.error.message
    assert "number" in outcome.error.message
    assert outcome.made == ()


JSON_OF = {
    "__import__('datetime').date(2024, 2, 29)": "2024-02-29",
    "__import__('decimal').Decimal('1.10')": "1.10",
    "float('nan')": None,
    "[float('inf'), 1.5]": [None, 1.5],
    "{7}": [7],
    "b'text'": "text",
    "b'\\xff\\xfe'": "\ufffd\ufffd",
    "'\\ud800'": "?",
    "2**70": 2**70,
    "{1: {2: 3}}": {"1": {"2": 3}},
    "__import__('pathlib').Path('a/b')": "a/b",
    "1+2j": "1+2j",
}


async def test_every_value_becomes_json(host: ToolHost, tool: MakeTool, workspace: Path) -> None:
    outcome = await host.call(
        CallSpec(tool(f"return OutputModel(value=[{', '.join(JSON_OF)}])"), {}, workspace=workspace)
    )
    assert outcome.error is None, outcome.error
    assert dict(zip(JSON_OF, outcome.output["value"], strict=True)) == JSON_OF


async def test_sets_come_in_the_same_order_each_time(host: ToolHost, tool: MakeTool, workspace: Path) -> None:
    body = "return OutputModel(value=list({str(n) for n in range(50)}))"
    first = await host.call(CallSpec(tool(body), {}, workspace=workspace))
    assert first.output == (await host.call(CallSpec(tool(body), {}, workspace=workspace))).output


@pytest.mark.parametrize(
    ("result", "words"),
    [
        ("None", "returned None"),
        ("'text'", "returned a str"),
        ("{'value': 1, 'error': 5}", "error: "),
        ("OutputModel(value=(lambda f: f(f, 500))(lambda f, n: [f(f, n - 1)] if n else 0))", "JSON"),
        ("OutputModel(value=10**4000)", "digits"),
    ],
)
async def test_what_is_no_output_model_is_said_to_be_none(
    host: ToolHost, tool: MakeTool, workspace: Path, result: str, words: str
) -> None:
    outcome = await host.call(CallSpec(tool(f"return {result}"), {}, workspace=workspace))
    assert outcome.error is not None
    assert outcome.error.kind == "bad_output"
    assert words in outcome.error.message


async def test_a_dict_that_fits_is_taken(host: ToolHost, tool: MakeTool, workspace: Path) -> None:
    outcome = await host.call(CallSpec(tool("return {'value': 3}"), {}, workspace=workspace))
    assert outcome.output == {"value": 3, "error": None}


async def test_a_crash_names_the_tools_own_lines_and_no_path_of_the_host(
    host: ToolHost, tool: MakeTool, workspace: Path
) -> None:
    body = """
    import json
    def parse(text):
        return json.loads(text)
    return OutputModel(value=parse("{"))
    """
    outcome = await host.call(CallSpec(tool(body), {}, workspace=workspace))
    assert outcome.error is not None
    assert outcome.error.kind == "crashed"
    assert outcome.error.exception == "JSONDecodeError"
    assert "in parse: return json.loads(text)" in outcome.error.message
    assert str(workspace.parent) not in outcome.error.message
    assert "site-packages" not in outcome.error.message
    again = await host.call(CallSpec(tool(body), {}, workspace=workspace))
    assert again.error == outcome.error


async def test_a_tool_that_fails_says_which_values_it_met(host: ToolHost, tool: MakeTool, workspace: Path) -> None:
    body = """
    class Odd:
        def __repr__(self): raise SystemExit("a tool's own word")
    row, odd, far = {"price": "1,5"}, Odd(), ["x" * 500]
    return OutputModel(value=len([odd, far, row]) + float(row["price"]))
    """
    outcome = await host.call(CallSpec(tool(body), {}, workspace=workspace))
    assert outcome.error is not None
    head, _, values = outcome.error.message.partition("\n  where ")
    assert head.endswith('float(row["price"]))')
    assert values.startswith("far = ['xxx")
    assert values.endswith("…, row = {'price': '1,5'}")
    assert len(values) < 250


async def test_a_missing_file_is_named(host: ToolHost, tool: MakeTool, workspace: Path) -> None:
    outcome = await host.call(CallSpec(tool("open(input.path)"), {"path": "no.csv"}, workspace=workspace))
    assert outcome.error is not None
    assert (outcome.error.kind, outcome.error.missing_file) == ("crashed", "no.csv")


async def test_a_missing_package_is_unavailable(host: ToolHost, tool: MakeTool, workspace: Path) -> None:
    outcome = await host.call(CallSpec(tool("import no_such_package.sub"), {}, workspace=workspace))
    assert outcome.error is not None
    assert outcome.error.kind == "unavailable"
    assert "no_such_package" in outcome.error.message
    assert "dependencies" in outcome.error.message


@pytest.mark.parametrize(
    ("module", "words"),
    [
        ("def run(:", "SyntaxError"),
        ("x = 1", "InputModel"),
        ("raise RuntimeError('at import')", "at import"),
        ("", "InputModel"),
    ],
)
async def test_a_broken_module_is_described_as_such(
    host: ToolHost, tool: MakeTool, workspace: Path, module: str, words: str
) -> None:
    description = await host.describe(tool(module=module))
    assert isinstance(description, CallError)
    assert description.kind == "crashed"
    assert words in description.message


async def test_describe_and_call_in_one_interpreter(host: ToolHost, tool: MakeTool, workspace: Path) -> None:
    module = """
    import os
    from pydantic import BaseModel
    __TOOL_META__ = {"name": "t", "description": "Adds one."}
    class InputModel(BaseModel):
        n: int = 1
    class OutputModel(BaseModel):
        n: int
    pid = os.getpid()
    def run(input):
        assert os.getpid() == pid
        return OutputModel(n=input.n + 1)
    """
    description, outcome = await host.try_out(CallSpec(tool(module=module), {"n": 2}, workspace=workspace))
    assert isinstance(description, Description)
    assert description.description == "Adds one."
    assert description.input_schema["properties"]["n"]["default"] == 1
    assert outcome is not None
    assert outcome.output == {"n": 3}


async def test_texts_call_the_workspace_by_a_dot(host: ToolHost, tool: MakeTool, workspace: Path) -> None:
    body = """
    import os
    here = os.getcwd()
    print("in", here, object())
    if input.number:
        raise ValueError(f"bad {here}/x.txt")
    return OutputModel(value={"path": here + "/x.txt", here: [here, here + "2"]})
    """
    fine = await host.call(CallSpec(tool(body), {}, workspace=workspace))
    assert fine.output["value"] == {"path": "./x.txt", ".": [".", f"{workspace}2"]}
    assert fine.printed == "in . <object object at 0x…>\n"
    failed = await host.call(CallSpec(tool(body), {"number": 1}, workspace=workspace))
    assert failed.error is not None
    assert "bad ./x.txt" in failed.error.message


async def test_files_that_were_there_and_are_read_again_count_as_opened(
    host: ToolHost, tool: MakeTool, workspace: Path
) -> None:
    (workspace / "earlier.txt").write_text("x")
    body = """
    open("own.txt", "w").write("y")
    return OutputModel(value=open("earlier.txt").read() + open("own.txt").read())
    """
    outcome = await host.call(CallSpec(tool(body), {}, workspace=workspace))
    assert outcome.opened == ("earlier.txt",)
    assert outcome.made == ("own.txt",)


async def test_what_is_written_late_is_written(host: ToolHost, tool: MakeTool, workspace: Path) -> None:
    module = """
    import atexit
    from pydantic import BaseModel
    class InputModel(BaseModel): ...
    class OutputModel(BaseModel):
        n: int = 0
    log = open("log.txt", "w")
    atexit.register(lambda: open("exit.txt", "w").write("x"))
    def run(input):
        log.write("line")
        return OutputModel()
    """
    outcome = await host.call(CallSpec(tool(module=module), {}, workspace=workspace))
    assert outcome.output == {"n": 0}
    assert (workspace / "log.txt").read_text() == "line"
    assert outcome.made == ("exit.txt", "log.txt")


async def test_subprocesses_and_pools_work_inside(host: ToolHost, tool: MakeTool, workspace: Path) -> None:
    body = """
    import subprocess
    from concurrent.futures import ThreadPoolExecutor
    with ThreadPoolExecutor(4) as pool:
        squares = list(pool.map(lambda n: n * n, range(4)))
    said = subprocess.run(["sh", "-c", "echo hi; echo there > file.txt"], capture_output=True, text=True).stdout
    return OutputModel(value=[squares, said])
    """
    outcome = await host.call(CallSpec(tool(body), {}, workspace=workspace, grant=Grant(subprocess=True)))
    assert outcome.output["value"] == [[0, 1, 4, 9], "hi\n"]
    assert outcome.made == ("file.txt",)


async def test_a_module_that_is_gone_is_unavailable(host: ToolHost, workspace: Path) -> None:
    outcome = await host.call(CallSpec(Runnable("gone", workspace / "gone.py"), {}, workspace=workspace))
    assert outcome.error is not None
    assert outcome.error.kind == "unavailable"


async def test_writing_below_a_given_folder_is_not_reading_it(
    level: str, host_with: Callable[..., ToolHost], tool: MakeTool, workspace: Path
) -> None:
    (workspace.parent / "data.txt").write_text("x")
    body = """
    try:
        open(input.path, "w")
    except OSError:
        pass
    open("own.txt", "w").write("y")
    return OutputModel(value=1)
    """
    outcome = await host_with(level).call(
        CallSpec(
            tool(body), {"path": str(workspace.parent / "data.txt")}, workspace=workspace, files=[workspace.parent]
        )
    )
    assert outcome.output == {"value": 1, "error": None}
    assert (outcome.opened, outcome.made) == ((), ("own.txt",))
    assert (workspace.parent / "data.txt").read_text() == "x"


async def test_names_that_are_no_text_do_not_break_the_record(host: ToolHost, tool: MakeTool, workspace: Path) -> None:
    body = "open(b'\\xff', 'w').write('x')\nopen('caf\u00e9', 'w').write('x')\nreturn OutputModel(value=1)"
    outcome = await host.call(CallSpec(tool(body), {}, workspace=workspace))
    assert outcome.made == ("\\xff", "caf\u00e9")
    assert outcome.model_dump_json()


async def test_one_call_does_not_tidy_away_what_another_is_using(
    host: ToolHost, tool: MakeTool, workspace: Path
) -> None:
    slow = """
    import os, time
    os.mkfifo("pipe")
    while not os.path.exists("go"):
        time.sleep(0.01)
    return OutputModel(value=os.path.exists("pipe"))
    """
    waiting = asyncio.create_task(host.call(CallSpec(tool(slow, name="slow"), {}, workspace=workspace, timeout_s=20)))
    while not (workspace / "pipe").exists():
        await asyncio.sleep(0.01)
    await host.call(CallSpec(tool("return {}", name="quick"), {}, workspace=workspace))
    (workspace / "go").touch()
    assert (await waiting).output == {"value": True, "error": None}
    assert not (workspace / "pipe").exists()

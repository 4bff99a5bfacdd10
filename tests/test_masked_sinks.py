"""Each way out by itself: what is told to the masker comes out of none of them, whoever forgot to mask it before."""

from __future__ import annotations

import base64
import io
import json
import logging
import os
import sys
import traceback
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage

from habilis.agents.checkpoints import NewestCheckpoints
from habilis.cli import main
from habilis.config import SandboxSettings, Settings, key, load_settings
from habilis.context.task import Events
from habilis.contract.records import RecordedCall, RecordStore
from habilis.contract.runnable import Runnable
from habilis.core.errors import UserError, WriterFailed
from habilis.core.events import Notice, ToolCallStarted
from habilis.core.masker import MASKER
from habilis.core.types import CallOutcome, Effects, ToolSpec, Usage
from habilis.curation.ledger.journal import Journal
from habilis.exchange.exporting import mask_below
from habilis.exchange.redaction import Redaction
from habilis.exchange.stdio import Output
from habilis.models.chat import Models
from habilis.models.failures import ServerSaid, sort_out
from habilis.models.providers import address
from habilis.models.tape import ModelRequest, Tape
from habilis.models.usage import Budget
from habilis.rundir import JsonlSink, append_line, atomic_write
from habilis.rundir.files import write_json
from habilis.runtime.calls import CallSpec
from habilis.runtime.host import ToolHost
from habilis.sources.bound import BoundTool, NamedSource
from habilis.synthesis.writers import CommandWriter
from habilis.terminal.streams import masked_streams
from habilis.testing import RecordingSink, ScriptedServer
from habilis.training.runners.program import Death

from .planted import forms, leaks, left_behind

SECRET = 'sk-p1/an+t"ed\\key='
EVERY_FORM = "\n".join(forms(SECRET).values())


@pytest.fixture(autouse=True)
def _told() -> None:
    MASKER.add("API_KEY", SECRET)


def clean(text: str | bytes) -> bool:
    """Whether nothing of the secret stands in `text`, and its name does."""
    data = text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text
    return leaks(data, SECRET) == [] and b"[API_KEY]" in data


def test_events_reach_no_sink_with_it() -> None:
    sink = RecordingSink()
    emit = Events([sink])
    emit(Notice(text=EVERY_FORM))
    emit(ToolCallStarted(call_id="c", tool="t", version="v", arguments={SECRET: [EVERY_FORM]}))
    assert all(clean(event.model_dump_json()) for event in sink.events)
    emit(same := Notice(text="harmless"))
    assert sink.events[-1] is same


def test_the_log_of_events_holds_it_not(tmp_path: Path) -> None:
    sink = JsonlSink(tmp_path / "events.jsonl")
    sink.emit(Notice(text=EVERY_FORM))
    sink.close()
    line = (tmp_path / "events.jsonl").read_bytes()
    assert clean(line)
    assert json.loads(line)["kind"] == "notice"


def test_no_file_is_written_with_it(tmp_path: Path) -> None:
    atomic_write(tmp_path / "a.txt", EVERY_FORM)
    atomic_write(tmp_path / "b.json", json.dumps({"a": EVERY_FORM, SECRET: 1}))
    atomic_write(tmp_path / "c.bin", b"\xff\xfe" + EVERY_FORM.encode())
    write_json(tmp_path / "d.json", {"a": EVERY_FORM})
    append_line(tmp_path / "e.jsonl", json.dumps({"a": EVERY_FORM}).encode() + b"\n")
    Journal(tmp_path / "f.jsonl").write(1, "begun", {"a": EVERY_FORM})
    written = sorted(tmp_path.iterdir())
    assert len(written) == 6
    assert [path.name for path in written if not clean(path.read_bytes())] == []
    for name in ("b.json", "d.json", "e.jsonl", "f.jsonl"):
        assert json.loads((tmp_path / name).read_bytes())
    assert Journal(tmp_path / "f.jsonl").entry(1, "begun") is not None


def test_a_tape_holds_its_name_and_is_replayed_by_it(tmp_path: Path) -> None:
    def request(said: str) -> ModelRequest:
        return ModelRequest("basic", "p", ({"type": "human", "content": said},), ({"name": "t", "description": said},))

    tape = Tape(tmp_path / "tape.jsonl")
    slot = tape.slot(request(f"use {SECRET}"))
    tape.record_reply(slot, {"content": EVERY_FORM}, Usage(), model="m")
    tape.answered("q", EVERY_FORM)
    tape.note("n", EVERY_FORM)
    tape.call_ended("c", CallOutcome(output=EVERY_FORM))
    tape.close()
    assert clean((tmp_path / "tape.jsonl").read_bytes())
    for said in (f"use {SECRET}", "use [API_KEY]"):  # as it was asked, and as a resumed task's record has it
        again = Tape(tmp_path / "tape.jsonl", replay_only=True)
        assert again.slot(request(said)).entry is not None
    MASKER.forget()  # a replay elsewhere, without the key
    assert Tape(tmp_path / "tape.jsonl", replay_only=True).slot(request("use [API_KEY]")).entry is not None


async def test_checkpoints_hold_its_name(tmp_path: Path) -> None:
    said = [
        HumanMessage(f"use {SECRET}"),
        AIMessage("", tool_calls=[{"name": "t", "args": {"a": EVERY_FORM}, "id": "1"}]),
        ToolMessage(EVERY_FORM, tool_call_id="1"),
    ]
    with NewestCheckpoints.at(tmp_path / "checkpoints.sqlite") as saver:
        packed = saver.serde.dumps_typed({"messages": said, "text": EVERY_FORM, "rounds": 3})
        found = saver.serde.loads_typed(packed)
        config: Any = {"configurable": {"thread_id": "t", "checkpoint_ns": "", "checkpoint_id": "1"}}
        await saver.aput_writes(config, [("messages", said), ("text", EVERY_FORM)], "task")
    assert clean(packed[1])
    assert [type(message) for message in found["messages"]] == [HumanMessage, AIMessage, ToolMessage]
    assert found["messages"][0].content == "use [API_KEY]"
    assert (found["messages"][1].tool_calls[0]["id"], found["rounds"]) == ("1", 3)
    assert left_behind(tmp_path, SECRET) == []


def test_neither_output_nor_log_nor_traceback_shows_it(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("stdout", "stderr"):
        monkeypatch.setattr(sys, name, io.StringIO())
    out, errors = sys.stdout, sys.stderr
    with masked_streams():
        print(EVERY_FORM)
        sys.stderr.writelines([EVERY_FORM, "\n"])
        handler = logging.StreamHandler(sys.stderr)
        handler.emit(logging.LogRecord("x", logging.INFO, __file__, 1, "said %s", (EVERY_FORM,), None))
        try:
            raise ValueError(EVERY_FORM)
        except ValueError:
            traceback.print_exc()
        assert sys.stdout.isatty() is False
    assert sys.stdout is out
    assert clean(out.getvalue())
    assert clean(errors.getvalue())
    assert "Traceback" in errors.getvalue()


async def test_mcp_lines_hold_its_name() -> None:
    reading, writing = os.pipe()
    output = Output(writing, lambda: None)
    await output.write(json.dumps({"result": EVERY_FORM}) + "\n")
    await output.aclose()
    os.close(writing)
    with os.fdopen(reading, "rb") as lines:
        line = lines.read()
    assert clean(line)
    assert line.endswith(b"\n")


def test_recorded_calls_and_their_files_hold_its_name(tmp_path: Path) -> None:
    store = RecordStore(tmp_path)
    digests, why_not = store.keep({"a.txt": EVERY_FORM.encode()})
    call = RecordedCall(call_id="1", tool="t", version="v", arguments={"x": EVERY_FORM}, output=SECRET, files=digests)
    store.append(call)
    assert why_not is None
    assert store.content(digests["a.txt"]), "its digest is that of what was written"
    assert [found.output for found in store.read("t")] == ["[API_KEY]"]
    assert left_behind(tmp_path, SECRET) == []


def test_an_export_holds_its_name_whatever_is_redacted(tmp_path: Path) -> None:
    (tmp_path / "tool.py").write_text(f"# {EVERY_FORM!r}\n{EVERY_FORM}")
    (tmp_path / "manifest.json").write_text(json.dumps({"a": EVERY_FORM, "n": 1}))
    mask_below(tmp_path)
    assert left_behind(tmp_path, SECRET) == []
    assert json.loads((tmp_path / "manifest.json").read_text())["n"] == 1
    nothing = Redaction(Settings().exchange.model_copy(update={"redact": ()}))
    assert nothing.secrets_in(f"KEY = {SECRET!r}\n") == ["line 1: a secret of yours"]


def test_what_a_server_says_in_its_error_is_masked_before_it_is_cut() -> None:
    failure = sort_out(ServerSaid(401, f"{'x' * 285} {SECRET} {EVERY_FORM}"))
    assert leaks(failure.text.encode(), SECRET) == []
    assert SECRET[:6] not in failure.text
    assert "[API_KEY]" in sort_out(ServerSaid(401, SECRET)).text


def test_the_last_words_of_a_process_are_masked_before_they_are_cut() -> None:
    assert SECRET[:8] not in Death(1, f"Traceback\nValueError: {'x' * 275} {SECRET}".encode()).words


async def test_a_code_writer_s_reply_and_complaint_are_masked() -> None:
    script = "import sys; sys.stdin.read(); print(sys.argv[1])"
    script += "; print(sys.argv[1], file=sys.stderr); sys.exit(int(sys.argv[2]))"
    assert await CommandWriter([sys.executable, "-c", script, SECRET, "0"]).write("s", "u") == "[API_KEY]\n"
    with pytest.raises(WriterFailed, match=r"\[API_KEY\]") as failed:
        await CommandWriter([sys.executable, "-c", script, SECRET, "3"]).write("s", "u")
    assert leaks(str(failed.value).encode(), SECRET) == []


class _Repeating:
    spec = ToolSpec(name="says", description="Says.", parameters={})
    effects: Effects = "reads"
    version = "1"

    def missing(self) -> tuple[str, ...]:
        return ()

    async def call(self, arguments: Any, *, workspace: Path) -> CallOutcome:
        return CallOutcome(output={"said": EVERY_FORM}, printed=EVERY_FORM)


async def test_what_a_tool_of_another_program_gives_is_masked(tmp_path: Path) -> None:
    tool = BoundTool("says", _Repeating(), NamedSource("s", None))  # type: ignore[arg-type]
    assert clean((await tool.call({}, tmp_path)).model_dump_json())


ECHO = """from pydantic import BaseModel


class InputModel(BaseModel):
    text: str


class OutputModel(BaseModel):
    text: str


def run(input: InputModel) -> OutputModel:
    print(input.text)
    return OutputModel(text=input.text)
"""


@pytest.mark.sandbox
async def test_what_a_generated_tool_gives_is_masked_although_it_was_granted_nothing(tmp_path: Path) -> None:
    (tmp_path / "echo.py").write_text(ECHO)
    (tmp_path / "workspace").mkdir()
    host = ToolHost(SandboxSettings(warm=False))
    try:
        tool = Runnable("echo", tmp_path / "echo.py")
        outcome = await host.call(CallSpec(tool, {"text": EVERY_FORM}, workspace=tmp_path / "workspace"))
    finally:
        await host.aclose()
    assert outcome.error is None
    assert clean(outcome.model_dump_json())


# --- what is told when settings are read


def test_settings_tell_of_every_secret_that_they_name_or_hold(monkeypatch: pytest.MonkeyPatch) -> None:
    MASKER.forget()
    named = ("OPENAI_API_KEY", "B_KEY", "HF_TOKEN", "TAVILY_API_KEY", "W_KEY", "F_TOKEN", "G_TOKEN")
    for name in named:
        monkeypatch.setenv(name, f"value-of-{name.lower()}-1")
    monkeypatch.setenv("HTTP_PROXY", "http://me:proxy%2Fpass@127.0.0.1:9")
    monkeypatch.setenv("PLACE", "Europe/Berlin")
    rows = (
        "models.builder.api_key_env=B_KEY",
        "models.basic.base_url=http://me:base-url-pass@127.0.0.1:1/v1",
        "models.basic.headers.Authorization=Bearer header-1234567",
        "models.basic.headers.X-Title=Habilis",
        'models.basic.options={"api_key": "option-1234"}',
        'writer.command=[tool, --api-key, "argument-1234"]',
        'sources.w={"openapi": "x.json", "auth": {"secret_env": "W_KEY", "scheme": "basic"}}',
        'sources.f={"mcp": {"command": ["x"], "env": ["F_TOKEN", "PLACE"]}}',
        "sandbox.env_allow=[G_TOKEN]",
        "capabilities.proxy=http://me:own-proxy-pass@127.0.0.1:1",
    )
    load_settings(overrides=rows, environ={})
    for name in named:
        assert MASKER.text(f"value-of-{name.lower()}-1") == f"[{name}]"
    shown = MASKER.text("proxy/pass base-url-pass header-1234567 option-1234 argument-1234 own-proxy-pass")
    assert shown.split() == [
        "[HTTP_PROXY]",
        "[models.basic.base_url]",
        "[models.basic.headers.Authorization]",
        "[models.basic.options.api_key]",
        "[writer.command]",
        "[capabilities.proxy]",
    ]
    assert MASKER.text("Habilis in Europe/Berlin") == "Habilis in Europe/Berlin"


@pytest.mark.parametrize(
    ("value", "what"),
    [
        ("sk-one\nsk-two-and-more", "a control character (U+000A)"),
        ("“sk-quoted-0123”", "a typographic quotation mark (U+201C)"),
        ("sk-ключ-0123", "the character U+043A"),
    ],
)
def test_a_key_that_no_header_can_carry_is_named_and_not_shown(
    value: str, what: str, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", value)
    monkeypatch.chdir(tmp_path)
    with ScriptedServer() as server:
        words = ["--set", f"models.basic.base_url={server.base_url}", "--set", "models.basic.model=m"]
        code = main(["run", "What is 2+2?", *words])
        out, errors = capfd.readouterr()
        assert (code, out, server.requests) == (2, "", [])
        assert len(errors.splitlines()) == 1
        assert f"OPENAI_API_KEY holds {what}" in errors
        assert "sk-" not in errors
        assert main(["doctor", *words]) == 1
        assert "sk-" not in "".join(capfd.readouterr())
    assert left_behind(tmp_path, value.strip("“”")) == []


def test_white_space_round_a_key_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_KEY", " sk-planted-0123\r\n")
    assert key("MY_KEY") == "sk-planted-0123"
    assert MASKER.text("sk-planted-0123") == "[MY_KEY]"
    monkeypatch.setenv("MY_KEY", " \n")
    assert key("MY_KEY") is None
    monkeypatch.setenv("MY_KEY", "a\tb")
    with pytest.raises(UserError, match="MY_KEY holds"):
        key("MY_KEY")


async def test_who_listens_to_a_stream_hears_no_secret_that_lies_in_two_pieces(tmp_path: Path) -> None:
    heard: list[str] = []
    with ScriptedServer(lambda *_: AIMessage(EVERY_FORM)) as server:
        rows = (f"models.basic.base_url={server.base_url}", "models.basic.model=m", "models.basic.stream=true")
        settings = load_settings(overrides=rows, environ={})
        tape = Tape(tmp_path / "tape.jsonl")
        models = Models(settings.models, tape=tape, emit=Events([]), budget=Budget(None, None))
        reply = await models.chat("basic", [HumanMessage("q")], purpose="step", say=lambda: heard.append)
        await models.aclose()
    assert len(heard) > 5
    assert clean("".join(heard))
    assert clean(str(reply.content))


async def test_a_user_in_a_base_url_is_sent_and_never_shown(tmp_path: Path) -> None:
    with ScriptedServer() as server:
        url = server.base_url.replace("://", "://me%40home:pa%2Fss-word%20x@")
        settings = load_settings(overrides=[f"models.basic.base_url={url}", "models.basic.model=m"], environ={})
        assert address(settings.models.role("basic")) == server.base_url
        tape = Tape(tmp_path / "tape.jsonl")
        models = Models(settings.models, tape=tape, emit=Events([]), budget=Budget(None, None))
        await models.chat("basic", [HumanMessage("What is 2+2?")], purpose="step")
        (asked,) = server.requests
        await models.aclose()
    assert base64.b64decode(asked.headers["authorization"].removeprefix("Basic ")) == b"me@home:pa/ss-word x"
    assert left_behind(tmp_path, "pa/ss-word x") == []

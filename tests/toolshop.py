"""Doubles for the tool shop: a host that runs tools in this process, models and writers that say what they are told."""

from __future__ import annotations

import contextlib
import hashlib
import json
import sys
import types
import warnings
from collections.abc import Callable, Mapping, Sequence
from contextvars import ContextVar
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import AIMessage

from habilis.contract.capabilities import Grant
from habilis.contract.contract import read_contract
from habilis.contract.runnable import Description, Runnable
from habilis.core.events import Event
from habilis.core.types import CallError, CallOutcome, Invocation, Standing
from habilis.judging.preference import PreferenceReply
from habilis.library import LayeredLibrary, Library, Origin, Tool
from habilis.prompts import Prompts
from habilis.runtime.calls import CallSpec
from habilis.synthesis.sharing import BuildFolder
from habilis.synthesis.smith import Smith


def tool_source(
    name: str = "count_rows",
    *,
    body: str = "    return OutputModel(result=len(open(input.path, encoding='utf-8').read().splitlines()))",
    fields: str = "    path: str",
    result: str = "int | None",
    meta: str = "'dependencies': [], 'examples': [{'arguments': {'path': 'a.csv'}, 'files': {'a.csv': 'x\\n1\\n'}}]",
) -> str:
    """The source of a small tool."""
    return (
        f"from pydantic import BaseModel\n\n__TOOL_META__ = {{'name': '{name}', 'description': 'Do {name}.', {meta}}}\n"
        f"\n\nclass InputModel(BaseModel):\n{fields}\n\n\nclass OutputModel(BaseModel):\n    result: {result} = None\n"
        f"    error: str | None = None\n\n\ndef run(input: InputModel) -> OutputModel:\n{body}\n"
    )


_OPENED: ContextVar[list[str] | None] = ContextVar("opened", default=None)


def _note_opened(event: str, args: tuple[object, ...]) -> None:
    noted = _OPENED.get()
    if event == "open" and noted is not None and isinstance(args[0], str):
        noted.append(args[0])


sys.addaudithook(_note_opened)


class InProcessHost:
    """Runs tools in this process, one at a time. `refuse` turns a call into an error of the sandbox or the like."""

    def __init__(self) -> None:
        self.ran: list[tuple[str, dict[str, Any]]] = []
        self.described: list[str] = []
        self.grants: list[Grant | None] = []
        self.files: list[tuple[Path, ...]] = []
        self.refuse: Callable[[Runnable], CallError | None] = lambda tool: None
        self.unprepared: CallError | None = None

    def start(self, workspace: Path, files: Sequence[Path]) -> None:
        """There is nothing to get ready."""

    def start_trials(self, beside: Path) -> None:
        """There is nothing to get ready."""

    async def prepare(self, requirements: Sequence[str]) -> CallError | None:
        return self.unprepared

    def refusal(self, requirements: Sequence[str]) -> str | None:
        return None

    async def describe(self, tool: Runnable) -> Description | CallError:
        described, _ = await self.try_out(CallSpec(tool, None, workspace=tool.module.parent))
        return described

    async def try_out(self, spec: CallSpec) -> tuple[Description | CallError, CallOutcome | None]:
        tool = spec.tool
        self.described.append(tool.name)
        try:
            module = self._load(tool)
            described = Description(
                name=tool.name,
                description="",
                input_schema=module.InputModel.model_json_schema(),
                output_schema=module.OutputModel.model_json_schema(),
            )
        except Exception as error:
            return CallError(kind="crashed", message=f"{tool.module}: {error}"), None
        return described, None if spec.arguments is None else await self.call(spec)

    async def call(self, spec: CallSpec) -> CallOutcome:
        tool = spec.tool
        self.ran.append((tool.name, dict(spec.arguments or {})))
        spec.mark(True)
        self.grants.append(spec.grant)
        self.files.append(tuple(spec.files))
        if refusal := self.refuse(tool):
            return CallOutcome(error=refusal)
        fits, opened = False, list[str]()
        noting = _OPENED.set(opened)
        try:
            with contextlib.chdir(spec.workspace), warnings.catch_warnings():
                warnings.simplefilter("ignore")  # files that a tool leaves open are the tool's affair
                module = self._load(tool)
                given = module.InputModel(**spec.given)
                fits = True
                output = module.run(given).model_dump(mode="json")
                json.dumps(output)  # what no JSON holds leaves no sandbox
            read = tuple(path for path in dict.fromkeys(opened) if Path(path) in spec.files)
            return tool.seen(CallOutcome(output=output, opened=read, level="in process"))
        except Exception as error:
            name, missing = type(error).__name__, getattr(error, "filename", None)
            kind = "crashed" if name != "ValidationError" else "bad_output" if fits else "invalid_arguments"
            return CallOutcome(
                error=CallError(kind=kind, message=f"{name}: {error}", exception=name, missing_file=missing)
            )
        finally:
            _OPENED.reset(noting)

    def _load(self, tool: Runnable) -> Any:
        module = types.ModuleType("tool_under_test")
        sys.modules["tool_under_test"] = module
        exec(compile(tool.module.read_bytes(), str(tool.module), "exec"), module.__dict__)
        return module


class QuickHost(InProcessHost):
    """Loads each text of a tool once."""

    def _load(self, tool: Runnable) -> Any:
        source = tool.module.read_bytes()
        key = hashlib.sha256(source).digest()
        if key not in _LOADED:
            _LOADED[key] = module = super()._load(tool)
            module.InputModel.model_rebuild()
        return _LOADED[key]


_LOADED: dict[bytes, Any] = {}


class SaidModels:
    """Models that answer from a list; a reply that is an exception is raised. Counts a token per word. As a judge it is
    known to tell right from wrong; where two versions differ it says what `preferring` does, and else that it cannot
    tell."""

    def __init__(self, replies: Sequence[Any] = (), *, limits: Mapping[str, int] | None = None) -> None:
        self.replies, self.limits = list(replies), dict(limits or {})
        self.asked: list[tuple[str, str]] = []
        self.preferring: Callable[[str], Any] = lambda prompt: {"results": []}
        self.trying_a_judge = contextlib.nullcontext()
        known = Standing(role="fixed", model="said model", by="declared").model_dump_json()
        self.tape = types.SimpleNamespace(noted=lambda key: known)

    def name(self, role: str) -> str:
        return "said model"

    def stands_apart(self, role: str) -> bool:
        return False

    def token_limit(self, role: str) -> int | None:
        return self.limits.get(role)

    def count(self, role: str, messages: Sequence[Any], tools: Sequence[Any] = ()) -> Any:
        texts = [m.content if isinstance(m.content, str) else json.dumps(m.content) for m in messages]
        return types.SimpleNamespace(tokens=sum((len(text) + 2) // 3 for text in texts), exact=True)

    async def chat(
        self,
        role: str,
        messages: Sequence[Any],
        *,
        tools: Sequence[Any] = (),
        purpose: str,
        label: str = "",
        stop: Sequence[str] = (),
    ) -> AIMessage:
        self.asked.append((role, str(messages[-1].content)))
        reply = self.replies.pop(0)
        if isinstance(reply, BaseException):
            raise reply
        return AIMessage(reply)

    async def structured(
        self, role: str, messages: Sequence[Any], output: Any, *, purpose: str, label: str = ""
    ) -> Any:
        self.asked.append((role, str(messages[-1].content)))
        reply = self.preferring(self.asked[-1][1]) if output is PreferenceReply else self.replies.pop(0)
        if isinstance(reply, BaseException):
            raise reply
        return output.model_validate(reply)


class SaidWriter:
    """A code writer that replies from a list and keeps what it was asked. Asked for calls with their results it says
    `calls`, one reply after the other, and nothing when there is none left."""

    name = "said"

    def __init__(self, *replies: Any) -> None:
        self.replies = list(replies)
        self.asked: list[str] = []
        self.calls: list[Any] = []
        self.asked_for_calls: list[str] = []

    async def write(self, system: str, user: str, *, purpose: str = "code") -> str:
        if purpose == "calls":
            self.asked_for_calls.append(user)
            said = self.calls.pop(0) if self.calls else ""
            if isinstance(said, BaseException):
                raise said
            return str(said)
        self.asked.append(user)
        reply = self.replies.pop(0)
        if isinstance(reply, BaseException):
            raise reply
        return reply if "```" in reply else f"Here it is.\n```python\n{reply}\n```\n"


class Shop:
    """A smith with its library, host, writer, models and the events that it emitted."""

    def __init__(self, folder: Path, *, public: bool = False) -> None:
        self.private = Library(folder / "tools")
        self.public = Library(folder / "public") if public else None
        self.library = LayeredLibrary(self.private, self.public)
        self.host, self.writer, self.models = InProcessHost(), SaidWriter(), SaidModels()
        self.events: list[Event] = []
        self.workspace = folder / "workspace"
        self.workspace.mkdir(parents=True)
        self.smith = self._smith()

    def share(self, builds: Path, task_id: str, before: Sequence[str] = ()) -> None:
        """Make this the shop of task `task_id`, which comes after `before` and shares its builds in `builds`."""
        self.smith = self._smith(task_id=task_id, shared=BuildFolder(builds, task_id, before))

    def _smith(self, **more: Any) -> Smith:
        return Smith(self.host, self.library, self.writer, self.models, Prompts(), self.events.append, **more)

    def kinds(self) -> list[str]:
        return [event.kind for event in self.events]

    async def has(self, source: str, name: str, *, library: Library | None = None) -> Tool:
        """Put a tool straight into the library."""
        return await put(library or self.private, source, name, self.host)

    async def called(self, tool: Tool, arguments: dict[str, Any], verdict: str, call_id: str = "c1_1") -> Any:
        """Run `tool` in the workspace and record the call with `verdict`."""
        outcome = await self.host.call(CallSpec(tool.runnable, arguments, workspace=self.workspace))
        invocation = Invocation(
            call_id=call_id,
            tool=tool.name,
            version=tool.version,
            arguments=arguments,
            outcome=outcome,
            effects=tool.effects,
            verdict=verdict,
        )
        return self.library.record(invocation, workspace=self.workspace)


async def put(library: Library, source: str, name: str, host: InProcessHost | None = None, **origin: Any) -> Tool:
    """Add a tool to `library`, described in this process."""
    library.path.mkdir(parents=True, exist_ok=True)
    with library.aside() as aside:
        module = aside / f"{name}.py"
        module.write_text(source, encoding="utf-8")
        description = await (host or InProcessHost()).describe(Runnable(name, module))
    assert isinstance(description, Description), description
    return library.add(source, description, read_contract(source), name=name, origin=Origin(**origin))


@pytest.fixture
def shop(tmp_path: Path) -> Shop:
    return Shop(tmp_path)


@pytest.fixture
def other_shop(tmp_path: Path) -> Shop:
    """The shop of a second task."""
    return Shop(tmp_path / "other")


@pytest.fixture
def layered_shop(tmp_path: Path) -> Shop:
    return Shop(tmp_path, public=True)


@pytest.fixture
def source_of() -> Callable[..., str]:
    return tool_source


@pytest.fixture
def put_tool() -> Callable[..., Any]:
    return put


@pytest.fixture
def said_models() -> type[SaidModels]:
    return SaidModels


@pytest.fixture
def in_process_host() -> InProcessHost:
    return InProcessHost()

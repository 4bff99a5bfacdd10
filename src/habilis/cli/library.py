"""`habilis library call`: tools run by hand, exactly as an agent runs them."""

from __future__ import annotations

import difflib
import hashlib
import json
import os
import shutil
import stat
import sys
import uuid
from argparse import Namespace
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from habilis.cli.callargs import paired, read_arguments, read_grants
from habilis.config import Settings
from habilis.contract.capabilities import Capabilities, Grant
from habilis.contract.contract import MAX_SOURCE_BYTES, ContractError, read_contract
from habilis.contract.records import RecordedCall, recorded
from habilis.contract.runnable import Runnable
from habilis.contract.taskfiles import gather, link_into
from habilis.core.errors import UserError
from habilis.core.masker import MASKER
from habilis.core.types import CallError, CallOutcome, Effects, Invocation, TaskFile
from habilis.library import Library
from habilis.library.folder import UNDESCRIBED
from habilis.library.tool import digest_of
from habilis.runtime.calls import CallSpec
from habilis.runtime.grants import Grants
from habilis.sandbox.processes.temporary import temporary
from habilis.terminal.choices import check_file, library_meant
from habilis.terminal.granting import Walls, at_terminal
from habilis.terminal.interrupting import run_to_end
from habilis.terminal.wording import call_text, one_line, plain, report_line, seconds_of, size_text

WIDE = 100
"""Characters up to which an output is shown on one line."""


@dataclass(frozen=True)
class Chosen:
    """A tool to call: what runs, and what it needs. `described`: from a manifest."""

    run: Runnable
    version: str
    effects: Effects
    needs: Capabilities
    source: str
    described: bool = True


@dataclass(frozen=True)
class Called:
    """One call and what came of it."""

    tool: Chosen
    arguments: dict[str, Any]
    outcome: CallOutcome

    @property
    def failed(self) -> bool:
        """Whether it gave no output, or one that says itself that the call did not succeed."""
        output = self.outcome.output
        return self.outcome.error is not None or (isinstance(output, dict) and bool(output.get("error")))

    @property
    def refused(self) -> list[str]:
        """What the tool wanted and did not get."""
        error = self.outcome.error
        said = [error.message] if error is not None and error.kind == "denied" else []
        return [*self.outcome.refused, *said]

    @property
    def invocation(self) -> Invocation:
        """The call for the records: whoever has it recorded says that it is right."""
        return Invocation(
            call_id=f"by-hand.{uuid.uuid4().hex[:12]}",
            tool=self.tool.run.name,
            version=self.tool.version,
            arguments=self.arguments,
            outcome=self.outcome,
            effects=self.tool.effects,
            verdict="success",
        )

    def document(self) -> dict[str, Any]:
        """The whole as JSON-plain data."""
        outcome = self.outcome.model_dump(mode="json")
        return {
            "tool": self.tool.run.name,
            "version": self.tool.version,
            "effects": self.tool.effects,
            "arguments": self.arguments,
            "ok": not self.failed,
            **outcome,
            "refused": self.refused,
        }


def call(args: Namespace) -> int:
    """Run the calls of `args` through one host, in order. 0 when every call succeeded, 1 when one failed.

    Raises `UserError` for bad usage, before anything runs.
    """
    settings, library = library_meant(args)
    arguments = read_arguments(args.args)
    grants = read_grants(args.grant)
    timeout_s = seconds_of(args.timeout, "--timeout") if args.timeout is not None else None
    if timeout_s is not None and timeout_s <= 0:
        raise UserError(f"--timeout {args.timeout}: expected more than 0 seconds")
    tools = choose(args.tools, library)
    calls = paired(tools, arguments)
    if args.record and not all(tool.described for tool in tools):
        raise UserError("--record keeps calls of tools of the library; promote or import the file first")
    keep = _empty_folder(args.keep) if args.keep else None
    files = _files(args.file)
    with temporary("call") as workspace:
        ask = at_terminal() and not args.json
        walls = Walls(settings, grants, [Path(file.path) for file in files], ask=ask)
        for name in walls.unused([tool.needs for tool in tools]):
            _warn(f"--grant env={name}: no tool asks for it, so none gets it")
        bench = Bench(walls, workspace, files, timeout_s)
        done = run_to_end(bench.work(calls, _show_nothing if args.json else _print))
        kept = _keep(workspace, keep) if keep else []
        kept_calls = _recorded(args, settings, library, done, workspace, files) if args.record else {}
    if args.json:
        document = {"level": bench.level, "calls": [one.document() for one in done], "kept": kept, **kept_calls}
        print(json.dumps(document, ensure_ascii=False, indent=2))
    else:
        _print_end(done, keep, kept)
        if kept_calls:
            print(f"{kept_calls['recorded']} recorded; generation {kept_calls['generation']}")
    return 1 if any(one.failed for one in done) else 0


class Bench:
    """A host, a working folder and files for a few calls."""

    def __init__(self, walls: Walls, workspace: Path, files: Sequence[TaskFile], timeout_s: float | None) -> None:
        self._walls, self._host, self._workspace, self._timeout_s = walls, walls.host(_warn), workspace, timeout_s
        self._files = [Path(file.path) for file in files]
        self._broken: dict[Path, CallError | None] = {}
        self._warned: set[Path] = set()
        self.level = ""
        link_into(workspace, files)

    async def work(
        self, calls: Sequence[tuple[Chosen, dict[str, Any]]], show: Callable[[Called], None]
    ) -> list[Called]:
        """Make the calls in order, showing each as it ends."""
        done = []
        try:
            self.level = await self._host.level()
            if len(calls) > 1:  # for one call alone, an interpreter of its own is as quick
                self._host.start(self._workspace, self._files)
            for tool, arguments in calls:
                outcome = await self._call(tool, arguments)
                done.append(Called(tool, arguments, outcome))
                show(done[-1])
        finally:
            await self._host.aclose()
        return done

    async def _call(self, tool: Chosen, arguments: dict[str, Any]) -> CallOutcome:
        if faults := self._faults(tool):
            text = f"not started, it holds what no tool should: {'; '.join(faults)}"
            return CallOutcome(error=CallError(kind="denied", message=text), level=self.level)
        grant = await self._walls.grant(tool.run.name, tool.version, tool.needs)
        if not tool.described and (error := await self._describe(tool.run, grant)) is not None:
            return CallOutcome(error=error, level=self.level)
        return await self._host.call(
            CallSpec(
                tool.run,
                arguments,
                workspace=self._workspace,
                files=self._files,
                timeout_s=self._timeout_s or grant.timeout_s,
                grant=grant,
            )
        )

    def _faults(self, tool: Chosen) -> tuple[str, ...]:
        """What stands in a tool's source and is refused; where settings only warn of it, that is done once."""
        grants, module = self._walls.grants, tool.run.module
        needs = tool.needs.model_copy(update={"network": ("*",)})  # hosts that it does not name can be granted here
        faults = grants.faults(tool.source, needs)
        if grants.settings.constructs == "refuse":
            return faults
        for fault in faults if module not in self._warned else ():
            _warn(f"{tool.run.name}, {fault}")
        self._warned.add(module)
        return ()

    async def _describe(self, tool: Runnable, grant: Grant) -> CallError | None:
        """Why a tool file cannot be loaded, None when it can; each file is asked once."""
        if tool.module not in self._broken:
            described = await self._host.describe(tool, grant=grant)
            self._broken[tool.module] = described if isinstance(described, CallError) else None
        return self._broken[tool.module]


def _recorded(
    args: Namespace,
    settings: Settings,
    library: Path,
    done: Sequence[Called],
    workspace: Path,
    files: Sequence[TaskFile],
) -> dict[str, int]:
    """Keep the calls that succeeded in the library: how many, and the generation that has them."""
    from habilis.curation.manual.tending import Tending

    calls: dict[str, list[RecordedCall]] = {}
    contents: dict[str, bytes] = {}
    for one in done:
        if one.failed:
            continue
        call, opened = recorded(one.invocation, workspace=workspace, files=[Path(file.path) for file in files])
        digests = {name: hashlib.sha256(MASKER.data(content)).hexdigest() for name, content in opened.items()}
        contents |= {digests[name]: MASKER.data(content) for name, content in opened.items()}
        calls.setdefault(call.tool, []).append(call.model_copy(update={"files": digests}))
    tending = Tending(library, settings, told=_warn)
    report = run_to_end(tending.keep_calls(f"keep calls of {', '.join(sorted(calls))}", calls, contents))
    return {"recorded": sum(map(len, calls.values())), "generation": report.generation}


def choose(words: Sequence[str], folder: Path) -> list[Chosen]:
    """The tools that `words` mean: files, or names in the library `folder`. Raises `UserError`."""
    library = Library(folder)
    return [_from_file(Path(word)) if _means_file(word) else _from_library(word, library) for word in words]


def _means_file(word: str) -> bool:
    return word.endswith(".py") or "/" in word


def _from_file(path: Path) -> Chosen:
    path = path.expanduser()
    try:
        if not path.is_file():
            raise UserError(f"{path}: {'not a plain file' if path.exists() else 'no such file'}")
        with path.open("rb") as stream:
            source = stream.read(MAX_SOURCE_BYTES + 1)
        text = source.decode("utf-8")
        contract = read_contract(text)
    except OSError as error:
        raise UserError(f"{path}: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise UserError(f"{path}: not UTF-8 (byte {error.start})") from None
    except ContractError as error:
        raise UserError(f"{path} is not a tool: {error}") from None
    return Chosen(
        Runnable(contract.name, path.resolve(), contract.requirements),
        digest_of(source)[:16],
        contract.effects,
        contract.capabilities,
        text,
        described=False,
    )


def _from_library(name: str, library: Library) -> Chosen:
    if not library.path.is_dir():
        raise UserError(f"no library at {library.path}; name one with --library, or a tool's file")
    tool = library.get(name)
    if tool is not None:
        needs = Grants().needs_of(tool)
        return Chosen(tool.runnable, tool.version, tool.effects, needs, tool.source())
    broken = next((b for b in library.broken() if b.file == f"{name}.py"), None)
    if broken is not None and broken.reason == UNDESCRIBED:
        return _from_file(library.path / broken.file)
    if broken is not None:
        raise UserError(f"tool {name} of {library.path} cannot be used: {broken.reason}")
    near = difflib.get_close_matches(name, library.names(), 3, 0.5)
    count = len(library.names())
    few = f"it has {count} tool{'' if count == 1 else 's'}, none of a near name"
    hint = f"did you mean {', '.join(near)}?" if near else few
    raise UserError(f"no tool {name} in {library.path}; {hint}")


def _files(names: Sequence[str]) -> tuple[TaskFile, ...]:
    for name in names:
        check_file(name)
    return gather("", names, Path.cwd())[0]


def _show_nothing(_: Called) -> None:
    """For --json, which prints all at the end."""


def _print(one: Called) -> None:
    """What came of a call, for people."""
    outcome = one.outcome
    print(call_text(one.tool.run.name, one.arguments))
    rows: list[tuple[str, str]] = []
    if outcome.error is None:
        rows.append(("output", _json_text(outcome.output)))
    elif outcome.error.kind != "denied":
        rows.append(("error", f"{outcome.error.kind}: {outcome.error.message}"))
    rows += [("granted", ", ".join(outcome.granted))] if outcome.granted else []
    rows += [("refused", text) for text in one.refused]
    rows += [("printed", outcome.printed.rstrip())] if outcome.printed.strip() else []
    rows += [("made", ", ".join(outcome.made))] if outcome.made else []
    rows.append(("took", f"{outcome.seconds:.2f} s, sandbox: {outcome.level}"))
    for label, text in rows:
        for line in plain(text).split("\n"):
            print(f"  {label:<8} {line}".rstrip())
            label = ""
    sys.stdout.flush()


def _warn(text: str) -> None:
    print(f"warning: {report_line(text)}", file=sys.stderr)


def _json_text(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= WIDE else json.dumps(value, ensure_ascii=False, indent=2)


def _print_end(done: Sequence[Called], keep: Path | None, kept: Sequence[str]) -> None:
    if len(done) > 1:
        failed = sum(one.failed for one in done)
        print(f"{len(done)} calls, {failed or 'none'} failed")
    if keep is not None:
        size = size_text(sum((keep / name).lstat().st_size for name in kept))
        print(f"kept in {report_line(str(keep))}: {one_line(', '.join(kept)) or 'nothing was made'} ({size})")


def _empty_folder(name: str) -> Path:
    path = Path(name).expanduser()
    if path.is_dir() and not any(path.iterdir()):
        return path
    if path.exists() or path.is_symlink():
        raise UserError(f"--keep {name}: it is there already, and not an empty folder")
    return path


def _keep(workspace: Path, target: Path) -> list[str]:
    """Copy the plain files that the tools left in `workspace`; links and anything odd stay behind."""
    kept = []
    for where, folders, names in os.walk(workspace):
        folders.sort()
        for name in sorted(names):
            path = Path(where, name)
            if not stat.S_ISREG(path.lstat().st_mode):
                continue
            inside = path.relative_to(workspace)
            copy = target / inside
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, copy, follow_symlinks=False)
            kept.append(str(inside))
    target.mkdir(parents=True, exist_ok=True)
    return kept

"""The call that a candidate has to pass before it is a tool: the example that its writer brought, else one made of the
task that it is for.

An example can be wrong where the tool is right: arguments that were never filled in, a file that it does not bring, a
column that its own file does not hold. Such a flaw condemns nobody, and is told. A tool that fails a sound example of
its own is refused, whatever else it can do.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from habilis.contract.capabilities import Capabilities, Grant
from habilis.contract.contract import Contract
from habilis.contract.examples import Example, names_a_place
from habilis.contract.inference import refused_in
from habilis.contract.needs import need_of
from habilis.contract.records import is_empty, path_texts, set_error, with_text
from habilis.core.locations import here
from habilis.core.types import CallError, CallOutcome, JsonSchema
from habilis.runtime.calls import CallSpec
from habilis.schemas.checking import fault_of
from habilis.synthesis.calls_by_rule import NO_GROUND, TaskGround, beginning, call_from, is_there
from habilis.synthesis.replay import compact

if TYPE_CHECKING:
    from habilis.contract.runnable import Description, Runnable
    from habilis.runtime.host import ToolHost

NOTHING = Capabilities()
NO_ERROR = "Where there is a result, `error` stays None"
UNUSABLE = "its example cannot be used: "
NO_EXAMPLE = "the tool brings no example"
_NOT_TRIED = ("denied", "unavailable")
_FAULTS_OF_CODE = frozenset(
    {"SyntaxError", "IndentationError", "NameError", "UnboundLocalError", "ImportError", "TypeError"}
)
"""Exceptions that no arguments excuse."""
_PLACEHOLDERS = frozenset({"...", "…"})


class Rejected(Exception):
    """A candidate did not pass. The text tells its writer why; it holds nothing that differs from run to run."""


@dataclass(frozen=True)
class FirstCall:
    """The call that a tool was made for, over the task's own files: its arguments as they were run, and what came of
    it."""

    arguments: dict[str, Any]
    outcome: CallOutcome


@dataclass(frozen=True)
class TrialCall:
    """What trying a candidate came to. `smoke` says it in words, `found` is what the call was refused.

    `flaw` is what is wrong with its example, where no other call took its place. `failure` is set with it where that
    example ran and failed: a reason to refuse the candidate, if nothing else shows that it works.
    """

    description: Description
    smoke: str
    found: Capabilities = NOTHING
    flaw: str = ""
    failure: str = ""
    first: FirstCall | None = None


@dataclass(frozen=True)
class _Call:
    """An example as it is laid out: its arguments, the task's files, and those that the arguments name."""

    example: Example
    arguments: dict[str, Any]
    files: tuple[Path, ...] = ()
    named: tuple[str, ...] = ()


@dataclass(frozen=True)
class _Flaw:
    """What is wrong with an example that failed. Only where it is `certain` nothing is said of the tool."""

    reason: str
    certain: bool


class Trials:
    """Tries candidates through `host`. Without `live`, none that would reach a host is called."""

    def __init__(self, host: ToolHost, *, live: bool = True) -> None:
        self._host, self._live = host, live

    async def run(
        self,
        candidate: Runnable,
        contract: Contract,
        ground: TaskGround,
        workspace: Path,
        grant: Grant,
        *,
        first: dict[str, Any] | None = None,
    ) -> TrialCall:
        """Load the candidate and try it; in one interpreter where its own example serves. Raises `Rejected`.

        `first` are the arguments of the call that it was made for: where nothing forbids it, that is the trial.
        """
        if contract.effects == "writes" or grant.subprocess or not grant.empty:
            ground = NO_GROUND  # a trial changes nothing of the user's, and sends nothing of it anywhere
        if ground == NO_GROUND or contract.capabilities.shown():
            first = None
        example = contract.examples[0] if contract.examples else None
        call = _laid_out(example if first is None else Example(arguments=first), ground, workspace)
        offline = not self._live and bool(grant.network or grant.watched)
        arguments = call.arguments if call and not offline else None
        described, outcome = await self._host.try_out(
            CallSpec(candidate, arguments, workspace=workspace, files=call.files if call else (), grant=grant)
        )
        if isinstance(described, CallError):
            raise Rejected(f"It cannot be loaded: {described.message}")
        _check_schemas(described)
        if offline:
            return TrialCall(described, "not tried: it reaches hosts, and here nothing may")
        if first is not None and call is not None and outcome is not None:
            return _of_first(described, call, outcome, seen=not contract.requirements)
        if call is None or outcome is None:
            trial = _untried(described, contract)
        else:
            trial = _of_example(described, call, outcome)
            if not trial.flaw:
                return trial
        return await self._otherwise(trial, candidate, ground, workspace, grant)

    async def _otherwise(
        self, trial: TrialCall, candidate: Runnable, ground: TaskGround, workspace: Path, grant: Grant
    ) -> TrialCall:
        """What a call made of the task comes to; `trial` where there is none, or where it may be the wrong call."""
        if ground == NO_GROUND:
            return trial
        place = workspace.with_name(f"{workspace.name}-task")
        place.mkdir()
        arguments = call_from(ground, trial.description.input_schema, ground.laid_out(place))
        if arguments is None:
            return trial
        outcome = await self._host.call(
            CallSpec(candidate, arguments, workspace=place, files=ground.paths, grant=grant)
        )
        failure = _failure(arguments, outcome)
        error = outcome.error
        if error and (error.kind == "bad_output" or (error.kind == "crashed" and error.exception in _FAULTS_OF_CODE)):
            raise Rejected(f"A call made of the task, {failure}")
        if failure or error:
            return trial
        why = trial.smoke.removeprefix("not tried: ")
        return TrialCall(trial.description, f"passed, a call made of the task; {why}", trial.found)


def _untried(described: Description, contract: Contract) -> TrialCall:
    """The trial of a candidate without any example that could be called."""
    if not contract.flaws:
        return TrialCall(described, f"not tried: {NO_EXAMPLE}")
    flaw = f"{UNUSABLE}{contract.flaws[0].reason}"
    return TrialCall(described, f"not tried: {flaw}", flaw=flaw)


def _of_first(described: Description, call: _Call, outcome: CallOutcome, *, seen: bool) -> TrialCall:
    """What the call came to that a candidate was made for. Raises `Rejected` where it failed, but not for arguments
    that no tool could use; and, where it is `seen` what a tool opens, if it opened no file that it was given."""
    if failure := _failure(call.arguments, outcome):
        flaw = _flaw(call, outcome, described.input_schema)
        if flaw is None or not flaw.certain:
            raise Rejected(f"Its first call, {failure}")
        return TrialCall(described, f"not tried: its first call cannot be used: {flaw.reason}")
    if seen and call.named and outcome.error is None and not _opened(call, outcome):
        raise Rejected(f"Its first call, {compact(call.arguments)}, opens no file: open the path that it is given.")
    found, tried = refused_in(outcome, call.arguments), outcome.error is None
    whole = tried and not found.shown()
    return TrialCall(
        described, _smoke(call, outcome), found, first=FirstCall(call.arguments, outcome) if whole else None
    )


def _opened(call: _Call, outcome: CallOutcome) -> bool:
    """Whether the call opened a file that its arguments name, or something in a folder of these."""
    return any(Path(opened).is_relative_to(named) for opened in outcome.opened for named in call.named)


def _of_example(described: Description, call: _Call, outcome: CallOutcome) -> TrialCall:
    """What calling a candidate's own example came to. Raises `Rejected` where it failed, and by no fault of the
    example."""
    found = refused_in(outcome, call.arguments)
    failure = _failure(call.arguments, outcome)
    if not failure:
        return TrialCall(described, _smoke(call, outcome), found)
    flaw = _flaw(call, outcome, described.input_schema)
    if flaw is None:
        raise Rejected(f"Its own example, {failure}")
    why = f"{UNUSABLE}{flaw.reason}"
    said = "" if flaw.certain else f"Its own example, {failure}"
    return TrialCall(described, f"not tried: {why}", found, flaw=why, failure=said)


def _laid_out(example: Example | None, ground: TaskGround, workspace: Path) -> _Call | None:
    """The example's files in `workspace`, and the task's where its arguments name them."""
    workspace.mkdir()
    if example is None:
        return None
    for name, text in example.files.items():
        place = workspace / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(text.encode("utf-8"))
    texts = set(path_texts(example.arguments))
    brought = {text for text in texts if not names_a_place(text) and is_there(workspace / text)}
    meant = {text: file for text in texts - brought if (file := ground.file(text))}
    if not meant:
        return _Call(example, example.arguments)
    names = ground.laid_out(workspace)
    found = {text: names[file.path] for text, file in meant.items()}
    arguments = with_text(example.arguments, lambda text: found.get(text, text))
    return _Call(example, arguments, ground.paths, tuple(file.path for file in meant.values()))


def _smoke(call: _Call, outcome: CallOutcome) -> str:
    if outcome.error is not None and outcome.error.kind in _NOT_TRIED:
        return f"not tried: {outcome.error.message}"
    return "passed, on the task's own files" if call.files else "passed"


def _failure(arguments: Mapping[str, Any], outcome: CallOutcome) -> str:
    """How a trial call failed; empty where it passed, or could not be made here."""
    call = f"{compact(arguments, 500)},"
    if outcome.error is not None:
        if outcome.error.kind in _NOT_TRIED:
            return ""
        return f"{call} fails: {outcome.error.message}{_printed(outcome)}"
    if error := set_error(outcome.output):
        beside = "" if is_empty(outcome.output) else f", beside its result {compact(outcome.output, 500)}. {NO_ERROR}"
        return f"{call} sets error: {error}{beside}"
    return f"{call} gives no result: {compact(outcome.output, 500)}" if is_empty(outcome.output) else ""


def _flaw(call: _Call, outcome: CallOutcome, schema: JsonSchema) -> _Flaw | None:
    """What is wrong with an example that failed, in itself; None where nothing shows that anything is."""
    error = outcome.error
    if error is not None and error.kind == "invalid_arguments":
        return _Flaw(f"its arguments do not fit InputModel: {error.message}", certain=True)
    texts = set(path_texts(call.arguments))
    if texts & _PLACEHOLDERS:
        return _Flaw("its arguments were never filled in", certain=True)
    if lost := _named_nowhere(call, schema, texts, error.missing_file if error else None):
        return _Flaw(f"it names {lost}, and brings no such file", certain=True)
    for name, text in call.example.files.items():
        if broken := _broken(name, text):
            return _Flaw(f"its file {name} {broken}", certain=False)
    said = error.message if error else set_error(outcome.output) or ""
    held = "\n".join([*call.example.files.values(), *(beginning(here(file)) for file in call.files)])
    odd = [text for text in sorted(texts - call.example.files.keys()) if held and text not in held]
    odd = [text for text in odd if re.search(rf"(?<!\w){re.escape(text)}(?!\w)", said)]
    return _Flaw(f"{odd[0]!r} stands in none of its files", certain=False) if odd else None


def _named_nowhere(call: _Call, schema: JsonSchema, texts: set[str], missing: str | None) -> str:
    """A file that an example names and nobody has."""
    if call.files or missing in call.example.files:
        return ""
    if missing in texts:
        return str(missing)
    fields = schema.get("properties")
    for name, said in fields.items() if isinstance(fields, dict) else ():
        value = call.arguments.get(name)
        if (
            isinstance(value, str)
            and value
            and isinstance(said, dict)
            and need_of(str(name), said) in ("file", "image")
        ):
            brought = any(f"{file}/".startswith(f"{value.rstrip('/')}/") for file in call.example.files)
            if not brought and value not in (".", "./") and value.removeprefix("./") not in call.example.files:
                return value
    return ""


def _broken(name: str, text: str) -> str:
    """What is wrong with a file's text, as its name promises it; empty where nothing is."""
    if not text.strip() or text.strip() in _PLACEHOLDERS:
        return "is empty"
    if "\n" not in text.strip() and "\\n" in text:
        return "holds \\n where its lines should end"
    if name.lower().endswith(".json"):
        try:
            json.loads(text)
        except (ValueError, RecursionError):
            return "is no JSON"
    return ""


def _printed(outcome: CallOutcome) -> str:
    tail = outcome.printed.strip()[-800:]
    return f"\nIt printed:\n{tail}" if tail else ""


def _check_schemas(description: Description) -> None:
    """Whoever calls the tool checks by its schemas, so these must be within bounds."""
    for name, schema in (("InputModel", description.input_schema), ("OutputModel", description.output_schema)):
        if fault := fault_of(schema):
            raise Rejected(f"The JSON schema of {name} {fault}.")

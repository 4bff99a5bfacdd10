"""The words of Habilis as frozen, closed data. JSON-plain, so that all of it can be stored and read back."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from habilis.core.frozen import Frozen as Frozen
from habilis.core.usage import CURRENCY, Money
from habilis.core.usage import Usage as Usage

FORMAT = 1
"""Version of everything written to disk: run, manifest, record, tape."""

Status = Literal[
    "answered",
    "gave_up",
    "timed_out",
    "crashed",
    "budget",
    "unreachable",
    "misconfigured",  # what is set for the model cannot be right: a person must mend it
    "environment_error",  # this machine failed: its disk, memory, interpreter or sandbox
    "waiting",
    "interrupted",
]
Role = Literal["basic", "builder", "vision", "summarise", "cluster", "judge", "eval"]
Purpose = Literal["plan", "step", "code", "calls", "review", "answer", "summary"]
"""What a reply of a model is for, which bounds its length and time: a plan; the next step of the work on a question;
the source of a tool; calls of it with their results; a judgement, of whatever; an answer in the form asked for;
something long, made short."""
Effects = Literal["pure", "reads", "writes"]
Verdict = Literal["success", "failure", "input_error"]
ErrorKind = Literal[
    "invalid_arguments",  # the arguments do not fit the tool's schema; the tool never ran
    "unknown_tool",  # no tool of that name
    "timeout",  # ended at its time limit
    "crashed",  # an exception, a killed process, a limit reached
    "bad_output",  # ran, but what it returned is not its OutputModel
    "denied",  # the sandbox or the policy refused something that it needs
    "unavailable",  # its environment, file or sandbox could not be had
    "interrupted",  # started before a kill and not run again: outcome unknown
]
JsonSchema = dict[str, Any]


class TaskFile(Frozen):
    """A file or folder of the user's that tools may read.

    `named` is what the user wrote, `path` the absolute path behind it. A relative `named` also
    exists under that name in the task's workspace. What is not `shown` is there for tools, and in no list of a prompt.
    """

    named: str
    path: str
    is_dir: bool = False
    shown: bool = True


class PastCall(Frozen):
    """A tool call of an earlier turn, with what the model was shown of its result. `error`: it failed."""

    id: str
    tool: str
    arguments: dict[str, Any] = Field(default_factory=dict)
    result: str = ""
    error: bool = False


class PastTurn(Frozen):
    """An earlier turn of a conversation, in bounds: its question, its tool work round by round, its answer.

    Of a turn that came to no answer, `answer` says so, and why. `made` are the files that its tools made, by name.
    """

    number: int
    question: str
    rounds: tuple[tuple[PastCall, ...], ...] = ()
    answer: str = ""
    made: tuple[str, ...] = ()


class Earlier(Frozen):
    """What a turn of a conversation has of the turns before it, within the limit of memory.

    `turn` is its own number. `recent` are the newest turns, oldest first; `near` are those of the older ones that
    share most with the question. `left_out` counts turns that are in neither; `thread` is the folder that holds all.
    `files` are the paths of those task files that this turn did not bring itself, `tools` names of tools used before.
    """

    thread: str
    turn: int
    recent: tuple[PastTurn, ...] = ()
    near: tuple[PastTurn, ...] = ()
    left_out: int = 0
    files: tuple[str, ...] = ()
    tools: tuple[str, ...] = ()


class Task(Frozen):
    """One question with its files. `missing` are paths in the question that do not exist.

    `answer_schema` is a JSON schema that the answer must fit. `earlier` is set for a turn of a conversation, but for
    the first.
    """

    id: str
    question: str
    files: tuple[TaskFile, ...] = ()
    missing: tuple[str, ...] = ()
    answer_schema: JsonSchema | None = None
    earlier: Earlier | None = None


class ToolRequest(Frozen):
    """A tool that the manager wants to have built; both schemas are JSON schemas of type object."""

    name: str
    description: str
    input_schema: JsonSchema
    output_schema: JsonSchema


class Plan(Frozen):
    """The manager's plan: names to reuse (checked against the library), tools to build, guidance in words.

    `serves` says of reused tools, by name, what of the question they do, where the model said it. `by`: who planned; a
    plan by rule builds one tool together with its first call, or reuses one that answered the same words.
    """

    reuse: tuple[str, ...] = ()
    serves: dict[str, str] = Field(default_factory=dict)
    build: tuple[ToolRequest, ...] = ()
    guidance: str = ""
    by: Literal["model", "rule"] = "model"


class ToolSpec(Frozen):
    """What a model sees of a tool: a provider-safe name, a description, a JSON schema of its arguments."""

    name: str
    description: str
    parameters: JsonSchema


class ToolCard(Frozen):
    """What a tool is found by; a plan's prompt shows its name, description and parameter names.

    `explained` are the parameters' descriptions, `answered` questions that the tool helped to answer. `types` are the
    JSON types of the parameters, empty for those that may be left out; none at all where they are not known. `worth`,
    0 to 1, is what its record says for it.
    """

    name: str
    description: str
    parameters: tuple[str, ...] = ()
    explained: tuple[str, ...] = ()
    answered: tuple[str, ...] = ()
    types: tuple[str, ...] = ()
    worth: float = 0.0


class CallError(Frozen):
    """Why a tool call gave no output. `message` is for the model: what happened and what to do next.

    `exception` is the class name when the tool raised, `missing_file` the path when a named file was not there.
    """

    kind: ErrorKind
    message: str
    exception: str | None = None
    missing_file: str | None = None


class GrantRequest(Frozen):
    """What a person is asked: whether this version of a tool may have `needs`, each as text (`network example.org`)."""

    tool: str
    version: str
    needs: tuple[str, ...]
    description: str = ""


class Traffic(Frozen):
    """What a call exchanged with granted hosts, kept: the digest of the record of it, or in words why there is none."""

    digest: str = ""
    lost: str = ""


class CallOutcome(Frozen):
    """What one run of a tool came to: exactly one of `output` (JSON) and `error` counts.

    An output whose objects would take too much memory stays text: the JSON as it came.
    `printed` is the tail of what the tool wrote to stdout and stderr. `opened` are the task files that it
    opened for reading, `made` the workspace-relative files that it created or changed. `level` is the sandbox
    level that held it. `granted` is what it was given beside its task's files and `refused` what it wanted and did not
    get, both as kinds and names (`network example.org`, `env API_TOKEN`), never values. `traffic` is set where the call
    was given hosts and what passed was to be kept. `usage` is what models cost that the tool asked, where it is an
    agent itself. `stood_in` is set where a member of a merged tool answered in its place.
    """

    output: Any = None
    error: CallError | None = None
    printed: str = ""
    opened: tuple[str, ...] = ()
    made: tuple[str, ...] = ()
    seconds: float = 0.0
    level: str = ""
    granted: tuple[str, ...] = ()
    refused: tuple[str, ...] = ()
    usage: Usage | None = None
    traffic: Traffic | None = None
    stood_in: StoodIn | None = None


class StoodIn(Frozen):
    """Who answered a call in the place of the tool that was asked (`name@identity`, and its version), and what that
    tool itself had come to."""

    member: str
    version: str
    failed: CallOutcome


CallOutcome.model_rebuild()


class Invocation(Frozen):
    """One tool call of one round, from the log. `version` is the digest of the tool's source that ran.

    `text` is what the model was shown. `ordinal` counts the rounds of the whole task, from 1.
    """

    call_id: str
    tool: str
    version: str = ""
    arguments: dict[str, Any] = Field(default_factory=dict)
    outcome: CallOutcome
    effects: Effects = "reads"
    verdict: Verdict | None = None
    text: str = ""
    attempt: int = 1
    ordinal: int = 0


SILENT = {"unreachable": "cannot be reached", "useless": "gives no reply that can be used"}
"""Why a judge says nothing, by how it stands."""


class Standing(Frozen):
    """Whether the word of `model` tells right from wrong where it plays the judge in the prompt `role`.

    `by` says from where that is known. `probe`: planted cases were asked (`judging/`); `accepted` of the right
    ones, `refused` of the wrong ones, each of so many asked. Else nothing was asked, and the word counts: the offline
    demonstration model judges by `own rules`, a chat model may have it `declared` of itself, the `settings` may say so,
    and the `record` of a task may come from a time when nobody asked. An `unreachable` judge, and one that the task
    knows for `useless` replies, were not asked either, and tell nothing.
    """

    role: str
    model: str
    by: Literal["probe", "own rules", "declared", "settings", "record", "unreachable", "useless"]
    tells: bool = True
    accepted: tuple[int, int] = (0, 0)
    refused: tuple[int, int] = (0, 0)

    @property
    def said(self) -> str:
        """In a few words, to go on from "the judge"."""
        if self.by in SILENT:
            return SILENT[self.by]
        if self.by != "probe":
            return f"was not tried ({self.by})"
        word = "tells right from wrong" if self.tells else "tells nothing"
        (good, right), (caught, wrong) = self.accepted, self.refused
        cases = [f"{good} of {right} right ones accepted"] if right else []
        cases += [f"{caught} of {wrong} wrong ones refused"] if wrong else []
        return f"{word} (planted cases: {', '.join(cases)})"


class Review(Frozen):
    """The manager's word on an execution, and whose word it was.

    `by`: the judge; `rules` that settled it; `not verified`, where neither could say; or the name of the rule that
    refused. `judge`: how far the judge is known to tell right from wrong, where it was to be asked.
    """

    accepted: bool
    reason: str
    by: str = "judge"
    judge: Standing | None = None

    @property
    def whose(self) -> str:
        """Whose word it was, and what that is worth, for people."""
        if self.judge is not None and self.judge.by in SILENT:
            return f"{self.by} (the judge {SILENT[self.judge.by]})"
        if self.judge is None or self.judge.by != "probe":
            return self.by if self.by in ("judge", "rules", "the judge's own reason") else f'the rule "{self.by}"'
        return f"{self.by} ({'tried on planted cases' if self.judge.tells else 'the judge tells nothing'})"


class Answer(Frozen):
    """The integrator's reply. `data` is the answer to a task with a schema, of which `final_answer` is the text."""

    final_answer: str
    reasoning_summary: str = ""
    data: Any = None


class DecidedCall(Frozen):
    """A call that fits its tool's schema, for someone else to run."""

    id: str
    name: str
    arguments: dict[str, Any] = Field(default_factory=dict)


class Decision(Frozen):
    """What a model decided to do next; nothing was run.

    `calls`: run them and give the results back by id. `answered`: `answer` is the answer. `unanswered`: the calls of
    `pending` have no result yet, and no model was asked. Any other status has its reason in `error`. `conversation`
    is all of it so far, in the shape of chat completions, without the system prompt.
    """

    format: int = FORMAT
    status: Literal["calls", "answered", "unanswered"] | Status
    calls: tuple[DecidedCall, ...] = ()
    answer: str = ""
    pending: tuple[str, ...] = ()
    error: str | None = None
    conversation: tuple[dict[str, Any], ...] = ()
    model: str = ""
    usage: Usage = Usage()
    run_dir: str = ""


class TaskResult(Frozen):
    """The outcome of one task. `answered` only if a review accepted an execution and the integrator succeeded.

    For any other status the best text there is stands in `final_answer` and the reason in `error`. `question_asked`
    is set when status is `waiting`. `review` is the last word on an execution, with who gave it; `judges` says of each
    judge that was to be asked, by its prompt, whether its word tells anything. `answer_data` is the answer as data,
    where a schema asked for it. A task that gave up says what was `found`, by which calls, what is `missing`, and what
    a person can try (`suggestions`). `model` says what answered; the offline demonstration model is named as such.
    `cost` is in `currency`, by the `prices` named; None where it is not known, and 0 for a replay.
    """

    format: int = FORMAT
    task_id: str
    status: Status
    question: str
    final_answer: str = ""
    reasoning_summary: str = ""
    answer_data: Any = None
    error: str | None = None
    found: tuple[str, ...] = ()
    missing: str = ""
    suggestions: tuple[str, ...] = ()
    question_asked: str | None = None
    review: Review | None = None
    judges: dict[str, Standing] = Field(default_factory=dict)
    files: tuple[str, ...] = ()
    sandbox_level: str = ""
    model: str = ""
    attempts: int = 0
    rounds: int = 0
    round_limit_reached: bool = False
    tools_made: tuple[str, ...] = ()
    tools_used: tuple[str, ...] = ()
    tool_calls: int = 0
    invocations: tuple[Invocation, ...] = ()
    usage: Usage = Usage()
    usage_by_role: dict[str, Usage] = Field(default_factory=dict)
    cost: Money | None = None
    currency: str = CURRENCY
    prices: tuple[str, ...] = ()
    seconds: float = 0.0
    run_dir: str = ""

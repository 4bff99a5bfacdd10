"""Everything that happens in a run, as one closed union. Console, JSONL, post-mortem all read these.

Times are added by the sink (`at`, seconds since the epoch), never by the emitter, and never reach a prompt.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from habilis.core.parents import parent_id
from habilis.core.types import Frozen, Plan, Review, Role, Usage, Verdict


class OfCall(Frozen):
    """An event of a call. `parent` is the id of the build, the tool call or the round (`round-3`) that it belongs to;
    empty where there is none, and in records of before."""

    parent: str = Field(default_factory=parent_id)


class OfBuild(Frozen):
    """An event of a build. `build_id` is the same in all events of one build, and empty in records of before."""

    build_id: str = Field(default_factory=parent_id)


class TaskStarted(Frozen):
    kind: Literal["task_started"] = "task_started"
    task_id: str
    question: str
    files: tuple[str, ...] = ()
    model: str = ""
    resumed: bool = False


class Notice(Frozen):
    """A message for the user: a warning, a choice that was made, something left out."""

    kind: Literal["notice"] = "notice"
    level: Literal["info", "warning", "error"] = "info"
    text: str


class ModelCallStarted(OfCall):
    """`call_id` names the request: its key on the tape and how often that was asked. Empty in older records."""

    kind: Literal["model_call_started"] = "model_call_started"
    call_id: str = ""
    role: Role
    purpose: str
    model: str


class ModelCallEnded(OfCall):
    """`replayed`: answered from the tape, at no cost. `error` is set when the call failed for good."""

    kind: Literal["model_call_ended"] = "model_call_ended"
    call_id: str = ""
    role: Role
    purpose: str
    model: str
    usage: Usage = Usage()
    seconds: float = 0.0
    replayed: bool = False
    error: str | None = None


class ModelRetry(Frozen):
    kind: Literal["model_retry"] = "model_retry"
    role: Role
    reason: str
    wait_s: float
    attempt: int


class Planned(Frozen):
    """A plan was made. `offered` are the tools that its prompt showed."""

    kind: Literal["planned"] = "planned"
    attempt: int
    plan: Plan
    offered: tuple[str, ...] = ()


class ToolBuildStarted(OfBuild):
    kind: Literal["tool_build_started"] = "tool_build_started"
    tool: str
    purpose: Literal["build", "enhance", "merge"] = "build"


class BuildAwaited(OfBuild):
    """A task waits for another task of its step, `builder`, which is building nearly the same tool."""

    kind: Literal["build_awaited"] = "build_awaited"
    tool: str
    builder: str


class ToolBuilt(OfBuild):
    """A new tool passed its gate. `smoke` is the outcome of its trial call: `passed`, the call that it passed in place
    of its own example, or why it was not tried. `confirmed` counts the writer's calls that were kept with it."""

    kind: Literal["tool_built"] = "tool_built"
    tool: str
    version: str
    attempts: int
    smoke: str
    path: str
    confirmed: int = 0


class NeedsFound(Frozen):
    """What a new version of a tool needs besides its task's files, each need marked as declared or inferred."""

    kind: Literal["needs_found"] = "needs_found"
    tool: str
    version: str
    needs: tuple[str, ...]


class GrantDecided(Frozen):
    """Which of these needs a version of a tool is granted, from now on in this task, and why not the rest.

    `by`: who decided.
    """

    kind: Literal["grant_decided"] = "grant_decided"
    tool: str
    version: str
    granted: tuple[str, ...] = ()
    denied: tuple[str, ...] = ()
    by: Literal["settings", "person"] = "settings"


class ToolAdopted(OfBuild):
    """A tool that another task of the same step had built for nearly the same request was adopted.

    It passed the gate here too. `origin_task` built it, under the name `origin_tool`."""

    kind: Literal["tool_adopted"] = "tool_adopted"
    tool: str
    version: str
    origin_task: str
    origin_tool: str


class ReplayedCall(Frozen):
    """A recorded call that a new version was held against: `input` is how its arguments begin, as JSON. It gave the
    `same`, or failed before and is `mended`, or could not be run; `why` is the judge's word, or why not. It stands for
    `times` equal ones."""

    call_id: str
    input: str = ""
    word: Literal["same", "mended", "not_run"]
    why: str = ""
    times: int = 1


class ToolEnhanced(OfBuild):
    """A better version replaced the private one. `replayed` of `records` recorded calls were run; all passed. `calls`
    says which (empty in older records). `confirmed` counts further calls of the writer that were kept, `judged` those
    on which both versions differed and a judge preferred this one."""

    kind: Literal["tool_enhanced"] = "tool_enhanced"
    tool: str
    version: str
    previous: str
    attempts: int
    replayed: int
    records: int
    confirmed: int = 0
    judged: int = 0
    calls: tuple[ReplayedCall, ...] = ()


class ToolRejected(OfBuild):
    """A candidate failed its gate; nothing was replaced."""

    kind: Literal["tool_rejected"] = "tool_rejected"
    tool: str
    purpose: Literal["build", "enhance", "merge"]
    attempt: int
    reason: str


class ToolGivenUp(OfBuild):
    """All attempts to build or enhance a tool failed."""

    kind: Literal["tool_given_up"] = "tool_given_up"
    tool: str
    purpose: Literal["build", "enhance", "merge"]
    reason: str


class ToolArchived(Frozen):
    """A private tool that never proved itself was set aside, with the reason."""

    kind: Literal["tool_archived"] = "tool_archived"
    tool: str
    reason: str
    path: str


class ToolCallStarted(OfCall):
    kind: Literal["tool_call_started"] = "tool_call_started"
    call_id: str
    tool: str
    version: str
    arguments: dict[str, Any]


class ToolCallEnded(OfCall):
    """`text` is what the model was shown. `reused`: answered from the record, not run."""

    kind: Literal["tool_call_ended"] = "tool_call_ended"
    call_id: str
    tool: str
    seconds: float
    error: str | None = None
    text: str = ""
    made: tuple[str, ...] = ()
    level: str = ""
    granted: tuple[str, ...] = ()
    refused: tuple[str, ...] = ()
    reused: bool = False


class MemberAnswered(Frozen):
    """A merged tool failed a call, and one of its members answered instead: `member` is `name@identity`,
    `failure` how the merged tool failed."""

    kind: Literal["member_answered"] = "member_answered"
    call_id: str
    tool: str
    version: str
    member: str
    failure: str


class Judged(Frozen):
    kind: Literal["judged"] = "judged"
    call_id: str
    tool: str
    verdict: Verdict
    reason: str
    by: Literal["rule", "model"]


class ThoughtCall(Frozen):
    """One tool call inside a thought record."""

    call_id: str
    tool: str
    arguments: dict[str, Any] = Field(default_factory=dict)
    observation: str = ""
    seconds: float = 0.0
    error: str | None = None


class Thought(Frozen):
    """The record of one round, written at each stage with the same position; the last one counts.

    Positions count 1, 2, 3 … without gaps over the whole task.
    """

    kind: Literal["thought"] = "thought"
    position: int
    stage: Literal["asked", "replied", "observed"]
    thought: str = ""
    calls: tuple[ThoughtCall, ...] = ()
    usage: Usage = Usage()


class ThoughtPiece(Frozen):
    """A piece of a thought or an answer as it arrives; the `Thought` of the same position has the whole.

    It is for display only: no record keeps it.
    """

    kind: Literal["thought_piece"] = "thought_piece"
    position: int
    text: str


class RolledBack(Frozen):
    kind: Literal["rolled_back"] = "rolled_back"
    reason: str
    dropped: int


class Summarised(Frozen):
    kind: Literal["summarised"] = "summarised"
    before_tokens: int
    after_tokens: int


class ExecutionEnded(Frozen):
    """`stop` says why: `answer`, `finished`, `out_of_rounds`, `empty_replies`, `cut_replies`, `failing`, `repeating`,
    `stopped`."""

    kind: Literal["execution_ended"] = "execution_ended"
    attempt: int
    stop: str
    text: str


class Reviewed(Frozen):
    kind: Literal["reviewed"] = "reviewed"
    attempt: int
    review: Review


class Asked(Frozen):
    kind: Literal["asked"] = "asked"
    question: str


class Told(Frozen):
    """What the user answered to a question."""

    kind: Literal["told"] = "told"
    call_id: str
    question: str
    answer: str


class TaskEnded(Frozen):
    kind: Literal["task_ended"] = "task_ended"
    task_id: str
    status: str
    final_answer: str
    error: str | None = None
    usage: Usage = Usage()
    seconds: float = 0.0


class StepStarted(Frozen):
    """A step of a training run begins. `tasks` are its rows, `left` those that are still to be run."""

    kind: Literal["step_started"] = "step_started"
    step: int
    tasks: tuple[str, ...]
    left: int


class StepTaskEnded(Frozen):
    """A task of a step ended, by itself or because its runner ended it."""

    kind: Literal["step_task_ended"] = "step_task_ended"
    step: int
    task_id: str
    status: str
    prediction: str = ""
    error: str | None = None
    usage: Usage = Usage()
    seconds: float = 0.0


class StepEnded(Frozen):
    """A step was absorbed; `metrics` is its row of `metrics.jsonl`."""

    kind: Literal["step_ended"] = "step_ended"
    step: int
    metrics: dict[str, Any] = Field(default_factory=dict)


class TaskAbsorbed(Frozen):
    """What an answered task proved is in its library, from `generation` on."""

    kind: Literal["task_absorbed"] = "task_absorbed"
    task_id: str
    generation: int


class Alert(Frozen):
    """A figure exceeded its limit in the settings `alerts`; reported once per task or run. `about`: which task, or
    which training run. `value` and `limit` are counts, shares of 1, or seconds, as `text` says."""

    kind: Literal["alert"] = "alert"
    name: Literal["rounds", "tool_errors", "slow_models", "slow_tools", "tokens"]
    scope: Literal["task", "run"]
    about: str
    value: float
    limit: float
    text: str


Event = Annotated[
    TaskStarted
    | Notice
    | ModelCallStarted
    | ModelCallEnded
    | ModelRetry
    | Planned
    | ToolBuildStarted
    | BuildAwaited
    | ToolBuilt
    | NeedsFound
    | GrantDecided
    | ToolAdopted
    | ToolEnhanced
    | ToolRejected
    | ToolGivenUp
    | ToolArchived
    | ToolCallStarted
    | ToolCallEnded
    | MemberAnswered
    | Judged
    | Thought
    | ThoughtPiece
    | RolledBack
    | Summarised
    | ExecutionEnded
    | Reviewed
    | Asked
    | Told
    | TaskEnded
    | TaskAbsorbed
    | StepStarted
    | StepTaskEnded
    | StepEnded
    | Alert,
    Field(discriminator="kind"),
]

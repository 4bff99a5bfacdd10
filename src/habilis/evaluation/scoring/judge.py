"""A model as judge of answers: role `eval`, the rubric a prompt, the ruling a checked form.

Rules after the published judges, in our own words: HLE and xbench compare the final answer of a response with the
reference and nothing else; FinSearchComp brings a rubric with every row; DeepSearchQA looks for each item of a set and
for items too many, and F1 is its measure. A response is text of the agent that is judged: the prompts say that nothing
in it is an instruction.
"""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import AsyncIterator, Callable
from typing import TYPE_CHECKING, Any, Literal

from pydantic import BaseModel, Field, field_validator

from habilis.config import Settings
from habilis.core.errors import BudgetReached, ModelReplyUnusable, ModelUnreachable
from habilis.core.events import Event, Notice
from habilis.curation.ledger.reports import Row
from habilis.evaluation.scoring.lists import as_text
from habilis.evaluation.scoring.scorers import SET_ANSWER, Score
from habilis.judging import Case, JudgeTrial, one_by_one, standing_of
from habilis.judging.planted_cases import RESPONSES, SETS
from habilis.prompts import Prompts, Rendered
from habilis.sandbox.processes.temporary import temporary

if TYPE_CHECKING:
    from habilis.models.chat import Models
    from habilis.models.client import Factory

MAX_RESPONSE = 12_000
"""Characters of a response that the judge sees: its beginning and its end, where conclusions stand."""
SCORING = "score an answer"
GIVE_UP_AFTER = 3
"""Judgements in a row that found no model, after which none is asked any more."""


class AnswerRuling(BaseModel):
    """A ruling on one answer."""

    extracted_answer: str = Field(default="", max_length=1_000)
    reasoning: str = Field(default="", max_length=1_000)
    correct: Literal["yes", "no", "unclear"]

    @field_validator("correct", mode="before")
    @classmethod
    def _as_word(cls, value: Any) -> Any:
        """Judges of other systems are trained to say true and false."""
        if isinstance(value, bool):
            return "yes" if value else "no"
        return value.strip().lower() if isinstance(value, str) else value


class SetReply(BaseModel):
    """A ruling on an answer of several items."""

    reasoning: str = Field(default="", max_length=1_000)
    found: list[str] = Field(default_factory=list, max_length=200)
    missing: list[str] = Field(default_factory=list, max_length=200)
    too_many: list[str] = Field(default_factory=list, max_length=200)


def _says_right(reply: AnswerRuling, _: Case) -> bool | None:
    return {"yes": True, "no": False}.get(reply.correct)


def _finds_all(reply: SetReply, _: Case) -> bool:
    return bool(reply.found) and not reply.missing and not reply.too_many


ANSWER_TRIAL = JudgeTrial("judge_answer", AnswerRuling, one_by_one(RESPONSES), _says_right)
SET_TRIAL = JudgeTrial("judge_set", SetReply, one_by_one(SETS), _finds_all)


class ModelJudge:
    """Judges with the model of role `eval`. After `GIVE_UP_AFTER` failures to reach it in a row it asks no more."""

    def __init__(self, models: Models, prompts: Prompts) -> None:
        self._models = models
        self._prompts = prompts
        self._unreached = 0
        self.model = models.name("eval")
        """The model that judges as the settings name it, the same in every run with them."""
        self.unreachable = ""
        """Why no model could be asked, "" if one could."""

    async def rule(self, row: Row, prediction: str) -> Score:
        """The score of `prediction`; right=None with a reason when the model cannot be had or does not decide."""
        if self._unreached >= GIVE_UP_AFTER:
            return _unjudged(self.unreachable)
        try:
            score = await self._asked(row, prediction)
        except ModelUnreachable as error:
            self._unreached += 1
            self.unreachable = str(error)
            return _unjudged(str(error))
        except (ModelReplyUnusable, BudgetReached) as error:
            return _unjudged("its reply could not be used" if row.extra.get("guarded") else str(error))
        self._unreached = 0
        return score

    async def _asked(self, row: Row, prediction: str) -> Score:
        trial: JudgeTrial[Any] = SET_TRIAL if _is_set(row) else ANSWER_TRIAL
        standing = await standing_of(trial, self._models, self._prompts)
        if not standing.tells:
            return _unjudged(f"unscored by an unreliable judge: {standing.model} {standing.said}")
        rendered = question_to(self._prompts, row, prediction)
        messages = rendered.messages()
        if _is_set(row):
            return _of_set(await self._models.structured("eval", messages, SetReply, purpose="review", label=SCORING))
        return _of_answer(
            await self._models.structured("eval", messages, AnswerRuling, purpose="review", label=SCORING), row
        )


def question_to(prompts: Prompts, row: Row, prediction: str) -> Rendered:
    """What the judge of `row` is asked."""
    shown = {"question": row.question, "response": _shortened(prediction)}
    if _is_set(row):
        return prompts.render("judge_set", reference=as_text(row.answer), **shown)
    return prompts.render("judge_answer", reference=as_text(row.answer), rubric=row.rubric or "", **shown)


def _is_set(row: Row) -> bool:
    return row.extra.get("answer_type") == SET_ANSWER


def digest_of(rendered: Rendered) -> str:
    """A digest of all that a judgement depends on: question, reference, rubric, response."""
    return hashlib.sha256(f"{rendered.system}\0{rendered.user}".encode("utf-8", "replace")).hexdigest()[:32]


def _shortened(text: str) -> str:
    if len(text) <= MAX_RESPONSE:
        return text
    half = MAX_RESPONSE // 2
    return f"{text[:half]}\n[… {len(text) - 2 * half} characters left out …]\n{text[-half:]}"


def _of_answer(reply: AnswerRuling, row: Row) -> Score:
    right = {"yes": True, "no": False}.get(reply.correct)
    reason = "" if row.extra.get("guarded") else " ".join(reply.reasoning.split())
    if right is None:
        reason = f"the judge does not decide{': ' + reason if reason else ''}"
    return Score(right=right, scorer="judge", reason=reason)


def _of_set(reply: SetReply) -> Score:
    hits, wanted, given = (
        len(reply.found),
        len(reply.found) + len(reply.missing),
        len(reply.found) + len(reply.too_many),
    )
    if not wanted:
        return _unjudged(f"the judge named no item of the reference. {reply.reasoning}")
    right = not reply.missing and not reply.too_many
    reason = "" if right else f"{hits} of {wanted} items found, {len(reply.too_many)} too many"
    return Score(right=right, scorer="judge", reason=reason, partial=round(2 * hits / (wanted + given), 4))


def _unjudged(reason: str) -> Score:
    return Score(right=None, scorer="judge", reason=f"not judged: {' '.join(reason.split())}")


@contextlib.asynccontextmanager
async def open_judge(
    settings: Settings, notice: Callable[[str], None], clients: Factory | None = None
) -> AsyncIterator[ModelJudge]:
    """A judge of its own, closed behind. Raises `UserError` if the settings name no model.

    Its tape lies in a folder that goes with it: the rulings are kept by their scores, and prompts with the answers of
    a benchmark in them must not stay in a run.
    """
    from habilis.models.chat import Models
    from habilis.models.tape import Tape
    from habilis.models.usage import Budget

    def emit(event: Event) -> None:
        if isinstance(event, Notice):
            notice(event.text)

    with temporary("judge") as folder:
        tape = Tape(folder / "tape.jsonl")
        models = Models(
            settings.models, limits=settings.limits, tape=tape, emit=emit, budget=Budget(None, None), clients=clients
        )
        try:
            yield ModelJudge(models, Prompts(settings.prompts_dir))
        finally:
            await models.aclose()

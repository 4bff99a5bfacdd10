"""What `habilis doctor` says of models as judges: what is remembered of them, or what they say of planted cases now."""

from __future__ import annotations

import asyncio
import datetime as dt
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

from habilis.config import OFFLINE_NOTICE, Settings
from habilis.core.errors import BudgetReached, ModelReplyUnusable, ModelUnreachable, UserError
from habilis.core.types import Role, Standing
from habilis.judging import JudgeTrial, remembered, standing_of
from habilis.prompts import Prompts
from habilis.sandbox.processes.temporary import temporary

NOT_YET = "when its word is needed first; --probe-judges asks now, up to 40 small requests to each model"


@dataclass(frozen=True)
class ProbedJudge:
    """What is known of one model in one judging role."""

    state: Literal["ok", "note", "warning"]
    text: str
    todo: str = ""


def judges(settings: Settings, *, probe: bool) -> Iterator[ProbedJudge]:
    """A line for each judging role that is known, one for those that are not. `probe`: the planted cases are asked."""
    from habilis.models.providers import plays_offline

    prompts = Prompts(settings.prompts_dir)
    open_trials: list[str] = []
    by_own_rules = False
    for trial in _trials():
        role = prompts.render(trial.prompt, **trial.questions[0].shown).role
        if plays_offline(settings.models.role(role)):
            by_own_rules = True
        elif probe:
            yield _probed(trial, settings, prompts)
        elif (known := _remembered(trial, role, settings, prompts)) is not None:
            yield _line(*known)
        else:
            open_trials.append(trial.prompt)
    if by_own_rules:
        yield ProbedJudge("note", f"not tried: the {OFFLINE_NOTICE} judges by rules of its own")
    if open_trials and settings.models.probe_judges:
        yield ProbedJudge("note", f"{', '.join(open_trials)}: not tried yet, but {NOT_YET}")
    elif open_trials:
        yield ProbedJudge("warning", f"{', '.join(open_trials)}: believed untried (models.probe_judges is off)")


def _trials() -> tuple[JudgeTrial[Any], ...]:
    from habilis.agents.answering import GROUNDED
    from habilis.agents.verdicts import VERDICT
    from habilis.curation.merging.cluster import TWIN
    from habilis.evaluation.scoring.judge import ANSWER_TRIAL, SET_TRIAL
    from habilis.judging.answers import REVIEW
    from habilis.judging.preference import DIFFERING
    from habilis.synthesis.replay import FIXED

    return (REVIEW, GROUNDED, VERDICT, FIXED, DIFFERING, TWIN, ANSWER_TRIAL, SET_TRIAL)


def _remembered(
    trial: JudgeTrial[Any], role: Role, settings: Settings, prompts: Prompts
) -> tuple[Standing, float] | None:
    from habilis.models.providers import address

    model = settings.models.role(role)
    if model.provider == "local":
        return remembered(trial, prompts, f"local:{model.model}", None)
    return remembered(trial, prompts, address(model), model.model)


def _probed(trial: JudgeTrial[Any], settings: Settings, prompts: Prompts) -> ProbedJudge:
    """Ask the planted cases now; what comes of it is remembered."""
    try:
        return _line(asyncio.run(_asked(trial, settings, prompts)), None)
    except (BudgetReached, ModelReplyUnusable, ModelUnreachable, UserError, OSError) as error:
        return ProbedJudge("warning", f"{trial.prompt}: could not be tried: {error}", "see the line of the model")


async def _asked(trial: JudgeTrial[Any], settings: Settings, prompts: Prompts) -> Standing:
    from habilis.models.chat import Models
    from habilis.models.tape import Tape
    from habilis.models.usage import Budget

    with temporary("doctor") as folder:
        tape = Tape(folder / "tape.jsonl")
        models = Models(settings.models, tape=tape, emit=lambda event: None, budget=Budget(None, None))
        try:
            return await standing_of(trial, models, prompts, anew=True)
        finally:
            await models.aclose()


def _line(standing: Standing, at: float | None) -> ProbedJudge:
    when = "now" if at is None else f"{dt.datetime.fromtimestamp(at, dt.UTC):%Y-%m-%d}"
    text = f"{standing.role}: {standing.model} {standing.said}, tried {when}"
    if standing.tells:
        return ProbedJudge("ok", text)
    return ProbedJudge(
        "warning", text, "its word decides nothing; name another model for its role, models.judge.model say"
    )

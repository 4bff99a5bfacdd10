"""How a judge stands: noted on the tape, remembered on disk, or found out by asking the planted cases now."""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import os
import time
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from pydantic import BaseModel

from habilis.config import cache_dir
from habilis.core.digests import digest
from habilis.core.errors import ModelReplyUnusable, ModelUnreachable
from habilis.core.types import Role, Standing
from habilis.judging.trials import JudgeTrial, Question, Tally, tally_of
from habilis.rundir import atomic_write
from habilis.rundir.locks import take
from habilis.rundir.plain import open_plain

if TYPE_CHECKING:
    from habilis.models.chat import Models
    from habilis.models.client import Client
    from habilis.models.tape import Tape
    from habilis.prompts import Prompts, Rendered

T = TypeVar("T", bound=BaseModel)
FOLDER = "judges"
VALID_S = 90 * 86_400.0
"""Seconds for which a standing is remembered: behind one name another model may stand some day."""
POLL_S = 0.05
_NOTE = "judge "

log = logging.getLogger(__name__)


async def standing_of(
    trial: JudgeTrial[Any], models: Models, prompts: Prompts, *, memory: Path | None = None, anew: bool = False
) -> Standing:
    """Whether the word of the model that plays this role tells right from wrong.

    What the tape notes counts for a task; else what `memory` remembers (default: the cache folder); else the planted
    cases are asked now, as part of the task, which pays for them. `anew`: they are asked in any case. Raises as asking
    raises, but for replies that cannot be used: those are mistakes of the judge.
    """
    note = _NOTE + trial.prompt
    async with models.trying_a_judge:  # calls side by side would each ask for themselves
        noted = models.tape.noted(note)
        if noted is not None and not anew:
            return Standing.model_validate_json(noted)
        found = await _found(trial, models, prompts, memory or cache_dir() / FOLDER, anew)
        models.tape.note(note, found.model_dump_json())
    if not found.tells:
        models.tell(f"{found.model} is no judge ({trial.prompt}): it {found.said}. Its word decides nothing.")
    return found


async def word_of(
    trial: JudgeTrial[T], prompt: Rendered, models: Models, prompts: Prompts, *, label: str = ""
) -> tuple[Standing, T | None]:
    """How the judge of `trial` stands, and its reply to `prompt`: None where its word tells nothing, its replies cannot
    be used, or it is a model of its own that cannot be reached. Raises as asking does, but for these."""
    from langchain_core.messages import HumanMessage, SystemMessage

    messages = [SystemMessage(prompt.system), HumanMessage(prompt.user)]
    standing = await standing_or_away(trial, models, prompts)
    if not standing.tells:
        return standing, None
    try:
        with contextlib.suppress(ModelReplyUnusable):
            said = await models.structured(prompt.role, messages, trial.form, purpose="review", label=label)
            return standing, said
        return standing, None
    except ModelUnreachable as error:
        return _away(trial, prompt.role, models, error), None


async def standing_or_away(trial: JudgeTrial[Any], models: Models, prompts: Prompts) -> Standing:
    """`standing_of`; where the judge is a model of its own that cannot be reached, that its word tells nothing."""
    try:
        return await standing_of(trial, models, prompts)
    except ModelUnreachable as error:
        return _away(trial, _role(trial, prompts), models, error)


def _away(trial: JudgeTrial[Any], role: Role, models: Models, error: ModelUnreachable) -> Standing:
    """The standing of a judge that cannot be reached, noted for this task. Raises `error` where the work itself cannot
    go on without that model."""
    if not models.stands_apart(role):
        raise error
    models.tell(f"The judge ({trial.prompt}) cannot be reached, and rules decide: {error}")
    standing = Standing(role=trial.prompt, model=models.name(role), by="unreachable", tells=False)
    if models.tape.noted(_NOTE + trial.prompt) is None:
        models.tape.note(_NOTE + trial.prompt, standing.model_dump_json())
    return standing


def _role(trial: JudgeTrial[Any], prompts: Prompts) -> Role:
    return prompts.render(trial.prompt, **trial.questions[0].shown).role


def standings_on(tape: Tape) -> dict[str, Standing]:
    """The standing of each judge that a task asked, by the name of its prompt."""
    noted = tape.noted_under(_NOTE)
    return {name.removeprefix(_NOTE): Standing.model_validate_json(text) for name, text in noted.items()}


def remembered(
    trial: JudgeTrial[Any], prompts: Prompts, where: str, model: str | None, memory: Path | None = None
) -> tuple[Standing, float] | None:
    """What is remembered of `model` (None: any) at the address `where`, and when it was found out (Unix time)."""
    asked = _asked_digest(trial, prompts)
    rows = [row for path in sorted((memory or cache_dir() / FOLDER).glob("*.json")) if (row := _read(path))]
    rows = [row for row in rows if row.get("where") == where and row.get("asked") == asked]
    rows = [row for row in rows if model in (None, row.get("model"))]
    row = max(rows, key=lambda row: float(row["at"]), default=None)
    return (Standing.model_validate(row["standing"]), float(row["at"])) if row else None


# --- found out


async def _found(trial: JudgeTrial[Any], models: Models, prompts: Prompts, memory: Path, anew: bool) -> Standing:
    role = _role(trial, prompts)
    if models.tape.replay_only:  # of a tape that was written when nobody asked
        return Standing(role=trial.prompt, model=models.name(role), by="record")
    if not models.probes_judges and not anew:
        return Standing(role=trial.prompt, model=models.name(role), by="settings")
    client = await models.client(role)
    if client.offline:
        return Standing(role=trial.prompt, model=client.name, by="own rules")
    if getattr(client.model, "trusted_judge", False):
        return Standing(role=trial.prompt, model=client.name, by="declared")
    if models.patience.gives_nothing(client.name):
        return Standing(role=trial.prompt, model=client.name, by="useless", tells=False)
    path = _path(trial, prompts, client, memory)
    if path is None:
        return await _probed(trial, models, prompts, client)
    async with _turn(path.with_suffix(".lock"), models):
        row = None if anew else _read(path)
        if row is not None:
            return Standing.model_validate(row["standing"])
        found = await _probed(trial, models, prompts, client)
        _keep(path, trial, prompts, client, found)
        return found


async def _probed(trial: JudgeTrial[Any], models: Models, prompts: Prompts, client: Client) -> Standing:
    """Asks the planted cases, one question after another, until all are answered or no answer could help any more."""
    models.tell(f"{client.name} is tried as a judge on planted cases, once ({trial.prompt}).", level="info")
    tally = tally_of(trial)
    for question in trial.questions:
        tally = await _asked(trial, question, tally, models, prompts)
        if tally.lost:
            break
    return Standing(
        role=trial.prompt,
        model=client.name,
        by="probe",
        tells=not tally.lost,
        accepted=tally.accepted,
        refused=tally.refused,
    )


async def _asked(trial: JudgeTrial[Any], question: Question, tally: Tally, models: Models, prompts: Prompts) -> Tally:
    prompt = prompts.render(trial.prompt, **question.shown)
    messages = prompt.messages()
    try:
        label = f"probe of a judge ({trial.prompt})"
        reply = await models.structured(prompt.role, messages, trial.form, purpose="review", label=label)
    except ModelReplyUnusable:
        reply = None
    for case in question.cases:
        tally = tally.plus(case, None if reply is None else trial.accepts(reply, case))
    return tally


# --- remembered


def _asked_digest(trial: JudgeTrial[Any], prompts: Prompts) -> str:
    """A digest of all that is asked: the prompt's text, and every case as it is shown."""
    rendered = [prompts.render(trial.prompt, **question.shown) for question in trial.questions]
    right = [[case.right for case in question.cases] for question in trial.questions]
    return digest([[one.system, one.user] for one in rendered] + right)


def _path(trial: JudgeTrial[Any], prompts: Prompts, client: Client, memory: Path) -> Path | None:
    """Where a standing is remembered; None for a chat model that names neither itself nor where it is."""
    if not client.compatible and client.name == client.where:
        return None
    return memory / f"{digest([_where(client), client.name, trial.prompt, _asked_digest(trial, prompts)])}.json"


def _where(client: Client) -> str:
    """The address of a model; of somebody else's chat model its kind, and the address that it says."""
    if client.compatible:
        return client.where
    said = (getattr(client.model, name, None) for name in ("openai_api_base", "base_url", "endpoint"))
    return " ".join([client.where, *(str(address) for address in said if address)])


def _read(path: Path) -> dict[str, Any] | None:
    """What a file remembers, None where it is not there, not ours, or too old."""
    try:
        row: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        Standing.model_validate(row["standing"])
        if row.pop("digest", None) not in (None, digest(row)):  # earlier versions wrote none
            return None
        return row if 0 <= time.time() - float(row["at"]) < VALID_S else None
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _keep(path: Path, trial: JudgeTrial[Any], prompts: Prompts, client: Client, found: Standing) -> None:
    row = {"where": _where(client), "model": client.name, "asked": _asked_digest(trial, prompts), "at": time.time()}
    row["standing"] = found.model_dump(mode="json")
    row["digest"] = digest(row)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        atomic_write(path, json.dumps(row, ensure_ascii=False) + "\n", durable=False)
    except OSError as error:
        log.debug("how %s judges is not remembered: %s", client.name, error)


@contextlib.asynccontextmanager
async def _turn(path: Path, models: Models) -> AsyncIterator[None]:
    """Wait while another task asks the same model the same: what it finds out need not be paid twice.

    A folder that cannot be written costs that alone. Raises `BudgetReached`.
    """
    with _opened(path) as lock:
        while lock is not None and not take(lock):
            models.budget.check(models.usage)
            await asyncio.sleep(POLL_S)
        yield


@contextlib.contextmanager
def _opened(path: Path) -> Iterator[int | None]:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        lock = open_plain(path, os.O_RDWR | os.O_CREAT, 0o600)
    except OSError:
        yield None
        return
    try:
        yield lock
    finally:
        os.close(lock)

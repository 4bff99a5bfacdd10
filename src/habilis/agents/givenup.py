"""What is said at the end of a task without an answer: what was found, what is missing, what to try. By rules alone."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from habilis.agents.state import TaskState
from habilis.config import OFFLINE_NOTICE, Settings
from habilis.context.results import as_text
from habilis.core.types import Invocation, Review, Task

MOST_FOUND, MOST_TRIED = 3, 3
SHOWN_ARGUMENTS, SHOWN_RESULT = 80, 160
"""Characters."""
_MISSING = {
    "no call succeeded": "Every tool call of the last attempt failed.",
    "an error's text": "The last answer was the text of an error.",
    "something missing": "The model said that it could not answer the question.",
    "no file opened": "No tool read a file that the question is about.",
    "arguments from nowhere": "The tools were called with values that nobody gave.",
    "another target": "The tools were called with other values than the question names.",
    "values from nowhere": "The last answer holds values that no tool gave.",
}
_FAILED = ("no call succeeded", "an error's text")
_NAMED = "Name the file, the column and the value in the question as they are written in the file."
_ADVICE = {
    "no file opened": _NAMED,
    "arguments from nowhere": "Put every value that is to be worked on into the question or into a file.",
    "another target": _NAMED,
    "another field": _NAMED,
    "something missing": "Check that the files hold what you ask for, and name the column or the passage.",
}


@dataclass(frozen=True)
class GivenUp:
    """`found`: results with the calls that they came from; `missing`: a sentence; `suggestions`: what a person can do,
    the most telling first."""

    found: tuple[str, ...]
    missing: str
    suggestions: tuple[str, ...]


def given_up(
    reason: str, state: TaskState, calls: Sequence[Invocation], task: Task, settings: Settings, model: str
) -> GivenUp:
    """What a task that ended in `gave_up` for `reason` can tell of itself."""
    review = Review.model_validate(state["review"]) if state.get("review") else None
    suggestions = dict.fromkeys(_suggestions(review, state, calls, task, settings, model))
    return GivenUp(tuple(_found(calls)), _missing(reason, review, calls), tuple(suggestions)[:MOST_TRIED])


def _found(calls: Sequence[Invocation]) -> list[str]:
    """The newest results, each once."""
    good = [call for call in calls if call.outcome.error is None and call.verdict in ("success", None)]
    told = {f"{_call(call)} gave {_short(as_text(_result(call)), SHOWN_RESULT)}": None for call in reversed(good)}
    return list(reversed(list(told)[:MOST_FOUND]))


def _result(call: Invocation) -> Any:
    """What a call gave, without the field that says that there was no error."""
    output = call.outcome.output
    return {k: v for k, v in output.items() if (k, v) != ("error", None)} if isinstance(output, dict) else output


def _call(call: Invocation) -> str:
    given = ", ".join(f"{name}={json.dumps(value, ensure_ascii=False)}" for name, value in call.arguments.items())
    return f"{call.tool}({_short(given, SHOWN_ARGUMENTS)})"


def _short(text: str, most: int) -> str:
    text = " ".join(text.split())
    return text if len(text) <= most else f"{text[: most - 1]}…"


def _missing(reason: str, review: Review | None, calls: Sequence[Invocation]) -> str:
    if review is not None and review.by in _FAILED and (failed := _last_failure(calls)):
        return f"{_MISSING[review.by]} {failed}"
    if review is None or review.accepted or review.by == "no answer":
        return _sentence(reason)
    if review.by in _MISSING:
        detail = f" ({review.reason})" if review.by != "something missing" else ""
        return f"{_MISSING[review.by][:-1]}{detail}."
    return f"The last answer was not accepted: {_sentence(review.reason)}"


def _last_failure(calls: Sequence[Invocation]) -> str:
    """What the last call said that failed: its reader can name another value, or the file."""
    for call in reversed(calls):
        said = call.outcome.error.message.strip().partition("\n")[0] if call.outcome.error else ""
        if said:
            return _sentence(f"The tool {call.tool} said: {_short(said, SHOWN_RESULT)}")
    return ""


def _sentence(text: str) -> str:
    text = " ".join(text.split())
    text = text[:1].upper() + text[1:]
    return text if text.endswith((".", "!", "?")) else f"{text}."


def _suggestions(
    review: Review | None,
    state: TaskState,
    calls: Sequence[Invocation],
    task: Task,
    settings: Settings,
    model: str,
) -> Iterator[str]:
    if task.missing:
        yield f"Give the file {task.missing[0]} with --file; it was not found."
    if OFFLINE_NOTICE in model:
        yield f"Set a real model, as `habilis doctor` shows: the {OFFLINE_NOTICE} knows few kinds of questions."
    if any(
        call.outcome.error and call.outcome.error.kind == "denied" and "network" in call.outcome.error.message
        for call in calls
    ):
        yield "Allow the network that a tool asked for: --set capabilities.network=ask."
    if not settings.tools.synthesis:
        yield "Let new tools be built: --set tools.synthesis=true."
    if state.get("stop") == "out_of_rounds":
        yield f"Allow more rounds: --set limits.max_rounds={2 * max(settings.limits.max_rounds, 1)}."
    if review is not None and review.by in _ADVICE:
        yield _ADVICE[review.by]
    if not task.files and not task.missing and not calls:
        yield "If the answer stands in a file, give it with --file."
    if any("could not be built" in text for text in state.get("build_failures", [])):
        yield "Have tools written by a stronger model: --set models.builder.model=…."
    stronger = "" if OFFLINE_NOTICE in model else ", or with a stronger model: --set models.basic.model=…"
    yield f"Ask in other words{stronger}."
    if state.get("attempt", 0) >= settings.limits.max_attempts:
        yield f"Allow more attempts: --set limits.max_attempts={2 * settings.limits.max_attempts}."

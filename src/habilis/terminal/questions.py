"""What a command is asked: the question, its files and schema, from the command line, standard input or a record."""

from __future__ import annotations

import sys
from argparse import Namespace
from typing import Any

from habilis.config import environment
from habilis.core.errors import UserError
from habilis.core.types import Task
from habilis.rundir import TaskDir

MAX_QUESTION_BYTES = 1 << 20


def question_of(args: Namespace, replayed: TaskDir | None) -> str | Task:
    """The question from the argument, standard input, the environment, or the replayed run."""
    text = args.question if args.question is not None else environment().get("HABILIS_QUESTION") or None
    if text is None and replayed is not None:
        recorded = replayed.load_task()
        if recorded is None:
            raise UserError(f"{replayed.path} does not say what was asked; give the question")
        task = recorded[0]
        if (task.files or task.earlier) and not (args.trust or replayed.run.is_ours([replayed])):
            raise UserError(
                f"{replayed.run.path} was not made by you, and names files of this machine for its tools; "
                "give the question yourself, or use --trust"
            )
        return task
    if text is None:
        raise UserError("no question; for example: habilis run \"What is 2 + 3 * 4?\" (see 'habilis run --help')")
    if args.question == "-":
        text = from_stdin("question")
    if not text.strip():
        raise UserError("the question is empty")
    if len(text.encode("utf-8", "replace")) > MAX_QUESTION_BYTES:
        raise UserError("the question is larger than 1 MB; give long text with --file")
    return str(text)


def schema_of(given: str | None) -> dict[str, Any] | None:
    """The JSON schema that --schema names or is. Raises `UserError` for what is none."""
    if given is None:
        return None
    from habilis.models.answers import read_schema

    return read_schema(given)


def from_stdin(what: str) -> str:
    """The text on standard input, which is the `what`. Raises `UserError` when it is too long or no text."""
    if sys.stdin is None:
        raise UserError(f"there is no standard input to read the {what} from")
    data = sys.stdin.buffer.read(MAX_QUESTION_BYTES + 1)
    if len(data) > MAX_QUESTION_BYTES:
        raise UserError(f"the {what} on standard input is larger than 1 MB; give long text with --file")
    try:
        return data.decode("utf-8-sig").strip()
    except UnicodeDecodeError as error:
        raise UserError(f"the {what} on standard input is not UTF-8 (byte {error.start})") from None


def label_of(question: str | Task) -> str:
    """What a run is named after."""
    return question if isinstance(question, str) else question.question

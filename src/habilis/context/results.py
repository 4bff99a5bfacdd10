"""From a tool's outcome to the text that a model reads, within the limit that settings give.

What is longer is kept whole in a file of the workspace; the model gets an extract, or a cut that keeps the structure,
and a line that says what was left out and where the whole is.
"""

from __future__ import annotations

import hashlib
import mimetypes
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from habilis.contract.paths import RESULTS, write_result
from habilis.core.errors import ModelReplyUnusable, ModelUnreachable
from habilis.core.place import raise_place
from habilis.core.types import CallError, CallOutcome
from habilis.messages.bounds import whole_part
from habilis.messages.truncation import MAX_CHARS_PER_TOKEN, as_text, cut_json, cut_text, plain_text

if TYPE_CHECKING:
    from habilis.context.task import TaskContext
    from habilis.messages.calls import Call
    from habilis.models.chat import Models
    from habilis.prompts import Prompts

ASSUMED_LIMIT = 100_000
"""Tokens that a summariser without a stated limit is taken to read."""

Count = Callable[[str], int]

__all__ = ["Shortener", "as_text", "cut_json", "cut_text", "error_text", "keep_whole", "shown"]


async def shown(call: Call, outcome: CallOutcome, ctx: TaskContext) -> str:
    """What the model is shown of a call: its error, or its output within the limit, and the files that it made."""
    if outcome.error is not None:
        return error_text(outcome.error)
    shortener = Shortener(
        ctx.models,
        ctx.prompts,
        workspace=ctx.workspace,
        limit_tokens=ctx.settings.limits.max_result_tokens,
    )
    text = await shortener.shorten(outcome.output, tool=call.name, call_id=call.id, question=ctx.task.question)
    return f"{text}\n{_made(outcome)}" if outcome.made else text


def error_text(error: CallError) -> str:
    """A failed call for the model: what kind of failure, what happened, what to do."""
    return f"Error ({error.kind}): {plain_text(error.message)}"


@dataclass(frozen=True)
class Shortener:
    """Brings results to at most `limit_tokens`. The summarise role is asked before anything is cut."""

    models: Models
    prompts: Prompts
    workspace: Path
    limit_tokens: int

    async def shorten(self, output: Any, *, tool: str, call_id: str, question: str) -> str:
        """The text of `output`, within the limit. Never raises but for a used-up budget."""
        text = as_text(output)
        if self._fits(text):
            return text
        name, kept = keep_whole(self.workspace, call_id, output, text)
        where = f"the whole result is in the file {name}" if kept else "the whole result could not be kept"
        if extract := await self._extract(text, tool, question):
            told = f"{extract}\n[Extract of a longer result of {len(text)} characters; {where}.]"
            if self._fits(told):
                return told
        return cut_json(output, self._fits, where) if not isinstance(output, str) else self._cut(text, where)

    def _cut(self, text: str, where: str) -> str:
        return cut_text(text, self.limit_tokens, self._count, note=where)

    def _fits(self, text: str) -> bool:
        size = len(text.encode("utf-8", "replace"))
        if size <= self.limit_tokens:  # a token is at least one byte: a short text needs no token tables
            return True
        return len(text) <= MAX_CHARS_PER_TOKEN * self.limit_tokens and self._count(text) <= self.limit_tokens

    def _count(self, text: str) -> int:
        from langchain_core.messages import HumanMessage

        return self.models.count("basic", [HumanMessage(text)]).tokens

    async def _extract(self, text: str, tool: str, question: str) -> str:
        """The summarise role's extract; empty when it cannot read that much, or fails: a cut always works."""
        limit = self.models.token_limit("summarise") or ASSUMED_LIMIT
        prompt = self.prompts.render("extract", question=question, tool=tool, result=text)
        messages = prompt.messages()
        if len(text) > 8 * limit or self.models.count("summarise", messages).tokens > limit:
            return ""
        try:
            reply = await self.models.chat(prompt.role, messages, purpose="summary", label=f"extract from {tool}")
        except (ModelUnreachable, ModelReplyUnusable):
            return ""
        return plain_text(whole_part(reply)).strip()


def keep_whole(workspace: Path, call_id: str, output: Any, text: str) -> tuple[str, bool]:
    """Write a whole result into the workspace. Returns its workspace-relative name, and whether that worked. Raises
    `PlaceError`.

    The name follows from the call. Tools can write here: a link that one of them left is never followed.
    """
    name = f"{_file_stem(call_id)}.{'txt' if isinstance(output, str) else 'json'}"
    try:
        return write_result(workspace, name, text.encode("utf-8", "replace")), True
    except OSError as error:
        raise_place(error)
        return f"{RESULTS}/{name}", False


def _file_stem(call_id: str) -> str:
    plain = re.sub(r"[^a-zA-Z0-9_-]+", "_", call_id)[:60]
    if plain == call_id and plain:
        return plain
    return f"{plain or 'call'}_{hashlib.sha256(call_id.encode('utf-8', 'surrogatepass')).hexdigest()[:8]}"


def _made(outcome: CallOutcome) -> str:
    """The files that a call made, by path and type."""
    listed = [f"{plain_text(name)}{_media_type(name)}" for name in outcome.made[:20]]
    more = f", and {len(outcome.made) - 20} more" if len(outcome.made) > 20 else ""
    return f"[Files made: {', '.join(listed)}{more}]"


def _media_type(name: str) -> str:
    kind = mimetypes.guess_type(name)[0]
    return f" ({kind})" if kind else ""

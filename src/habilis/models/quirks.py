"""What one server takes otherwise than the rest: found out by its refusals, remembered while the process lives.

No list of names: a request goes out in the usual form, and what the server says it does not take is left out, or said
in the way that it names. Only words of our own are touched, never what a user put into `options`.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

from habilis.core.patterns import lazy_pattern
from habilis.models.failures import sort_out

Body = dict[str, Any]

LIMITS = ("max_tokens", "max_completion_tokens")
"""Two names for the tokens that a reply may hold; newer models of OpenAI know the second alone."""
SPARED = ("temperature", "parallel_tool_calls", "stream_options", "stop")
"""What a request can do without."""
THOUGHTS = "reasoning_content"
REFUSING = frozenset({400, 422, 500, 501})
"""Statuses of refusals; some servers report what a chat template does not take as a fault of their own."""
_NOT_TAKEN = lazy_pattern(
    r"unsupported|not (?:be )?support|unknown|unrecogni[sz]ed|not (?:permitted|allowed)|extra.(?:inputs|forbidden)|"
    r"unexpected|deprecated|only\b.*\bsupported",
    re.IGNORECASE,
)
_THOUGHTS = lazy_pattern(
    r"reasoning_content\b.*\b(?:passed back|missing|required)|missing\W+reasoning_content", re.IGNORECASE
)
_SHORT_IDS = lazy_pattern(r"call.ids?\b.*length of 9", re.IGNORECASE)
_TURNS = lazy_pattern(r"roles? must alternate", re.IGNORECASE)
FUNCTIONS = frozenset(("tools", "function_calling"))
"""Forms of requests that offer functions."""
_FUNCTIONS = lazy_pattern(r"\b(?:tools?|functions?|function.?call(?:s|ing))\b(?<!function_calling)", re.IGNORECASE)
"""Not the name of one of our modes: who refuses a call that must be made may take one that can be."""
_CHOICE = lazy_pattern(r"tool[ _]choice|schema", re.IGNORECASE)
_ROLES = lazy_pattern(r"(?:system|developer) messages?|\broles?\b", re.IGNORECASE)


class Quirks:
    """Those of one server and model."""

    def __init__(self) -> None:
        self._left_out: set[str] = set()
        self._in_turns = False
        self._no_system = False
        self._thoughts = False
        self._short_ids = False
        self.refused: set[str] = set()
        """Forms of requests that are not taken: modes of structured answers, and `tools`."""
        self.thinks: bool | None = None
        """Whether the model needs room for its thoughts beside a reply; None until one was cut within them."""
        self.slow = False
        """Whether whole replies come later than a server may be silent, and pieces of them do not."""

    def applied(self, body: Body) -> Body:
        """`body` as this server takes it. Replies bring their `reasoning_content` along; few servers want it back."""
        made = {name: value for name, value in body.items() if name not in self._left_out}
        for name in LIMITS:
            other = LIMITS[1 - LIMITS.index(name)]
            if name in body and name in self._left_out and other not in self._left_out:
                made[other] = body[name]
        if "messages" in made:
            made["messages"] = self._messages(made["messages"])
        return made

    def _messages(self, messages: Sequence[Body]) -> list[Body]:
        if not self._thoughts:
            messages = [{name: row[name] for name in row if name != THOUGHTS} for row in messages]
        if self._short_ids:
            messages = [with_short_ids(row) for row in messages]
        if self._no_system:
            messages = without_system(messages)
        return in_turns(messages) if self._in_turns or self._no_system else list(messages)

    def learn(self, refusal: str, sent: Body) -> str:
        """What of `sent` a refusal was about, if it can be asked for otherwise, for people; else nothing."""
        messages = sent.get("messages") or ()
        if _THOUGHTS.search(refusal) and not self._thoughts:
            self._thoughts = True
            return "replies without their reasoning"
        if _SHORT_IDS.search(refusal) and not self._short_ids:
            self._short_ids = True
            return "ids of calls in this form"
        if _TURNS.search(refusal) and in_turns(messages) != list(messages):
            self._in_turns = True
            return "two messages of one side in a row"
        if not _NOT_TAKEN.search(refusal) and not _TURNS.search(refusal):
            return ""
        for name in (*LIMITS, *SPARED):
            if name in sent and re.search(rf"\b{name}\b", refusal):
                self._left_out.add(name)
                return name
        if without_system(messages) != list(messages) and (_ROLES.search(refusal) or _TURNS.search(refusal)):
            self._no_system = True
            return "a system prompt"
        return ""

    def told(self) -> dict[str, Any]:
        """All that was learnt, for another process."""
        flags = {name: value for name, value in vars(self).items() if isinstance(value, bool)}
        return flags | {"_left_out": sorted(self._left_out), "refused": sorted(self.refused)}

    def take_in(self, told: Mapping[str, Any]) -> None:
        """Learn what another process was `told`; what is known stays known."""
        self._left_out.update(told["_left_out"])
        self.refused.update(told["refused"])
        for name in vars(self).keys() & told.keys() - {"_left_out", "refused"}:
            setattr(self, name, bool(getattr(self, name) or told[name]))

    def refuse(self, form: str, said: str) -> None:
        """Remember that requests of this form are not taken, where that is what a refusal says.

        A server without functions has none for steps nor for structured answers; one that refuses a choice among them,
        or one schema, says something else.
        """
        if form == "text" or not _NOT_TAKEN.search(said):
            return
        no_functions = form in FUNCTIONS and _FUNCTIONS.search(said) and not _CHOICE.search(said)
        self.refused |= FUNCTIONS if no_functions else {form}


class KnownQuirks:
    """What was learnt of all servers, by address and model."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, str], Quirks] = {}

    def of(self, where: str, model: str) -> Quirks:
        """The quirks of a model, to be learnt and applied."""
        return self._known.setdefault((where, model), Quirks())

    def told(self) -> list[Any]:
        """All that was learnt, as plain JSON."""
        return [[*key, quirks.told()] for key, quirks in sorted(self._known.items())]

    def take_in(self, told: Sequence[Any]) -> None:
        """Learn what another process learnt and `told`."""
        for where, model, quirks in told:
            self.of(where, model).take_in(quirks)


PROCESS_QUIRKS = KnownQuirks()
"""What this process has learnt, and what tasks in processes of their own did; servers do not change their minds between
two tasks."""


async def answered(
    body: Body,
    send: Callable[[Body], Awaitable[Any]],
    quirks: Quirks,
    tell: Callable[[str], None],
    refusals: type[Exception],
) -> Any:
    """What `send` gives for `body` in the form that the server takes. `refusals` are what its client raises."""
    while True:
        sent = quirks.applied(body)
        try:
            return await send(sent)
        except refusals as error:
            failure = sort_out(error)
            learnt = quirks.learn(failure.text, sent) if failure.status in REFUSING else ""
            if not learnt:
                raise
            tell(f"The server does not take {learnt} ({failure.text}): it is asked without.")


def with_short_ids(message: Body) -> Body:
    """`message` of a body with ids of calls of nine letters and digits, the same for the same id everywhere."""
    made = dict(message)
    if "tool_call_id" in made:
        made["tool_call_id"] = _short(made["tool_call_id"])
    if made.get("tool_calls"):
        made["tool_calls"] = [{**call, "id": _short(call["id"])} for call in made["tool_calls"]]
    return made


def _short(call_id: str) -> str:
    if re.fullmatch(r"[a-zA-Z0-9]{9}", call_id):
        return call_id
    return hashlib.blake2b(call_id.encode("utf-8", "surrogatepass"), digest_size=5).hexdigest()[:9]


def without_system(messages: Sequence[Body]) -> list[Body]:
    """`messages` of a body with what the system says as the beginning of what the user does."""
    said = [message["content"] for message in messages if message["role"] in ("system", "developer")]
    if not said:
        return list(messages)
    rest = [message for message in messages if message["role"] not in ("system", "developer")]
    return [{"role": "user", "content": content} for content in said] + rest


def in_turns(messages: Sequence[Body]) -> list[Body]:
    """`messages` of a body with neighbours of one side made one; calls and results stay apart."""
    made: list[Body] = []
    for message in messages:
        last = made[-1] if made else None
        alike = last is not None and last["role"] == message["role"] and message["role"] in ("user", "assistant")
        if last is not None and alike and not last.get("tool_calls") and not message.get("tool_calls"):
            made[-1] = {**last, "content": _joined(last.get("content") or "", message.get("content") or "")}
        else:
            made.append(message)
    return made


def _joined(one: Any, other: Any) -> Any:
    if isinstance(one, str) and isinstance(other, str):
        return f"{one}\n\n{other}".strip()
    return [*_blocks(one), *_blocks(other)]


def _blocks(content: Any) -> list[Any]:
    return [{"type": "text", "text": content}] if isinstance(content, str) else list(content)

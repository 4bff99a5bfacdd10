"""Answers in a fixed form from any server: by JSON schema, by a function call, in JSON mode, at last as plain text.

A mode that a server refuses (400, 422) is left for the next; what worked, and what was refused, is remembered per
server and model, for all roles and purposes. A reply that does not fit is sent back with what is wrong; one without any
object shows that the server passes over the mode, and it is left too. Three replies of no use end the question, and a
model that gave a form in none is asked for it once from then on, until it does. The tape's key leaves the mode out, so
that a resumed process, which may start in another mode, finds the very replies that were paid for.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Sequence
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeVar, get_args

from pydantic import BaseModel

from habilis.core.errors import ModelReplyUnusable, ModelUnreachable
from habilis.core.types import Purpose, Role
from habilis.messages.bounds import USELESS, Cut, cut_of
from habilis.messages.history import repair_history
from habilis.models.client import Client
from habilis.models.continuing import GO_ON_JSON, MOST_PARTS, can_go_on, joined
from habilis.models.forms import (
    FormProblem,
    NoObject,
    begins_whole,
    read_form,
    schema_of,
    strict_schema,
    tightened,
    unfenced,
)
from habilis.models.patience import Patience
from habilis.models.quirks import PROCESS_QUIRKS, KnownQuirks
from habilis.models.request import Exchange, RequestRefused, Wire, as_it_is
from habilis.models.tape import ModelRequest
from habilis.models.wire import request_part

if TYPE_CHECKING:
    from langchain_core.messages import AIMessage, BaseMessage

T = TypeVar("T", bound=BaseModel)
Mode = Literal["json_schema", "json_schema_tight", "function_calling", "json_mode", "text"]
"""`json_schema_tight` keeps every bound small; it is tried only where a server could make no grammar of the schema."""
MODES: tuple[Mode, ...] = get_args(Mode)
_NO_GRAMMAR = re.compile(r"grammar|repetition|sampler", re.IGNORECASE)
SHOWN_OF_CUT = 400
"""Letters that a model is shown again of a reply that was cut off."""


class Modes:
    """Which mode worked, by server and model; beside it the `quirks` that came up on the way."""

    def __init__(self, quirks: KnownQuirks | None = None) -> None:
        self.quirks = quirks or KnownQuirks()
        self._worked: dict[tuple[str, str], Mode] = {}

    def first(self, client: Client) -> Mode:
        """The mode to begin with."""
        if worked := self._worked.get((client.where, client.name)):
            return worked
        usual = MODES if client.native else MODES[MODES.index("function_calling") :]
        known = {*self.refused(client), "json_schema_tight"}
        return next(mode for mode in usual if mode not in known)

    def refused(self, client: Client | None) -> Collection[str]:
        """The modes that the server is known to refuse; plain text never is."""
        return self.quirks.of(client.where, client.name).refused if client is not None else ()

    def learn(self, client: Client, mode: Mode) -> None:
        self._worked[(client.where, client.name)] = mode


PROCESS_MODES = Modes(PROCESS_QUIRKS)
"""What this process has learnt; servers do not change their minds between two tasks."""


class Exchanger(Protocol):
    """What asking in a fixed form needs of `models.chat.Models`."""

    last_modes: dict[str, str]

    async def exchange(self, request: ModelRequest, build: Callable[[Client], Exchange]) -> tuple[AIMessage, str]: ...
    def mode_setting(self, role: Role) -> str: ...
    def known_client(self, role: Role) -> Client | None: ...
    def name(self, role: Role) -> str: ...
    @property
    def patience(self) -> Patience: ...


class StructuredAsker:
    """Asks for answers in a fixed form."""

    def __init__(self, models: Exchanger, modes: Modes) -> None:
        self._models = models
        self._modes = modes

    async def ask(
        self, role: Role, messages: Sequence[BaseMessage], output: type[T], purpose: Purpose, label: str = ""
    ) -> T:
        """The answer as an `output`.

        Raises `ModelReplyUnusable` after every mode and correction, `ModelUnreachable` if no mode got any reply.
        """
        conversation = Conversation(role, repair_history(messages), output, purpose, label)
        most = self._models.patience.replies(self._models.name(role), output.__name__)
        mode: Mode | None = None
        refused: list[str] = []
        problem, replies = "", 0
        while replies < most:
            try:
                reply, mode = await self._once(conversation, mode, refused if not replies else None)
            except RequestRefused as refusal:
                problem, mode = refusal.args
                assert mode is not None
                refused += self._refused(conversation, mode, problem)
                mode = self._next(role, mode, refused)
                if mode is None:
                    break
                continue
            replies += 1
            try:
                reply = await self._whole(conversation, reply) if purpose == "answer" else reply
                answer = conversation.read(reply, output)
            except FormProblem as unfit:
                problem = f"the reply {unfit.cut.in_full}" if isinstance(unfit, CutShort) else str(unfit)
                mode = self._mode_after(conversation, mode, reply, unfit, replies)
                continue
            self._learn(role, mode, output)
            return answer
        name = self._models.name(role)
        if not replies:
            raise ModelUnreachable(f"model {name}: {problem}; set models.{role}.structured_mode to auto")
        self._models.patience.ended(name, output.__name__)
        raise ModelReplyUnusable(f"{name} gave no usable {label or purpose} in {replies} replies; the last: {problem}")

    def _mode_after(
        self, conversation: Conversation, mode: Mode, reply: AIMessage, unfit: FormProblem, replies: int
    ) -> Mode:
        """Send `reply` back with what is wrong, and say in which mode.

        One that a server passes over, or loops in, is left for the next; the last reply is asked for in words.
        """
        looped = isinstance(unfit, CutShort) and unfit.cut.why == "repetition"
        if not looped:  # what repeats itself would be taken for an example
            conversation.correct(reply, str(unfit))
        if not looped and not isinstance(unfit, NoObject):
            return mode
        if self._models.mode_setting(conversation.role) != "auto":
            return mode
        if replies == USELESS - 1:
            return "text"
        passed_over = looped or (mode == "json_schema" and bool(_said(reply)))
        return (passed_over and self._next(conversation.role, mode, [mode, "json_schema_tight"])) or mode

    def _refused(self, conversation: Conversation, mode: Mode, said: str) -> list[str]:
        """What need not be tried after a refusal. It is remembered where the server says that it never takes that."""
        tight = mode == "json_schema" and bool(_NO_GRAMMAR.search(said)) and conversation.can_be_tightened()
        client = self._models.known_client(conversation.role)
        if client is not None and not tight:
            self._modes.quirks.of(client.where, client.name).refuse(mode, said)
        return [mode] if tight else [mode, "json_schema_tight"]

    async def _whole(self, conversation: Conversation, reply: AIMessage) -> AIMessage:
        """`reply`, with the parts behind it that a cut one is asked for, in plain text as no form fits half of it."""
        from langchain_core.messages import AIMessage

        for part in range(2, MOST_PARTS + 1):
            said = _said(reply)
            if not isinstance(said, str) or not can_go_on(AIMessage(said, response_metadata=reply.response_metadata)):
                break
            rest = conversation.rest(said, part)
            more, _ = await self._models.exchange(rest.request, as_it_is(rest))
            reply = AIMessage(joined(said, unfenced(str(more.content))), response_metadata=more.response_metadata)
        return reply

    async def _once(
        self, conversation: Conversation, mode: Mode | None, refused: Sequence[str] | None
    ) -> tuple[AIMessage, Mode]:
        """One request, in `mode` if it goes out and in whatever mode it was recorded if it is replayed.

        `refused` are the modes that the server would not take, None once it gave any reply: a refusal of the last
        mode there is ends the task as unreachable.
        """

        def build(client: Client) -> Exchange:
            chosen = mode or self._first(conversation.role, client)
            tight = [] if chosen == "json_schema" else ["json_schema_tight"]
            last = refused is not None and self._next(conversation.role, chosen, [*refused, chosen, *tight]) is None
            return conversation.exchange(client, chosen, refusable=not last)

        reply, used = await self._models.exchange(conversation.request(), build)
        found: Any = used
        return reply, found

    def _first(self, role: Role, client: Client) -> Mode:
        setting: Any = self._models.mode_setting(role)
        if setting != "auto":
            return setting  # type: ignore[no-any-return]
        if self._models.patience.gives_nothing(client.name):
            return "text"  # no form was kept to: this one is said in words
        last: Any = self._models.last_modes.get(role)
        return last or self._modes.first(client)

    def _next(self, role: Role, mode: Mode, tried: Sequence[str]) -> Mode | None:
        """The mode after `mode` that was not refused; those before it come last of all. None when all were."""
        setting = self._models.mode_setting(role)
        if setting == "json_schema":
            return "json_schema_tight" if mode == setting and "json_schema_tight" not in tried else None
        if setting != "auto":
            return None
        known = self._modes.refused(self._models.known_client(role))
        place = MODES.index(mode)
        return next((m for m in (*MODES[place + 1 :], *MODES[:place]) if m not in (*tried, *known)), None)

    def _learn(self, role: Role, mode: Mode, output: type[BaseModel]) -> None:
        self._models.patience.gave(self._models.name(role), output.__name__)
        self._models.last_modes[role] = mode
        client = self._models.known_client(role)
        if client is not None:
            self._modes.learn(client, mode)


class CutShort(FormProblem):
    """A reply that was cut off before its object was whole."""

    def __init__(self, cut: Cut) -> None:
        super().__init__(f"the reply {cut} before the JSON object was complete; keep it much shorter")
        self.cut = cut


class Conversation:
    """One question with the corrections that it took so far."""

    def __init__(
        self, role: Role, messages: list[BaseMessage], output: type[BaseModel], purpose: Purpose, label: str = ""
    ) -> None:
        self.role = role
        self._messages = messages
        self._output = output
        self._purpose = purpose
        self._label = label
        self._schema = schema_of(output)

    def request(self) -> ModelRequest:
        """What is asked, without the form in which it is asked for."""
        schema = {"name": self._output.__name__, "schema": self._schema}
        return ModelRequest(self.role, self._purpose, tuple(map(request_part, self._messages)), (), schema, self._label)

    def exchange(self, client: Client, mode: Mode, *, refusable: bool) -> Exchange:
        """The request in `mode`."""
        name = self._output.__name__
        messages, wire = self._messages, Wire()
        strict = strict_schema(self._schema) if client.official else None
        if mode in ("json_schema", "json_schema_tight"):
            schema = self._schema if mode == "json_schema" else tightened(self._schema)
            form = {"name": name, "schema": strict, "strict": True} if strict else {"name": name, "schema": schema}
            wire = Wire(response_format={"type": "json_schema", "json_schema": form})
        elif mode == "function_calling":
            description = "Give the answer in this form."
            function: dict[str, Any] = {
                "name": name,
                "description": description,
                "parameters": strict or tightened(self._schema),
            }
            if strict:
                function["strict"] = True
            wire = Wire(tools=[{"type": "function", "function": function}], tool_choice="required")
        else:
            messages = _with_instruction(messages, self._schema)
            if mode == "json_mode":
                wire = Wire(response_format={"type": "json_object"})
        return Exchange(self.request(), messages, wire, mode, refusable=refusable)

    def rest(self, so_far: str, part: int) -> Exchange:
        """The request for what comes behind a reply that was cut off."""
        from langchain_core.messages import AIMessage, HumanMessage

        messages = [*self._messages, AIMessage(so_far), HumanMessage(GO_ON_JSON)]
        label = f"{self._label or self._purpose}, part {part}"
        request = ModelRequest(self.role, self._purpose, tuple(map(request_part, messages)), label=label)
        return Exchange(request, messages, Wire())

    def can_be_tightened(self) -> bool:
        """Whether the schema holds a bound that some servers cannot decode by."""
        return tightened(self._schema) != self._schema

    def read(self, reply: AIMessage, output: type[T]) -> T:
        """The answer in `reply`. Raises `FormProblem`."""
        cut = cut_of(reply)
        if cut is not None and cut.is_known and not begins_whole(_said(reply)):
            raise CutShort(cut)
        said = _said(reply)
        if isinstance(said, str):  # a weak model gives back what it was asked: the schema is no answer in its form
            said = said.replace(_in_words(self._schema), "")
        try:
            return read_form(output, said)
        except FormProblem as problem:
            if cut is not None:
                raise FormProblem(f"the reply was cut at the token limit, keep it shorter ({problem})") from None
            raise

    def correct(self, reply: AIMessage, problem: str) -> None:
        """Add the reply and what is wrong with it."""
        from langchain_core.messages import AIMessage, HumanMessage

        said, cut = _said(reply), cut_of(reply)
        text = said if isinstance(said, str) else json.dumps(said, ensure_ascii=False)
        text = f"{text[:SHOWN_OF_CUT]} …" if cut is not None and cut.is_known else text
        self._messages = [
            *self._messages,
            AIMessage(text.strip() or "(empty reply)"),
            HumanMessage(
                f"This reply does not fit: {problem}.\nSend the whole JSON object again, corrected, and only that."
            ),
        ]


def _said(reply: AIMessage) -> Any:
    """What a reply says: the arguments of its call, if it made one, else its text."""
    if reply.tool_calls:
        return reply.tool_calls[0]["args"]
    if reply.invalid_tool_calls:
        return reply.invalid_tool_calls[0]["args"] or ""
    thought = str(reply.additional_kwargs.get("reasoning_content") or "").strip()
    if not reply.content and thought[:1] + thought[-1:] == "{}":
        return thought  # a server that takes all that a thinking model says in a form for its thinking
    return reply.content


def _in_words(schema: dict[str, Any]) -> str:
    """A schema as it stands in a prompt."""
    return json.dumps(schema, ensure_ascii=False)


def _with_instruction(messages: list[BaseMessage], schema: dict[str, Any]) -> list[BaseMessage]:
    """`messages` with the form said in words, at the end of the last one of the user's."""
    from langchain_core.messages import HumanMessage

    text = f"Reply with one JSON object and nothing else. It must fit this JSON schema:\n{_in_words(schema)}"
    last = messages[-1] if messages else None
    if isinstance(last, HumanMessage) and isinstance(last.content, str):
        return [*messages[:-1], HumanMessage(f"{last.content}\n\n{text}")]
    return [*messages, HumanMessage(text)]

"""How the executor's next step is asked for: by function calls where the model can, else by reasoning in plain text.

The choice is a setting, or is found out: the first requests are made with functions. A model that makes a call, as a
function or written as text, can. Where the server refuses functions, or where a first reply makes no call and neither
does the reply to a small probe, everything is asked for as text. What was found out is remembered on disk by address
and model, and noted on the tape, so that a replay asks the same way.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from habilis.core.digests import digest
from habilis.core.events import Event, Notice, ThoughtPiece
from habilis.core.types import Role, ToolSpec
from habilis.messages.bounds import cut_of
from habilis.models.continuing import GO_ON, can_go_on, joined
from habilis.models.request import Exchange, Listener, RequestRefused, Wire, as_it_is
from habilis.models.tape import ModelRequest
from habilis.models.wire import request_part
from habilis.rundir import atomic_write
from habilis.tool_calling.sight import COMPLAINT, ImagesRefused, Sight, is_complaint, shows_images, without_images

if TYPE_CHECKING:
    from langchain_core.messages import AIMessage, BaseMessage

    from habilis.models.chat import Models
    from habilis.prompts import Prompts
    from habilis.tool_calling.narrator import Narrator

Strategy = Literal["function_call", "react_text"]
ROLE: Role = "basic"
_NOTE = "strategy"
_NO_FUNCTIONS = r"tool|function|requested parameters|\broles?\b"
"""What servers say of requests with functions, or with calls and results, that they cannot take."""
NOT_NOW = "Nothing was run: no tool calls are left. Give your answer now, from what the tools have returned."
CUT_CALL = "Nothing was run: your reply {cut}, in a tool call. Send the call again, with shorter arguments."
_NO_TOOL = ToolSpec(name="no_tool", description="", parameters={"type": "object", "properties": {}})
"""So that a call is known by its shape, where none can be known by its name."""
_PROBE_TOOL = ToolSpec(
    name="calculate_expression",
    description="Calculates an arithmetic expression with + - * / ** %, parentheses, sqrt() and cbrt().",
    parameters={
        "type": "object",
        "properties": {"expression": {"type": "string", "description": "the expression, for example (2 + 3) * 4"}},
        "required": ["expression"],
        "additionalProperties": False,
    },
)

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Step:
    """One reply. `message` holds its calls, not checked yet, or the answer as its text.

    With a `doubt` the reply is neither: the doubt says why, and is for the model to read. `acted`: it makes a call
    where no tools are left, so that its text is no answer either.
    """

    message: AIMessage
    doubt: str = ""
    acted: bool = False


class Strategies:
    """Asks for the steps of one task. `memory` is the folder that remembers what models can."""

    def __init__(self, models: Models, prompts: Prompts, emit: Callable[[Event], None], memory: Path) -> None:
        self._models = models
        self._prompts = prompts
        self._emit = emit
        self._memory = memory
        self._stop_refused = False
        self.sight = Sight(models, memory)

    async def step(
        self,
        messages: Sequence[BaseMessage],
        specs: Sequence[ToolSpec],
        *,
        label: str,
        position: int = 0,
        parts: int = 1,
    ) -> Step:
        """The reply to `messages`, of which the first is the system prompt. Raises as `Models.chat` does.

        An answer that is cut off at its bound is asked to go on until it has `parts`; one that is cut even then, like
        any reply that is no answer, keeps what says so.
        """
        from langchain_core.messages import AIMessage, HumanMessage

        from habilis.tool_calling.scratchpad import UNREAD

        step = await self._shown(messages, specs, label, position)
        for part in range(2, parts + 1):
            if step.doubt or UNREAD in step.message.additional_kwargs or not can_go_on(step.message):
                break
            so_far = [AIMessage(str(step.message.content)), HumanMessage(GO_ON)]
            more = await self._shown([*messages, *so_far], specs, f"{label}, part {part}", position)
            step = _together(step, more)
        return step

    async def _shown(
        self, messages: Sequence[BaseMessage], specs: Sequence[ToolSpec], label: str, position: int
    ) -> Step:
        """One reply. Images are shown to a model that takes them; any other gets the text beside them."""
        if shows_images(messages):
            if await self.sight.able():
                try:
                    return await self._step(messages, specs, label, position)
                except ImagesRefused as refused:
                    self.sight.refused()
                    self._emit(Notice(text=f"The server takes no images ({refused}): the model is asked without."))
            messages = without_images(messages)
        return await self._step(messages, specs, label, position)

    async def _step(
        self, messages: Sequence[BaseMessage], specs: Sequence[ToolSpec], label: str, position: int
    ) -> Step:
        chosen = await self.chosen()
        if chosen != "react_text":
            try:
                step = await self._by_functions(messages, specs, label, position)
            except RequestRefused as refused:
                (await self._models.quirks(ROLE)).refuse("tools", refused.args[0])
                self._emit(
                    Notice(text=f"The server takes no functions ({refused.args[0]}): calls are written as text.")
                )
            else:
                if chosen or not specs or await self._can_call(step):
                    return step
                self._emit(
                    Notice(text="The model makes no function calls, as a probe shows: calls are written as text.")
                )
        step = await self._by_text(messages, specs, label, position)
        if chosen != "react_text":
            self._choose("react_text")
        return step

    async def chosen(self) -> Strategy | None:
        """The strategy that is set, noted or remembered; None while it must be found out."""
        setting = self._models.settings(ROLE).strategy
        if setting == "function_call":
            return "function_call"
        if setting in ("react_text", "react_completion"):
            return "react_text"
        noted: Any = self._models.tape.noted(_NOTE)
        if noted is not None or self._models.tape.replay_only:
            return noted or "function_call"
        found = await self._remembered()
        if found is not None:
            self._models.tape.note(_NOTE, found)
        return found

    # --- with functions

    async def _by_functions(
        self,
        messages: Sequence[BaseMessage],
        specs: Sequence[ToolSpec],
        label: str,
        position: int,
    ) -> Step:
        from habilis.messages.history import is_empty_reply
        from habilis.tool_calling.narrator import Narrator
        from habilis.tool_calling.textcalls import begins_calls, read_text

        say = self._teller(position, lambda: Narrator(labelled=False))
        topics = [_NO_FUNCTIONS] if specs and self._models.settings(ROLE).strategy == "auto" else []
        topics += [COMPLAINT] if shows_images(messages) else []
        about = "|".join(topics) or None
        try:
            reply = await self._models.chat(
                ROLE, messages, tools=specs, purpose="step", label=label, about=about, say=say
            )
        except RequestRefused as refused:
            if shows_images(messages) and is_complaint(refused.args[0]):
                raise ImagesRefused(refused.args[0]) from None
            raise
        if reply.tool_calls or reply.invalid_tool_calls or is_empty_reply(reply):
            return Step(reply)
        written = read_text(str(reply.content), specs or [_NO_TOOL])
        if cut := cut_of(reply):
            begun = written.calls or begins_calls(str(reply.content), specs)
            return Step(reply, CUT_CALL.format(cut=cut) if begun else "", acted=bool(begun))
        if not specs and (written.calls or written.doubt):
            return Step(reply, NOT_NOW, acted=True)
        if written.doubt:
            return Step(reply, written.doubt)
        if not written.calls:
            same = written.thought == str(reply.content).strip()
            return Step(reply if same else reply.model_copy(update={"content": written.thought}))
        calls: list[Any] = [{"name": n, "args": args, "id": None, "type": "tool_call"} for n, args in written.calls]
        return Step(reply.model_copy(update={"content": written.thought, "tool_calls": calls}))

    async def _can_call(self, step: Step) -> bool:
        """Whether the model makes calls, by its first reply or else by a probe; what is found out is remembered."""
        from habilis.messages.history import is_empty_reply

        reply = step.message
        if reply.tool_calls or reply.invalid_tool_calls or step.doubt:
            self._choose("function_call")
            return True
        client = self._models.known_client(ROLE)
        if client is None or not client.compatible or is_empty_reply(reply) or cut_of(reply):
            return True  # nothing that could be remembered, or nothing to judge by
        if not await self._probe():
            return False
        self._choose("function_call")
        return True

    async def _probe(self) -> bool:
        """Whether a question that wants one call of the one tool gets it."""
        from habilis.tool_calling.textcalls import read_text

        prompt = self._prompts.render("probe")
        messages = prompt.messages()
        reply = await self._models.chat(
            ROLE, messages, tools=[_PROBE_TOOL], purpose="step", label="probe of function calls"
        )
        called = reply.tool_calls or reply.invalid_tool_calls
        return bool(called) or bool(read_text(str(reply.content), [_PROBE_TOOL]).calls)

    # --- as text

    async def _by_text(
        self, messages: Sequence[BaseMessage], specs: Sequence[ToolSpec], label: str, position: int
    ) -> Step:
        from langchain_core.messages import AIMessage

        from habilis.messages.history import is_empty_reply
        from habilis.tool_calling.react import as_message, parse_react
        from habilis.tool_calling.scratchpad import UNREAD

        reply = await self._asked(messages, specs, label, position)
        if is_empty_reply(reply) or reply.tool_calls or reply.invalid_tool_calls:
            return Step(reply)  # some servers make calls of what the text says
        text, kept = str(reply.content), reply.response_metadata
        parsed = parse_react(text, specs or [_NO_TOOL])
        if parsed.name and not specs:
            said = AIMessage(text, response_metadata=kept, additional_kwargs={UNREAD: True})
            return Step(said, f'{NOT_NOW} Write "Final Answer:" and behind it what you found.', acted=True)
        if parsed.doubt:
            said = AIMessage(text, response_metadata=kept, additional_kwargs={UNREAD: True})
            return Step(said, "" if cut_of(reply) else parsed.doubt)
        message = as_message(parsed, specs, cut=cut_of(reply) is not None)
        thoughts = [
            reply.additional_kwargs.get("reasoning_content"),
            message.additional_kwargs.get("reasoning_content"),
        ]
        extra = {**message.additional_kwargs}
        if any(thoughts):
            extra["reasoning_content"] = "\n".join(thought for thought in thoughts if thought)
        return Step(message.model_copy(update={"response_metadata": kept, "additional_kwargs": extra}))

    async def _asked(
        self, messages: Sequence[BaseMessage], specs: Sequence[ToolSpec], label: str, position: int
    ) -> AIMessage:
        """One request, with a stop word unless the server refuses it."""
        from langchain_core.messages import HumanMessage

        from habilis.messages.history import repair_history, text_of
        from habilis.tool_calling.narrator import Narrator
        from habilis.tool_calling.scratchpad import STOP, as_chat, as_completion, tools_text

        names = ", ".join(spec.name for spec in specs)
        values = {"instruction": text_of(messages[0]), "tools": tools_text(specs), "tool_names": names}
        system = self._prompts.render("react", **values).system
        history = repair_history(messages[1:])
        completion = self._models.settings(ROLE).strategy == "react_completion"
        sent = [HumanMessage(as_completion(system, history))] if completion else as_chat(system, history)
        request = ModelRequest(ROLE, "step", tuple(map(request_part, sent)), label=label)
        say = self._teller(position, Narrator)
        while True:
            wire = Wire(stop=() if self._stop_refused else (STOP,), completion=completion)
            topics = (["stop"] if wire.stop else []) + ([COMPLAINT] if shows_images(sent) else [])
            exchange = Exchange(request, list(sent), wire, refusable=bool(topics), about="|".join(topics), say=say)
            try:
                reply, _ = await self._models.exchange(request, as_it_is(exchange))
                return reply
            except RequestRefused as refused:
                if shows_images(sent) and is_complaint(refused.args[0]):
                    raise ImagesRefused(refused.args[0]) from None
                self._stop_refused = True

    def _teller(self, position: int, narrators: Callable[[], Narrator]) -> Listener:
        """Who tells of a reply; a request that must be made again gets a narrator who begins anew."""

        def begin() -> Callable[[str], None]:
            narrator = narrators()

            def tell(chunk: str) -> None:
                text = narrator.feed(chunk)
                if text:
                    self._emit(ThoughtPiece(position=position, text=text))

            return tell

        return begin

    # --- what is remembered

    def _choose(self, strategy: Strategy) -> None:
        self._models.tape.note(_NOTE, strategy)
        client = self._models.known_client(ROLE)
        if client is None or not client.compatible:
            return
        path = self._path(client.where, client.name)
        row = {"where": client.where, "model": client.name, "strategy": strategy}
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            atomic_write(path, json.dumps(row, ensure_ascii=False) + "\n", durable=False)
        except OSError as error:
            log.debug("what %s can is not remembered: %s", client.name, error)

    async def _remembered(self) -> Strategy | None:
        client = await self._models.client(ROLE)
        if not client.compatible:
            return "function_call" if client.offline else None
        if "tools" in (await self._models.quirks(ROLE)).refused:
            return "react_text"
        try:
            row = json.loads(self._path(client.where, client.name).read_text(encoding="utf-8"))
            found: Any = row["strategy"]
        except (OSError, ValueError, KeyError, TypeError):
            return None
        return found if found in ("function_call", "react_text") else None

    def _path(self, where: str, model: str) -> Path:
        return self._memory / f"{digest([where, model])}.json"


def _together(step: Step, more: Step) -> Step:
    """A step and its next part. What is no more than the rest of an answer is no doubt."""
    content = joined(str(step.message.content), str(more.message.content))
    kept = {"content": content, "additional_kwargs": step.message.additional_kwargs}
    return Step(more.message.model_copy(update=kept), more.doubt if more.acted else "", more.acted)

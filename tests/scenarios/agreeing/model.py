"""A model that plays every role of a task and agrees with everything; its temperament says how it goes wrong."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from langchain_core.messages import AIMessage, BaseMessage, ToolMessage

from .cases import Case

Temperament = Literal[
    "honest",
    "always a number",
    "an error repeated",
    "a refusal dressed as an answer",
    "a reason against its verdict",
    "wrong arguments",
    "told wrongly",
]
SPOILT: tuple[Temperament, ...] = (
    "always a number",
    "an error repeated",
    "a refusal dressed as an answer",
    "a reason against its verdict",
    "wrong arguments",
    "told wrongly",
)
REUSING = SPOILT[:4]
"""Temperaments that take what a list of candidates shows, whatever it does."""
REFUSALS = (
    "Result: the value could not be determined from the given data.",
    "I was not able to find this, so there is no value to give.",
    "The requested information is not available.",
    "It is impossible to say what was asked.",
    "Unfortunately no data about that was found in the file.",
    "The tool failed to provide the value, so it remains unknown.",
)
AGAINST = (
    "The answer does not address the question, but gives another value.",
    "The tool was called with something else than was asked for, so the result is not what was asked.",
    "The answer is incorrect: another row was taken.",
    "What was asked for is missing from the answer.",
    "No conclusion can be drawn from these results.",
    "The tool results do not support the answer.",
    "This answers another question than the one that was asked.",
    "The answer contradicts what the tool returned.",
)
AGREES = "The answer holds a conclusion that the tool results bear out."
_CANDIDATE = re.compile(r"^- ([a-z_0-9]+)\(([^)]*)\)", re.MULTILINE)
_MARKS = {
    "<candidates>": "plan",
    "<doubted>": "final",
    "<answer>": "review",
    "<findings>": "final",
    "<calls>": "verdicts",
    "<records": "fixed",
    "<differing>": "differing",
    "<job>": "outright",
    "<tool_request>": "code",
    "<tool_code": "code",
    "<work>": "summary",
    "<remarks>": "plan",
}


@dataclass
class Agreeing:
    """Answers for `ScriptedModel`. `number` sets tasks apart: which of its ways to go wrong a model begins with.

    `judge` gives its word on an answer; without one it agrees. One that can tell right from wrong passes where judges
    are tried, one that agrees does not.
    """

    case: Case
    temper: Temperament
    number: int
    plans: int = 0
    tries: int = 0
    reviews: int = 0
    judge: Callable[[str], dict[str, Any]] | None = None
    said: str = ""
    asked: list[str] = field(default_factory=list)

    def __call__(self, messages: list[BaseMessage], tools: list[Any], form: Any) -> AIMessage | str | dict[str, Any]:
        last, whole = str(messages[-1].content), "\n".join(str(message.content) for message in messages)
        if "<doubted>" in last and "<answer>" in last:
            kind = "grounded"
        else:
            kind = next((kind for mark, kind in _MARKS.items() if mark in last), "step")
        self.asked.append(kind)
        if kind == "step":
            return self._step(messages, tools)
        told: AIMessage | str | dict[str, Any] = getattr(self, f"_{kind}")(whole)
        return told

    def _plan(self, prompt: str) -> dict[str, Any]:
        self.plans += 1
        job = self.case.job
        candidates = _CANDIDATE.findall(prompt.partition("<candidates>")[2])
        if self.temper in REUSING and candidates and self.plans == 1:
            name = candidates[self.number % len(candidates)][0]
            return {"required_tool_names": [{"name": name, "serves": self.case.question[:100]}]}
        kinds = {"int": "integer", "float": "number", "bool": "boolean", "dict": "object", "list": "array_of_strings"}
        request = {
            "name": job.name,
            "description": job.does,
            "parameters": [{"name": name, "type": kinds.get(kind, "string")} for name, kind in job.inputs.items()],
            "returns": [{"name": name, "type": kinds.get(kind, "string")} for name, kind in job.outputs.items()],
        }
        return {"tool_requests": [request], "tool_usage_guidance": f"Call {job.name}."}

    def _code(self, prompt: str) -> str:
        return f"```python\n{self.case.job.source}```"

    def _outright(self, prompt: str) -> str:
        """The tool and its first call, which goes wrong as its calls do."""
        self.tries = 1  # however often it is asked, this is the first call
        call = self._own_arguments(self.number)
        return f"{self._code(prompt)}\n```json\n{json.dumps(call)}\n```"

    def _step(self, messages: Sequence[BaseMessage], tools: Sequence[Any]) -> AIMessage | str:
        results = _of_this_attempt(messages)
        names = [tool["function"]["name"] for tool in tools]
        if not results and tools:
            self.tries += 1
            return AIMessage("", tool_calls=[self._call(names, tools)])
        self.said = self._finding(results)
        return self.said

    def _call(self, names: Sequence[str], tools: Sequence[Any]) -> Any:
        own = self.case.job.name
        turn = self.tries - 1 + self.number
        called = f"c{len(self.asked)}"
        if own in names:
            return {"name": own, "args": self._own_arguments(turn), "id": called}
        fields = tools[0]["function"]["parameters"].get("properties", {})
        return {"name": names[0], "args": self._guessed(fields), "id": called}

    def _own_arguments(self, turn: int) -> dict[str, Any]:
        if self.temper in ("wrong arguments", "a reason against its verdict"):
            return self.case.called(turn)
        if self.temper == "an error repeated":
            return {name: self._lost(name, value) for name, value in self.case.arguments.items()}
        return self.case.arguments

    def _lost(self, name: str, value: Any) -> Any:
        """An argument that makes a call fail: a file that is not there, a word for a number."""
        return f"lost_{value}" if "path" in name or not self.case.files else value

    def _guessed(self, fields: dict[str, Any]) -> dict[str, Any]:
        """Arguments for a tool that has nothing to do with the question, as a weak model makes them up."""
        words = re.findall(r"\w+", self.case.question)
        numbers = [float(number.replace(",", "")) for number in re.findall(r"\d[\d,]*(?:\.\d+)?", self.case.question)]
        known = [value for name, value in self.case.arguments.items() if name in ("column", "plus")]
        found: dict[str, Any] = {}
        for place, (name, said) in enumerate(fields.items()):
            kind = said.get("type")
            if "path" in name:
                path = self.case.files[0] if self.case.files else "data.csv"
                found[name] = f"lost_{path}" if self.temper == "an error repeated" else path
            elif name in ("column", "first", "second"):
                found[name] = known[0] if known else words[-1]
            elif kind == "array":
                found[name] = numbers or [1, 2, 3, 4, 5]
            elif kind in ("number", "integer"):
                found[name] = int(numbers[place % len(numbers)]) if numbers else 7
            else:
                found[name] = words[place % len(words)]
        return found

    def _finding(self, results: Sequence[str]) -> str:
        """What the model says that it found."""
        turn = self.tries - 1 + self.number
        last = results[-1] if results else ""
        if self.temper == "always a number":
            seen = re.findall(r"\d+(?:,\d{3})*(?:\.\d+)?", " ".join([self.case.question, *results]))
            numbers = ["42", "The answer is 42.", *(f"The answer is {number}." for number in seen[-2:])]
            return numbers[turn % len(numbers)]
        if self.temper == "an error repeated":
            return [last, f"The result is: {last.splitlines()[-1] if last else ''}", f"{last[:60]}"][turn % 3]
        if self.temper == "a refusal dressed as an answer":
            return REFUSALS[turn % len(REFUSALS)]
        if self.temper == "told wrongly" and self.number % 2 == 0:
            return self.case.mistold[(self.tries - 1 + self.number // 2) % len(self.case.mistold)]
        try:
            output = json.loads(last)
            return self.case.told(output)
        except (ValueError, LookupError, TypeError):
            return f"The answer is {last.strip() or 42}"

    def _review(self, prompt: str) -> dict[str, Any]:
        self.reviews += 1
        if self.judge is not None:
            return self.judge(prompt)
        against = self.temper == "a reason against its verdict"
        reason = AGAINST[(self.number + self.reviews - 1) % len(AGAINST)] if against else AGREES
        return {"reason": reason, "status": "FINISH"}

    def _grounded(self, prompt: str) -> dict[str, Any]:
        return {"reason": "Each value stands in the findings.", "word": "founded"}

    def _final(self, prompt: str) -> dict[str, Any]:
        called = prompt.partition("it gave:\n")[2].partition("\n</findings>")[0]
        if called:  # of the first call nothing was said yet
            self.said = self._finding([called])
        final = self.said
        if self.temper == "honest" and self.case.final is not None:
            final = self.case.final
        elif self.temper == "told wrongly" and self.number % 2:
            final = self.case.mistold[(self.asked.count("final") + self.number // 2) % len(self.case.mistold)]
        elif self.temper == "always a number":
            final = self.said if self.number % 2 else "42"
        return {"final_answer": final, "reasoning_summary": "as the tool says"}

    def _fixed(self, prompt: str) -> dict[str, Any]:
        names = re.findall(r"- record: (\S+)", prompt)
        return {"results": [{"record": name, "fixed": True, "reason": "good"} for name in names]}

    def _differing(self, prompt: str) -> dict[str, Any]:
        calls = re.findall(r"- call: (\S+)", prompt)
        return {"results": [{"call": call, "reason": "good", "right": "second"} for call in calls]}

    def _verdicts(self, prompt: str) -> dict[str, Any]:
        calls = re.findall(r"- call_id: (\S+)", prompt)
        return {"verdicts": [{"call_id": call, "verdict": "success", "reason": "good"} for call in calls]}

    def _summary(self, prompt: str) -> str:
        return self.said or "Nothing yet."


def _of_this_attempt(messages: Sequence[BaseMessage]) -> list[str]:
    """Results of calls since the last word of the user."""
    found: list[str] = []
    for message in messages:
        if message.type == "human":
            found = []
        elif isinstance(message, ToolMessage):
            found.append(str(message.content))
    return found

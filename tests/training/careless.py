"""A model on a bad day: it overlooks tools, and writes ones that break, mends that know one call alone, lossy merges
and plain rubbish."""

from __future__ import annotations

import hashlib
import random
import re
from collections import Counter
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage

from habilis.demo import reply, writing
from habilis.demo.faults import RUBBISH, Faults
from habilis.questions.prompts import Seen, loads, read_prompt

GOOD = 0.6
"""Share of builds and mends that are left as they are."""
SEES = 0.5
"""Share of plans that look at the library."""
OF_CODE = ("rubbish", "no python", "knows one call")
_RUN = "def run(input: InputModel) -> OutputModel:"
_KNOWS_ONE = """


def run(input: InputModel) -> OutputModel:
    if input.model_dump() != $known:
        raise RuntimeError("this tool knows one call alone")
    return whole(input)
"""


class Careless:
    """Answers as the offline model does, and spoils what it writes by lot: a prompt is spoilt alike whenever it comes.

    What was spoilt, and how, is counted in `made`.
    """

    def __init__(self, seed: int) -> None:
        self._seed, self._faults = seed, Faults(seed=seed)
        self.made: Counter[str] = Counter()

    def __call__(
        self, messages: list[BaseMessage], tools: list[dict[str, Any]], form: dict[str, Any] | None
    ) -> AIMessage:
        seen = read_prompt(messages)
        if seen.kind == "plan" and "- " in seen.parts["candidates"] and self._lot(seen).random() > SEES:
            self.made["plan: overlooks the library"] += 1
            return reply([HumanMessage(seen.text.replace(seen.parts["candidates"], "none"))], tools, form)
        if seen.kind in ("build", "enhance"):
            return AIMessage(self._code(seen, str(reply(messages, tools, form).content)))
        if seen.kind in ("cluster", "merge"):
            fault = self._faults.of_cluster(seen) if seen.kind == "cluster" else self._faults.of_merge(seen)
            self.made[f"{seen.kind}: {fault or 'good'}"] += 1
        return reply(messages, tools, form, self._faults)

    def _lot(self, seen: Seen) -> random.Random:
        return random.Random(hashlib.sha256(f"{self._seed}\n{seen.text}".encode()).digest())

    def _code(self, seen: Seen, good: str) -> str:
        lot = self._lot(seen)
        fault = "good" if lot.random() < GOOD or "```" not in good else lot.choice(OF_CODE)
        self.made[f"{seen.kind}: {fault}"] += 1
        if fault == "rubbish":
            return RUBBISH
        if fault == "no python":
            return good.replace("import", "improt")
        return good if fault == "good" else knowing_one(good, seen)


def knowing_one(good: str, seen: Seen) -> str:
    """The module of a reply, for one call alone: the one that failed, or that of its own example."""
    failed = re.search(r"\{.*\}", seen.parts.get("failures", ""))
    known = repr(loads(failed[0])) if failed else '__TOOL_META__["examples"][0]["arguments"]'
    code = good.removeprefix("```python").removesuffix("```").replace(_RUN, _RUN.replace("run", "whole", 1))
    return writing.fenced(code.rstrip() + _KNOWS_ONE.replace("$known", known))

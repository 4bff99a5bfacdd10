"""Faults on purpose: how a careless model answers when it clusters and merges, so that the curator's gates are seen to
hold. Switched on by the model's name alone, never by default.

`offline:faulty` draws a fault for each request, seeded by the request and by the number after a further colon
(`offline:faulty:7`; 0 by default); one draw of each kind is a good reply. `offline:faulty:lossy`, or any other of
`FAULTS`, makes that one fault wherever it applies.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from habilis.demo import writing
from habilis.questions.operations import Fields
from habilis.questions.prompts import Seen

OF_CLUSTERS = {
    "incomplete": "leaves a pair out",
    "invented": "names a tool that is not there",
    "path": "puts a path where a name belongs",
    "double": "calls each pair the same and different",
    "overreach": "calls all tools the same",
    "rubbish": "text instead of the structure that was asked for",
}
OF_MERGES = {
    "lossy": "the merged tool loses a part of its results",
    "wrong_signature": "its fields are not those that its aliases lead to",
    "crashing": "it works for its own example alone",
    "incomplete": "it has no alias for one of the old tools",
    "invented": "it has an alias for a tool that was never there",
    "path": "its name is a path out of the library",
    "rubbish": "text instead of code",
}
FAULTS = tuple(dict.fromkeys((*OF_CLUSTERS, *OF_MERGES)))
PREFIX = "offline:faulty"
RUBBISH = "Surely! Here is what you asked for, sorted as well as I could: [[[ tools ]]]"
_OUTSIDE = "../../../escaped"
_RUN = "def run(input: InputModel) -> OutputModel:"
_LOSSY = """


def run(input: InputModel) -> OutputModel:
    output = whole(input)
    value = output.$out
    if isinstance(value, bool) or value is None:
        return OutputModel(error=output.error)
    return OutputModel($out=value // 2 if isinstance(value, (int, float)) else type(value)(list(value)[:0]))
"""
_CRASHING = """


def run(input: InputModel) -> OutputModel:
    if input.model_dump() != __TOOL_META__["examples"][0]["arguments"]:
        raise RuntimeError("this merged tool knows its example alone")
    return whole(input)
"""


@dataclass(frozen=True)
class Faults:
    """Which faults are made: always `kind`, or without one a draw for each request from `seed`."""

    kind: str = ""
    seed: int = 0

    @classmethod
    def named(cls, model: str | None) -> Faults | None:
        """The faults that a model's name asks for; None for a name that asks for none. Raises ValueError."""
        if model is None or not (match := re.fullmatch(rf"{PREFIX}(?::(.*))?", model)):
            return None
        which = match[1] or "0"
        if which in FAULTS:
            return cls(kind=which)
        if not re.fullmatch(r"[0-9]{1,9}", which):
            raise ValueError(f"{model}: after {PREFIX}: give a number, or one of {', '.join(FAULTS)}")
        return cls(seed=int(which))

    def of_cluster(self, seen: Seen) -> str:
        """The fault of the reply to a cluster prompt, '' for a good one."""
        return self._drawn(tuple(OF_CLUSTERS), seen)

    def of_merge(self, seen: Seen) -> str:
        """The fault of the reply to a merge prompt, '' for a good one."""
        return self._drawn(tuple(OF_MERGES), seen)

    def cluster(self, seen: Seen, good: Mapping[str, Any]) -> Mapping[str, Any]:
        """The good reply, spoilt."""
        pairs = [dict(pair) for pair in good["pairs"]]
        fault = self.of_cluster(seen)
        if not pairs or not fault:
            return good
        if fault == "incomplete":
            pairs.pop()
        elif fault in ("invented", "path"):
            name = _OUTSIDE if fault == "path" else "tool_of_my_dreams"
            pairs += [{**pair, "other": name, "word": "same"} for pair in pairs]
        elif fault == "double":
            pairs += [{**pair, "word": "different" if pair["word"] == "same" else "same"} for pair in pairs]
        elif fault == "overreach":
            pairs = [{**pair, "word": "same"} for pair in pairs]
        return {"pairs": pairs}

    def merge(self, seen: Seen, good: str) -> str:
        """The good reply, spoilt. A refusal stays one."""
        fault, modules = self.of_merge(seen), writing.merged_modules(seen)
        job = writing.common_job(modules)
        if not fault or job is None:
            return good
        operation, fields = job
        if fault == "rubbish":
            return RUBBISH
        if fault in ("lossy", "crashing"):
            more = (_LOSSY if fault == "lossy" else _CRASHING).replace("$out", fields.output)
            code = good.removeprefix("```python").removesuffix("```").replace(_RUN, _RUN.replace("run", "whole", 1))
            return writing.fenced(code.rstrip() + more)
        name, aliases = modules[0].name, writing.aliases_to(operation, fields, modules)
        if fault == "wrong_signature":
            inputs = {role: f"{own}_of_it" for role, own in fields.inputs.items()}
            fields = Fields(inputs, f"{fields.output}_of_it")
        elif fault == "incomplete":
            aliases.pop(modules[-1].name)
        elif fault == "invented":
            aliases["tool_of_my_dreams"] = {}
        elif fault == "path":
            name = _OUTSIDE
        return writing.merged(operation, fields, modules, name, aliases)

    def _drawn(self, kinds: tuple[str, ...], seen: Seen) -> str:
        if self.kind:
            return self.kind if self.kind in kinds else ""
        digest = hashlib.sha256(f"{self.seed}\n{seen.text}".encode()).digest()
        return (*kinds, "")[int.from_bytes(digest[:4]) % (len(kinds) + 1)]

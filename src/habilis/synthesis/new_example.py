"""Asking the writer of a tool for an example alone, where the one in the module cannot be used to try it.

New code would not help: the code may well be right, and a small model that is told of its example writes the same
module again.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from habilis.contract.contract import ContractError, read_contract
from habilis.contract.examples import Example, said_example, with_example
from habilis.core.errors import WriterFailed
from habilis.core.types import JsonSchema, ToolRequest
from habilis.synthesis.codeblocks import extract_code
from habilis.synthesis.gate import ExampleDoubted, Gate, Passed, Wanted
from habilis.synthesis.trial import UNUSABLE

if TYPE_CHECKING:
    from habilis.core.ports import CodeWriter
    from habilis.prompts import Prompts


class NewExample:
    """The second example of one build. Its writer is asked once, whatever the number of attempts."""

    def __init__(
        self,
        writer: CodeWriter,
        prompts: Prompts,
        request: ToolRequest,
        question: str,
        files: Sequence[Mapping[str, Any]],
    ) -> None:
        """`files` are the task's, as prompts show them."""
        self._writer, self._prompts = writer, prompts
        self._request, self._question, self._files = request, question, files
        self._asked = False
        self._example: Example | None = None

    async def get(self, flaw: str, schema: JsonSchema) -> Example | None:
        """An example for a tool that takes what `schema` says, None when the writer gave none that can be read.

        `flaw` is what is wrong with the first. Raises as the writer does, `WriterFailed` excepted.
        """
        if not self._asked:
            self._asked = True
            prompt = self._prompts.render(
                "example",
                name=self._request.name,
                description=self._request.description,
                input_schema=json.dumps(schema, ensure_ascii=False),
                question=self._question,
                files=list(self._files),
                flaw=flaw.removeprefix(UNUSABLE),
            )
            try:
                self._example = _read(await self._writer.write(prompt.system, prompt.user))
            except WriterFailed:
                return None
        return self._example


async def checked(gate: Gate, source: str, wanted: Wanted, second: NewExample | None) -> Passed:
    """The candidate as it passed; with a `second` example in its meta data where its own could not be used.

    Raises `Rejected`, and whatever the writer of the example does.
    """
    doubt: ExampleDoubted | None = None
    try:
        passed = await gate.check(source, wanted)
        flaw, schema = passed.flaw, passed.description.input_schema
    except ExampleDoubted as doubted:
        doubt, flaw, schema = doubted, doubted.flaw, doubted.description.input_schema
    example = await second.get(flaw, schema) if flaw and second else None
    if example is not None and (other := with_example(source, example)) != source:
        tried = await gate.check(other, wanted)
        if not tried.flaw:
            return replace(tried, smoke=f"{tried.smoke}, with a second example; {flaw}")
    if doubt is not None:
        raise doubt
    return passed


def _read(reply: str) -> Example | None:
    """The example in a reply, which may be a whole module again."""
    try:
        examples = read_contract(extract_code(reply)).examples
    except (WriterFailed, ContractError):
        return said_example(reply)
    return examples[0] if examples else None

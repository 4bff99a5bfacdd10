"""A tool and its first call in one reply of its writer, for a question that looks like one job.

The writer is told the question and its files and nothing else: name, fields and description are its own. The call is
the one that answers the question; it stands below the module, as one JSON object.
"""

from __future__ import annotations

import contextlib
import re
from dataclasses import replace

from habilis.contract.contract import ContractError, read_contract
from habilis.contract.examples import said_example
from habilis.contract.names import safe_name
from habilis.core.types import ToolRequest
from habilis.synthesis.codeblocks import extract_code, without_code
from habilis.synthesis.gate import Wanted
from habilis.synthesis.jobs import NotOneTool

NAME = "tool_for_the_question"
"""What stands for the tool until its writer has named it."""
AT_MOST = 2
"""Attempts; who fails twice is told more closely what to write."""
NOT_ONE_TOOL = "its writer says that the question does not take one tool"
_NONE = re.compile(r"\W*(?:```[a-z]*\s)?\W*none\W*", re.IGNORECASE)


def request_of(question: str) -> ToolRequest:
    """The request that stands in the plan: its description is the question itself."""
    return ToolRequest(name=NAME, description=question, input_schema={}, output_schema={})


def first_call_in(reply: str, wanted: Wanted) -> Wanted:
    """`wanted` by the name that a module has, with the arguments that stand beside it, if any do.

    Raises `NotOneTool` for the word that there is no such tool, `WriterFailed` for a reply without a module.
    """
    if _NONE.fullmatch(reply):
        raise NotOneTool(NOT_ONE_TOOL)
    with contextlib.suppress(ContractError):  # the gate says what is wrong with it
        wanted = replace(wanted, name=safe_name(read_contract(extract_code(reply)).name))
    said = said_example(without_code(reply))
    return wanted if said is None or said.files else replace(wanted, first=said.arguments)

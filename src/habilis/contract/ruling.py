"""What a call came to, as far as rules can say: a success, the caller's mistake, or the tool's failure."""

from __future__ import annotations

from typing import Any

from habilis.contract.records import is_empty, set_error
from habilis.core.types import CallOutcome, Verdict

LEFT_OPEN = {"KeyError", "IndexError", "LookupError", "StopIteration"}
"""Exceptions that may be the caller's mistake (no such column) or the reader's (another delimiter)."""


def ruled(outcome: CallOutcome) -> tuple[Verdict | None, str]:
    """The verdict that needs no model, with its reason; None where the rules leave it open.

    What the sandbox refused or what could not be had (`denied`, `unavailable`, `interrupted`, an unknown tool) is no
    fault of the tool's code: mending it could not help.
    """
    error = outcome.error
    if error is None:
        return _verdict_on_output(outcome.output)
    if error.kind in ("invalid_arguments", "unknown_tool", "denied", "unavailable", "interrupted"):
        return "input_error", error.kind
    if error.missing_file or error.exception == "FileNotFoundError":
        return "input_error", "a named file does not exist"
    if error.kind == "crashed" and error.exception in LEFT_OPEN:
        return None, ""
    return "failure", error.exception or error.kind


def _verdict_on_output(output: Any) -> tuple[Verdict | None, str]:
    """An empty list, 0 or False is an answer; None, blank text, {} and a set `error` are failures."""
    if set_error(output):
        return "failure", "the output's own error is set"
    return ("failure", "empty result") if is_empty(output) else ("success", "a result")
